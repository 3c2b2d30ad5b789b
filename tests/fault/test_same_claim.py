"""Two groups on one topic: every key is in flight twice, and each is settled once."""
import flood
import pytest
from support.worker import free_port

COUNT = 5000


@pytest.mark.both_databases
def test_two_groups_on_one_topic_settle_each_claim_once(postonce, db):
    ports = [free_port(), free_port()]
    groups = [postonce.group, f"{postonce.group}-too"]
    postonce.configure({"batch": {"max_records": 100}})
    postonce.migrate()
    payments = flood.payments(COUNT)
    flood.register(db, payments)
    flood.publish(postonce, payments)
    # One is stopped inside a transaction until the other stands before the same rows: from there on they go side by
    # side through the same records.
    first = postonce.start(changes={"http": {"port": ports[0]}})
    flood.wait_for_outcomes(postonce, 1)
    flood.freeze_inside_transaction(db, first)
    second = postonce.start(changes={"http": {"port": ports[1]}, "kafka": {"group.id": groups[1]}})
    postonce.wait_for(lambda: flood.is_waiting_for_lock(db), "the second waits for rows of the first")
    assert flood.outcomes(db) < COUNT, "nothing was in flight"
    first.thaw()
    flood.wait_for_outcomes(postonce, COUNT)
    for group in groups:
        postonce.wait_for(lambda: postonce.kafka.lag(group, postonce.topic) == 0, f"lag of {group} is 0", 60)
    verdicts = [flood.counted(port, verdict) for port in ports for verdict in ("POSTED", "DUPLICATE")]
    assert [first.stop(), second.stop()] == [0, 0]
    flood.assert_posted_once(postonce, payments, groups=groups)
    assert db.value("SELECT COUNT(*) FROM claim WHERE deliveries >= 2") == COUNT
    assert verdicts[0] + verdicts[2] == COUNT, f"counted otherwise than posted: {verdicts}"
    for worker in (first, second):
        assert "class=BUG" not in worker.log_text() and "alarm=" not in worker.log_text()
    assert db.value("SELECT COUNT(*) FROM failure") == 0
