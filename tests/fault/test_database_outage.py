"""The database goes away in the middle of the work and comes back: nothing is lost, nothing is dead-lettered."""
import time

import flood
import pytest
from support.worker import free_port

COUNT, STRIKE = 5000, 1500
OUTAGE_S = 20


def begin(postonce, **changes):
    """A worker in the middle of COUNT notifications; returns it, its HTTP port and the payments."""
    port = free_port()
    postonce.configure({"batch": {"max_records": 50}, "http": {"port": port}, **changes})
    postonce.migrate()
    payments = flood.payments(COUNT)
    flood.register(postonce.db, payments)
    flood.publish(postonce, payments)
    worker = postonce.start()
    flood.wait_for_outcomes(postonce, STRIKE)
    assert flood.page(port, "/readyz")[0] == 200
    flood.freeze_inside_transaction(postonce.db, worker)
    assert flood.outcomes(postonce.db) < COUNT, "nothing was in flight"
    return worker, port, payments


def finish(postonce, worker, port, payments):
    """The same worker brings everything to its end."""
    flood.wait_for_outcomes(postonce, COUNT)
    postonce.wait_for_lag(0)
    postonce.wait_for(lambda: flood.page(port, "/readyz")[0] == 200, "readiness is green again")
    assert flood.metric(port, "postonce_dead_letters_total") == 0
    assert flood.counted(port, "POSTED") == COUNT
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
def test_database_that_freezes_longer_than_the_read_timeout_loses_nothing(postonce, db):
    worker, port, payments = begin(postonce, mysql={"connect_timeout": "1s", "read_timeout": "1s",
                                                    "wait_timeout": "3s"})
    db.server.freeze()
    worker.thaw()
    postonce.wait_for(lambda: "event=outage" in worker.log_text(), "the worker gives up waiting")
    assert worker.alive()
    db.server.thaw()
    finish(postonce, worker, port, payments)
