"""The statements that lock or read many rows at once, as the program itself sends them: they go by key at every size
of their tables, so a batch locks its own rows and no others.

The texts are taken from the wire by the proxy, session settings included: what is explained here cannot drift from
what the program does."""
import collections
import json
import re
import time

import books
import pymysql
import pytest
from support import relay
from support.worker import notification

pytestmark = pytest.mark.both_databases

ASKED, LARGEST = 500, 5000  # batch.max_records: what these tests work with, and the most that it may be
SIZES = [1, 600, 2000, 1_000_000]
CLAIM_ROWS_MAX = 30_000  # they have a second key to fill; the optimizer has long decided by then
FILL_LIMIT_S = 60
# Half of them close together, half far apart: each size has some.
NUMBERS = sorted({*range(1, ASKED, 2), *(1000 + 3990 * n for n in range(ASKED // 2))})
Statements = collections.namedtuple("Statements", "session lock_orders read_fresh read_claims move_orders")


def number(n):
    return f"O{n:08d}"


def capture(ledger, db, proxy):
    """The statements of one batch of ASKED notifications. Each is struck once: the worker comes again with it."""
    session = [proxy.drop_query("^SET SESSION TRANSACTION"), proxy.drop_query("^SET NAMES")]
    wanted = [proxy.drop_query("FROM payment_order .* FOR UPDATE$"),
              proxy.drop_query(r"FROM claim c FORCE INDEX \(PRIMARY\)"),
              proxy.drop_query(r"FROM claim c FORCE INDEX \(uk_idem\)"),  # when the same records come again
              proxy.drop_query("^INSERT INTO payment_order .* ON DUPLICATE KEY UPDATE")]  # what is left as text
    books.register(db, *map(number, NUMBERS))
    ledger.publish(*[notification(f"T{n:08d}", number(n)) for n in NUMBERS], partition=0)
    worker = ledger.start(changes={"mysql": {"host": proxy.host, "port": proxy.port}})
    for trap in [*session, *wanted]:
        ledger.wait_for(trap.struck.is_set, f"the program sends {trap.pattern.pattern}")
    worker.kill()
    lock_orders, read_fresh, read_claims, move_orders = (trap.text for trap in wanted)
    assert lock_orders.count("'O0") == len(NUMBERS) == read_claims.count("'WECHAT:T0"), "one batch, one statement"
    for table in ("claim", "outcome", "entry", "outbox", "balance", "account", "payment_order"):
        db.execute(f"DELETE FROM {table}")
    return Statements([trap.text for trap in session], lock_orders, read_fresh, read_claims, move_orders)


def widened(text, values):
    """The statement of a batch with other values in its list: of the largest batch that may be configured."""
    text, lists = re.subn(r" IN \([^()]*\)", " IN ('" + "','".join(values) + "')", text)
    assert lists == 1, text[:300]
    return text


def moves_of(statements, numbers):
    """The statement that moves orders, for other orders; and how many it moves."""
    numbers = iter(numbers)
    text, count = re.subn(r"'O\d{8}'", lambda _: f"'{number(next(numbers))}'", statements.move_orders)
    assert count > 30, "no more than a few were left for a text"
    return text, count


def session(db, statements):
    """A connection set up as the program sets up its own."""
    connection = db.connect()
    with connection.cursor() as cursor:
        for text in statements.session:
            cursor.execute(text)
    return connection


def doubling(db, insert, size, step=1):
    """Fills a table whose `amount` counts its rows: each row's copy is as many rows further on."""
    began = time.monotonic()
    there = 1
    with db.connect() as connection, connection.cursor() as cursor:
        if db.kind == "mysql":
            cursor.execute("SET SESSION sql_log_bin = 0")
        while there < size:
            more = min(there, size - there)
            cursor.execute(insert.format(more=there), (more,))
            there += more
            assert time.monotonic() - began < FILL_LIMIT_S, f"{there} of {size} rows in {FILL_LIMIT_S} s"


def fill_orders(db, size):
    books.register(db, number(1), amount=1)
    doubling(db, "INSERT INTO payment_order (tenant_id, order_no, amount, currency, status)"
                 " SELECT tenant_id, CONCAT('O', LPAD(amount + {more}, 8, '0')), amount + {more}, currency, status"
                 " FROM payment_order WHERE amount <= %s", size)
    assert books.count(db, "payment_order") == size


def fill_claims(db, size):
    db.execute("INSERT INTO claim SELECT NULL, 1, 'WECHAT:T00000001:PAYMENT_RECEIVED', 'WECHAT', 'PAYMENT_RECEIVED',"
               " 'O', 1, 'CNY', REPEAT('x', 32), 1, 't', 0, 1, 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), NULL")
    doubling(db, "INSERT INTO claim SELECT NULL, tenant_id, CONCAT('WECHAT:T', LPAD(amount + {more}, 8, '0'),"
                 " ':PAYMENT_RECEIVED'), channel, event_type, order_no, amount + {more}, currency, payload_hash,"
                 " hash_version, source_topic, 0, amount + {more}, 1, created_at, last_seen_at, made_by"
                 " FROM claim WHERE amount <= %s", size)
    db.execute("INSERT INTO outcome SELECT id, 'DISCARDED', '{{}}', payload_hash, 1, 't', 0, source_offset, 0, NULL,"
               " UTC_TIMESTAMP(6), NULL FROM claim WHERE MOD(amount, 4) <> 0".replace("{{}}", "{}"))


def plan(connection, statement):
    """{table: its line of EXPLAIN}"""
    with connection.cursor(pymysql.cursors.DictCursor) as cursor:
        cursor.execute("EXPLAIN FORMAT=TRADITIONAL " + statement)
        return {line["table"]: line for line in cursor.fetchall()}


def handlers(connection):
    with connection.cursor() as cursor:
        cursor.execute("SHOW SESSION STATUS LIKE 'Handler\\_read\\_%'")
        return {name.lower(): int(value) for name, value in cursor.fetchall()}


def rows_read(connection, statement):
    """How the server went about it: rows read by key, by the next one of a range, by scanning. Rolled back."""
    with connection.cursor() as cursor:
        cost_of_asking = {name: -value for name, value in handlers(connection).items()}
        for name, value in handlers(connection).items():
            cost_of_asking[name] += value
        before = handlers(connection)
        cursor.execute("BEGIN")
        cursor.execute(statement)
        found = cursor.rowcount
        cursor.execute("ROLLBACK")
        after = handlers(connection)
    return found, {name: after[name] - before[name] - cost_of_asking[name] for name in after}


def check_by_key(connection, statement, tables, about, scanned_most=0):
    """tables: {name in the statement: (key, types)}. about: how many keys it names."""
    lines = plan(connection, statement)
    for table, (key, types) in tables.items():
        line = lines[table]
        assert line["type"] in types and (line["key"] == key or line["type"] == "ALL"), lines
        assert int(line["rows"]) <= 2 * about and "filesort" not in (line["Extra"] or ""), lines
    found, read = rows_read(connection, statement)
    scanned = read["handler_read_rnd_next"] + read["handler_read_first"] + read["handler_read_last"]
    assert scanned <= scanned_most, read
    assert read["handler_read_key"] + read["handler_read_next"] <= len(tables) * 2 * about + 2, read
    return found


@pytest.mark.parametrize("size", SIZES)
def test_the_locking_read_and_the_update_of_orders_go_by_primary_key(ledger, db, proxy, size):
    statements = capture(ledger, db, proxy)
    fill_orders(db, size)
    expected = sum(n <= size for n in NUMBERS)
    with session(db, statements) as connection:
        for analyzed in (False, True):  # before and after the server has counted the table
            if analyzed:
                db.rows("ANALYZE TABLE payment_order")
            found = check_by_key(connection, statements.lock_orders,
                                 {"payment_order": ("PRIMARY", ("range", "const", "eq_ref"))}, ASKED)
            assert found == expected
            most = widened(statements.lock_orders, map(number, range(1, LARGEST + 1)))
            assert check_by_key(connection, most, {"payment_order": ("PRIMARY", ("range", "const", "eq_ref"))},
                                LARGEST) == min(size, LARGEST)
            if size < ASKED:
                continue
            text, count = moves_of(statements, range(1, size))
            affected, read = rows_read(connection, text)
            assert affected == 2 * count, "each was found as it was read"
            assert read["handler_read_rnd_next"] == 0 and read["handler_read_key"] <= 2 * count, read


@pytest.mark.parametrize("size", [min(size, CLAIM_ROWS_MAX) for size in SIZES])
def test_the_claim_read_goes_by_the_unique_key_and_the_outcome_by_its_primary_key(ledger, db, proxy, size):
    statements = capture(ledger, db, proxy)
    fill_claims(db, size)
    with session(db, statements) as connection:
        for analyzed in (False, True):
            if analyzed:
                db.rows("ANALYZE TABLE claim, outcome")
            outcome = ("PRIMARY", ("eq_ref", "const"))
            if size == 1:  # it locks nothing, and a table of no more than a row may be read as it is
                outcome = (outcome[0], (*outcome[1], "ALL")) if db.kind == "mysql" else outcome
            found = check_by_key(connection, statements.read_claims,
                                 {"c": ("uk_idem", ("range", "const")), "o": outcome}, ASKED,
                                 scanned_most=4 if size == 1 else 0)
            assert found == sum(n <= size for n in NUMBERS)
            if size > ASKED:
                line = plan(connection, statements.read_fresh)["c"]
                assert (line["key"], line["type"]) == ("PRIMARY", "range") and int(line["rows"]) <= 2 * ASKED, line
    db.execute("DELETE FROM outcome")


def fill_parked(db, size):
    """From as many as were parked, all of which await a payment that is settled."""
    db.execute("UPDATE parked p JOIN claim c ON c.id = p.claim_id SET p.awaits = c.idem_key")
    db.execute("INSERT INTO outcome SELECT id, 'DISCARDED', '{}', payload_hash, 1, 't', 0, source_offset, 0, NULL,"
               " UTC_TIMESTAMP(6), NULL FROM claim")
    if size == 1:
        db.execute("DELETE FROM parked ORDER BY claim_id DESC LIMIT %s", books.count(db, "parked") - 1)
    while (there := books.count(db, "parked")) < size:
        db.execute("INSERT INTO parked SELECT claim_id + %s, tenant_id, order_no, channel, reason, due_at,"
                   " first_parked_at, waits_since, tries, notification, raw, begun_at, awaits FROM parked",
                   1000 * there)


@pytest.mark.parametrize("size", [1, ASKED, CLAIM_ROWS_MAX])
def test_the_look_for_what_parked_rows_missed_goes_by_key(ledger, db, proxy, size):
    look = proxy.drop_query(r"FROM parked p FORCE INDEX \(PRIMARY\) LEFT JOIN")
    ledger.publish(*[notification(f"T{n:08d}", number(n)) for n in NUMBERS], partition=0)
    worker = ledger.start(changes={"mysql": {"host": proxy.host, "port": proxy.port}})
    ledger.wait_for(look.struck.is_set, "what was parked is looked after")
    worker.kill()
    fill_orders(db, size)
    fill_parked(db, size)
    with db.connect() as connection:
        for analyzed in (False, True):
            if analyzed:
                db.rows("ANALYZE TABLE parked, payment_order, claim, outcome")
            single = ("eq_ref", "const")
            found = check_by_key(connection, look.text,
                                 {"p": ("PRIMARY", ("range", "const")), "o": ("PRIMARY", single),
                                  "c": ("uk_idem", single), "s": ("PRIMARY", single)}, ASKED)
            assert found == min(size, len(NUMBERS))
    for table in ("parked", "outcome"):
        db.execute(f"DELETE FROM {table}")


def test_disjoint_batches_on_a_small_table_do_not_wait_for_each_other(ledger, db, proxy):
    """600 orders, every second one of each batch: neighbours in the index."""
    statements = capture(ledger, db, proxy)
    fill_orders(db, 600)
    other = re.sub(r"'O(\d{8})'", lambda found: f"'{number(int(found[1]) + 1)}'", statements.lock_orders)
    assert not set(re.findall(r"'O\d{8}'", other)) & set(re.findall(r"'O\d{8}'", statements.lock_orders))
    with session(db, statements) as first, session(db, statements) as second:
        with first.cursor() as holder, second.cursor() as waiter:
            holder.execute("BEGIN")
            assert holder.execute(statements.lock_orders) > 200
            waiter.execute("SET SESSION innodb_lock_wait_timeout = 1")
            waiter.execute("BEGIN")
            assert waiter.execute(other) > 200
            for cursor, numbers in ((holder, range(1, 600, 2)), (waiter, range(2, 600, 2))):
                text, count = moves_of(statements, numbers)
                assert cursor.execute(text) == 2 * count  # moving them locks no neighbour
            with session(db, statements) as third, third.cursor() as registrar:
                registrar.execute("SET SESSION innodb_lock_wait_timeout = 1")  # and no gap between them
                assert registrar.execute("INSERT INTO payment_order (tenant_id, order_no, amount, currency, status)"
                                         f" VALUES (1, '{number(1)}x', 1, 'CNY', 'PENDING_PAY')") == 1
            # The locks are real: one order of the holder's makes the waiter wait.
            with pytest.raises(pymysql.err.OperationalError) as refused:
                waiter.execute(f"SELECT 1 FROM payment_order WHERE tenant_id = 1 AND order_no = '{number(1)}'"
                               " FOR UPDATE")
            assert refused.value.args[0] == 1205


def test_a_worker_frozen_on_its_orders_keeps_no_other_from_theirs(ledger, db):
    """The same, with two workers: one stands still behind its locking read, the other finishes its batch."""
    other_topic = ledger.kafka.topic(1)
    books.register(db, *map(number, range(600)))
    ledger.publish(*[notification(f"T{n:08d}", number(n)) for n in range(0, 600, 2)], partition=0)
    ledger.kafka.produce_many(other_topic, [json.dumps(notification(f"T{n:08d}", number(n)))
                                            for n in range(1, 600, 2)])
    frozen = ledger.start(failpoints="posting.locked=freeze@1")
    ledger.wait_for(lambda: "name=posting.locked action=freeze" in frozen.log_text(), "the first one is frozen")
    held = books.count(db, "claim")
    assert held > 100 and books.count(db, "outcome") == 0, "nothing to wait for"
    second = ledger.start(changes={"kafka": {"group.id": f"{ledger.group}-2"},
                                   "topics": {ledger.topic: None, other_topic: {}}})
    ledger.wait_for(lambda: books.count(db, "outcome") == 300, "the second one has posted all of its own", timeout=15)
    assert "event=outage" not in second.log_text()
    assert {int(found[1:]) % 2 for found, in db.rows("SELECT order_no FROM payment_order"
                                                     " WHERE status = 'PAID'")} == {1}
    frozen.thaw()
    ledger.wait_for(lambda: books.statuses(db) == {"PAID": 600}, "the first one goes on")


def test_the_mark_of_the_relay_goes_by_primary_key_and_waits_for_no_posting_under_way(postonce, db, proxy):
    relay.begin(postonce)
    relay.post(postonce, ["R1", "R2"])
    session, mark = proxy.drop_query("^SET SESSION TRANSACTION"), proxy.drop_query("^UPDATE outbox ")
    running = postonce.start(command="relay", changes={"mysql": {"host": proxy.host, "port": proxy.port}})
    for trap in (session, mark):
        postonce.wait_for(trap.struck.is_set, f"the relay sends {trap.pattern.pattern}")
    running.kill()
    db.execute("UPDATE outbox SET published_at = NULL")  # it may have come again
    with db.connect() as posting, db.connect() as marking, posting.cursor() as holder, marking.cursor() as waiter:
        line = plan(marking, mark.text)["outbox"]
        assert line["type"] == "range" and line["key"] == "PRIMARY", line
        holder.execute("BEGIN")
        holder.execute("INSERT INTO outbox (id, aggregatetype, aggregateid, type, payload, created_at)"
                       " VALUES ('under way', 'order', '1:R3', 'ORDER_PAID', '{}', UTC_TIMESTAMP(6))")
        waiter.execute(session.text)
        waiter.execute("SET SESSION innodb_lock_wait_timeout = 1")
        assert waiter.execute(mark.text) == 4


def test_the_count_of_recent_letters_passes_no_other_word_of_the_audit(ledger, db, proxy):
    db.execute("INSERT INTO audit (at, who, verb, what, why) VALUES "
               + ", ".join(["(UTC_TIMESTAMP(6), 'w', 'order set', '1 O1', 'why')"] * 1000))
    count = proxy.drop_query("FROM dead_letter WHERE created_at")
    ledger.kafka.produce_many(ledger.topic, ["no notification"])
    worker = ledger.start(changes={"mysql": {"host": proxy.host, "port": proxy.port}})
    ledger.wait_for(count.struck.is_set, "recent letters are counted")
    worker.kill()
    with db.connect() as connection:
        _, read = rows_read(connection, count.text)
    assert sum(read.values()) < 20, read
