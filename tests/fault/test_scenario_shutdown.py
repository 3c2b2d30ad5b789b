"""Told to stop while the brokers do not answer: it ends in time, says that it is not drained, and nothing is lost."""
import time

import flood
import pytest

COUNT = 300
STOP_S = 30


@pytest.mark.partitions(2)
@pytest.mark.parametrize("how", ["freeze", "kill"])
def test_a_worker_told_to_stop_while_no_coordinator_answers_ends_in_time_and_says_so(postonce, kafka, db, how):
    postonce.configure({"batch": {"max_records": 20}, "stop": {"grace": "20s"}})
    postonce.migrate()
    payments = flood.payments(COUNT)
    flood.register(db, payments)
    db.execute("CREATE TRIGGER slow BEFORE INSERT ON outcome FOR EACH ROW SET @slept = SLEEP(0.01)")
    flood.publish(postonce, payments, partitions=2)
    worker = postonce.start()
    flood.wait_for_outcomes(postonce, 40)
    getattr(kafka.servers[0], how)()
    assert flood.outcomes(db) < COUNT, "nothing was in flight"
    began = time.monotonic()
    assert worker.stop(STOP_S) == 75
    assert time.monotonic() - began < STOP_S
    kafka.servers[0].ensure_running()
    db.execute("DROP TRIGGER slow")
    assert postonce.drain() == [0]
    flood.assert_posted_once(postonce, payments)


@pytest.mark.partitions(1)
def test_a_worker_told_to_stop_with_a_batch_in_hand_and_its_broker_gone_ends_in_time(postonce, kafka, db):
    """The batch may be posted, its offset cannot be committed: it comes again."""
    postonce.configure({"stop": {"grace": "20s"}})
    postonce.migrate()
    flood.register(db, flood.payments(1))
    flood.publish(postonce, flood.payments(1), partitions=1)
    worker = postonce.start(failpoints="batch.taken=freeze@1")
    postonce.wait_for(worker.is_frozen, "it has taken its batch")
    kafka.servers[0].kill()
    worker.thaw()
    assert worker.stop(STOP_S) == 75
    assert flood.outcomes(db) in (0, 1)
    kafka.servers[0].start()
    assert postonce.drain() == [0]
    flood.assert_posted_once(postonce, flood.payments(1))
