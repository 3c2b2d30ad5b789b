"""What the books must say after a set of channel messages: worked out apart from postonce.

A second implementation, by the channels' documentation alone: it reads neither the program's profiles nor its code,
knows no order of arrival, and so can only be right about what does not depend on one. Used by the end-to-end test;
`python3 tests/support/expected_books.py` prints what it makes of every payload in tests/data/channel.
"""
import base64
import collections
import decimal
import hashlib
import json
import pathlib
import re
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

DATA = pathlib.Path(__file__).resolve().parents[1] / "data" / "channel"
APIV3_KEY = b"sample-apiv3-key-not-a-secret-32"
APIV2_KEY = b"sample-apiv2-key-not-a-secret-32"
DECIMALS = {"CNY": 2, "USD": 2, "EUR": 2, "JPY": 0}
AMOUNT_MOST = 2 ** 53 - 1
DEPTH_MOST, KEY_BYTES_MOST, ORDER_BYTES_MOST = 32, 191, 64

# amount: in minor units, or None. total: the amount is what was moved so far, this movement included.
Event = collections.namedtuple("Event", "channel txn event order parent refund amount currency total",
                               defaults=("", "", None, "", False))
# A record as it is published. label: which channel's; headers: {name: text}.
Message = collections.namedtuple("Message", "name label headers value")


class Refused(Exception):
    pass


def need(condition, why):
    if not condition:
        raise Refused(why)


# --- bodies ---------------------------------------------------------------------------------------------------------

class Inexact(str):
    """A JSON number with a fraction or an exponent, as it is written."""


def read_json(value):
    def pairs(items):
        need(len({name for name, _ in items}) == len(items), "a member twice")
        return dict(items)

    def whole(digits):
        need(-2 ** 63 <= int(digits) < 2 ** 63, "beyond 64 bits")
        return int(digits)

    def constant(word):
        raise Refused(word)

    try:
        text = value.decode("utf-8-sig")
        need(nesting(text) <= DEPTH_MOST, "too deep")
        tree = json.loads(text, object_pairs_hook=pairs, parse_int=whole, parse_float=Inexact, parse_constant=constant)
    except ValueError as problem:
        raise Refused(str(problem)) from problem
    check_texts(tree)
    return tree


def nesting(text):
    depth = deepest = 0
    for bracket in re.findall(r"[\[\]{}]", re.sub(r'"(\\.|[^"\\])*"', "", text)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def check_texts(tree):
    if isinstance(tree, dict):
        for name, value in tree.items():
            check_texts(name)
            check_texts(value)
    elif isinstance(tree, list):
        for value in tree:
            check_texts(value)
    elif isinstance(tree, str):
        need("\0" not in tree and not re.search("[\ud800-\udfff]", tree), "NUL or half a surrogate pair")


def read_form(value):
    need(re.fullmatch(rb"(?:[!-$&-~]|%[0-9A-Fa-f]{2})*", value), "no form")
    fields = {}
    for field in value.split(b"&"):
        name, equals, rest = field.partition(b"=")
        need(name and equals, "a field without name or '='")
        name = urllib.parse.unquote_to_bytes(name.replace(b"+", b" "))
        need(name not in fields, "a field twice")
        fields[name] = urllib.parse.unquote_to_bytes(rest.replace(b"+", b" "))
    charset = fields.get(b"charset", b"utf-8").decode("ascii", "replace").lower()
    need(charset in ("utf-8", "gbk", "gb2312", "gb18030"), "charset")
    try:
        return {name.decode("ascii"): text.decode("utf-8" if charset == "utf-8" else "gb18030")
                for name, text in fields.items()}
    except UnicodeDecodeError as problem:
        raise Refused(str(problem)) from problem


def read_xml(value):
    need(b"<!DOCTYPE" not in value, "document type")
    try:
        root = ElementTree.fromstring(value)
    except ElementTree.ParseError as problem:
        raise Refused(str(problem)) from problem
    need(len({child.tag for child in root}) == len(root), "an element twice")
    return {child.tag: child.text or "" for child in root}


# --- members --------------------------------------------------------------------------------------------------------

def at(tree, path):
    """What stands there and is neither null nor empty, else None. path: "a/b", alternatives after '|'."""
    for way in path.split("|"):
        found = tree
        for step in way.split("/"):
            found = found.get(step) if isinstance(found, dict) else None
        if found is not None and found != "":
            return found
    return None


def text(value, what, bytes_most=None):
    need(isinstance(value, (str, int)) and not isinstance(value, Inexact), f"{what} is no text")
    value = str(value)
    need(not re.search("[\x00-\x1f\x7f\x80-\x9f]", value) and value == value.strip(" "), f"{what} is odd")
    need(bytes_most is None or len(value.encode()) <= bytes_most, f"{what} is too long")
    return value


def part(tree, path):
    value = at(tree, path)
    need(value is not None, f"no {path}")
    return urllib.parse.quote(text(value, path), safe="-._~")


def order_no(tree, path):
    value = at(tree, path)
    return "" if value is None else text(value, path, ORDER_BYTES_MOST)


def currency_of(value):
    need(value in DECIMALS, f"currency {value}")
    return value


def minor(value):
    """Whole minor units, as text or number."""
    need(isinstance(value, (str, int)) and not isinstance(value, (bool, Inexact)), "amount")
    need(re.fullmatch(r"-?[0-9]+", str(value)), "amount")
    return int(value)


def decimals(value, currency):
    """An amount of the currency's own unit."""
    need(isinstance(value, (str, int)) and not isinstance(value, (bool, Inexact)), "amount")
    need(re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", str(value)), "amount")
    scaled = decimal.Decimal(str(value)).scaleb(DECIMALS[currency])
    need(scaled == scaled.to_integral_value(), "finer than the currency")
    return int(scaled)


def above_zero(amount):
    need(0 < amount <= AMOUNT_MOST, "amount")
    return amount


# --- channels -------------------------------------------------------------------------------------------------------

def wechat(message):
    if message.value.lstrip()[:1] == b"<":
        return wechat_v2(message)
    tree = read_json(message.value)
    sealed = tree.get("resource")
    need(isinstance(sealed, dict) and sealed.get("ciphertext"), "nothing to open")
    try:
        plain = read_json(AESGCM(APIV3_KEY).decrypt(sealed["nonce"].encode(), base64.b64decode(sealed["ciphertext"]),
                                                    sealed.get("associated_data", "").encode()))
    except Exception as problem:
        raise Refused("cannot be opened") from problem
    kind, original = tree.get("event_type", ""), sealed.get("original_type")
    if kind == "TRANSACTION.SUCCESS" and original == "transaction":
        parts = [("amount/total_amount", one) for one in plain.get("sub_orders", [])] or [("amount/total", plain)]
        need("sub_orders" in plain or plain.get("trade_state") == "SUCCESS", "no rule")
        return [Event("WECHAT", part(one, "transaction_id"), "PAYMENT_RECEIVED", order_no(one, "out_trade_no"),
                      amount=above_zero(minor(at(one, path))),
                      currency=currency_of(at(one, "amount/currency") or "CNY"))
                for path, one in parts if one.get("trade_state") == "SUCCESS"]
    if kind.startswith("REFUND."):
        return [wechat_refund(plain, {"SUCCESS": "REFUND_SUCCEEDED", "ABNORMAL": "REFUND_ABNORMAL",
                                      "CLOSED": "REFUND_FAILED"}, "amount/refund")]
    need(original == "profitsharing", "no rule")
    return []


def wechat_refund(plain, words, amount):
    event = words.get(plain.get("refund_status"))
    need(event, "no rule")
    moved = event == "REFUND_SUCCEEDED"
    return Event("WECHAT", part(plain, "refund_id"), event, order_no(plain, "out_trade_no"),
                 part(plain, "transaction_id"), order_no(plain, "out_refund_no"),
                 above_zero(minor(at(plain, amount))) if moved else None,
                 currency_of(at(plain, "amount/currency") or "CNY") if moved else "")


def wechat_v2(message):
    tree = read_xml(message.value)
    if tree.get("req_info"):
        key = hashlib.md5(APIV2_KEY).hexdigest().encode()
        opener = Cipher(algorithms.AES(key), modes.ECB()).decryptor()
        plain = opener.update(base64.b64decode(tree["req_info"])) + opener.finalize()
        return [wechat_refund(read_xml(plain[:-plain[-1]]),
                              {"SUCCESS": "REFUND_SUCCEEDED", "CHANGE": "REFUND_ABNORMAL",
                               "REFUNDCLOSE": "REFUND_FAILED"}, "refund_fee")]
    signed = "&".join(f"{name}={tree[name]}" for name in sorted(tree) if name != "sign" and tree[name])
    sign = hashlib.md5(f"{signed}&key={APIV2_KEY.decode()}".encode()).hexdigest().upper()
    need(sign == tree.get("sign", "").upper(), "signature")
    if tree.get("result_code") == "FAIL":
        return []
    need(tree.get("return_code") == "SUCCESS" and tree.get("result_code") == "SUCCESS", "no rule")
    return [Event("WECHAT", part(tree, "transaction_id"), "PAYMENT_RECEIVED", order_no(tree, "out_trade_no"),
                  amount=above_zero(minor(at(tree, "total_fee"))), currency=currency_of(at(tree, "fee_type") or "CNY"))]


def alipay(message):
    return alipay_form(read_form(message.value))


def alipay_form(form):
    status = form.get("trade_status")
    refunded = decimals(form.get("refund_fee") or "0", "CNY")
    if status in ("TRADE_SUCCESS", "TRADE_CLOSED") and form.get("gmt_refund") and refunded > 0:
        return [Event("ALIPAY", f"{part(form, 'trade_no')}/{part(form, 'out_biz_no')}", "REFUND_SUCCEEDED",
                      order_no(form, "out_trade_no"), part(form, "trade_no"), order_no(form, "out_biz_no"), refunded,
                      "CNY", True)]
    if status in ("TRADE_SUCCESS", "TRADE_FINISHED"):
        return [Event("ALIPAY", part(form, "trade_no"), "PAYMENT_RECEIVED", order_no(form, "out_trade_no"),
                      amount=above_zero(decimals(at(form, "total_amount"), "CNY")), currency="CNY")]
    need(status in ("TRADE_CLOSED", "WAIT_BUYER_PAY"), "no rule")
    return []


def sqb(message):
    tree = read_json(message.value)
    state, status = tree.get("order_status"), tree.get("status")
    if status == "SUCCESS" and state == "PAID":
        return [Event("SQB", part(tree, "sn"), "PAYMENT_RECEIVED", order_no(tree, "client_sn"),
                      amount=above_zero(minor(at(tree, "total_amount"))), currency="CNY")]
    if status == "SUCCESS" and state in ("PARTIAL_REFUNDED", "REFUNDED"):
        number = "refund_request_no|client_tsn"
        return [Event("SQB", f"{part(tree, 'sn')}/{part(tree, number)}", "REFUND_SUCCEEDED",
                      order_no(tree, "client_sn"), part(tree, "sn"), order_no(tree, number),
                      above_zero(minor(at(tree, "total_amount")) - minor(at(tree, "net_amount"))), "CNY", True)]
    need(state in ("CREATED", "IN_QUEUE", "REFUND_INPROGRESS", "CANCEL_INPROGRESS", "PAY_CANCELED", "PAY_ERROR"),
         "no rule")
    return []


def stripe(message):
    tree = read_json(message.value)
    need(tree.get("livemode") is True, "test mode")
    kind, thing = tree.get("type", ""), at(tree, "data/object") or {}
    if kind == "payment_intent.succeeded":
        event, amount = "PAYMENT_RECEIVED", "amount_received"
    elif "refund." in kind and kind != "charge.refunded":
        event = {"succeeded": "REFUND_SUCCEEDED", "failed": "REFUND_FAILED", "canceled": "REFUND_FAILED",
                 "pending": None, "requires_action": None}.get(thing.get("status"), "")
        need(event != "", "no rule")
        if event is None:
            return []
        amount = "amount"
    elif kind == "charge.dispute.created":
        event, amount = "PAYMENT_DISPUTED", "amount"
    else:
        need(kind.startswith(("charge.", "payment_intent.")), "no rule")
        return []
    currency = currency_of(str(thing.get("currency")).upper())
    return [Event("STRIPE", part(thing, "id"), event, order_no(thing, "metadata/order_no"),
                  "" if event == "PAYMENT_RECEIVED" else part(thing, "payment_intent"), "",
                  above_zero(minor(thing.get(amount))), currency)]


ADYEN_EVENTS = {"AUTHORISATION": "PAYMENT_AUTHORISED", "CAPTURE": "PAYMENT_RECEIVED",
                "CAPTURE_FAILED": "PAYMENT_REVERSED", "REFUND": "REFUND_SUCCEEDED", "REFUND_FAILED": "REFUND_REVERSED",
                "REFUNDED_REVERSED": "REFUND_REVERSED"}


def adyen(message):
    tree = read_json(message.value)
    need(tree.get("live") == "true", "test platform")
    events = []
    for item in tree["notificationItems"]:
        item = item["NotificationRequestItem"]
        code = item.get("eventCode")
        if code == "REPORT_AVAILABLE" or item.get("success") == "false":
            continue
        need(code in ADYEN_EVENTS, "no rule")
        events.append(Event("ADYEN", part(item, "pspReference"), ADYEN_EVENTS[code],
                            order_no(item, "merchantReference"),
                            "" if code == "AUTHORISATION" else part(item, "originalReference"), "",
                            above_zero(minor(at(item, "amount/value"))), currency_of(at(item, "amount/currency"))))
    return events


def paypal(message):
    tree = read_json(message.value)
    need(at(tree, "resource/payee/merchant_id|merchant_id") == "RELAYMERCHANT", "another merchant")
    events = {"PAYMENT.CAPTURE.COMPLETED": "PAYMENT_RECEIVED", "PAYMENT.CAPTURE.REFUNDED": "REFUND_SUCCEEDED"}
    need(tree["event_type"] in events, "no rule")
    thing = tree["resource"]
    parent = next((link["href"].rpartition("/")[2] for link in thing.get("links", []) if link["rel"] == "up"), "")
    currency = currency_of(at(thing, "amount/currency_code"))
    event = events[tree["event_type"]]
    return [Event("PAYPAL", part(thing, "id"), event, order_no(thing, "invoice_id|custom_id"),
                  parent if event == "REFUND_SUCCEEDED" else "", "",
                  above_zero(decimals(at(thing, "amount/value"), currency)), currency)]


def cloudevents(message):
    if message.headers["content-type"].lower().startswith("application/cloudevents"):
        tree = read_json(message.value)
        attributes, data = tree, tree.get("data")
        if "data_base64" in tree:
            data = read_form(base64.b64decode(tree["data_base64"]))
    else:
        attributes = {name[3:]: value for name, value in message.headers.items() if name.startswith("ce_")}
        data = read_json(message.value)
    channel = {"/relay/wechat3": "WECHAT", "/relay/alipay": "ALIPAY"}.get(attributes["source"])
    need(channel, "unknown source")
    if attributes["type"] == "cn.r8.alipay.notify":
        return [event._replace(channel=channel) for event in alipay_form(data)]
    need(attributes["type"] == "cn.r8.pay.succeeded" and data.get("kind") == "pay", "no rule")
    return [Event(channel, part(data, "txn"), "PAYMENT_RECEIVED", order_no(data, "order_no"),
                  amount=above_zero(minor(data.get("amount_minor"))), currency=currency_of(data.get("currency")))]


def generic(message):
    need(message.value, "empty")
    if message.value.startswith(b"<"):
        tree = read_xml(message.value)
    elif "content-type" in message.headers:
        tree = read_form(message.value)
    else:
        tree = read_json(message.value)
    need(isinstance(tree, dict), "neither object nor list")
    need("txn" in tree and ("amount" in tree or "amount_minor" in tree), "no rule")
    currency = currency_of(tree.get("currency"))
    amount = decimals(tree["amount"], currency) if "amount" in tree else minor(tree["amount_minor"])
    return [Event("GENERIC", part(tree, "txn"), "PAYMENT_RECEIVED", order_no(tree, "order_no"),
                  amount=above_zero(amount), currency=currency)]


CHANNELS = {"WECHAT": wechat, "ALIPAY": alipay, "SQB": sqb, "STRIPE": stripe, "ADYEN": adyen, "PAYPAL": paypal,
            "CLOUDEVENTS": cloudevents, "GENERIC": generic}


def key(event):
    return f"{event.channel}:{event.txn}:{event.event}"


def events_of(message):
    """The message's events; raises Refused where it must become a dead letter."""
    events = CHANNELS[message.label](message)
    for event in events:
        need(len(key(event)) <= KEY_BYTES_MOST, "key too long")
    return events


# --- books ----------------------------------------------------------------------------------------------------------

class Books:
    """keys: {tenant: keys that end settled}; refused: names of messages that end as dead letters;
    owed: {(tenant, currency): payable + suspense}; payments: {(tenant, order): the events that paid it}."""

    def __init__(self, messages, tenants, rules):
        """tenants: {label: tenant}; rules: the events that the configuration has a rule for."""
        self.keys, self.refused = collections.defaultdict(set), set()
        self.payments, self.refunds = collections.defaultdict(dict), collections.defaultdict(dict)
        self.owed = collections.Counter()
        reversed_amounts = {}
        for message in messages:
            tenant = tenants[message.label]
            try:
                events = events_of(message)
            except Refused:
                self.refused.add(message.name)
                continue
            for event in events:
                if event.event not in rules:
                    self.refused.add(message.name)
                    continue
                self.keys[tenant].add(key(event))
                if event.event == "PAYMENT_RECEIVED":
                    self.payments[tenant, event.order][key(event)] = event
                elif event.event == "REFUND_SUCCEEDED":
                    self.refunds[tenant, event.parent][key(event)] = event
                elif event.event in ("PAYMENT_REVERSED", "REFUND_REVERSED") and event.amount is not None:
                    sign = -1 if event.event == "PAYMENT_REVERSED" else 1
                    reversed_amounts[tenant, key(event)] = (event.currency, sign * event.amount)
        self._sum(reversed_amounts)

    def _sum(self, reversed_amounts):
        for (tenant, _), events in self.payments.items():
            for event in events.values():
                self.owed[tenant, event.currency] += event.amount
        for (tenant, _), events in self.refunds.items():
            singles = [event for event in events.values() if not event.total]
            totals = [event for event in events.values() if event.total]
            for event in singles:
                self.owed[tenant, event.currency] -= event.amount
            if totals:
                # Whatever the order of arrival, what was given back in the end is the largest total.
                largest = max(totals, key=lambda event: event.amount)
                self.owed[tenant, largest.currency] -= largest.amount
        for (tenant, _), (currency, amount) in reversed_amounts.items():
            self.owed[tenant, currency] += amount


def messages():
    """Every payload of tests/data/channel of the channels above; envelopes are no channel's. Of .expect only the lines that say
    how the record comes are read."""
    found = []
    for path in sorted(DATA.iterdir()):
        if path.suffix not in (".json", ".form", ".xml") or path.name.startswith("envelope-"):
            continue
        lines = path.with_suffix(".expect").read_text().splitlines()
        label = next(line.split()[1] for line in lines if line.startswith("channel "))
        if label not in CHANNELS:
            continue
        headers = dict(line[len("header "):].split("=", 1) for line in lines if line.startswith("header "))
        found.append(Message(path.name, label, headers, path.read_bytes()))
    return found


if __name__ == "__main__":
    for one in messages():
        try:
            print(one.name, *[(key(event), event.order, event.amount, event.currency) for event in events_of(one)])
        except Refused as refusal:
            print(one.name, "refused:", refusal)
    sys.exit(0)
