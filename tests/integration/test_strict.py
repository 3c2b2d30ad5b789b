"""The harder rules: strict.unfinished: reconcile, and strict.hand_over: false."""
import re

import books
import pytest
from pages import Pages
from support.worker import notification

DONE, AT_HOLD = 0, 75
POSTED_PAID = ("POSTED", '{"posted":"PAID"}')
CLEARING, PAYABLE = "channel:WECHAT:clearing", "merchant:1:payable"
QUICK_GROUP = {"session.timeout.ms": 1000, "heartbeat.interval.ms": 200}
RECONCILE = {"kafka": QUICK_GROUP, "strict": {"unfinished": "reconcile"}}
LITERAL = {"kafka": QUICK_GROUP, "strict": {"hand_over": False}, "park": {"delays": ["5m"]}}


def lag(ledger):
    return ledger.kafka.lag(ledger.group, ledger.topic)


def log_of(ledger):
    return "\n".join(worker.log_text() for worker in ledger.workers)


def committed(ledger, partition):
    return ledger.kafka.committed(ledger.group, ledger.topic)[partition] or 0


# A claim that another attempt left unfinished is not posted but reviewed.

@pytest.mark.both_databases
@pytest.mark.parametrize("point", ["claim.committed", "posting.before_commit"])
def test_a_claim_that_a_killed_worker_left_is_orphaned_and_a_fresh_one_posts(ledger, db, point):
    ledger.configure(RECONCILE)
    books.register(db, "R1", "R2")
    ledger.publish(notification("T1", "R1"), partition=0)
    killed = ledger.start(failpoints=f"{point}=kill@1")
    assert killed.wait() == -9
    ledger.publish(notification("T2", "R2"), partition=0)
    assert ledger.drain() == [DONE]
    assert books.outcomes(db) == {books.key("T2"): POSTED_PAID}
    claim = books.claim(db, books.key("T1"))
    review, = books.reviews(db)
    assert (review.reason, review.state, review.claim_id, review.amount) == ("ORPHAN", "OPEN", claim.id, 1000)
    assert review.first_fingerprint == review.fingerprint == claim.payload_hash and review.body
    alarms = [line for line in log_of(ledger).splitlines() if "alarm=ORPHANED" in line]
    assert len(alarms) == 1 and f"key={books.key('T1')}" in alarms[0]
    assert books.order(db, "R1").status == "PENDING_PAY"
    assert books.balances(db) == {CLEARING: 1000, PAYABLE: -1000}
    assert lag(ledger) == 0 and ledger.dead_letters() == []


def test_an_orphan_that_is_delivered_again_stays_one_with_one_review(ledger, db):
    ledger.configure(RECONCILE)
    books.register(db, "R1")
    ledger.publish(notification("T1", "R1"))
    assert ledger.start(failpoints="claim.committed=kill@1").wait() == -9
    for _ in range(2):
        ledger.publish(notification("T1", "R1"))
        assert ledger.drain() == [DONE]
    assert len(books.reviews(db)) == 1 and books.outcomes(db) == {} and lag(ledger) == 0


def test_what_was_settled_before_the_kill_is_no_orphan(ledger, db):
    ledger.configure(RECONCILE)
    books.register(db, "R1")
    ledger.publish(notification("T1", "R1"))
    assert ledger.start(failpoints="posting.committed=kill@1").wait() == -9
    assert ledger.drain() == [DONE]
    ledger.publish(notification("T1", "R1"))
    assert ledger.drain() == [DONE]
    assert books.outcomes(db) == {books.key("T1"): POSTED_PAID}
    assert books.reviews(db) == [] and lag(ledger) == 0


@pytest.mark.parametrize("point", ["batch.taken", "claim.begun", "claim.committed"])
def test_what_fails_before_its_posting_began_keeps_its_attempt_and_is_posted(ledger, db, point):
    ledger.configure(RECONCILE)
    books.register(db, "R1", "R2")
    ledger.publish(notification("T1", "R1"), notification("T2", "R2"), partition=0)
    assert ledger.drain(failpoints=f"{point}=error@1") == [DONE]
    assert f"name={point} action=error" in log_of(ledger)
    assert set(books.outcomes(db)) == {books.key("T1"), books.key("T2")} and books.reviews(db) == []


@pytest.mark.both_databases
def test_a_real_deadlock_of_claims_keeps_the_attempt(ledger, db):
    """The worker's claim statement waits for a session that then waits for it: one of the two is rolled back, and
    the one with more rows written is spared."""
    ledger.configure({**RECONCILE, "kafka": {**QUICK_GROUP, "session.timeout.ms": 10000}})
    books.register(db, *(f"R{n}" for n in range(3)))
    row = ("INSERT INTO claim (tenant_id, idem_key, channel, event_type, order_no, payload_hash, hash_version,"
           " source_topic, source_partition, source_offset, deliveries, created_at, last_seen_at)"
           " VALUES (1, %s, 'X', 'X', '', REPEAT('h', 32), 1, 't', 0, 0, 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))")
    ledger.publish(*[notification(f"T{n}", f"R{n}") for n in range(3)], partition=0)
    pages = Pages()
    with db.connect(autocommit=False) as other, other.cursor() as cursor:
        cursor.execute("SET innodb_lock_wait_timeout = 20")
        cursor.executemany(row, [(f"Z{n}",) for n in range(50)])  # heavier than the worker's three
        cursor.execute(row, [books.key("T1")])
        worker = ledger.start(changes=pages.options)
        ledger.wait_for(lambda: is_waiting_for_lock(db), "the worker waits for T1")
        cursor.execute(row.replace("INSERT", "INSERT IGNORE"), [books.key("T0")])
        other.rollback()
    ledger.wait_for(lambda: len(books.outcomes(db)) == 3, "all are posted")
    assert pages.figure("postonce_retries_total") >= 1, "no deadlock"
    assert worker.stop() == DONE
    assert books.statuses(db) == {"PAID": 3} and books.reviews(db) == []


def is_waiting_for_lock(db):
    return "TRX HAS BEEN WAITING" in db.rows("SHOW ENGINE INNODB STATUS")[0][2]


def test_an_outage_between_the_claim_and_its_posting_keeps_the_attempt(ledger, db):
    user = db.name
    db.execute(f"CREATE USER {user} IDENTIFIED BY %s", db.password)
    try:
        for table in db.tables() - {"outcome", "notify_claim"}:
            db.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {db.name}.{table} TO {user}")
        db.execute(f"GRANT INSERT ON {db.name}.outcome TO {user}")  # claims are written, and cannot be read back
        ledger.configure({**RECONCILE, "mysql": {"user": user}})
        books.register(db, "R1")
        ledger.publish(notification("T1", "R1"))
        worker = ledger.start()
        ledger.wait_for(lambda: worker.log_text().count("event=held") >= 2, "it is held again and again")
        assert books.claim(db, books.key("T1")) and books.outcomes(db) == {}
        db.execute(f"GRANT SELECT ON {db.name}.outcome TO {user}")
        ledger.wait_for(lambda: books.outcomes(db) == {books.key("T1"): POSTED_PAID}, "it is posted")
        assert worker.stop() == DONE
    finally:
        db.execute(f"DROP USER {user}")
    assert books.reviews(db) == []


@pytest.mark.parametrize("point", ["posting.locked", "posting.fenced", "posting.before_commit"])
def test_a_posting_that_was_begun_and_failed_is_not_begun_again(ledger, db, point):
    ledger.configure(RECONCILE)
    books.register(db, "R1")
    ledger.publish(notification("T1", "R1"))
    worker = ledger.start(failpoints=f"{point}=error@1")
    ledger.wait_for(lambda: books.reviews(db), "it is kept for review")
    ledger.wait_for_lag(0)
    assert worker.stop() == DONE
    assert [review.reason for review in books.reviews(db)] == ["ORPHAN"] and books.outcomes(db) == {}


def test_a_re_push_of_what_is_parked_is_no_orphan_and_it_is_posted_with_its_order(ledger, db):
    ledger.configure({**RECONCILE, "park": {"delays": ["5m"]}})
    ledger.publish(notification("T1", "R1"))
    assert ledger.drain() == [DONE]
    before = db.rows("SELECT * FROM parked")
    ledger.publish(notification("T1", "R1"))
    worker = ledger.start()
    ledger.wait_for_lag(0)
    assert before and db.rows("SELECT * FROM parked") == before and books.reviews(db) == []
    ledger.run("order", "register", "R1", "--amount", "10.00")
    ledger.wait_for(lambda: books.outcomes(db) == {books.key("T1"): POSTED_PAID}, "it is posted", 10)
    assert worker.stop() == DONE and books.reviews(db) == [] and books.parked(db) == []


@pytest.mark.both_databases
def test_a_commit_that_never_arrived_is_not_sent_again(ledger, db, proxy):
    ledger.configure({**RECONCILE, "mysql": {"host": proxy.host, "port": proxy.port}})
    books.register(db, "R1", "R2")
    ledger.publish(notification("T1", "R1"), partition=0)
    trap = proxy.drop_query("^COMMIT")
    worker = ledger.start()
    ledger.wait_for(trap.struck.is_set, "its COMMIT is lost")
    ledger.publish(notification("T2", "R2"), partition=0)
    ledger.wait_for_lag(0)
    assert worker.stop() == DONE
    assert books.outcomes(db) == {books.key("T2"): POSTED_PAID}
    review, = books.reviews(db)
    assert (review.reason, review.claim_id) == ("ORPHAN", books.claim(db, books.key("T1")).id)
    assert books.order(db, "R1").status == "PENDING_PAY" and ledger.dead_letters() == []


@pytest.mark.both_databases
def test_a_commit_whose_answer_is_lost_is_posted_and_no_orphan(ledger, db, proxy):
    ledger.configure({**RECONCILE, "mysql": {"host": proxy.host, "port": proxy.port}})
    books.register(db, "R1")
    ledger.publish(notification("T1", "R1"))
    trap = proxy.drop_reply("^COMMIT")
    assert ledger.drain() == [DONE]
    assert trap.struck.is_set(), "no COMMIT was struck"
    assert books.outcomes(db) == {books.key("T1"): POSTED_PAID}
    assert books.reviews(db) == [] and lag(ledger) == 0


def test_a_set_that_the_database_refuses_is_halved_and_only_its_culprit_is_not_posted(ledger, db):
    ledger.configure({**RECONCILE, "dead_letter": {"attempts": 5}})
    books.register(db, "R0", "R1", "R2", "R3")
    db.execute("ALTER TABLE payment_order ADD CONSTRAINT culprit CHECK (NOT (order_no = 'R1' AND status = 'PAID'))")
    ledger.publish(*[notification(f"T{n}", f"R{n}") for n in range(4)], partition=0)
    worker = ledger.start()
    ledger.wait_for_lag(0)
    assert worker.stop() == DONE
    assert books.statuses(db) == {"PAID": 3, "PENDING_PAY": 1}
    review, = books.reviews(db)  # it was begun, failed, and came again
    assert (review.reason, review.claim_id) == ("ORPHAN", books.claim(db, books.key("T1")).id)
    assert books.count(db, "failure") == 1 and ledger.dead_letters() == []


def test_what_was_held_before_its_posting_is_posted_though_another_partition_posted_meanwhile(ledger, db):
    ledger.configure({**RECONCILE, "retry": {"first": "5s", "most": "5s"}})
    books.register(db, "R1", "R2")
    ledger.publish(notification("T1", "R1"), partition=0)
    worker = ledger.start(failpoints="posting.prepared=error@1")
    ledger.wait_for(lambda: "event=held" in worker.log_text(), "the first partition is held")
    ledger.publish(notification("T2", "R2"), partition=1)
    ledger.wait_for(lambda: books.key("T2") in books.outcomes(db), "the other one posts")
    assert books.key("T1") not in books.outcomes(db), "nothing was held"
    ledger.wait_for_lag(0)
    assert worker.stop() == DONE
    assert books.outcomes(db)[books.key("T1")] == POSTED_PAID and books.reviews(db) == []


def test_what_came_too_early_is_no_orphan_when_its_order_comes_though_it_may_not_be_parked(ledger, db):
    ledger.configure({**RECONCILE, "strict": {"unfinished": "reconcile", "hand_over": False}})
    worker = hold(ledger, notification("T1", "R1"))
    ledger.run("order", "register", "R1", "--amount", "10.00")
    ledger.wait_for_lag(0)
    assert worker.stop() == DONE
    assert books.statuses(db) == {"PAID": 3} and books.reviews(db) == [] and books.parked(db) == []


def park_then_register(ledger, db, *delays):
    ledger.configure({**RECONCILE, "park": {"delays": list(delays)}})
    ledger.publish(notification("T1", "R1"))
    assert ledger.drain() == [DONE] and len(books.parked(db)) == 1
    ledger.run("order", "register", "R1", "--amount", "10.00")


@pytest.mark.both_databases
def test_a_parked_one_whose_posting_began_and_did_not_end_is_an_orphan(ledger, db):
    park_then_register(ledger, db, "5m")
    assert ledger.start(failpoints="posting.before_commit=kill@1").wait() == -9
    assert db.value("SELECT begun_at FROM parked") is not None, "no posting had begun"
    db.execute("UPDATE parked SET due_at = UTC_TIMESTAMP(6)")
    assert ledger.drain() == [DONE]
    assert len(books.parked(db)) == 1 and books.reviews(db) == [], "its posting may still be under way"
    db.execute("UPDATE parked SET begun_at = begun_at - INTERVAL 1 HOUR")
    worker = ledger.start()
    ledger.wait_for(lambda: books.reviews(db) and not books.parked(db), "it is kept for review")
    ledger.publish(notification("T1", "R1"))
    ledger.wait_for_lag(0)
    assert worker.stop() == DONE
    assert [review.reason for review in books.reviews(db)] == ["ORPHAN"] and books.outcomes(db) == {}
    assert books.order(db, "R1").status == "PENDING_PAY"


def test_a_parked_one_that_failed_before_its_posting_began_is_tried_again(ledger, db):
    park_then_register(ledger, db, "1s")
    worker = ledger.start(failpoints="redrive.taken=error@1")
    ledger.wait_for(lambda: books.outcomes(db) == {books.key("T1"): POSTED_PAID}, "it is posted", 15)
    assert "name=redrive.taken action=error" in worker.log_text()
    assert worker.stop() == DONE and books.reviews(db) == [] and books.parked(db) == []


# Only what is settled in the ledger passes.

def hold(ledger, held, *behind):
    """A worker that holds the first partition at its first record; the other partition flows."""
    books.register(ledger.db, "R8", "R9")
    ledger.publish(held, notification("T8", "R8"), *behind, partition=0)
    ledger.publish(notification("T9", "R9"), partition=1)
    pages = Pages()
    worker = ledger.start(changes=pages.options)
    ledger.wait_for(lambda: worker.log_text().count("event=held") >= 3, "it is held again and again")
    ledger.wait_for(lambda: committed(ledger, 1) == 1, "the other partition flows")
    assert committed(ledger, 0) == 0
    assert books.outcomes(ledger.db).keys() >= {books.key("T8"), books.key("T9")}
    return worker


@pytest.mark.both_databases
def test_what_came_too_early_holds_its_partition_until_its_order_is_there(ledger, db):
    ledger.configure(LITERAL)
    worker = hold(ledger, notification("T1", "R1"))
    assert books.count(db, "parked") == 0 and books.key("T1") not in books.outcomes(db)
    assert re.search(r"event=held .*offset=0 .*reason=PARKED", worker.log_text())
    ledger.run("order", "register", "R1", "--amount", "10.00")
    ledger.wait_for_lag(0)
    assert worker.stop() == DONE
    assert books.statuses(db) == {"PAID": 3} and books.count(db, "outbox") == 3


def test_a_conflict_holds_its_partition_and_has_one_review(ledger, db):
    ledger.configure(LITERAL)
    books.register(db, "R1")
    ledger.publish(notification("T1", "R1"), partition=1)
    assert ledger.drain() == [DONE]
    ledger.publish(notification("T1", "R1", amount_minor=1), notification("T1", "R1"), partition=0)
    ledger.publish(notification("T1", "R1"), partition=1)
    worker = ledger.start()
    ledger.wait_for(lambda: worker.log_text().count("event=held") >= 3, "it is held again and again")
    ledger.wait_for(lambda: committed(ledger, 1) == 2, "the other partition flows")
    assert committed(ledger, 0) == 0 and lag(ledger) == 2
    assert [(review.reason, review.amount) for review in books.reviews(db)] == [("PAYLOAD_CONFLICT", 1)]
    assert worker.stop() == AT_HOLD
    assert ledger.drain() == [AT_HOLD]
    assert books.balances(db) == {CLEARING: 1000, PAYABLE: -1000} and len(books.reviews(db)) == 1


def test_garbage_holds_its_partition_and_becomes_no_letter(ledger, db):
    ledger.configure({**LITERAL, "dead_letter": {"attempts": 1}})
    worker = hold(ledger, b"garbage")
    assert worker.stop() == AT_HOLD
    assert ledger.dead_letters() == [] and books.count(db, "dead_letter") == books.count(db, "failure") == 0


def test_an_event_without_a_rule_holds_its_partition_until_it_has_one(ledger, db):
    ledger.configure(LITERAL)
    worker = hold(ledger, notification("F1", "", event="FEE_CHARGED", amount_minor=6))
    assert worker.stop() == AT_HOLD and ledger.dead_letters() == []
    ledger.configure({"events": {"FEE_CHARGED": {
        "post": [{"debit": "fees:{channel}", "credit": "channel:{channel}:clearing", "amount": "amount"}]}}})
    assert ledger.drain() == [DONE]
    assert books.outcomes(db)[books.key("F1", "FEE_CHARGED")] == ("POSTED", '{"posted":"FEE_CHARGED"}')
    assert lag(ledger) == 0


def test_a_paused_channel_holds_its_partitions_until_its_resume(ledger, db):
    ledger.configure(LITERAL)
    ledger.run("pause", "--channel", "SQB", "--why", "wrong amounts")
    books.register(db, "R1")
    worker = hold(ledger, notification("T1", "R1", channel="SQB"))
    assert books.count(db, "parked") == 0
    ledger.run("resume", "--channel", "SQB", "--why", "mended")
    ledger.wait_for_lag(0)
    assert worker.stop() == DONE
    assert books.statuses(db) == {"PAID": 3}


def test_a_duplicate_and_money_in_an_already_state_pass(ledger, db):
    ledger.configure(LITERAL)
    books.register(db, "R1")
    books.register(db, "R2", status="SHIPPED")
    ledger.publish(notification("T1", "R1"), notification("T1", "R1"), notification("T2", "R2"), partition=0)
    assert ledger.drain() == [DONE]
    assert books.outcomes(db)[books.key("T2")] == ("SKIPPED", '{"skipped":"SHIPPED"}') and lag(ledger) == 0
