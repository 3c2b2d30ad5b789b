"""What a channel did not sign is refused before anything else, alarmed by its place, and leaves no claim."""
import base64
import hashlib
import hmac
import json
import time

import books
from support.config import ROOT
from support.wait import wait_until

DONE = [0]
OLD, NEW = "whsec_the-old-one", "whsec_the-new-one"
ADYEN_KEY = "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056"
ADYEN_FIELDS = ["pspReference", "originalReference", "merchantAccountCode", "merchantReference", "value", "currency",
                "eventCode", "success"]


def log_of(ledger):
    return "\n".join(worker.log_text() for worker in ledger.workers)


def alarms(ledger):
    return [line for line in log_of(ledger).splitlines() if "alarm=SIGNATURE_INVALID" in line]


def with_channels(ledger, *names):
    ledger.configure({"channels": [str(ROOT / f"deploy/channels/{name}.yaml") for name in names]})


def key_file(ledger, name, secret):
    path = ledger.directory / name
    path.write_text(secret + "\n")
    return str(path)


def payment(txn, order_no, amount=1000):
    return json.dumps({"id": "evt_1", "type": "payment_intent.succeeded", "livemode": True, "created": 1768365668,
                       "data": {"object": {"id": txn, "amount_received": amount, "currency": "cny",
                                           "metadata": {"order_no": order_no}}}}).encode()


def stripe_signature(secret, body, at=None):
    seconds = int(at or time.time())
    proof = hmac.new(secret.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={seconds},v1={proof}"


def send(ledger, body, channel, **headers):
    (place,) = ledger.publish(body, headers={"channel": channel, **headers})
    return place


def test_only_what_stripe_signed_is_posted(ledger, db):
    with_channels(ledger, "stripe")
    books.register(db, "R1", "R2")
    keys = {"STRIPE_ENDPOINT_SECRET_FILE": key_file(ledger, "secret", NEW)}
    good = payment("pi_1", "R1")
    signature = stripe_signature(NEW, good)
    touched = payment("pi_1", "R1", amount=9000)
    bad = {
        "altered": send(ledger, touched, "STRIPE", **{"Stripe-Signature": signature}),
        "other body": send(ledger, payment("pi_2", "R2"), "STRIPE", **{"Stripe-Signature": signature}),
        "unsigned": send(ledger, payment("pi_3", "R2"), "STRIPE"),
        "other key": send(ledger, payment("pi_4", "R2"), "STRIPE",
                          **{"Stripe-Signature": stripe_signature(OLD, payment("pi_4", "R2"))}),
        "an hour ago": send(ledger, payment("pi_5", "R2"), "STRIPE",
                            **{"Stripe-Signature": stripe_signature(NEW, payment("pi_5", "R2"), time.time() - 3600)}),
        "in its name": ledger.publish({"channel": "STRIPE", "txn": "pi_6", "event": "PAYMENT_RECEIVED",
                                       "order_no": "R2", "amount_minor": 1000, "currency": "CNY"})[0],
    }
    send(ledger, good, "STRIPE", **{"stripe-signature": signature})
    assert ledger.drain(env=keys) == DONE
    assert books.claims(db) == [books.key("pi_1", channel="STRIPE")]
    assert books.claim(db, books.key("pi_1", channel="STRIPE")).amount == 1000
    assert books.order(db, "R1").status == "PAID" and books.order(db, "R2").status == "PENDING_PAY"
    assert sorted((letter.partition, letter.offset) for letter in books.letters(db)) == sorted(bad.values())
    assert {letter.reason for letter in books.letters(db)} == {"SIGNATURE_INVALID"}
    assert ledger.kafka.lag(ledger.group, ledger.topic) == 0
    told = alarms(ledger)
    assert len(told) == len(bad)
    for partition, offset in bad.values():
        assert any(f"topic={ledger.topic} partition={partition} offset={offset}" in line for line in told)
    assert "R2" not in log_of(ledger) and "pi_2" not in log_of(ledger)
    assert NEW not in log_of(ledger) and signature not in log_of(ledger)


def test_both_keys_count_while_one_is_changed_and_then_only_the_new_one(ledger, db):
    with_channels(ledger, "stripe")
    profile = (ROOT / "deploy/channels/stripe.yaml").read_text()
    files = [key_file(ledger, "new", NEW), key_file(ledger, "old", OLD)]
    changing = ledger.directory / "stripe.yaml"
    changing.write_text(profile.replace('"${env:STRIPE_ENDPOINT_SECRET_FILE}"', json.dumps(files)))
    books.register(db, "R1", "R2", "R3")
    for number, secret in enumerate([OLD, NEW], start=1):
        body = payment(f"pi_{number}", f"R{number}")
        send(ledger, body, "STRIPE", **{"Stripe-Signature": stripe_signature(secret, body)})
    assert ledger.drain(changes={"channels": [str(changing)]}) == DONE
    assert len(books.claims(db)) == 2 and alarms(ledger) == []
    body = payment("pi_3", "R3")
    send(ledger, body, "STRIPE", **{"Stripe-Signature": stripe_signature(OLD, body)})
    assert ledger.drain(env={"STRIPE_ENDPOINT_SECRET_FILE": files[0]}) == DONE
    assert len(books.claims(db)) == 2 and len(alarms(ledger)) == 1


def adyen(items):
    return json.dumps({"live": "true", "notificationItems": [{"NotificationRequestItem": item} for item in items]}
                      ).encode()


def adyen_item(psp, order_no, amount=1000, sign=True):
    item = {"eventCode": "CAPTURE", "success": "true", "pspReference": psp, "originalReference": "AUTH",
            "merchantReference": order_no, "merchantAccountCode": "ACCT",
            "amount": {"value": amount, "currency": "CNY"}, "eventDate": "2026-01-14T05:41:08+01:00"}
    facts = {**item, **item["amount"]}
    text = ":".join(str(facts[name]) for name in ADYEN_FIELDS).encode()
    proof = base64.b64encode(hmac.new(bytes.fromhex(ADYEN_KEY), text, hashlib.sha256).digest()).decode()
    return {**item, "additionalData": {"hmacSignature": proof} if sign else {}}


def test_one_item_that_is_not_proven_refuses_the_whole_record(ledger, db):
    with_channels(ledger, "adyen")
    books.register(db, "R1", "R2")
    keys = {"ADYEN_HMAC_KEY_FILE": key_file(ledger, "adyen", ADYEN_KEY)}
    touched = {**adyen_item("P2", "R2"), "amount": {"value": 9000, "currency": "CNY"}}
    send(ledger, adyen([adyen_item("P1", "R1"), touched]), "ADYEN")
    send(ledger, adyen([adyen_item("P1", "R1"), adyen_item("P2", "R2", sign=False)]), "ADYEN")
    assert ledger.drain(env=keys) == DONE
    assert books.claims(db) == [] and len(alarms(ledger)) == 2
    send(ledger, adyen([adyen_item("P1", "R1"), adyen_item("P2", "R2")]), "ADYEN")
    assert ledger.drain(env=keys) == DONE
    assert len(books.claims(db)) == 2 and books.statuses(db) == {"PAID": 2}


def test_without_a_key_the_worker_says_at_its_start_that_it_believes_what_comes(ledger):
    with_channels(ledger, "stripe", "envelope")
    worker = ledger.start()
    wait_until(lambda: "event=unverified" in worker.log_text(), "the warning", 30, ledger.logs())
    told, = [line for line in worker.log_text().splitlines() if "event=unverified" in line]
    assert "channel=STRIPE" in told and "STRIPE_ENDPOINT_SECRET_FILE" in told


def test_check_names_each_channel_that_is_believed_and_how_to_mend_it(postonce):
    with_channels(postonce, "stripe", "adyen", "envelope")
    env = {"ADYEN_HMAC_KEY_FILE": key_file(postonce, "adyen", ADYEN_KEY)}
    rows = json.loads(postonce.run("check", "-o", "json", check=False, env=env).stdout)["findings"]
    found, = [row for row in rows if row["area"] == "signatures"]
    assert found["state"] == "warning" and found["finding"].startswith("STRIPE: ")
    assert "STRIPE_ENDPOINT_SECRET_FILE" in found["mend"]
