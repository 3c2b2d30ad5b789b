"""SIGTERM: the batch is finished or abandoned, nothing is lost, and the exit status says which."""
import signal

import books
from support.worker import notification


def blocked(ledger, db, **stop):
    """A worker in the middle of a batch: another session holds the lock of its order."""
    ledger.configure({"stop": {"grace": "60s", **stop}})
    books.register(db, "R1")
    holder = db.connect(autocommit=False)
    with holder.cursor() as cursor:
        cursor.execute("SELECT * FROM payment_order WHERE order_no = 'R1' FOR UPDATE")
    worker = ledger.start()
    ledger.publish(notification("T1", "R1"), partition=0)
    ledger.wait_for(lambda: books.count(db, "claim") == 1, "the claim is there")
    assert books.count(db, "outcome") == 0, "nothing is in flight"
    return worker, holder


def finish(ledger, db, holder):
    holder.rollback()
    holder.close()
    assert ledger.drain() == [0]
    assert books.statuses(db) == {"PAID": 1} and books.count(db, "outcome") == 1


def test_a_worker_with_nothing_in_hand_ends_with_0(ledger, db):
    books.register(db, "R1")
    worker = ledger.start()
    ledger.publish(notification("T1", "R1"), partition=0)
    ledger.wait_for_lag(0)
    assert worker.stop() == 0


def test_a_held_partition_is_not_drained(ledger, db):
    ledger.configure({"strict": {"hand_over": False}})
    ledger.publish(notification("T1", "R1"), partition=0)
    worker = ledger.start()
    ledger.wait_for(lambda: books.count(db, "hold") == 1, "the hold is noted")
    assert worker.stop() == 75


def test_a_batch_that_outlasts_the_grace_is_abandoned_and_comes_again(ledger, db):
    worker, holder = blocked(ledger, db, grace="1s")
    assert worker.stop() == 75
    assert books.count(db, "outcome") == 0
    finish(ledger, db, holder)


def test_a_second_signal_ends_it_at_once_and_loses_nothing(ledger, db):
    worker, holder = blocked(ledger, db)
    worker.process.send_signal(signal.SIGTERM)
    ledger.wait_for(lambda: not worker.alive() or worker.process.send_signal(signal.SIGTERM) or not worker.alive(),
                    "a further signal ends it")
    assert worker.wait() == 75
    finish(ledger, db, holder)


def test_a_batch_that_ends_within_the_grace_is_finished_and_its_offset_committed(ledger, db):
    worker, holder = blocked(ledger, db)
    worker.process.send_signal(signal.SIGTERM)
    holder.rollback()
    holder.close()
    assert worker.wait() == 0
    assert books.statuses(db) == {"PAID": 1}
    assert ledger.kafka.committed(ledger.group, ledger.topic)[0] == 1
