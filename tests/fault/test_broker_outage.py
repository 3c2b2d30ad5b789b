"""The broker dies in the middle of the work: the workers stay, and go on when it is back."""
import flood
from support.worker import free_port

COUNT, STRIKE = 4000, 1000
# So little is fetched ahead that a dead broker is missed at once; a full queue waits that back-off, 500 ms otherwise.
SMALL_FETCHES = {"kafka": {"queued.min.messages": 300, "fetch.message.max.bytes": 32768, "fetch.error.backoff.ms": 10},
                 "batch": {"max_records": 50}}


def test_broker_killed_and_started_again_loses_nothing_and_ends_no_worker(postonce, db):
    ports = [free_port(), free_port()]
    postonce.configure(SMALL_FETCHES)
    postonce.migrate()
    payments = flood.payments(COUNT)
    flood.register(db, payments)
    records = flood.with_duplicates(payments, every=20, distance=200)
    for at in range(0, len(records), 200):  # small batches in the log: a fetch brings at least one whole
        flood.publish(postonce, records[at:at + 200])
    workers = [postonce.start(changes={"http": {"port": port}}) for port in ports]
    flood.wait_for_outcomes(postonce, STRIKE)
    flood.freeze_inside_transaction(db, workers[0])
    broker = postonce.kafka.servers[0]
    broker.kill()
    workers[0].thaw()
    for worker in workers:
        postonce.wait_for(lambda: "event=kafka_trouble class=TRANSIENT" in worker.log_text(),
                          f"{worker.name} meets the outage")
    assert flood.outcomes(db) < COUNT, "nothing was in flight"
    broker.start()
    flood.wait_for_outcomes(postonce, COUNT)
    postonce.wait_for_lag(0)
    for port in ports:
        postonce.wait_for(lambda: flood.page(port, "/readyz")[0] == 200, "readiness is green again")
    assert all(worker.alive() for worker in workers)
    assert [worker.stop() for worker in workers] == [0, 0]
    flood.assert_posted_once(postonce, payments)


def test_broker_killed_before_dead_letters_are_written_loses_none(postonce, db):
    postonce.configure(SMALL_FETCHES)
    postonce.migrate()
    payments = flood.payments(200)
    flood.register(db, payments)
    garbage = [f"garbage {n}".encode() for n in range(20)]
    flood.publish(postonce, [one for pair in zip(payments[:20], garbage) for one in pair] + payments[20:])
    worker = postonce.start(failpoints="posting.committed=freeze@1")
    flood.wait_for_strike(postonce, worker, "posting.committed", "freeze")
    postonce.wait_for(worker.is_frozen, "the worker is frozen")
    assert db.value("SELECT COUNT(*) FROM dead_letter") == 0 and postonce.dead_letters() == []
    broker = postonce.kafka.servers[0]
    broker.kill()
    worker.thaw()
    postonce.wait_for(lambda: "Connection refused" in worker.log_text(), "the worker misses the broker")
    assert db.value("SELECT COUNT(*) FROM dead_letter") == 0, "nothing was in flight"
    broker.start()
    flood.wait_for_outcomes(postonce, len(payments))
    postonce.wait_for_lag(0)
    assert worker.stop() == 0
    flood.assert_posted_once(postonce, payments, dead_letters=len(garbage))
    assert sorted({letter.value for letter in postonce.dead_letters()}) == sorted(garbage)
