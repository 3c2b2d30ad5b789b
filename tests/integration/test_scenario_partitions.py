"""What a worker does to its partitions while they move, are held or are left, as others have got it wrong."""
import random
import signal
import time

import books
import pytest
from pages import Pages
from support.worker import notification

HOLDS = {"strict": {"hand_over": False}}


def payments(first, end):
    return [notification(f"T{n:04d}", f"R{n:04d}") for n in range(first, end)]


def register(db, first, end):
    books.register(db, *(f"R{n:04d}" for n in range(first, end)))


def slow_down(db, at_most_s):
    """Every posting takes a random while, inside its transaction."""
    db.execute("CREATE TRIGGER slow BEFORE INSERT ON outcome FOR EACH ROW"
               f" SET @slept = SLEEP(RAND() * {at_most_s})")


def settled_below(db, offsets):
    """The records below these committed offsets that have no outcome: [(partition, offset)]."""
    there = set(db.rows("SELECT c.source_partition, c.source_offset FROM claim c JOIN outcome o ON o.claim_id = c.id"))
    return [(partition, offset) for partition, end in offsets.items() for offset in range(end or 0)
            if (partition, offset) not in there]


@pytest.mark.parametrize("assignor", ["range", "cooperative-sticky"])
def test_no_offset_passes_a_record_that_is_not_settled_through_a_storm_of_joins_and_leaves(ledger, db, assignor):
    """What was only taken or only claimed must not count as done, whenever partitions move or a worker is told to go."""
    total, rounds = 400, 6
    ledger.configure({"kafka": {"partition.assignment.strategy": assignor}, "batch": {"max_records": 7}})
    register(db, 0, total)
    slow_down(db, 0.04)
    for partition in range(4):
        ledger.publish(*payments(partition * 100, partition * 100 + 100), partition=partition)
    workers = [ledger.start()]
    for turn in range(rounds):
        target = (turn + 1) * total // (rounds + 2)
        ledger.wait_for(lambda: books.count(db, "outcome") >= target, f"{target} are posted")
        if turn % 2 == 0:
            workers.append(ledger.start())
        else:
            workers.pop(0).process.send_signal(signal.SIGTERM)
        assert books.count(db, "outcome") < total, "nothing was in hand"
        offsets = ledger.kafka.committed(ledger.group, ledger.topic)
        assert settled_below(db, offsets) == []
    ledger.wait_for_lag(0, timeout=90)
    assert [worker.stop() for worker in workers] == [0] * len(workers)
    assert books.statuses(db) == {"PAID": total}
    assert books.count(db, "outcome") == books.count(db, "claim") == books.count(db, "outbox") == total


def test_a_row_locked_for_longer_than_the_poll_interval_neither_leaves_the_group_nor_posts_twice(ledger, db):
    """A session of somebody else's holds the order for longer than a worker may go without a poll."""
    interval_ms = 8000
    pages = Pages()
    ledger.configure({"kafka": {"max.poll.interval.ms": interval_ms, "session.timeout.ms": 3000},
                      "mysql": {"read_timeout": "5s", "write_timeout": "5s", "connect_timeout": "2s"}})
    register(db, 0, 2)
    worker = ledger.start(changes=pages.options)
    ledger.wait_for(pages.is_ready, "it is ready")
    holder = db.connect(autocommit=False)
    with holder.cursor() as cursor:
        cursor.execute("SELECT * FROM payment_order WHERE order_no = 'R0000' FOR UPDATE")
    began = time.monotonic()
    ledger.publish(*payments(0, 1), partition=0)
    ledger.wait_for(lambda: books.count(db, "claim") == 1, "the claim is there")
    ledger.wait_for(lambda: "offset=0" in held_lines(worker) and time.monotonic() - began > 2 * interval_ms / 1000,
                    "twice the interval is over, and the log names the record", 60)
    assert books.count(db, "outcome") == 0
    holder.rollback()
    holder.close()
    ledger.wait_for_lag(0)
    assert pages.figure("postonce_rebalances_total") == 1 and "revoked" not in worker.log_text()
    assert books.statuses(db)["PAID"] == 1 and books.count(db, "outcome") == 1
    assert books.count(db, "dead_letter") == books.count(db, "failure") == 0
    assert worker.stop() == 0


def held_lines(worker):
    return "\n".join(line for line in worker.log_text().splitlines() if "event=held" in line)


# A partition that goes away while it is held and comes back

LONG = {**HOLDS, "retry": {"first": "60s", "most": "60s"}}


def hold_and_lose(ledger, db, changes):
    """Two workers; the first held partition 0 and lost it to the second. Returns (first, second)."""
    ledger.configure(changes)
    ledger.publish(*payments(0, 2), partition=0)
    register(db, 1, 2)
    first = ledger.start(changes={"kafka": {"client.id": "b"}})
    ledger.wait_for(lambda: "reason=ORDER_UNKNOWN" in first.log_text(), "the first worker holds it")
    # The assignor gives the first partition to the first member by name, and names begin with the client's.
    second = ledger.start(changes={"kafka": {"client.id": "a"}})
    ledger.wait_for(lambda: "reason=ORDER_UNKNOWN" in second.log_text(), "the second worker holds it")
    assert "revoked=" in first.log_text()
    return first, second


@pytest.mark.parametrize("changes", [LONG, {**HOLDS, "retry": {"first": "500ms", "most": "500ms"}}],
                         ids=["before-its-time", "after-its-time"])
def test_a_held_partition_that_went_away_and_came_back_flows_again(ledger, db, changes):
    """Neither the pause nor the back-off of the time before it went may outlive the assignment: it came back before
    the hold was due, or after it had been due elsewhere."""
    first, second = hold_and_lose(ledger, db, changes)
    if changes is not LONG:
        ledger.wait_for(lambda: second.log_text().count("reason=ORDER_UNKNOWN") >= 3, "the hold was due meanwhile")
    register(db, 2, 4)
    ledger.publish(*payments(2, 4), partition=3)
    ledger.wait_for(lambda: books.statuses(db) == {"PAID": 3}, "the other partitions flow all the time")
    register(db, 0, 1)
    assert second.stop() in (0, 75), "75 while it holds"
    ledger.wait_for(lambda: books.statuses(db) == {"PAID": 4}, "what was held is posted by the first worker")
    ledger.wait_for_lag(0)
    assert first.stop() == 0 and books.count(db, "outbox") == 4


@pytest.mark.partitions(1)
@pytest.mark.parametrize("assignor", ["range", "cooperative-sticky"])
def test_a_held_partition_that_was_lost_and_given_back_flows_again(ledger, db, assignor):
    """The worker was taken for dead: it did not see its partition go, only that it was gone."""
    ledger.configure({**LONG, "kafka": {"partition.assignment.strategy": assignor, "session.timeout.ms": 1000,
                                        "heartbeat.interval.ms": 200}})
    ledger.publish(*payments(0, 2))
    register(db, 1, 2)
    first = ledger.start()
    ledger.wait_for(lambda: "reason=ORDER_UNKNOWN" in first.log_text(), "the first worker holds it")
    first.freeze()
    second = ledger.start()
    ledger.wait_for(lambda: "reason=ORDER_UNKNOWN" in second.log_text(), "the second worker holds it", 60)
    first.thaw()
    ledger.wait_for(lambda: "lost=1" in first.log_text(), "the first one knows that it lost it")
    register(db, 0, 1)
    second.process.send_signal(signal.SIGTERM)
    ledger.wait_for(lambda: books.statuses(db) == {"PAID": 2}, "it is posted")
    ledger.wait_for_lag(0)
    assert first.stop() == 0 and books.count(db, "outbox") == 2


# Many workers at the same keys

@pytest.mark.parametrize("assignor, workers", [("range", 8), ("roundrobin", 8), ("cooperative-sticky", 12)])
def test_many_workers_at_few_partitions_with_the_same_keys_post_each_once_without_a_letter(ledger, db, assignor,
                                                                                          workers):
    """Every key comes four times, in each partition in another order; most workers have no partition at all."""
    count = 150
    ledger.configure({"kafka": {"partition.assignment.strategy": assignor}, "batch": {"max_records": 40}})
    register(db, 0, count)
    made, shuffler = payments(0, count), random.Random(7)
    for partition in range(4):
        shuffler.shuffle(made)
        ledger.publish(*made, partition=partition)
    assert ledger.drain(workers, timeout=120) == [0] * workers
    assert books.statuses(db) == {"PAID": count}
    assert books.count(db, "outcome") == books.count(db, "claim") == books.count(db, "outbox") == count
    assert db.value("SELECT SUM(deliveries) FROM claim") >= 4 * count
    assert books.count(db, "dead_letter") == books.count(db, "failure") == books.count(db, "review") == 0
    logs = "".join(worker.log_text() for worker in ledger.workers)
    assert "alarm=" not in logs and "class=BUG" not in logs


# Told to stop at an awkward moment

@pytest.mark.parametrize("assignor", ["range", "cooperative-sticky"])
def test_a_worker_told_to_stop_while_it_joins_ends_in_time_and_the_group_goes_on(ledger, db, assignor):
    """A frozen member keeps the group from forming: the newcomer is joining until then."""
    ledger.configure({"kafka": {"partition.assignment.strategy": assignor, "session.timeout.ms": 20000}})
    register(db, 0, 4)
    first = ledger.start()
    ledger.publish(*payments(0, 2), partition=0)
    ledger.wait_for_lag(0)
    first.freeze()
    second = ledger.start()
    ledger.wait_for(lambda: "event=started" in second.log_text(), "the second one has begun to join")
    assert second.stop() in (0, 75), "75: what it could not leave in time is given up"
    assert "event=rebalance" not in second.log_text()
    first.thaw()
    ledger.publish(*payments(2, 4), partition=1)
    ledger.wait_for_lag(0)
    assert first.stop() == 0 and books.statuses(db) == {"PAID": 4}


@pytest.mark.partitions(1)
def test_a_worker_without_partitions_told_to_stop_ends_with_0(ledger, db):
    register(db, 0, 1)
    workers = [ledger.start() for _ in range(2)]
    ledger.wait_for(lambda: all("event=rebalance assigned=" in worker.log_text() for worker in workers), "both joined")
    idle = [worker for worker in workers if last_assignment(worker) == "0"]
    for worker in idle:
        assert worker.stop() == 0
    left, = [worker for worker in workers if worker not in idle]
    ledger.publish(*payments(0, 1))
    ledger.wait_for_lag(0)
    assert left.stop() == 0 and books.statuses(db) == {"PAID": 1}


def last_assignment(worker):
    return worker.log_text().rpartition("event=rebalance assigned=")[2].split()[0]
