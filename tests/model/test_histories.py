"""Random histories on the real servers, against the model.

POSTONCE_MODEL_SEED repeats a run (each failure names its seed), POSTONCE_MODEL_EVENTS sets how many events one has.
"""
import collections
import os
import random
import threading

import pytest
import yaml
from histories import CURRENCIES, TENANTS, History, decimal
from ledger_model import PARKED, Ledger
from support.config import ROOT
from support.wait import wait_until

WORKERS = 3
SHIPPED = yaml.safe_load((ROOT / "deploy/postonce.yaml").read_text())
QUICK, WHOLE = 4_000, 110_000
SIZES = [QUICK, pytest.param(WHOLE, marks=[pytest.mark.slow, pytest.mark.timeout(3600)])]
Settled = collections.namedtuple("Settled", "tenant key verdict amount at turn")


def events(size):
    return int(os.environ.get("POSTONCE_MODEL_EVENTS", size))


def seed():
    return int(os.environ.get("POSTONCE_MODEL_SEED", random.SystemRandom().randint(1, 2**31)))


def configure(postonce):
    """The shipped machine; parked ones are tried again at once, and much may be refused."""
    envelopes = []
    for label in ("WECHAT", "ALIPAY", "SQB"):
        path = postonce.directory / f"{label}.yaml"
        path.write_text(f"channel: {label}\nbody: envelope\n")
        envelopes.append(str(path))
    totals = [str(ROOT / f"tests/data/model/totals-{tenant}.yaml") for tenant in TENANTS]
    postonce.configure({"channels": envelopes + totals, "events": None, "orders": None})
    postonce.configure({"events": SHIPPED["events"], "orders": SHIPPED["orders"],
                        "log": {"level": "error"},
                        "park": {"delays": ["200ms", "1s"]},
                        "dead_letter": {"attempts": 2, "max_per_minute": 1_000_000}})
    postonce.migrate()


def register(postonce, orders):
    rows = [(order.tenant, order.order_no, order.amount, order.currency, order.status) for order in orders]
    with postonce.db.connect() as connection, connection.cursor() as cursor:
        cursor.executemany("INSERT INTO payment_order (tenant_id, order_no, amount, currency, status)"
                           " VALUES (%s, %s, %s, %s, %s)", rows)


def register_late(postonce, orders):
    """By the command, which wakes what waits for them; in several files, while the workers are at it."""
    parts = [orders[at::5] for at in range(5)]
    for number, part in enumerate(parts):
        path = postonce.directory / f"late-{number}.csv"
        path.write_text("tenant_id,order_no,amount,currency\n" + "".join(
            f"{order.tenant},{order.order_no},{decimal(order.amount, CURRENCIES[order.currency])},{order.currency}\n"
            for order in part))
        postonce.run("order", "import", path)


def run(postonce, history):
    """Publishes and consumes it with several workers, one of which is killed on the way and replaced."""
    late = {(order.tenant, order.order_no) for order in history.late}
    register(postonce, [order for order in history.orders if (order.tenant, order.order_no) not in late])
    workers = [postonce.start() for _ in range(WORKERS)]
    publisher = threading.Thread(target=postonce.kafka.produce_many, args=(postonce.topic, [
        {"value": value, "headers": headers, "partition": history.random.randrange(4)}
        for value, headers in history.sent]))
    publisher.start()
    half = len(history.said) // 3
    postonce.wait_for(lambda: settled_count(postonce) > half, f"{half} are settled", 900)
    workers[0].kill()
    workers[0] = postonce.start()
    publisher.join()
    register_late(postonce, [order for order in history.late if order.status == "PENDING_PAY"])
    register(postonce, [order for order in history.late if order.status != "PENDING_PAY"])
    postonce.wait_for_lag(0, 900)
    return workers


def settled_count(postonce):
    return postonce.db.value("SELECT COUNT(*) FROM outcome")


def settled(postonce):
    """What was settled, in the order of each order's settling."""
    return [Settled(*row) for row in postonce.db.rows(
        "SELECT c.tenant_id, c.idem_key, o.verdict, c.amount, o.settled_at, o.turn FROM outcome o"
        " JOIN claim c ON c.id = o.claim_id ORDER BY o.settled_at, o.turn, o.claim_id")]


def by_key(history):
    """{(tenant, key): [what was said under it]}"""
    said = collections.defaultdict(list)
    for notification in history.said:
        said[notification.key].append(notification)
    return said


def database_books(postonce):
    db = postonce.db
    balances = {(tenant, code, currency): int(amount) for tenant, code, currency, amount in db.rows(
        "SELECT a.tenant_id, a.code, a.currency, SUM(b.amount) FROM account a JOIN balance b ON b.account_id = a.id"
        " GROUP BY a.tenant_id, a.code, a.currency")}
    orders = {(tenant, number): tuple(rest) for tenant, number, *rest in db.rows(
        "SELECT tenant_id, order_no, status, paid_channel, paid_txn, paid_amount, refunded, refund_reserved"
        " FROM payment_order")}
    return {account: amount for account, amount in balances.items() if amount}, orders


def model_books(ledger):
    orders = {key: (order.status, *(order.payment or (None, None, None)), order.refunded, order.reserved)
              for key, order in ledger.orders.items()}
    return {account: amount for account, amount in ledger.balances().items() if amount}, orders


def assert_same(found, expected, what):
    different = {key: (found.get(key), expected.get(key)) for key in found.keys() | expected.keys()
                 if found.get(key) != expected.get(key)}
    assert not different, f"{what}: {len(different)} differ, (database, model): {list(different.items())[:5]}"


def assert_money_is_conserved(postonce):
    sums = postonce.db.rows("SELECT currency, SUM(amount) FROM entry GROUP BY currency HAVING SUM(amount) <> 0")
    assert sums == [], "money came from nowhere"


@pytest.mark.parametrize("size", SIZES)
def test_end_does_not_depend_on_the_order_of_arrival(postonce, size):
    number = seed()
    print(f"POSTONCE_MODEL_SEED={number}")
    history = History(number, events(size), wild=False)
    configure(postonce)
    workers = run(postonce, history)
    distinct = len({notification.key for notification in history.said})
    postonce.wait_for(lambda: settled_count(postonce) == distinct, f"seed {number}: all {distinct} are settled", 300)
    assert [worker.stop() for worker in workers] == [0] * WORKERS

    ledger = Ledger(history.orders)
    for notification in history.said:   # said in true order within each order
        assert ledger.apply(notification) != PARKED
    balances, orders = database_books(postonce)
    expected_balances, expected_orders = model_books(ledger)
    assert_same(balances, expected_balances, f"seed {number}: balances")
    assert_same(orders, expected_orders, f"seed {number}: orders")
    assert_money_is_conserved(postonce)


def replayed_in_order_of_settling(postonce, history):
    """The model, fed as the database settled; it must come to the same verdicts."""
    ledger, said = Ledger(history.orders), by_key(history)
    for row in settled(postonce):
        variants = said[row.tenant, row.key]
        notification = next(one for one in variants if one.amount == row.amount)
        verdict = ledger.apply(notification)
        assert verdict == row.verdict, f"{row.key}: the database says {row.verdict}, the model {verdict}: {notification}"
    return ledger


def unsettled(postonce):
    """[(tenant, key, parked)] of claims without outcome."""
    return postonce.db.rows("SELECT c.tenant_id, c.idem_key, p.claim_id IS NOT NULL FROM claim c"
                            " LEFT JOIN outcome o ON o.claim_id = c.id LEFT JOIN parked p ON p.claim_id = c.id"
                            " WHERE o.claim_id IS NULL")


def assert_what_waits_must_wait(ledger, said, rows):
    for tenant, key, parked in rows:
        verdicts = {ledger.apply(notification) for notification in said[tenant, key]}
        assert not parked or PARKED in verdicts, f"{key} is parked, and the model says {verdicts}"


def has_come_to_rest(postonce):
    """Nothing that is parked has not been tried since everything else was settled."""
    before = settled_count(postonce)
    tries = postonce.db.value("SELECT COALESCE(MIN(tries), 99) FROM parked")
    wait_until(lambda: postonce.db.value("SELECT COALESCE(MIN(tries), 99) FROM parked") > tries + 1 or tries == 99,
               "every parked one is tried twice more", 120, postonce.logs())
    return settled_count(postonce) == before


@pytest.mark.parametrize("size", SIZES)
def test_any_history_ends_as_the_model_in_the_order_of_settling(postonce, size):
    number = seed()
    print(f"POSTONCE_MODEL_SEED={number}")
    history = History(number, events(size), wild=True)
    configure(postonce)
    workers = run(postonce, history)
    postonce.wait_for(lambda: has_come_to_rest(postonce), f"seed {number}: nothing moves any more", 300)
    assert [worker.stop() for worker in workers] == [0] * WORKERS

    ledger = replayed_in_order_of_settling(postonce, history)
    balances, orders = database_books(postonce)
    expected_balances, expected_orders = model_books(ledger)
    assert_same(balances, expected_balances, f"seed {number}: balances")
    assert_same(orders, expected_orders, f"seed {number}: orders")
    assert_money_is_conserved(postonce)
    assert_what_waits_must_wait(ledger, by_key(history), unsettled(postonce))
