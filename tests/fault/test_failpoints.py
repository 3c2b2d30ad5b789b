"""Every step of the protocol, struck once in each way, with a batch in hand that has something for every step."""
import pathlib
import re

import flood
import pytest
from support.worker import free_port

HERE = pathlib.Path(__file__).parent
SOURCES = HERE.parent.parent / "src"

# What is durable when the first batch stands at the point: claims, outcomes, review rows, letters in the topic, their
# rows. Whatever is less than ALL is in flight.
NOTHING, CLAIMED, POSTED = (0, 0, 0, 0, 0), (24, 0, 0, 0, 0), (24, 24, 0, 0, 0)
REVIEWED, SENT, ALL = (24, 24, 1, 0, 0), (24, 24, 1, 1, 0), (24, 24, 1, 1, 1)
POINTS = {
    "batch.taken": NOTHING,
    "claim.begun": NOTHING,
    "claim.committed": CLAIMED,
    "posting.prepared": CLAIMED,
    "posting.begun": CLAIMED,
    "posting.locked": CLAIMED,
    "posting.fenced": CLAIMED,
    "posting.before_balances": CLAIMED,
    "posting.before_commit": CLAIMED,
    "posting.committed": POSTED,
    "batch.kept": REVIEWED,
    "letter.acknowledged": SENT,
    "letter.recorded": ALL,
    "settle.begun": ALL,
    "settle.stored": ALL,
}
POSTING = [point for point in POINTS if point.startswith("posting.")]
COUNT = 24
QUICK = {"kafka": {"session.timeout.ms": 600, "heartbeat.interval.ms": 150}}
pytestmark = pytest.mark.partitions(1)


def begin(postonce, **changes):
    """One batch: payments, a duplicate, a conflict, garbage, more payments."""
    postonce.configure({**QUICK, **changes})
    postonce.migrate()
    payments = flood.payments(COUNT)
    flood.register(postonce.db, payments)
    flood.publish(postonce, [*payments[:12], flood.in_other_words(payments[2]), dict(payments[4], amount_minor=7),
                             b"{ garbage", *payments[12:]], partitions=1)
    return payments


def durable(postonce):
    letters = {dict(letter.headers)["postonce.letter_id"] for letter in postonce.dead_letters()}
    tables = {table: postonce.db.value(f"SELECT COUNT(*) FROM {table}")
              for table in ("claim", "outcome", "review", "dead_letter")}
    return tables["claim"], tables["outcome"], tables["review"], len(letters), tables["dead_letter"]


def assert_all_is_right(postonce, payments):
    flood.assert_posted_once(postonce, payments, reviews=1, dead_letters=1)
    assert durable(postonce) == ALL
    assert postonce.db.rows("SELECT c.idem_key, r.amount FROM review r JOIN claim c ON c.id = r.claim_id") \
        == [("WECHAT:T000005:PAYMENT_RECEIVED", 7)]
    origins = {(headers["postonce.topic"], headers["postonce.offset"], letter.value)
               for letter in postonce.dead_letters() for headers in [dict(letter.headers)]}
    assert origins == {(postonce.topic.encode(), b"14", b"{ garbage")}
    assert postonce.kafka.committed(postonce.group, postonce.topic) == {0: COUNT + 3}


def test_every_failpoint_of_the_source_is_struck_here_or_in_a_test_of_its_own():
    text = "".join(path.read_text() for path in SOURCES.glob("**/*.c"))
    found = re.findall(r'PO_FAILPOINT\("([^"]+)"\)', text)
    others = "".join(path.read_text() for path in HERE.parent.glob("*/test_*.py") if path.name != "test_failpoints.py")
    assert set(POINTS) <= set(found)
    assert [point for point in found if point not in POINTS and point not in others] == []


@pytest.mark.parametrize("point", POINTS)
def test_killed_there_and_started_again_everything_is_right(postonce, db, point):
    payments = begin(postonce)
    struck = postonce.start(failpoints=f"{point}=kill@1")
    assert struck.wait() == -9
    assert flood.has_struck(struck, point, "kill")
    assert durable(postonce) == POINTS[point]
    assert postonce.kafka.committed(postonce.group, postonce.topic) == {0: None}, "nothing was in flight"
    assert postonce.drain() == [0]
    assert_all_is_right(postonce, payments)


@pytest.mark.parametrize("point", POINTS)
def test_failed_there_the_same_worker_brings_it_to_its_end(postonce, db, point):
    payments = begin(postonce)
    assert postonce.drain(failpoints=f"{point}=error@1") == [0]
    assert flood.has_struck(postonce.workers[0], point, "error")
    assert_all_is_right(postonce, payments)
    assert db.value("SELECT COUNT(*) FROM failure") == 0, "an outage was counted as the record's failure"


@pytest.mark.parametrize("point", POSTING)
def test_bug_in_the_whole_batch_is_nobodys_fault_when_each_passes_alone(postonce, db, point):
    payments = begin(postonce)
    assert postonce.drain(failpoints=f"{point}=bug@1") == [0]
    assert flood.has_struck(postonce.workers[0], point, "bug")
    assert_all_is_right(postonce, payments)
    assert db.value("SELECT COUNT(*) FROM failure") == 0


@pytest.mark.parametrize("point", POSTING)
def test_bug_of_a_record_alone_stops_intake_and_dead_letters_nothing(postonce, db, point):
    postonce.configure(QUICK)
    postonce.migrate()
    payments = flood.payments(1)
    flood.register(db, payments)
    flood.publish(postonce, payments, partitions=1)
    assert postonce.drain(failpoints=f"{point}=bug@1") == [0]
    assert flood.has_struck(postonce.workers[0], point, "bug")
    assert "alarm=SYSTEMIC" in postonce.workers[0].log_text()
    assert db.value("SELECT COUNT(*) FROM failure") == 0
    flood.assert_posted_once(postonce, payments)


def test_error_that_lasts_is_waited_out_and_dead_letters_nothing(postonce, db):
    payments = begin(postonce, dead_letter={"attempts": 2})
    worker = postonce.start(failpoints="posting.fenced=errors@1")
    postonce.wait_for(lambda: worker.log_text().count("event=held") >= 4, "held four times")
    assert flood.outcomes(db) == 0 and flood.unfinished(db) == COUNT
    assert db.value("SELECT COUNT(*) FROM failure") == 0
    worker.kill()
    assert postonce.drain() == [0]
    assert_all_is_right(postonce, payments)


def refuse(db, amount=None):
    """From now on the database has an answer to an entry (of that amount) that no program knows: 1644."""
    condition = "TRUE" if amount is None else f"ABS(NEW.amount) = {amount}"
    db.execute(f"CREATE TRIGGER refusing BEFORE INSERT ON entry FOR EACH ROW"
               f" IF {condition} THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'; END IF")


@pytest.mark.both_databases
def test_bug_of_every_record_stops_intake_and_dead_letters_nothing(postonce, db):
    port = free_port()
    postonce.configure({**QUICK, "http": {"port": port}, "dead_letter": {"attempts": 2}})
    postonce.migrate()
    payments = flood.payments(COUNT)
    flood.register(db, payments)
    flood.publish(postonce, payments, partitions=1)
    refuse(db)
    worker = postonce.start()
    postonce.wait_for(lambda: worker.log_text().count("event=held") >= 4, "held four times")
    postonce.wait_for(lambda: flood.page(port, "/readyz")[0] == 503, "readiness is red")
    assert "alarm=SYSTEMIC" in worker.log_text()
    assert durable(postonce) == CLAIMED
    assert db.value("SELECT COUNT(*) FROM failure") == 0, "an outage was counted as the record's failure"
    db.execute("DROP TRIGGER refusing")
    flood.wait_for_outcomes(postonce, COUNT)
    postonce.wait_for(lambda: flood.page(port, "/readyz")[0] == 200, "readiness is green again")
    assert worker.stop() == 0
    flood.assert_posted_once(postonce, payments)


def test_bug_of_one_record_in_a_backlog_larger_than_a_batch_does_not_hold_it_for_ever(postonce, db):
    """Nothing fresh comes: what stands beside it in its batch is settled when it comes again."""
    postonce.configure({**QUICK, "dead_letter": {"attempts": 3}, "batch": {"max_records": 20}})
    postonce.migrate()
    payments = flood.payments(200)
    flood.register(db, payments)
    culprit = payments[4]
    refuse(db, culprit["amount_minor"])
    flood.publish(postonce, payments, partitions=1)
    worker = postonce.start()
    postonce.wait_for_lag(0)
    assert worker.stop() == 0
    flood.assert_posted_once(postonce, [payment for payment in payments if payment is not culprit], dead_letters=1, left=1)
    assert db.rows("SELECT reason, attempts, source_offset FROM dead_letter") == [("BUG", 3, 4)]


@pytest.mark.both_databases
def test_bug_of_one_record_beside_others_makes_it_a_dead_letter_after_its_attempts(postonce, db):
    postonce.configure({**QUICK, "dead_letter": {"attempts": 3}})
    postonce.migrate()
    payments = flood.payments(2000)
    flood.register(db, payments)
    culprit, others = payments[4], payments[:4] + payments[5:COUNT]
    refuse(db, culprit["amount_minor"])
    flood.publish(postonce, payments[:COUNT], partitions=1)
    worker = postonce.start()

    def dead():
        # Traffic goes on: only while others are posted is the record the one at fault.
        fresh = payments[len(others) + 1]
        flood.publish(postonce, [fresh], partitions=1)
        others.append(fresh)
        return db.value("SELECT COUNT(*) FROM dead_letter")
    postonce.wait_for(dead, "a dead letter")
    postonce.wait_for_lag(0)
    assert worker.stop() == 0
    flood.assert_posted_once(postonce, others, dead_letters=1, left=1)
    letter, = postonce.dead_letters()
    headers = dict(letter.headers)
    assert (headers["postonce.reason"], headers["postonce.attempts"]) == (b"BUG", b"3")
    assert db.rows("SELECT reason, attempts, source_offset FROM dead_letter") == [("BUG", 3, 4)]
    assert db.rows("SELECT attempts FROM failure") == [(3,)]
