"""Random histories of orders as channels tell them: re-pushed, out of order, some of them wrong. All from one seed."""
import json
import random

from ledger_model import Notification, Order

CURRENCIES = {"CNY": 2, "JPY": 0, "KWD": 3}
CHANNELS = ("WECHAT", "ALIPAY", "SQB")  # in postonce's envelope
TENANTS = (1, 2, 3)
EVENTS_AN_ORDER = 5                     # about


def totals_channel(tenant):
    """The label of the channel that tells running totals; its profile names the tenant."""
    return f"TOTALS{tenant}"


class History:
    """orders: [Order]; late: those of them that are registered only while the notifications come;
    said: [Notification] in true order, of one key all that differ; sent: records in the order of sending."""

    def __init__(self, seed, events, wild):
        self.random = random.Random(seed)
        self.wild = wild
        self.orders, self.late, self.said, self.sent = [], [], [], []
        self._timed = []
        for number in range(max(1, events // EVENTS_AN_ORDER)):
            self._order(number)
        self._timed.sort(key=lambda one: one[0])
        self.sent = [record for _, record in self._timed]

    def _chance(self, percent):
        return self.random.random() * 100 < percent

    def _order(self, number):
        tenant, currency = self.random.choice(TENANTS), self.random.choice(list(CURRENCIES))
        order = Order(tenant, f"O{number:06}", self.random.randint(1, 50_000), currency, "PENDING_PAY")
        if self.wild and self._chance(5):
            order.status = "CLOSED"
        if not (self.wild and self._chance(2)):  # the others stay unknown
            self.orders.append(order)
            if self._chance(10):
                self.late.append(order)
        story = Story(self, order)
        story.tell()

    def send(self, notification, at):
        """It is said once, and sent one to four times at about this time."""
        self.said.append(notification)
        copies = 1 + sum(self._chance(35) for _ in range(3))
        for _ in range(copies):
            self._timed.append((at + self.random.random() * 3, record(notification, self.random)))


class Story:
    """What happens to one order. Times are in steps; sending jitters over three of them."""

    def __init__(self, history, order):
        self.history, self.order, self.random = history, order, history.random
        self.at = self.random.random() * len(history.orders) / 20
        self.channel = totals_channel(order.tenant) if self.random.random() < 0.2 else self.random.choice(CHANNELS)
        self.numbers = 0

    def _next(self, kind):
        self.numbers += 1
        return f"{kind}-{self.order.tenant}-{self.order.order_no}-{self.numbers}"

    def _say(self, event, txn, amount, currency=None, channel=None, **more):
        self.at += self.random.random()
        said = Notification(self.order.tenant, channel or self.channel, txn, event, self.order.order_no, amount,
                            currency or self.order.currency, **more)
        self.history.send(said, self.at)
        return said

    def tell(self):
        payment = self._say("PAYMENT_RECEIVED", self._next("P"), self.order.amount)
        if self.history.wild:
            self._go_wrong(payment)
        if self.channel.startswith("TOTALS"):
            self._refunds_in_totals()
        else:
            self._refunds(payment)

    def _go_wrong(self, payment):
        chance = self.history._chance
        if chance(8):   # a second payment, perhaps by another channel
            second = self._say("PAYMENT_RECEIVED", self._next("P"), self.order.amount,
                               channel=self.random.choice(CHANNELS))
            if chance(60):
                self._go_back(second)
        if chance(5):
            self._say("PAYMENT_RECEIVED", self._next("P"), self.order.amount + self.random.randint(1, 99))
        if chance(3):
            other = self.random.choice([one for one in CURRENCIES if one != self.order.currency])
            self._say("PAYMENT_RECEIVED", self._next("P"), self.order.amount, currency=other)
        if chance(4):   # the same key with other content
            self._say("PAYMENT_RECEIVED", payment.txn, self.order.amount + 1000)
        if chance(6) and not self.channel.startswith("TOTALS"):
            self._say("PAYMENT_REVERSED", payment.txn, self.order.amount)

    def _parts(self):
        """Amounts of some refunds: within the order's, or anything when histories are wild."""
        left, parts = self.order.amount, []
        for _ in range(self.random.choice((0, 0, 1, 1, 2, 3))):
            most = self.order.amount if self.history.wild and self.history._chance(30) else left
            if most > 0:
                parts.append(self.random.randint(1, most))
                left -= parts[-1]
        return parts

    def _go_back(self, second):
        """A second payment goes back to the payer, in one or two parts, by its own channel."""
        first = self.random.choice((second.amount, self.random.randint(1, second.amount)))
        for amount in filter(None, (first, second.amount - first)):
            self._say("REFUND_SUCCEEDED", self._next("R"), amount, channel=second.channel, parent=second.txn)

    def _refunds(self, payment):
        for amount in self._parts():
            parent = payment.txn if self.random.random() < 0.5 else ""
            txn, number = self._next("R"), self._next("RF") if self.random.random() < 0.7 else ""
            if number and self.random.random() < 0.6:
                self._say("REFUND_REQUESTED", self._next("Q"), amount, refund_no=number)
            if self.history.wild and self.history._chance(20):
                self._fail_or_not(txn, number, amount)
                continue
            self._say("REFUND_SUCCEEDED", txn, amount, refund_no=number, parent=parent)
            if self.history._chance(10):
                self._say("REFUND_REVERSED", txn, amount, refund_no=number)

    def _fail_or_not(self, txn, number, amount):
        events = self.random.choice((["REFUND_FAILED"], ["REFUND_FAILED", "REFUND_SUCCEEDED"],
                                     ["REFUND_SUCCEEDED", "REFUND_FAILED"]))
        for event in events:
            self._say(event, txn, amount, refund_no=number)
        if self.history._chance(10):    # another amount than was registered, or another movement of the same refund
            self._say("REFUND_SUCCEEDED", self._next("R"), amount + 1, refund_no=number)

    def _refunds_in_totals(self):
        total = 0
        for amount in self._parts():
            total += amount
            self._say("REFUND_SUCCEEDED", self._next("R"), total, total=True)


def record(notification, chooser):
    """The record of one copy: value and headers. Copies of one notification differ in what says nothing."""
    if notification.channel.startswith("TOTALS"):
        value = {"id": notification.txn, "order": notification.order_no, "currency": notification.currency,
                 "sent": chooser.randint(0, 9999),
                 "refunded" if notification.total else "paid": notification.amount}
        return json.dumps(value).encode(), [("channel", notification.channel.encode())]
    value = {"channel": notification.channel, "tenant_id": notification.tenant, "txn": notification.txn,
             "event": notification.event, "order_no": notification.order_no, "currency": notification.currency,
             "body": {"sent": chooser.randint(0, 9999)}}
    if notification.parent:
        value["parent"] = notification.parent
    if notification.refund_no:
        value["refund_no"] = notification.refund_no
    if chooser.random() < 0.5:
        value["amount_minor"] = notification.amount
    else:
        value["amount"] = decimal(notification.amount, CURRENCIES[notification.currency])
    return json.dumps(value).encode(), []


def decimal(minor, places):
    if places == 0:
        return str(minor)
    digits = str(minor).zfill(places + 1)
    return f"{digits[:-places]}.{digits[-places:]}"
