"""The database goes away in the middle of the work and comes back: nothing is lost, nothing is dead-lettered."""
import time

import flood
import pytest
from support.worker import free_port

COUNT, STRIKE, BATCH = 5000, 1500, 50
OUTAGE_S = 20
OUTAGES = 5  # with this back-off, over a second


def begin(postonce, **changes):
    """A worker in the middle of COUNT notifications; returns it, its HTTP port and the payments."""
    port = free_port()
    postonce.configure({"batch": {"max_records": BATCH}, "http": {"port": port}, "log": {"level": "debug"}, **changes})
    postonce.migrate()
    payments = flood.payments(COUNT)
    flood.register(postonce.db, payments)
    flood.publish(postonce, payments)
    worker = postonce.start()
    flood.wait_for_outcomes(postonce, STRIKE)
    postonce.wait_for(lambda: flood.page(port, "/readyz")[0] == 200, "it is ready")
    flood.freeze_inside_transaction(postonce.db, worker)
    assert flood.outcomes(postonce.db) < COUNT, "nothing was in flight"
    return worker, port, payments


def finish(postonce, worker, port, payments):
    """The same worker brings everything to its end."""
    flood.wait_for_outcomes(postonce, COUNT)
    postonce.wait_for_lag(0)
    postonce.wait_for(lambda: flood.page(port, "/readyz")[0] == 200, "readiness is green again")
    assert flood.metric(port, "postonce_dead_letters_total") == 0
    # A batch whose COMMIT went unanswered, and could not be read at once, comes again and is not counted.
    assert COUNT - BATCH <= flood.counted(port, "POSTED") <= COUNT
    assert worker.stop() == 0
    flood.assert_posted_once(postonce, payments)


@pytest.mark.both_databases
def test_database_stopped_for_twenty_seconds_loses_and_dead_letters_nothing(postonce, db):
    worker, port, payments = begin(postonce)
    db.server.stop()
    down, pages = time.monotonic(), []
    worker.thaw()

    def over():
        pages.append(flood.page(port, "/readyz")[0])
        return time.monotonic() - down >= OUTAGE_S
    postonce.wait_for(over, f"the database is down for {OUTAGE_S} s", OUTAGE_S + 10)
    assert worker.alive()
    assert pages[-1] == 503, "readiness did not go red"
    assert flood.page(port, "/healthz")[0] == 200
    db.server.start()
    assert flood.outcomes(db) < COUNT, "nothing was in flight"
    finish(postonce, worker, port, payments)


@pytest.mark.both_databases
def test_database_killed_inside_a_transaction_loses_nothing(postonce, db):
    worker, port, payments = begin(postonce)
    db.server.kill()
    worker.thaw()
    postonce.wait_for(lambda: "event=outage" in worker.log_text(), "the worker meets the outage")
    db.server.start()
    assert flood.outcomes(db) < COUNT, "nothing was in flight"
    finish(postonce, worker, port, payments)


@pytest.mark.both_databases
def test_worker_killed_while_it_waits_for_the_database_loses_nothing(postonce, db):
    worker, _, payments = begin(postonce)
    settled = flood.outcomes(db)
    db.server.kill()
    worker.thaw()
    # Long enough for a commit of whatever offsets it has stored.
    postonce.wait_for(lambda: worker.log_text().count("event=outage ") >= OUTAGES, f"{OUTAGES} outages")
    worker.kill()
    assert sum(end or 0 for end in postonce.kafka.committed(postonce.group, postonce.topic).values()) <= settled
    db.server.start()
    assert flood.outcomes(db) == settled < COUNT, "nothing was in flight"
    assert postonce.drain() == [0]
    flood.assert_posted_once(postonce, payments)


@pytest.mark.both_databases
def test_database_that_freezes_longer_than_the_read_timeout_loses_nothing(postonce, db):
    worker, port, payments = begin(postonce, mysql={"connect_timeout": "1s", "read_timeout": "1s",
                                                    "wait_timeout": "3s"})
    db.server.freeze()
    worker.thaw()
    postonce.wait_for(lambda: "event=outage" in worker.log_text(), "the worker gives up waiting")
    assert worker.alive()
    db.server.thaw()
    finish(postonce, worker, port, payments)


@pytest.mark.partitions(2)
def test_a_resume_after_a_restart_of_the_database_reaches_a_worker_with_a_held_partition(postonce, db):
    """Paused, nothing held is tried, so nothing of it tells that the database is back."""
    port = free_port()
    postonce.configure({"http": {"port": port}, "strict": {"hand_over": False}, "retry": {"first": "50ms", "most": "1s"}})
    postonce.migrate()
    payments = flood.payments(21)
    flood.register(db, payments[1:])
    flood.publish(postonce, payments[:1], partitions=1)  # its order is not known: partition 0 is held
    worker = postonce.start()
    postonce.wait_for(lambda: db.value("SELECT COUNT(*) FROM hold") == 1, "it is held")
    postonce.run("pause", "--why", "database move")
    postonce.wait_for(lambda: flood.metric(port, "postonce_paused") == 1, "it is paused")
    flood.publish(postonce, payments[1:], partitions=2)
    db.server.stop()
    postonce.wait_for(lambda: "event=outage " in worker.log_text(), "the outage is met")
    db.server.start()
    assert flood.outcomes(db) == 0
    postonce.run("resume", "--why", "moved")
    flood.register(db, payments[:1])
    flood.wait_for_outcomes(postonce, 21, 30)
    postonce.wait_for_lag(0)
    postonce.wait_for(lambda: flood.page(port, "/readyz")[0] == 200, "readiness is green again")
    postonce.wait_for(lambda: db.value("SELECT COUNT(*) FROM hold") == 0, "the hold is gone")
    assert worker.stop() == 0
    flood.assert_posted_once(postonce, payments)
