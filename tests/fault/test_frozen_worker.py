"""A worker frozen in the middle, taken for dead by its group, and woken again when others have done its work."""
import flood
import pytest
from support.wait import wait_until

COUNT, MORE, PASS = 1500, 200, 3
QUICK_GROUP = {"kafka": {"session.timeout.ms": 1000, "heartbeat.interval.ms": 200}, "batch": {"max_records": 100}}
LOCK_WAIT_S = 5  # innodb_lock_wait_timeout of every session


def begin(postonce, point, wait_timeout):
    """Two workers, of which the first has frozen itself at the point. Returns (frozen, other, payments)."""
    postonce.configure({**QUICK_GROUP, "mysql": {"wait_timeout": wait_timeout}})
    postonce.migrate()
    payments = flood.payments(COUNT + MORE)
    flood.register(postonce.db, payments)
    flood.publish(postonce, payments[:COUNT])
    frozen = postonce.start(failpoints=f"{point}=freeze@{PASS}")
    flood.wait_for_strike(postonce, frozen, point, "freeze")
    wait_until(frozen.is_frozen, "the worker is frozen")
    assert flood.outcomes(postonce.db) < COUNT, "nothing was in flight"
    claimed = point != "claim.before_commit"
    assert (flood.unfinished(postonce.db) > 0) == claimed, "nothing was in flight"
    return frozen, postonce.start(), payments


def assert_woken_one_changes_nothing(postonce, frozen):
    """Thaws the worker whose work others have done, and sees it come back into its group."""
    before, ends = flood.outcomes(postonce.db), postonce.kafka.end_offsets(postonce.topic)
    postonce.wait_for_lag(0)
    frozen.thaw()

    def is_back():
        assert postonce.kafka.committed(postonce.group, postonce.topic) == ends, "an offset went back"
        return "event=rebalance assigned=2" in frozen.log_text().partition("lost=1")[2]
    postonce.wait_for(is_back, "the woken worker is a member again", 30)
    assert flood.outcomes(postonce.db) == before


def finish(postonce, frozen, other, payments):
    """The woken worker alone does what comes next."""
    assert other.stop() == 0
    flood.publish(postonce, payments[COUNT:])
    flood.wait_for_outcomes(postonce, COUNT + MORE)
    postonce.wait_for_lag(0)
    assert frozen.alive() and frozen.stop() == 0
    flood.assert_posted_once(postonce, payments)
    assert "verdict=CONFLICT" not in frozen.log_text() + other.log_text()


def frozen_inside_transaction(postonce, point):
    frozen, other, payments = begin(postonce, point, wait_timeout="4s")
    db = postonce.db
    assert flood.is_inside_transaction(db, frozen), "nothing was open"
    postonce.wait_for(lambda: flood.is_waiting_for_lock(db), "the other worker waits for the frozen one's rows")
    assert flood.outcomes(db) < COUNT
    # wait_timeout ends the frozen one's transaction, not anybody here.
    flood.wait_for_outcomes(postonce, COUNT)
    assert flood.connections(db, frozen) == {}
    assert_woken_one_changes_nothing(postonce, frozen)
    finish(postonce, frozen, other, payments)


@pytest.mark.both_databases
def test_worker_frozen_before_its_commit_posts_nothing_twice(postonce):
    frozen_inside_transaction(postonce, "posting.before_commit")


@pytest.mark.parametrize("point", ["claim.before_commit", "posting.locked", "posting.fenced"])
def test_worker_frozen_inside_its_transaction_posts_nothing_twice(postonce, point):
    frozen_inside_transaction(postonce, point)


def test_worker_frozen_for_longer_than_a_lock_wait_posts_nothing_twice(postonce, db):
    frozen, other, payments = begin(postonce, "posting.before_commit", f"{LOCK_WAIT_S + 4}s")
    assert flood.is_inside_transaction(db, frozen), "nothing was open"
    postonce.wait_for(lambda: "code=1205" in other.log_text(), "a lock wait times out")
    assert flood.is_inside_transaction(db, frozen), "nothing was open"
    flood.wait_for_outcomes(postonce, COUNT)
    assert_woken_one_changes_nothing(postonce, frozen)
    finish(postonce, frozen, other, payments)


@pytest.mark.both_databases
def test_worker_woken_while_another_waits_for_its_rows_commits_and_the_other_steps_back(postonce, db):
    frozen, other, payments = begin(postonce, "posting.before_commit", wait_timeout="60s")
    assert flood.is_inside_transaction(db, frozen), "nothing was open"
    postonce.wait_for(lambda: flood.is_waiting_for_lock(db), "the other worker waits for the frozen one's rows")
    frozen.thaw()
    flood.wait_for_outcomes(postonce, COUNT)
    postonce.wait_for(lambda: "lost=1" in frozen.log_text(), "the woken worker learns what it lost")
    postonce.wait_for_lag(0)
    finish(postonce, frozen, other, payments)


@pytest.mark.both_databases
@pytest.mark.parametrize("point", ["claim.committed", "posting.prepared"])
def test_worker_frozen_after_its_claim_finds_the_work_done(postonce, db, point):
    frozen, other, payments = begin(postonce, point, wait_timeout="60s")
    assert not flood.is_inside_transaction(db, frozen)
    flood.wait_for_outcomes(postonce, COUNT)
    assert_woken_one_changes_nothing(postonce, frozen)
    finish(postonce, frozen, other, payments)
