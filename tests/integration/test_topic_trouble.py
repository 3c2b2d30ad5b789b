"""Topics that are odd, damaged or gone, on a real broker: never a silent jump, and never a stop for the others."""
import json
import pathlib
import re
import struct
import uuid

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from support.raw_produce import crc32c
from support.wait import wait_until
from support.worker import notification

UNDRAINED, CONFIGURATION = 75, 78
GARBAGE = b"{ garbage"


def payments(db, count, first=1):
    """Notifications and their orders."""
    made = [notification(f"T{n:05}", f"O{n:05}", 1000 + n) for n in range(first, first + count)]
    db.execute("INSERT INTO payment_order (tenant_id, order_no, amount, currency, status) VALUES " + ", ".join(
        f"(1, '{one['order_no']}', {one['amount_minor']}, 'CNY', 'PENDING_PAY')" for one in made))
    return made


def put(kafka, topic, notifications, partition=0):
    return kafka.produce_many(topic, [{"value": one if isinstance(one, bytes) else json.dumps(one).encode(),
                                       "partition": partition} for one in notifications])


def posted(db):
    return db.value("SELECT COUNT(*) FROM outcome WHERE verdict = 'POSTED'")


def commit(kafka, group, topic, offsets):
    """Moves a group that has no member."""
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap, "group.id": group, "log_level": 0})
    consumer.commit(offsets=[TopicPartition(topic, partition, offset) for partition, offset in offsets.items()],
                    asynchronous=False)
    consumer.close()


def alarms(worker, code):
    return [dict(re.findall(r"(\w+)=(\S+)", line)) for line in worker.log_text().splitlines()
            if f"alarm={code} " in line]


def recreate(postonce, kafka, partitions=1):
    kafka.delete(postonce.topic)
    kafka.topic(partitions, name=postonce.topic)


# Patterns

def test_a_pattern_takes_its_topics_but_never_the_dead_letters_and_new_ones_too(postonce, kafka, db):
    postonce.migrate()
    stem = f"p-{uuid.uuid4().hex[:8]}"
    made = payments(db, 6)
    dead = kafka.topic(1, name=f"{stem}-letters")
    postonce.configure({"topics": None})
    postonce.configure({"topics": {f"^{stem}-": {}}, "dead_letter": {"topic": dead},
                        "kafka": {"topic.metadata.refresh.interval.ms": 500}})
    for place, name in enumerate(["a", "b"]):
        put(kafka, kafka.topic(1, name=f"{stem}-{name}"), [*made[2 * place:2 * place + 2], GARBAGE])
    worker = postonce.start()
    postonce.wait_for(lambda: posted(db) == 4, "four posted")
    put(kafka, kafka.topic(1, name=f"{stem}-later"), made[4:])
    postonce.wait_for(lambda: posted(db) == 6, "the new topic is taken up")
    assert worker.stop() == 0
    assert postonce.drain() == [0]
    assert len(kafka.consume(dead)) == 2
    assert kafka.committed(postonce.group, dead) == {0: None}
    assert db.value("SELECT COUNT(*) FROM dead_letter") == 2


def test_a_pattern_that_matches_nothing_yet_is_no_fault(postonce, kafka, db):
    postonce.migrate()
    stem = f"p-{uuid.uuid4().hex[:8]}"
    postonce.configure({"topics": None})
    postonce.configure({"topics": {f"^{stem}-": {}}, "kafka": {"topic.metadata.refresh.interval.ms": 500}})
    assert postonce.drain() == [0]
    worker = postonce.start()
    postonce.wait_for(lambda: "event=started" in worker.log_text(), "it runs")
    put(kafka, kafka.topic(1, name=f"{stem}-first"), payments(db, 1))
    postonce.wait_for(lambda: posted(db) == 1, "the new topic is taken up")
    assert "alarm=" not in worker.log_text()


@pytest.mark.parametrize("pattern, why", [("^.*", "means Kafka's own topics"), ("^cb-(", "is no pattern")])
def test_a_pattern_that_cannot_be_meant_is_refused_at_its_place(pattern, why, postonce):
    postonce.configure({"topics": None})
    postonce.configure({"topics": {pattern: {}}})
    done = postonce.run("run", check=False)
    assert done.returncode == CONFIGURATION
    assert why in done.stderr and "postonce.yaml:" in done.stderr


# B-13: gone and made anew

@pytest.mark.partitions(1)
def test_a_topic_made_anew_while_nobody_worked_is_read_from_its_beginning(postonce, kafka, db):
    postonce.migrate()
    put(kafka, postonce.topic, [GARBAGE, *payments(db, 9)])
    assert postonce.drain() == [0]
    recreate(postonce, kafka)
    put(kafka, postonce.topic, [GARBAGE, *payments(db, 2, first=10)])
    assert postonce.drain() == [0]
    assert posted(db) == 11
    letters = [dict(letter.headers) for letter in postonce.dead_letters()]
    assert [letter["postonce.offset"] for letter in letters] == [b"0", b"0"]
    assert len({letter["postonce.letter_id"] for letter in letters}) == 2, "the same place is not the same record"
    assert db.value("SELECT COUNT(*) FROM dead_letter") == 2
    assert kafka.committed(postonce.group, postonce.topic) == {0: 3}


@pytest.mark.partitions(1)
def test_a_topic_made_anew_under_a_worker_is_not_jumped_into(postonce, kafka, db):
    """Either its records come from the beginning, or the partition stops and says why: after that a person moves
    the group, and commits below the old offset work."""
    postonce.migrate()
    worker = postonce.start()
    put(kafka, postonce.topic, payments(db, 20))
    postonce.wait_for(lambda: posted(db) == 20, "twenty posted")
    postonce.wait_for_lag()
    recreate(postonce, kafka)
    put(kafka, postonce.topic, payments(db, 5, first=21))
    postonce.wait_for(lambda: posted(db) == 25 or alarms(worker, "OFFSET_OUT_OF_RANGE"), "posted, or an alarm", 60)
    assert worker.stop() in (0, UNDRAINED)
    assert posted(db) in (20, 25)
    if posted(db) == 20:
        alarm = alarms(worker, "OFFSET_OUT_OF_RANGE")[0]
        assert (alarm["wanted"], alarm["low"], alarm["high"]) == ("20", "0", "5")
        commit(kafka, postonce.group, postonce.topic, {0: 0})
    assert postonce.drain() == [0]
    assert posted(db) == 25
    assert kafka.committed(postonce.group, postonce.topic) == {0: 5}


# B-13: out of range

@pytest.mark.partitions(2)
@pytest.mark.parametrize("committed", [1000])
def test_an_offset_beyond_the_end_stops_its_partition_with_all_three_shown(committed, postonce, kafka, db):
    postonce.migrate()
    put(kafka, postonce.topic, payments(db, 5), partition=0)
    put(kafka, postonce.topic, payments(db, 5, first=6), partition=1)
    commit(kafka, postonce.group, postonce.topic, {0: committed})
    assert postonce.drain() == [UNDRAINED]
    assert posted(db) == 5, "the other partition goes on"
    alarm, = alarms(postonce.workers[0], "OFFSET_OUT_OF_RANGE")
    assert (alarm["partition"], alarm["committed"], alarm["low"], alarm["high"]) == ("0", "1000", "0", "5")
    assert kafka.committed(postonce.group, postonce.topic) == {0: committed, 1: 5}, "nobody moved it"
    commit(kafka, postonce.group, postonce.topic, {0: 0})
    assert postonce.drain() == [0]
    assert posted(db) == 10


@pytest.mark.partitions(2)
def test_a_partition_out_of_range_waits_for_a_person_until_it_flows_again(postonce, kafka, db):
    def items():
        return db.rows("SELECT subject, reason, state FROM review")

    postonce.migrate()
    put(kafka, postonce.topic, payments(db, 5), partition=0)
    commit(kafka, postonce.group, postonce.topic, {0: 1000, 1: 0})
    subject = f"hold {postonce.group} {postonce.topic}/0@1000"
    for _ in range(2):  # a restart mends nothing
        worker = postonce.start()
        wait_until(lambda: "alarm=OFFSET_OUT_OF_RANGE" in worker.log_text() and items(), "it is asked for",
                   logs=[worker.log])
        assert items() == [(subject, "OFFSET_OUT_OF_RANGE", "OPEN")]
        assert db.value("SELECT reason FROM hold") == "OFFSET_OUT_OF_RANGE"
        worker.stop()
    commit(kafka, postonce.group, postonce.topic, {0: 0})
    worker = postonce.start()
    wait_until(lambda: posted(db) == 5 and items() == [(subject, "OFFSET_OUT_OF_RANGE", "CLOSED")], "it flows",
               logs=[worker.log])
    assert worker.stop() == 0 and db.value("SELECT COUNT(*) FROM hold") == 0


@pytest.mark.partitions(2)
def test_records_that_retention_took_unread_stop_their_partition(postonce, kafka, db):
    postonce.migrate()
    put(kafka, postonce.topic, payments(db, 2), partition=0)
    put(kafka, postonce.topic, payments(db, 1, first=3), partition=1)
    assert postonce.drain() == [0]
    put(kafka, postonce.topic, payments(db, 5, first=4), partition=0)
    kafka.configure(postonce.topic, {"retention.ms": "1000", "segment.ms": "100"})
    wait_until(lambda: low(kafka, postonce.topic, 0) == 7, "retention takes the records", 60)
    kafka.configure(postonce.topic, {})
    put(kafka, postonce.topic, payments(db, 2, first=9), partition=0)
    put(kafka, postonce.topic, payments(db, 1, first=11), partition=1)
    assert postonce.drain() == [UNDRAINED]
    alarm, = alarms(postonce.workers[-1], "OFFSET_OUT_OF_RANGE")
    assert (alarm["partition"], alarm["committed"], alarm["low"], alarm["high"]) == ("0", "2", "7", "9")
    assert kafka.committed(postonce.group, postonce.topic)[0] == 2
    assert posted(db) == 4
    commit(kafka, postonce.group, postonce.topic, {0: 7})
    assert postonce.drain() == [0]
    assert posted(db) == 6


def low(kafka, topic, partition):
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap, "group.id": "tests-reader", "log_level": 0})
    try:
        return consumer.get_watermark_offsets(TopicPartition(topic, partition), 10)[0]
    finally:
        consumer.close()


# B-12: holes and transactions

@pytest.mark.partitions(1)
def test_aborted_transactions_are_never_posted_and_markers_are_passed(postonce, kafka, db):
    postonce.migrate()
    made = payments(db, 6)
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "transactional.id": f"x-{postonce.topic}",
                         "log_level": 0})
    producer.init_transactions(20)
    for records, kept in [(made[:2], True), (made[2:4], False), (made[4:5], True), ([], False), (made[5:], False)]:
        producer.begin_transaction()
        for one in records:
            producer.produce(postonce.topic, json.dumps(one).encode(), partition=0)
        producer.flush(20)
        (producer.commit_transaction if kept else producer.abort_transaction)(20)
    assert postonce.drain() == [0]
    assert {key for key, in db.rows("SELECT idem_key FROM claim")} \
        == {f"WECHAT:{made[n]['txn']}:PAYMENT_RECEIVED" for n in (0, 1, 4)}
    assert kafka.lag(postonce.group, postonce.topic) == 0
    producer.begin_transaction()
    producer.produce(postonce.topic, json.dumps(made[2]).encode(), partition=0)
    producer.flush(20)
    worker = postonce.start()
    put(kafka, postonce.topic, [made[3]])
    postonce.wait_for(lambda: "rebalance assigned=1" in worker.log_text(), "it takes part")
    assert posted(db) == 3, "nothing behind an open transaction"
    producer.commit_transaction(20)
    postonce.wait_for(lambda: posted(db) == 5, "the open transaction was committed")
    postonce.wait_for_lag()


@pytest.mark.partitions(1)
def test_holes_of_a_compacted_topic_are_stepped_over(postonce, kafka, db):
    postonce.migrate()
    topic = kafka.topic(1, config={"cleanup.policy": "compact", "segment.ms": "100", "min.cleanable.dirty.ratio": "0.01",
                                   "delete.retention.ms": "100", "retention.ms": "604800000"})
    dead = kafka.topic(1, config={"retention.ms": "-1"})
    postonce.topic, postonce.dead_letter_topic = topic, dead
    postonce.configure({"topics": None})
    postonce.configure({"topics": {topic: {}}, "dead_letter": {"topic": dead}})
    made = payments(db, 40)
    kafka.produce_many(topic, [{"value": json.dumps(one).encode(), "key": f"k{place % 4}", "partition": 0}
                               for place, one in enumerate(made)])

    def compacted():
        kafka.produce(topic, json.dumps(made[0]).encode(), f"roll-{uuid.uuid4().hex}", None, 0)  # ends the segment
        return len([record for record in kafka.consume(topic) if record.key.startswith(b"k")]) == 4

    wait_until(compacted, "the topic is compacted", 60)
    assert postonce.drain() == [0]
    assert {int(one["txn"][1:]) for one in made[-4:]} <= {
        int(key.split(":")[1][1:]) for key, in db.rows("SELECT idem_key FROM claim")}
    assert kafka.lag(postonce.group, topic) == 0


# B-16, B-17: bytes

class Segment:
    """The log file of a topic's partition 0 with one batch in it, as the broker serves it."""

    BATCH_CRC, BATCH_DATA = 17, 21  # of record batch format 2

    def __init__(self, kafka, topic):
        self.path, = pathlib.Path(kafka.servers[0].datadir, f"{topic}-0").glob("*.log")
        self.whole = self.path.read_bytes()

    def write(self, at, data):
        with open(self.path, "r+b") as file:
            file.seek(at)
            file.write(data)

    def flip(self, at):
        self.write(at, bytes([self.whole[at] ^ 0xff]))

    def garble_compression(self):
        """Other bytes where the compressed records stand, with a checksum that is right for them."""
        size, = struct.unpack_from(">i", self.whole, 8)
        batch = bytearray(self.whole[:12 + size])
        batch[61:] = bytes(byte ^ 0xff for byte in batch[61:])
        struct.pack_into(">I", batch, self.BATCH_CRC, crc32c(batch[self.BATCH_DATA:]))
        self.write(0, batch)

    def mend(self):
        self.write(0, self.whole)


@pytest.mark.parametrize("assignor", ["range", "cooperative-sticky"])
@pytest.mark.parametrize("damage", ["checksum", "compression"])
def test_a_damaged_batch_stops_its_partition_until_it_is_whole_and_others_go_on(damage, assignor, postonce, kafka, db):
    postonce.migrate()
    postonce.configure({"kafka": {"partition.assignment.strategy": assignor}})
    damaged, whole = postonce.topic, kafka.topic(1)
    postonce.configure({"topics": {damaged: {}, whole: {}}})
    made = payments(db, 8)
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "linger.ms": 200, "compression.type": "lz4",
                         "log_level": 0})
    for one in made[:3]:
        producer.produce(damaged, json.dumps(one).encode(), partition=0)
    producer.flush(20)
    segment = Segment(kafka, damaged)
    put(kafka, damaged, made[3:5])
    if damage == "checksum":
        segment.flip(80)
    else:
        segment.garble_compression()
    put(kafka, whole, made[5:])
    worker = postonce.start()
    try:
        postonce.wait_for(lambda: alarms(worker, "PARTITION_UNREADABLE"), "an alarm", 60)
        postonce.wait_for(lambda: posted(db) == 3, "the other topic goes on")
        assert kafka.committed(postonce.group, damaged)[0] in (None, 0), "nothing was jumped over"
    finally:
        segment.mend()
    postonce.wait_for(lambda: posted(db) == 8, "all of it once the batch is whole", 60)
    postonce.wait_for_lag()
    assert db.value("SELECT COUNT(*) FROM dead_letter") == 0
    assert not alarms(worker, "OFFSET_OUT_OF_RANGE"), "an offset that nobody asked for"


@pytest.mark.partitions(1)
def test_a_record_larger_than_the_fetch_limits_comes_all_the_same(postonce, kafka, db):
    postonce.migrate()
    kafka.configure(postonce.topic, {"max.message.bytes": "6000000"})
    kafka.configure(postonce.dead_letter_topic, {"max.message.bytes": "7000000"})
    postonce.configure({"kafka": {"fetch.message.max.bytes": 1000000, "fetch.max.bytes": 1500000,
                                  "message.max.bytes": 1400000}})
    made = payments(db, 3)
    put(kafka, postonce.topic, [made[0], json.dumps(made[1]).encode() + b" " * 5000000, made[2]])
    assert postonce.drain() == [0]
    assert posted(db) == 3


def test_a_receive_limit_below_the_fetch_limit_is_refused(postonce):
    postonce.migrate()
    postonce.configure({"kafka": {"receive.message.max.bytes": 1000000, "fetch.max.bytes": 1000000,
                                  "message.max.bytes": 1000000}})
    done = postonce.run("run", check=False)
    assert done.returncode == CONFIGURATION
    assert "receive.message.max.bytes" in done.stderr
