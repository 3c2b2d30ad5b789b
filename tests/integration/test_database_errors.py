"""What the database may answer, and what becomes of the records then: nothing is lost, nothing is posted twice, and a
dead letter is written for a record at fault only."""
import books
import pytest
from pages import Pages
from support.worker import notification
from variables import server_wide

pytestmark = pytest.mark.both_databases

DONE = [0]
POSTED_PAID = ("POSTED", '{"posted":"PAID"}')
TABLES = ("claim", "outcome", "account", "entry", "balance", "payment_order", "outbox", "review", "failure",
          "dead_letter", "audit", "parked", "pause", "hold", "schema_version")


def lag(ledger):
    return ledger.kafka.lag(ledger.group, ledger.topic)


@pytest.fixture
def limited_user(ledger, db):
    """A user with the rights that a worker needs on each table, no more; the configuration names it."""
    user = db.name
    db.execute(f"CREATE USER {user} IDENTIFIED BY %s", db.password)
    for table in TABLES:
        db.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {db.name}.{table} TO {user}")
    ledger.configure({"mysql": {"user": user}})
    yield user
    db.execute(f"DROP USER {user}")


def settle(ledger, **options):
    """A worker until nothing is left: --until-end ends at a hold, and failures that are counted hold their record."""
    worker = ledger.start(**options)
    ledger.wait_for_lag(0)
    assert worker.stop() == 0


def publish_orders(ledger, db, count, **place):
    numbers = [f"R{n:03d}" for n in range(count)]
    books.register(db, *numbers)
    ledger.publish(*[notification(f"T{number}", number) for number in numbers], **place)


# A unique key said "already there".

def test_an_outcome_that_another_wrote_meanwhile_makes_a_duplicate(ledger, db):
    """Planted while the worker stands between its claim and its outcome, as another worker would."""
    publish_orders(ledger, db, 3, partition=0)
    worker = ledger.start("--until-end", failpoints="posting.locked=freeze@1")
    ledger.wait_for(lambda: "name=posting.locked action=freeze" in worker.log_text(), "the worker is frozen")
    assert books.count(db, "claim") == 3 and books.outcomes(db) == {}
    db.execute("INSERT INTO outcome SELECT id, 'DISCARDED', '{}', payload_hash, 1, 'elsewhere', 0, 7, 0, NULL,"
               " UTC_TIMESTAMP(6), NULL FROM claim WHERE idem_key = %s", books.key("TR001"))
    worker.thaw()
    assert worker.wait() == 0
    assert books.outcomes(db) == {books.key("TR000"): POSTED_PAID, books.key("TR002"): POSTED_PAID,
                                  books.key("TR001"): ("DISCARDED", "{}")}
    assert books.order(db, "R001") == ("PENDING_PAY", None, None, None)
    assert books.entries(db, books.key("TR001")) == [] and books.count(db, "outbox") == 2
    assert "verdict=DUPLICATE result={}" in worker.log_text()
    assert ledger.dead_letters() == [] and lag(ledger) == 0


@pytest.fixture
def false_1062(db):
    """The outcome of claims of R001 is refused as a duplicate that is not there."""
    db.execute("CREATE TRIGGER liar BEFORE INSERT ON outcome FOR EACH ROW BEGIN"
               " IF (SELECT order_no FROM claim WHERE id = NEW.claim_id) = 'R001' THEN"
               " SIGNAL SQLSTATE '23000' SET MYSQL_ERRNO = 1062, MESSAGE_TEXT = 'planted'; END IF; END")


def test_a_1062_that_no_outcome_explains_is_no_loop_and_no_duplicate(ledger, db, false_1062):
    ledger.configure({"dead_letter": {"attempts": 1}})
    publish_orders(ledger, db, 3, partition=0)
    assert ledger.drain() == DONE
    assert set(books.outcomes(db)) == {books.key("TR000"), books.key("TR002")}
    assert [(letter.reason, letter.offset) for letter in books.letters(db)] == [("BUG", 1)]
    assert "verdict=DUPLICATE" not in ledger.workers[0].log_text()


def test_a_1062_that_no_outcome_explains_stops_intake_when_nothing_else_posts(ledger, db, false_1062):
    pages = Pages()
    books.register(db, "R001")
    ledger.publish(notification("T1", "R001"))
    worker = ledger.start(changes=pages.options)
    ledger.wait_for(pages.is_red, "readiness is red")
    ledger.wait_for(lambda: worker.log_text().count("event=held") >= 2, "it is tried again")
    assert ledger.dead_letters() == [] and books.count(db, "failure") == 0 and books.outcomes(db) == {}
    db.execute("DROP TRIGGER liar")
    ledger.wait_for(lambda: books.outcomes(db) == {books.key("T1"): POSTED_PAID}, "it is posted")
    assert worker.stop() == 0 and lag(ledger) == 0


# An outage that a person must mend.

FAULTS = {
    "no_right_to_write_outcomes": ("REVOKE INSERT ON {db}.outcome FROM {user}",
                                   "GRANT INSERT ON {db}.outcome TO {user}", 1142),
    "no_right_to_move_orders": ("REVOKE UPDATE ON {db}.payment_order FROM {user}",
                                "GRANT UPDATE ON {db}.payment_order TO {user}", 1142, 1143),
    "table_missing": ("RENAME TABLE outbox TO elsewhere", "RENAME TABLE elsewhere TO outbox", 1146),
    "read_only": ("SET GLOBAL read_only = 1", "SET GLOBAL read_only = 0", 1290),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_outage_of_the_whole_stops_intake_and_dead_letters_nothing(ledger, db, limited_user, fault):
    strike, mend, *codes = (part.format(db=db.name, user=limited_user) if isinstance(part, str) else part
                          for part in FAULTS[fault])
    pages = Pages()
    books.register(db, "R0", "R1", "R2")
    ledger.publish(notification("T0", "R0"), partition=0)
    worker = ledger.start(changes=pages.options)
    ledger.wait_for(lambda: books.order(db, "R0").status == "PAID" and pages.is_ready(), "it works")
    db.execute(strike)
    try:
        ledger.publish(notification("T1", "R1"), partition=0)
        ledger.publish(notification("T2", "R2"), partition=1)
        ledger.wait_for(pages.is_red, "readiness is red")
        ledger.wait_for(lambda: worker.log_text().count("event=held") >= 3, "it probes")
        assert any(f"alarm=SYSTEMIC code={one}" in worker.log_text() for one in codes)
        assert pages.get("/healthz")[0] == 200
        assert set(books.outcomes(db)) == {books.key("T0")}
        assert books.count(db, "failure") == 0 and books.count(db, "dead_letter") == 0
        assert ledger.kafka.committed(ledger.group, ledger.topic)[0] in (None, 1)
    finally:
        db.execute(mend)
    ledger.wait_for(lambda: set(books.outcomes(db)) == {books.key(f"T{n}") for n in range(3)}, "it works again")
    ledger.wait_for(pages.is_ready, "it is ready again")
    assert worker.stop() == 0
    assert lag(ledger) == 0 and ledger.dead_letters() == [] and books.count(db, "failure") == 0
    assert books.statuses(db) == {"PAID": 3}


def test_a_schema_that_asks_for_newer_programs_stops_intake_when_a_worker_reconnects(ledger, db, limited_user):
    pages = Pages()
    books.register(db, "R0", "R1")
    ledger.publish(notification("T0", "R0"), partition=0)
    worker = ledger.start(changes=pages.options)
    ledger.wait_for(lambda: books.order(db, "R0").status == "PAID" and pages.is_ready(), "it works")
    db.execute("INSERT INTO schema_version (version, oldest_worker, started_at, finished_at)"
               " VALUES (900, 900, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))")
    for connection, in db.rows("SELECT id FROM information_schema.processlist WHERE user = %s", limited_user):
        db.execute("KILL %s", connection)
    ledger.publish(notification("T1", "R1"), partition=0)
    ledger.wait_for(pages.is_red, "readiness is red")
    ledger.wait_for(lambda: "install a newer postonce" in worker.log_text(), "the mend is told")
    assert set(books.outcomes(db)) == {books.key("T0")} and "alarm=SYSTEMIC" in worker.log_text()
    db.execute("DELETE FROM schema_version WHERE version = 900")
    ledger.wait_for(lambda: set(books.outcomes(db)) == {books.key("T0"), books.key("T1")}, "it works again")
    assert worker.stop() == 0 and ledger.dead_letters() == []


# A record at fault.

def test_a_row_that_a_check_refuses_is_isolated_and_the_rest_of_its_batch_posts(ledger, db):
    publish_orders(ledger, db, 500, partition=0)
    db.execute("ALTER TABLE payment_order ADD CONSTRAINT culprit CHECK (NOT (order_no = 'R250' AND status = 'PAID'))")
    settle(ledger)
    assert books.statuses(db) == {"PAID": 499, "PENDING_PAY": 1}
    assert books.letters(db) == [("DATABASE_REFUSED", 0, 250, 5)]
    assert db.rows("SELECT attempts, source_offset FROM failure") == [(5, 250)]
    letter, = ledger.dead_letters()
    assert dict(letter.headers)["postonce.attempts"] == b"5" and books.key("TR250").encode() in dict(
        letter.headers)["postonce.text"]
    assert books.order(db, "R250").status == "PENDING_PAY" and books.claim(db, books.key("TR250"))
    assert books.count(db, "outbox") == 499 and lag(ledger) == 0


def test_a_text_longer_than_its_column_is_the_record_s_fault(ledger, db):
    """The claim itself is refused, so nothing of it stands."""
    publish_orders(ledger, db, 20, partition=0)
    books.register(db, "R-with-a-long-number")
    db.execute("ALTER TABLE claim MODIFY order_no VARCHAR(10) NOT NULL")
    ledger.publish(notification("T99", "R-with-a-long-number"), notification("TR001", "R001"), partition=0)
    settle(ledger)
    assert books.statuses(db) == {"PAID": 20, "PENDING_PAY": 1}
    assert books.letters(db) == [("DATABASE_REFUSED", 0, 20, 5)]
    assert books.claim(db, books.key("T99")) is None and lag(ledger) == 0


def test_a_culprit_that_is_mended_between_its_failures_is_posted(ledger, db):
    publish_orders(ledger, db, 3, partition=0)
    db.execute("ALTER TABLE payment_order ADD CONSTRAINT culprit CHECK (NOT (order_no = 'R001' AND status = 'PAID'))")
    worker = ledger.start(changes={"dead_letter": {"attempts": 1000}})
    ledger.wait_for(lambda: (db.value("SELECT attempts FROM failure") or 0) >= 2, "it has failed twice")
    assert lag(ledger) == 2
    db.execute("ALTER TABLE payment_order DROP CONSTRAINT culprit")
    ledger.wait_for(lambda: books.statuses(db) == {"PAID": 3}, "it is posted")
    assert worker.stop() == 0
    assert lag(ledger) == 0 and ledger.dead_letters() == [] and books.count(db, "outbox") == 3


# Statements that are too large.

SMALL_PACKET_BYTES = 64 * 1024


def test_a_batch_too_large_for_one_statement_goes_in_parts(ledger, db):
    publish_orders(ledger, db, 500, partition=0)
    with server_wide(db, "max_allowed_packet", SMALL_PACKET_BYTES):
        assert ledger.drain() == DONE
    assert books.statuses(db) == {"PAID": 500} and books.count(db, "outbox") == 500
    assert ledger.dead_letters() == [] and books.count(db, "failure") == 0


def conflicts(ledger, db, body_bytes):
    """One settled payment, then records under its key with other amounts and large bodies; the amounts."""
    publish_orders(ledger, db, 2, partition=0)
    amounts = list(range(1, 1 + len(body_bytes)))
    ledger.publish(*[notification("TR000", "R000", amount_minor=amount, body="x" * size)
                     for amount, size in zip(amounts, body_bytes)], partition=0)
    ledger.publish(notification("TR001", "R001"), partition=0)
    return amounts


def test_reviews_too_large_for_one_statement_are_written_in_parts(ledger, db):
    amounts = conflicts(ledger, db, [20_000] * 5)
    with server_wide(db, "max_allowed_packet", SMALL_PACKET_BYTES):
        settle(ledger)
    assert sorted(review.amount for review in books.reviews(db)) == amounts
    assert lag(ledger) == 0 and ledger.dead_letters() == []


def test_a_review_that_no_statement_can_carry_is_a_dead_letter(ledger, db):
    conflicts(ledger, db, [100, 100_000, 100])
    with server_wide(db, "max_allowed_packet", SMALL_PACKET_BYTES):
        settle(ledger)
    assert sorted(review.amount for review in books.reviews(db)) == [1, 3]
    assert [(letter.reason, letter.offset) for letter in books.letters(db)] == [("STATEMENT_TOO_LARGE", 3)]
    assert books.statuses(db) == {"PAID": 2} and lag(ledger) == 0


# Locks.

def test_an_order_locked_by_another_session_is_waited_for(ledger, db):
    """1205 after the session's five seconds: tried again, nothing counted against the record."""
    publish_orders(ledger, db, 2, partition=0)
    with db.connect(autocommit=False) as other, other.cursor() as cursor:
        cursor.execute("SELECT * FROM payment_order WHERE order_no = 'R001' FOR UPDATE")
        worker = ledger.start()
        ledger.wait_for(lambda: "code=1205" in worker.log_text(), "a lock wait has timed out")
        assert books.count(db, "claim") == 2 and books.outcomes(db) == {}
        other.rollback()
    ledger.wait_for(lambda: books.statuses(db) == {"PAID": 2}, "both are posted")
    assert worker.stop() == 0
    assert lag(ledger) == 0 and ledger.dead_letters() == [] and books.count(db, "failure") == 0


def test_a_killed_connection_is_replaced_and_nothing_is_posted_twice(ledger, db):
    publish_orders(ledger, db, 2, partition=0)
    worker = ledger.start(failpoints="posting.before_commit=freeze@1")
    ledger.wait_for(lambda: "name=posting.before_commit" in worker.log_text(), "the worker stands before COMMIT")
    killed = [number for number, name in db.rows("SELECT id, db FROM information_schema.processlist WHERE"
                                                 " command = 'Sleep' AND db = %s AND id <> CONNECTION_ID()", db.name)]
    for number in killed:
        db.execute(f"KILL {number}")
    assert len(killed) == 1
    worker.thaw()
    ledger.wait_for(lambda: books.statuses(db) == {"PAID": 2}, "both are posted")
    assert worker.stop() == 0
    assert books.count(db, "outbox") == 2 and lag(ledger) == 0 and ledger.dead_letters() == []
