"""What is not settled comes again: holds, and partitions that move between workers, lose and double nothing."""
import re
import time

import books
import pytest
from pages import Pages
from support.worker import notification

# An early record holds its partition instead of being parked.
HOLDS = {"strict": {"hand_over": False}}
ASSIGNORS = ["range", "roundrobin", "cooperative-sticky"]


def use_assignor(ledger, assignor):
    ledger.configure({"kafka": {"partition.assignment.strategy": assignor}})


def committed(ledger, partition):
    return ledger.kafka.committed(ledger.group, ledger.topic)[partition]


def assignments(worker):
    """How many partitions each of its assignments brought."""
    return [int(count) for count in re.findall(r"event=rebalance assigned=(\d+)", worker.log_text())]


def payments(first, end):
    return [notification(f"T{n:04d}", f"R{n:04d}") for n in range(first, end)]


def orders(db, *numbers):
    books.register(db, *(f"R{n:04d}" for n in numbers))


@pytest.mark.parametrize("assignor", ASSIGNORS)
def test_a_held_record_stops_its_partition_only_and_its_offset_never_passes(ledger, db, assignor):
    """R0002 is unknown. Behind it stand payments and a re-push."""
    ledger.configure(HOLDS)
    use_assignor(ledger, assignor)
    pages = Pages()
    orders(db, *range(2), *range(3, 20))
    behind = [*payments(3, 10), notification("T0000", "R0000")]
    ledger.publish(*payments(0, 3), *behind, partition=0)
    worker = ledger.start(changes=pages.options)
    ledger.wait_for(lambda: worker.log_text().count("reason=ORDER_UNKNOWN") >= 6, "R0002 is held again and again")
    ledger.publish(*payments(10, 20), partition=1)
    ledger.wait_for(lambda: committed(ledger, 1) == 10, "the other partition flows")
    assert committed(ledger, 0) == 2
    assert set(books.outcomes(db)) == {books.key(f"T{n:04d}") for n in range(20) if n != 2}
    assert pages.figure("postonce_partitions_held") in (0, 1)  # 0 while it is tried
    orders(db, 2)
    ledger.wait_for(lambda: committed(ledger, 0) == 11, "the offset passes")
    assert books.statuses(db) == {"PAID": 20} and books.count(db, "outbox") == 20
    assert {verdict: pages.verdicts(verdict) for verdict in ("POSTED", "DUPLICATE")} == {"POSTED": 20, "DUPLICATE": 1}
    assert worker.stop() == 0 and ledger.kafka.lag(ledger.group, ledger.topic) == 0


def test_two_held_partitions_are_held_and_freed_apart(ledger, db):
    ledger.configure(HOLDS)
    orders(db, 0, 10)
    for partition, first in ((0, 0), (3, 10)):
        ledger.publish(*payments(first, first + 2), notification(f"T{first:04d}", f"R{first:04d}"),
                       partition=partition)
    worker = ledger.start()
    ledger.wait_for(lambda: (committed(ledger, 0), committed(ledger, 3)) == (1, 1), "both stand at their holds")
    orders(db, 11)
    ledger.wait_for(lambda: committed(ledger, 3) == 3, "one is freed")
    assert committed(ledger, 0) == 1
    orders(db, 1)
    ledger.wait_for(lambda: committed(ledger, 0) == 3, "the other is freed")
    assert worker.stop() == 0
    assert books.statuses(db) == {"PAID": 4}


@pytest.mark.parametrize("assignor", ["range", "cooperative-sticky"])
def test_a_hold_moves_with_its_partition_to_another_worker(ledger, db, assignor):
    ledger.configure(HOLDS)
    use_assignor(ledger, assignor)
    orders(db, *range(1, 4))
    ledger.publish(*payments(0, 4), partition=0)
    first = ledger.start()
    ledger.wait_for(lambda: "reason=ORDER_UNKNOWN" in first.log_text(), "it is held")
    second = ledger.start()
    ledger.wait_for(lambda: assignments(second), "a second worker has joined")
    assert first.stop() in (0, 75)  # 75: it kept the held partition, and was at its record
    ledger.wait_for(lambda: "reason=ORDER_UNKNOWN" in second.log_text(), "the other worker holds it")
    assert committed(ledger, 0) in (None, 0)
    orders(db, 0)
    ledger.wait_for_lag(0)
    assert second.stop() == 0
    assert books.statuses(db) == {"PAID": 4} and books.count(db, "outbox") == 4


class Stream:
    """Payments that keep coming while a test waits, over all partitions, a few of them twice."""

    def __init__(self, ledger, db):
        self.ledger, self.db, self.count = ledger, db, 0

    def more(self):
        first, self.count = self.count, self.count + 40
        orders(self.db, *range(first, self.count))
        for partition in range(4):
            self.ledger.publish(*payments(first + 10 * partition, first + 10 * (partition + 1)),
                                *payments(first, first + 1), partition=partition)

    def until(self, condition, what):
        """Until it holds while there is work in hand."""
        self.ledger.wait_for(lambda: (self.more(), condition())[1], what)
        assert books.count(self.db, "outcome") < self.count, f"nothing was open any more when {what}"


@pytest.mark.parametrize("assignor", ASSIGNORS)
def test_workers_that_join_and_leave_in_mid_work_lose_and_double_nothing(ledger, db, assignor):
    use_assignor(ledger, assignor)
    ledger.configure({"batch": {"max_records": 20}})
    stream = Stream(ledger, db)
    first = ledger.start()
    stream.until(lambda: books.count(db, "outcome") >= 100, "the first worker works")
    second = ledger.start()
    stream.until(lambda: any(assignments(second)), "the second worker has partitions")
    third = ledger.start()
    stream.until(lambda: any(assignments(third)), "the third worker has partitions")
    assert first.stop() == 0
    stream.until(lambda: len(assignments(second) + assignments(third)) >= 4, "the others have its partitions")
    ledger.wait_for_lag(0, timeout=90)
    assert [second.stop(), third.stop()] == [0, 0]
    total = stream.count
    assert books.statuses(db) == {"PAID": total}
    assert books.count(db, "outcome") == books.count(db, "claim") == books.count(db, "outbox") == total
    assert books.balances(db) == {"channel:WECHAT:clearing": 1000 * total, "merchant:1:payable": -1000 * total}
    assert books.reviews(db) == [] and ledger.dead_letters() == []


def test_a_static_member_that_restarts_moves_no_partition(ledger, db):
    orders(db, *range(8))
    ledger.configure({"kafka": {"session.timeout.ms": 10000}})
    first = ledger.start(changes={"kafka": {"group.instance.id": "one"}})
    ledger.wait_for(lambda: assignments(first) == [4], "the first has all")
    second = ledger.start(changes={"kafka": {"group.instance.id": "two"}})
    ledger.wait_for(lambda: assignments(second)[-1:] == [2], "the second has its half")
    before = assignments(second)
    assert first.stop() == 0
    for partition in range(4):
        ledger.publish(*payments(2 * partition, 2 * partition + 2), partition=partition)
    ledger.wait_for(lambda: books.count(db, "outcome") == 4, "the second works on its half only")
    again = ledger.start(changes={"kafka": {"group.instance.id": "one"}})
    ledger.wait_for_lag(0)
    assert assignments(again) == [2] and assignments(second) == before
    assert [again.stop(), second.stop()] == [0, 0]
    assert books.statuses(db) == {"PAID": 8} and books.count(db, "outbox") == 8


def test_an_outage_longer_than_the_poll_interval_does_not_leave_the_group(ledger, db):
    pages = Pages()
    limit_ms = 3000
    ledger.configure({"kafka": {"max.poll.interval.ms": limit_ms, "session.timeout.ms": 1500},
                      "mysql": {"connect_timeout": "1s", "read_timeout": "2s", "write_timeout": "2s"},
                      "retry": {"first": "1s", "most": "1s"}})
    orders(db, 0)
    worker = ledger.start(changes=pages.options)
    ledger.wait_for(pages.is_ready, "it is ready")
    db.execute("RENAME TABLE outbox TO elsewhere")
    began = time.monotonic()
    ledger.publish(*payments(0, 1))
    ledger.wait_for(lambda: worker.log_text().count("event=held") >= 8, "it has probed eight times")
    assert time.monotonic() - began > 1.2 * limit_ms / 1000, "the outage was too short to tell"
    db.execute("RENAME TABLE elsewhere TO outbox")
    ledger.wait_for_lag(0)
    assert pages.figure("postonce_rebalances_total") == 1 and "revoked" not in worker.log_text()
    assert worker.stop() == 0 and books.statuses(db) == {"PAID": 1}
