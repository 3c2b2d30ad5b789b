"""Workers that die or freeze while they park a notification or re-drive it: none is lost, none is posted twice."""
import json

import flood
import pytest
import yaml
from support.config import ROOT
from support.wait import wait_until
from support.worker import notification

POSTING = ["posting.prepared", "posting.begun", "posting.locked", "posting.fenced", "posting.before_balances",
           "posting.before_commit", "posting.committed"]
QUICK_GROUP = {"kafka": {"session.timeout.ms": 1000, "heartbeat.interval.ms": 200}}
NEVER = {**QUICK_GROUP, "park": {"delays": ["5m"]}}  # due by itself never, within a test
OFTEN = {**QUICK_GROUP, "park": {"delays": ["200ms"]}}
ORDER_PACKED = {"order": {"from": ["PAID"], "to": "PACKED", "wait": ["PENDING_PAY"]}}
SHIPPED = yaml.safe_load((ROOT / "deploy/postonce.yaml").read_text())
pytestmark = pytest.mark.partitions(1)


def begin(postonce, changes, notifications):
    """All of these are parked, and nobody works."""
    postonce.configure(changes)
    postonce.migrate()
    postonce.publish(*notifications)
    assert postonce.drain() == [0]
    assert parked(postonce.db) == len(notifications)


def parked(db):
    return db.value("SELECT COUNT(*) FROM parked")


def lease_runs_out(db):
    """As time does it for what a dead worker took."""
    db.execute("UPDATE parked SET due_at = UTC_TIMESTAMP(6)")


def killed(postonce, point):
    worker = postonce.start(failpoints=f"{point}=kill@1")
    assert worker.wait() == -9
    assert flood.has_struck(worker, point, "kill")


def frozen_before_it_parks(postonce, claims):
    """A worker whose transaction, in which there was nothing to write, is over; the rows are not written yet."""
    frozen = postonce.start(failpoints="posting.committed=freeze@1")
    flood.wait_for_strike(postonce, frozen, "posting.committed", "freeze")
    wait_until(frozen.is_frozen, "the worker is frozen")
    assert (flood.unfinished(postonce.db), parked(postonce.db)) == (claims, 0)
    return frozen


def settle(postonce):
    """A worker until nothing is parked."""
    worker = postonce.start()
    postonce.wait_for(lambda: parked(postonce.db) == 0, "nothing is parked")
    postonce.wait_for_lag(0)
    assert worker.stop() == 0


@pytest.mark.both_databases
def test_worker_killed_between_the_parked_row_and_its_offset_parks_once(postonce, db):
    postonce.configure(NEVER)
    postonce.migrate()
    payments = flood.payments(3)
    flood.register(db, payments[1:])
    flood.publish(postonce, payments, partitions=1)
    killed(postonce, "batch.kept")
    assert postonce.kafka.committed(postonce.group, postonce.topic) == {0: None}, "nothing was in flight"
    row = db.rows("SELECT * FROM parked")
    assert len(row) == 1 and flood.outcomes(db) == 2
    assert postonce.drain() == [0]
    assert db.rows("SELECT * FROM parked") == row
    postonce.run("order", "register", payments[0]["order_no"], "--amount", "10.01")
    settle(postonce)
    flood.assert_posted_once(postonce, payments)


@pytest.mark.both_databases
def test_worker_killed_at_any_step_of_a_re_drive_neither_loses_nor_doubles(postonce, db):
    points = ["redrive.taken", *POSTING]
    payments = flood.payments(len(points))
    begin(postonce, NEVER, payments)
    for done, (point, payment) in enumerate(zip(points, payments)):
        # Only this one is due: what the others took is leased.
        postonce.run("order", "register", payment["order_no"], "--amount", f"10.{payment['amount_minor'] % 100:02}")
        killed(postonce, point)
        committed = point == "posting.committed"
        assert flood.outcomes(db) == committed, point
        assert parked(db) == len(points) - committed
        assert db.value("SELECT COUNT(*) FROM parked WHERE tries = 1") == done + 1 - committed
    assert db.value("SELECT COUNT(*) FROM parked WHERE tries = 1 AND due_at > UTC_TIMESTAMP(6)") == len(points) - 1
    lease_runs_out(db)
    settle(postonce)
    flood.assert_posted_once(postonce, payments)


def test_what_a_dead_worker_took_is_posted_by_its_re_push_before_the_lease_runs_out(postonce, db):
    payments = flood.payments(1)
    begin(postonce, NEVER, payments)
    postonce.run("order", "register", payments[0]["order_no"], "--amount", "10.01")
    killed(postonce, "redrive.taken")
    assert db.value("SELECT due_at > UTC_TIMESTAMP(6) FROM parked") == 1
    postonce.publish(flood.in_other_words(payments[0]))
    settle(postonce)
    flood.assert_posted_once(postonce, payments)


@pytest.mark.parametrize("point", ["redrive.taken", "posting.fenced"])
def test_re_drive_that_fails_once_is_brought_to_its_end_by_the_same_worker(postonce, db, point):
    payments = flood.payments(2)
    begin(postonce, OFTEN, payments)
    flood.register(db, payments)
    worker = postonce.start(failpoints=f"{point}=error@1")
    flood.wait_for_outcomes(postonce, 2)
    assert flood.has_struck(worker, point, "error")
    postonce.wait_for(lambda: parked(db) == 0, "nothing is parked")
    assert worker.stop() == 0
    flood.assert_posted_once(postonce, payments)
    assert db.value("SELECT COUNT(*) FROM failure") == 0, "an outage was counted as the record's failure"


def test_worker_killed_around_the_letter_of_one_that_gives_up_sends_one_letter_id(postonce, db):
    packed = notification("P1", "R1", event="ORDER_PACKED")
    del packed["amount_minor"], packed["currency"]
    begin(postonce, {**NEVER, "events": {"ORDER_PACKED": ORDER_PACKED}}, [packed])
    db.execute("UPDATE parked SET waits_since = waits_since - INTERVAL 2 DAY, due_at = UTC_TIMESTAMP(6)")
    killed(postonce, "letter.acknowledged")
    assert (len(postonce.dead_letters()), db.value("SELECT COUNT(*) FROM dead_letter"), parked(db)) == (1, 0, 1)
    lease_runs_out(db)
    killed(postonce, "letter.recorded")
    assert (len(postonce.dead_letters()), db.value("SELECT COUNT(*) FROM dead_letter"), parked(db)) == (2, 1, 1)
    lease_runs_out(db)
    settle(postonce)
    letters = postonce.dead_letters()
    assert len(letters) == 2 and len({dict(letter.headers)["postonce.letter_id"] for letter in letters}) == 1
    assert json.loads(letters[0].value) == packed
    assert db.rows("SELECT reason FROM dead_letter") == [("PARK_GAVE_UP",)] and flood.outcomes(db) == 0


@pytest.mark.both_databases
def test_worker_frozen_before_it_parks_what_another_settles_meanwhile_leaves_nothing_behind(postonce, db):
    postonce.configure(NEVER)
    postonce.migrate()
    payments = flood.payments(1)
    flood.publish(postonce, payments, partitions=1)
    frozen = frozen_before_it_parks(postonce, claims=1)
    flood.register(db, payments)
    other = postonce.start()
    flood.wait_for_outcomes(postonce, 1)
    postonce.wait_for_lag(0)
    frozen.thaw()
    postonce.wait_for(lambda: "verdict=PARKED" in frozen.log_text(), "the woken worker parks what is settled")
    postonce.wait_for(lambda: parked(db) == 0, "nothing is left behind")
    assert [other.stop(), frozen.stop()] == [0, 0]
    flood.assert_posted_once(postonce, payments)


@pytest.mark.both_databases
@pytest.mark.parametrize("point", ["redrive.taken", "posting.locked"])
def test_worker_frozen_in_a_re_drive_past_its_lease_posts_nothing_twice(postonce, db, point):
    payments = flood.payments(3)
    begin(postonce, {**NEVER, "mysql": {"wait_timeout": "3s"}}, payments)
    flood.register(db, payments)
    lease_runs_out(db)
    frozen = postonce.start(failpoints=f"{point}=freeze@1")
    flood.wait_for_strike(postonce, frozen, point, "freeze")
    wait_until(frozen.is_frozen, "the worker is frozen")
    assert flood.outcomes(db) == 0 and parked(db) == 3, "nothing was in flight"
    lease_runs_out(db)
    other = postonce.start()
    flood.wait_for_outcomes(postonce, 3)
    frozen.thaw()
    postonce.wait_for(lambda: parked(db) == 0, "nothing is parked")
    postonce.publish(flood.payments(1)[0])  # both go on
    postonce.wait_for_lag(0)
    assert [other.stop(), frozen.stop()] == [0, 0]
    flood.assert_posted_once(postonce, payments)


@pytest.mark.both_databases
def test_order_registered_between_the_judgement_and_the_parked_row_wakes_it_at_once(postonce, db):
    postonce.configure(NEVER)
    postonce.migrate()
    payments = flood.payments(1)
    flood.publish(postonce, payments, partitions=1)
    worker = frozen_before_it_parks(postonce, claims=1)
    postonce.run("order", "register", payments[0]["order_no"], "--amount", "10.01")
    worker.thaw()
    flood.wait_for_outcomes(postonce, 1)
    postonce.wait_for(lambda: parked(db) == 0, "nothing is parked")
    assert worker.stop() == 0
    flood.assert_posted_once(postonce, payments)


@pytest.mark.both_databases
def test_payment_posted_between_the_judgement_and_the_parked_row_wakes_its_refunds_at_once(postonce, db):
    """One of them names its order, the other only the payment."""
    postonce.configure({**NEVER, "orders": SHIPPED["orders"], "events": SHIPPED["events"]})
    postonce.migrate()
    db.execute("INSERT INTO payment_order (tenant_id, order_no, amount, currency, status, created_at)"
               " VALUES (1, 'R1', 1000, 'CNY', 'PENDING_PAY', UTC_TIMESTAMP(6) - INTERVAL 1 DAY)")
    postonce.publish(*[notification(txn, order, event="REFUND_SUCCEEDED", amount_minor=100, parent="T1")
                       for txn, order in (("F1", "R1"), ("F2", ""))])
    worker = frozen_before_it_parks(postonce, claims=2)
    elsewhere = postonce.kafka.topic(1)
    postonce.kafka.produce_many(elsewhere, [json.dumps(notification("T1", "R1"))])
    other = postonce.start(changes={"kafka": {"group.id": f"{postonce.group}-2"},
                                    "topics": {postonce.topic: None, elsewhere: {}}})
    flood.wait_for_outcomes(postonce, 1)
    worker.thaw()
    flood.wait_for_outcomes(postonce, 3)
    postonce.wait_for(lambda: parked(db) == 0, "nothing is parked")
    assert db.rows("SELECT status, refunded FROM payment_order") == [("PARTIALLY_REFUNDED", 200)]
    assert [other.stop(), worker.stop()] == [0, 0]


def is_giving_back(db):
    """Whether a statement of a worker waits for the row that we hold."""
    return any(row[3] == db.name and (row[7] or "").startswith("UPDATE parked") for row in
               db.rows("SHOW FULL PROCESSLIST"))


@pytest.mark.both_databases
@pytest.mark.parametrize("unfinished", ["finish", "reconcile"])
def test_row_made_due_while_its_re_drive_gives_it_back_stays_due(postonce, db, unfinished):
    payments = flood.payments(1)
    begin(postonce, {**NEVER, "strict": {"unfinished": unfinished}}, payments)
    lease_runs_out(db)
    worker = postonce.start(failpoints="posting.committed=freeze@1")  # judged: still too early
    flood.wait_for_strike(postonce, worker, "posting.committed", "freeze")
    wait_until(worker.is_frozen, "the worker is frozen")
    with db.connect() as connection, connection.cursor() as registrar:
        registrar.execute("BEGIN")
        assert registrar.execute("SELECT 1 FROM parked WHERE due_at > UTC_TIMESTAMP(6) FOR UPDATE") == 1
        worker.thaw()
        wait_until(lambda: is_giving_back(db), "the worker gives the row back")
        registrar.execute("INSERT INTO payment_order (tenant_id, order_no, amount, currency, status)"
                          f" VALUES (1, '{payments[0]['order_no']}', 1001, 'CNY', 'PENDING_PAY')")
        registrar.execute("UPDATE parked SET due_at = UTC_TIMESTAMP(6)")
        registrar.execute("COMMIT")
    flood.wait_for_outcomes(postonce, 1)
    postonce.wait_for(lambda: parked(db) == 0, "nothing is parked")
    assert worker.stop() == 0
    flood.assert_posted_once(postonce, payments)
