"""The payloads of all channels, twice and in any order, through two workers: the books are those that a second
implementation works out (support/expected_books.py)."""
import collections
import os
import random

import yaml
from support import expected_books
from support.config import ROOT

PROFILES = {"WECHAT": "deploy/channels/wechat.yaml", "ALIPAY": "deploy/channels/alipay.yaml",
            "SQB": "deploy/channels/sqb.yaml", "STRIPE": "deploy/channels/stripe.yaml",
            "ADYEN": "deploy/channels/adyen.yaml", "CLOUDEVENTS": "deploy/channels/cloudevents.yaml",
            "PAYPAL": "tests/data/paypal.yaml", "GENERIC": "tests/data/generic.yaml"}
TENANTS = {label: 11 + place for place, label in enumerate(PROFILES)}
KEYS = ROOT / "tests/data/channel/keys"
KEY_FILES = {"WECHAT_APIV3_KEY_FILE": str(KEYS / "wechat-apiv3"), "WECHAT_APIV2_KEY_FILE": str(KEYS / "wechat-apiv2")}

EVENTS = yaml.safe_load((ROOT / "deploy/postonce.yaml").read_text())["events"]


def profiles_of_their_tenants(directory):
    """Copies of the profiles, each with its own tenant."""
    paths = []
    for label, path in PROFILES.items():
        profile = {**yaml.safe_load((ROOT / path).read_text()), "tenant": TENANTS[label]}
        target = directory / f"{label}.yaml"
        target.write_text(yaml.safe_dump(profile, sort_keys=False, allow_unicode=True))
        paths.append(str(target))
    return paths


def register_orders(db, payments):
    """Each order that a payment names, worth its largest payment."""
    rows = []
    for (tenant, order), events in payments.items():
        largest = max(events.values(), key=lambda event: event.amount)
        rows.append((tenant, order, largest.amount, largest.currency))
    with db.connect() as connection, connection.cursor() as cursor:
        cursor.executemany("INSERT INTO payment_order (tenant_id, order_no, amount, currency, status)"
                           " VALUES (%s, %s, %s, %s, 'PENDING_PAY')", rows)


def settled_keys(db):
    keys = collections.defaultdict(set)
    for tenant, key in db.rows("SELECT c.tenant_id, c.idem_key FROM outcome o JOIN claim c ON c.id = o.claim_id"):
        keys[tenant].add(key)
    return keys


def owed(db):
    """{(tenant, currency): what merchant and suspense accounts hold}"""
    return {(tenant, currency): int(amount) for tenant, currency, amount in db.rows(
        "SELECT c.tenant_id, e.currency, -SUM(e.amount) FROM entry e JOIN claim c ON c.id = e.claim_id"
        " JOIN account a ON a.id = e.account_id WHERE a.code LIKE 'merchant:%%:payable' OR a.code LIKE 'suspense:%%'"
        " GROUP BY c.tenant_id, e.currency")}


def publish_all(ledger, messages, seed):
    twice = messages * 2
    random.Random(seed).shuffle(twice)
    return ledger.kafka.produce_many(ledger.topic, [
        {"value": message.value,
         "headers": [("channel", message.label.encode()),
                     *((name, text.encode()) for name, text in message.headers.items())]} for message in twice])


def test_the_samples_of_all_channels_end_as_a_second_implementation_says(ledger, db, tmp_path):
    seed = int(os.environ.get("POSTONCE_TEST_SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"POSTONCE_TEST_SEED={seed}")
    ledger.configure({"channels": profiles_of_their_tenants(tmp_path), "events": EVENTS})
    messages = expected_books.messages()
    expected = expected_books.Books(messages, TENANTS, set(ledger.config["events"]))
    assert len(messages) > 70 and len(expected.keys) == len(PROFILES)  # nobody is left out by mistake
    register_orders(db, expected.payments)
    publish_all(ledger, messages, seed)

    workers = [ledger.start(env=KEY_FILES) for _ in range(2)]
    ledger.wait_for_lag()
    # Refunds that came before their payments.
    ledger.wait_for(lambda: db.value("SELECT COUNT(*) FROM parked") == 0, "nothing is parked")
    assert [worker.stop() for worker in workers] == [0, 0]

    assert settled_keys(db) == expected.keys
    assert db.value("SELECT COUNT(*) FROM outcome") == sum(map(len, expected.keys.values()))
    assert db.value("SELECT COUNT(*) FROM dead_letter") == 2 * len(expected.refused)
    assert len(ledger.dead_letters()) == 2 * len(expected.refused)
    assert owed(db) == dict(expected.owed)
    # Copies are no conflicts, and nothing else waits.
    assert db.value("SELECT COUNT(*) FROM review WHERE reason = 'PAYLOAD_CONFLICT'") == 0
    assert db.value("SELECT COUNT(*) FROM parked") == 0
    assert ledger.kafka.lag(ledger.group, ledger.topic) == 0
