"""tests/invariants.sql finds what it is there to find: one broken row at a time, and every query is met."""
from support.database import INVARIANTS, statements

CLAIM = "INSERT INTO claim (id, tenant_id, idem_key, channel, event_type, order_no, amount, currency, payload_hash," \
        " hash_version, source_topic, source_partition, source_offset, deliveries, created_at, last_seen_at) VALUES"
OUTCOME = "INSERT INTO outcome (claim_id, verdict, result_json, payload_hash, hash_version, source_topic," \
          " source_partition, source_offset, turn, settled_at) VALUES"
NOW = "UTC_TIMESTAMP(6)"
HASH = "REPEAT('x', 32)"


def claim(number, order="O1", txn=None, amount="1000", currency="'CNY'", event="PAID_EVENT"):
    return f"{CLAIM} ({number}, 1, 'WECHAT:{txn or f'T{number}'}:{event}', 'WECHAT', '{event}', '{order}', {amount}," \
           f" {currency}, {HASH}, 1, 't', 0, {number}, 1, {NOW}, {NOW})"


def outcome(number, verdict="POSTED", result='{"posted":"PAID"}', fingerprint=HASH):
    return f"{OUTCOME} ({number}, '{verdict}', '{result}', {fingerprint}, 1, 't', 0, {number}, 0, {NOW})"


def entries(number, *lines):
    """lines: (account, amount, currency)"""
    return "INSERT INTO entry VALUES " + ", ".join(
        f"({number}, {place}, {account}, {amount}, '{currency}')"
        for place, (account, amount, currency) in enumerate(lines))


def reversal(number, of):
    return outcome(number, result='{"posted":"FAILED"}').replace("settled_at)", "settled_at, reverses)")[:-1] + f", {of})"


def refund(number, status="SUCCEEDED", reserved=0, claim_id="NULL", order="O1"):
    txn = "NULL" if claim_id == "NULL" else "'R1'"
    return f"INSERT INTO refund VALUES (1, '{number}', '{order}', 10, 'CNY', '{status}', {reserved}, 'WECHAT', {txn}," \
           f" {claim_id}, 'NOTICE', {NOW}, NULL)"


def order(number, txn, status="PAID", moved=NOW):
    return "INSERT INTO payment_order (tenant_id, order_no, amount, currency, status, paid_channel, paid_txn," \
           f" paid_amount, moved_at) VALUES (1, '{number}', 1000, 'CNY', '{status}', 'WECHAT', '{txn}', 1000, {moved})"


def outbox(identity, number):
    return "INSERT INTO outbox (id, aggregatetype, aggregateid, type, payload, created_at) VALUES" \
           f" ('{identity}', 'order', 'O1', 'ORDER_PAID', '{{\"claim_id\": {number}}}', {NOW})"


def account(number, tenant=1, currency="CNY"):
    return f"INSERT INTO account VALUES ({number}, {tenant}, 'a{number}', '{currency}', {NOW})"


BOTH = [(1, 1000, "CNY"), (2, -1000, "CNY")]
IN_ORDER = [
    account(1), account(2), account(3, tenant=2), account(4, currency="USD"), account(5),
    claim(1), outcome(1), entries(1, *BOTH), order("O1", "T1"), outbox("u1", 1),
    "INSERT INTO balance VALUES (1, 0, 400), (1, 1, 600), (2, 0, -1000), (5, 0, 0)",
    # All of these are in order, too: no money; no lines anywhere of the event; another content accepted; a person's
    # word; an order that a service inserted with a payment of its own.
    claim(2, amount="NULL", currency="NULL"), outcome(2, result="{}"),
    claim(3, event="NEWS"), outcome(3, result="{}"),
    claim(4, currency="'USD'"), outcome(4, result="{}", fingerprint="REPEAT('y', 32)"),
    entries(4, (1, 0, "CNY"), (2, 0, "CNY")),
    claim(5), outcome(5, "DISCARDED", "{}"),
    order("O5", "elsewhere", moved="NULL"),
    # A refund that stands, one that is reserved, one that was taken back: they moved an order that a service inserted.
    order("O6", "elsewhere"), "UPDATE payment_order SET refunded = 10, refund_reserved = 10 WHERE order_no = 'O6'",
    claim(6, "O6", event="REFUND"), outcome(6, result='{"posted":"SUCCEEDED"}'), refund("F6", claim_id=6, order="O6"),
    entries(6, (1, 10, "CNY"), (2, -10, "CNY")), refund("F7", "REGISTERED", 10, order="O6"),
    claim(7, "O6", event="REFUND"), outcome(7, result='{"posted":"SUCCEEDED"}'), refund("F8", "FAILED", order="O6"),
    entries(7, (1, 10, "CNY"), (2, -10, "CNY")),
    claim(8, "O6", event="REFUND_FAILED"), reversal(8, 7), entries(8, (1, -10, "CNY"), (2, 10, "CNY")),
    "UPDATE balance SET amount = amount + IF(account_id = 1, 10, -10) WHERE slot = 0 AND account_id < 3",
]
BROKEN = {
    "outcome without claim": [outcome(9, "SKIPPED", "{}")],
    "entry without outcome": [claim(9), entries(9, (1, 0, "CNY"))],
    "unbalanced": [claim(9), outcome(9, result="{}"), entries(9, (1, 7, "CNY"), (2, -6, "CNY")),
                   "UPDATE balance SET amount = amount + IF(account_id = 1, 7, -6) WHERE slot = 0 AND account_id < 3"],
    "entries of a verdict without money": [claim(9), outcome(9, "SKIPPED", "{}"), entries(9, (1, 0, "CNY"))],
    "money without entries": [claim(9), outcome(9, result="{}")],
    "currency differs from account": ["UPDATE account SET currency = 'EUR' WHERE id = 1"],
    "entry of another tenant or currency": ["UPDATE account SET tenant_id = 2 WHERE id = 1"],
    "entry without account": ["DELETE FROM account WHERE id = 1"],
    "balance without account": ["DELETE FROM account WHERE id = 5"],
    "balance differs": ["UPDATE balance SET amount = 601 WHERE account_id = 1 AND slot = 1"],
    "entries without balance": ["DELETE FROM balance WHERE account_id = 2"],
    "outbox without posting": [outbox("u2", 5)],
    "outbox row twice": [outbox("u1", 1)],
    "order paid twice": [claim(9), outcome(9), entries(9, (1, 0, "CNY"))],
    "order names another payment": ["UPDATE payment_order SET paid_txn = 'T2' WHERE order_no = 'O1'"],
    "order paid by nothing settled": [order("O9", "T9"), claim(9, "O9")],
    "refunds differ": ["UPDATE payment_order SET refunded = 11 WHERE order_no = 'O6'"],
    "refunded beyond what was paid": ["UPDATE payment_order SET refund_reserved = 991 WHERE order_no = 'O6'"],
    "refund without order": [refund("F9", "FAILED", order="O9")],
    "refund without its posting": ["UPDATE refund SET status = 'FAILED' WHERE refund_no = 'F6'"],
    "posting without its refund": ["UPDATE refund SET claim_id = NULL, txn = NULL WHERE refund_no = 'F6'"],
    "reversal of nothing": [claim(9), reversal(9, 999)],
    "reversal is no negation": ["UPDATE entry SET amount = -11 WHERE claim_id = 8 AND line = 0"],
    "review without claim": ["INSERT INTO review (tenant_id, claim_id, reason, fingerprint, first_fingerprint, order_no,"
                             " source_topic, source_partition, source_offset, state, created_at)"
                             f" VALUES (1, 9, 'ORPHAN', {HASH}, {HASH}, 'O1', 't', 0, 0, 'OPEN', {NOW})"],
    "parked without claim": [f"INSERT INTO parked VALUES (9, 1, 'O1', 'WECHAT', 'TOO_EARLY', {NOW}, {NOW}, {NOW}, 0,"
                             " '{}', '', NULL, NULL)"],
}
MORE = {
    "entry of another tenant or currency": [claim(9, currency="'USD'"), outcome(9, result="{}"),
                                            entries(9, (1, 0, "CNY"))],
    "refund without its posting": [refund("F9", "FAILED", claim_id=7, order="O6")],
    "money without entries": [claim(9, event="NEVER_POSTED"), outcome(9, "SUSPENSE", '{"suspense":"PAID"}')],
}


def found(cursor):
    """The names of the queries of the file that return rows, and of all."""
    names, all_names = set(), set()
    for statement in statements(INVARIANTS.read_text()):
        all_names.add(statement.split("'")[1])
        cursor.execute(statement)
        names |= {row[0] for row in cursor.fetchall()}
    return names, all_names


def test_every_invariant_finds_its_broken_row_and_nothing_where_all_is_in_order(ledger, db):
    with db.connect(autocommit=False) as connection, connection.cursor() as cursor:
        for statement in IN_ORDER:
            cursor.execute(statement)
        names, all_names = found(cursor)
        assert names == set()
        for name, statements_of in [*BROKEN.items(), *MORE.items()]:
            cursor.execute("SAVEPOINT in_order")
            for statement in statements_of:
                cursor.execute(statement)
            assert name in found(cursor)[0], f"not found: {name}"
            cursor.execute("ROLLBACK TO in_order")
        connection.rollback()
    assert not all_names - BROKEN.keys(), "an invariant that no broken row was tried on"
