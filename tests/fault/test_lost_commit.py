"""What became of a statement whose answer is lost? The outcomes tell, and nothing else is believed."""
import flood
import pytest
from support.worker import free_port

COUNT, PASS = 600, 4
CLAIM = r"^INSERT INTO claim "
OUTCOME = r"^INSERT INTO outcome "
BALANCE = r"^(INSERT INTO|UPDATE) balance\b"


def begin(postonce, proxy, batch=50):
    """Notifications for several batches; returns (worker's port, payments). The worker is not started."""
    port = free_port()
    postonce.configure({"mysql": {"host": proxy.host, "port": proxy.port}, "http": {"port": port},
                        "batch": {"max_records": batch},
                        "kafka": {"session.timeout.ms": 1000, "heartbeat.interval.ms": 200}})
    postonce.migrate()
    payments = flood.payments(COUNT)
    flood.register(postonce.db, payments)
    flood.publish(postonce, payments)
    return port, payments


def strike(postonce, trap):
    """Runs a worker until the trap has sprung; what was open then is the caller's to see."""
    worker = postonce.start()
    postonce.wait_for(trap.struck.is_set, f"{trap.action} of {trap.pattern.pattern}")
    return worker


def finish(postonce, worker, port, payments):
    """All is posted, and counted as often as it is posted."""
    flood.wait_for_outcomes(postonce, COUNT)
    postonce.wait_for_lag(0)
    assert flood.counted(port, "POSTED") == COUNT
    assert flood.counted(port, "DUPLICATE") == 0
    assert worker.stop() == 0
    flood.assert_posted_once(postonce, payments)


@pytest.mark.both_databases
def test_commit_whose_answer_is_lost_is_posted_and_counted_once(postonce, db, proxy):
    port, payments = begin(postonce, proxy)
    trap = proxy.drop_reply(r"^COMMIT", nth=PASS)
    worker = strike(postonce, trap)
    assert 0 < flood.lag(postonce) <= COUNT, "nothing was in flight"
    finish(postonce, worker, port, payments)


@pytest.mark.both_databases
def test_commit_that_never_arrives_is_posted_and_counted_once(postonce, db, proxy):
    port, payments = begin(postonce, proxy)
    trap = proxy.drop_query(r"^COMMIT", nth=PASS)
    worker = strike(postonce, trap)
    assert flood.outcomes(db) < COUNT, "nothing was in flight"
    finish(postonce, worker, port, payments)


@pytest.mark.parametrize("pattern", [CLAIM, OUTCOME, BALANCE], ids=["claim", "outcome", "balance"])
@pytest.mark.parametrize("action", ["drop_reply", "drop_query"])
def test_statement_whose_connection_is_cut_is_posted_and_counted_once(postonce, db, proxy, pattern, action):
    port, payments = begin(postonce, proxy)
    trap = getattr(proxy, action)(pattern, nth=PASS)
    worker = strike(postonce, trap)
    assert flood.outcomes(db) < COUNT, "nothing was in flight"
    finish(postonce, worker, port, payments)


@pytest.mark.parametrize("action", ["drop_reply", "drop_query"])
def test_commit_lost_five_times_in_a_row_is_posted_and_counted_once(postonce, db, proxy, action):
    port, payments = begin(postonce, proxy)
    traps = [getattr(proxy, action)(r"^COMMIT", nth=nth) for nth in range(PASS, PASS + 5)]
    worker = strike(postonce, traps[-1])
    assert all(trap.struck.is_set() for trap in traps)
    finish(postonce, worker, port, payments)


@pytest.mark.both_databases
@pytest.mark.parametrize("nth", [1, 2], ids=["of claims", "of their posting"])
@pytest.mark.parametrize("action", ["drop_reply", "drop_query"])
def test_commit_of_a_batch_whose_claims_are_several_statements_is_posted_and_counted_once(postonce, db, proxy, action, nth):
    port, payments = begin(postonce, proxy, batch=300)
    trap = getattr(proxy, action)(r"^COMMIT", nth=nth)
    worker = strike(postonce, trap)
    finish(postonce, worker, port, payments)
    # 64 claims and fewer are one statement without a COMMIT: then the first one was another's.
    assert db.value("SELECT MAX(turn) FROM outcome WHERE settled_at = (SELECT MIN(settled_at) FROM outcome)") >= 64


@pytest.mark.partitions(1)
def test_worker_killed_after_its_commit_posts_nothing_at_the_redelivery(postonce, db):
    postonce.configure({"batch": {"max_records": 50}, "log": {"level": "debug"},
                        "kafka": {"session.timeout.ms": 1000, "heartbeat.interval.ms": 200}})
    postonce.migrate()
    payments = flood.payments(COUNT)
    flood.register(db, payments)
    flood.publish(postonce, payments, partitions=1)
    worker = postonce.start(failpoints="posting.committed=kill@3")
    assert worker.wait() == -9
    assert flood.has_struck(worker, "posting.committed", "kill")
    settled = flood.outcomes(db)
    assert 0 < settled < COUNT
    offset = postonce.kafka.committed(postonce.group, postonce.topic)[0] or 0
    assert offset < settled, "nothing was in flight"

    port = free_port()
    again = postonce.start(changes={"http": {"port": port}})
    flood.wait_for_outcomes(postonce, COUNT)
    postonce.wait_for_lag(0)
    # It was this very delivery that settled them: posted once more said, not once more counted.
    assert again.log_text().count("again=true") == settled - offset
    assert flood.counted(port, "POSTED") == COUNT - settled
    assert again.stop() == 0
    flood.assert_posted_once(postonce, payments)
