"""A Kafka client for tests: topics of their own, what was put in, what is in there, how far a group is."""
import collections
import uuid

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic

from .wait import wait_until

TIMEOUT_S = 20
Record = collections.namedtuple("Record", "partition offset key value headers timestamp")


class Kafka:
    """bootstrap: the brokers' addresses; servers: Server objects (stop, start, freeze …), one a broker."""

    def __init__(self, bootstrap, servers):
        self.bootstrap = bootstrap
        self.servers = servers
        self._admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
        self._producer = Producer({"bootstrap.servers": bootstrap, "acks": "all", "linger.ms": 2,
                                   "message.timeout.ms": TIMEOUT_S * 1000, "log_level": 0,
                                   "message.max.bytes": 16000000})
        self._topics = []

    def topic(self, partitions=1, name=None, config=None, replication=1):
        """Creates a topic under a fresh name and returns the name."""
        name = name or f"t-{uuid.uuid4().hex[:10]}"
        new = NewTopic(name, num_partitions=partitions, replication_factor=replication, config=config or {})
        self._admin.create_topics([new], operation_timeout=TIMEOUT_S)[name].result(TIMEOUT_S)
        self._topics.append(name)
        wait_until(lambda: self._leaders(name) == partitions, f"topic {name} has its leaders", TIMEOUT_S)
        # A producer that first hears of a topic when it sends waits up to a second for its own next look.
        self._producer.list_topics(name, timeout=TIMEOUT_S)
        return name

    def _leaders(self, topic):
        found = self._admin.list_topics(topic, timeout=TIMEOUT_S).topics[topic]
        return sum(partition.leader >= 0 for partition in found.partitions.values())

    def configure(self, topic, config):
        """Sets a topic's configuration anew; what is not named goes back to the broker's default."""
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic, set_config=config)
        self._admin.alter_configs([resource], request_timeout=TIMEOUT_S)[resource].result(TIMEOUT_S)

    def delete(self, topic):
        self._admin.delete_topics([topic], operation_timeout=TIMEOUT_S)[topic].result(TIMEOUT_S)

    def delete_all(self):
        """Removes the topics made here that are still there."""
        there = self._admin.list_topics(timeout=TIMEOUT_S).topics
        for name in {name for name in self._topics if name in there}:
            self.delete(name)
        self._topics.clear()

    def produce(self, topic, value, key=None, headers=None, partition=None, timestamp=None):
        """One record, acknowledged by the broker; returns (partition, offset). None stays null, b"" stays empty.
        headers: a list of (name, bytes); timestamp: milliseconds since 1970."""
        return self.produce_many(topic, [dict(value=value, key=key, headers=headers, partition=partition,
                                              timestamp=timestamp)])[0]

    def produce_many(self, topic, records):
        """records: bytes, or dicts as produce() takes them. Returns [(partition, offset)] in the same order."""
        places = [None] * len(records)

        def delivered(place):
            def note(error, message):
                places[place] = error or (message.partition(), message.offset())
            return note

        for place, record in enumerate(records):
            record = dict(value=record) if isinstance(record, (bytes, str)) else dict(record)
            given = {name: value for name, value in record.items() if value is not None or name == "value"}
            while True:
                try:
                    self._producer.produce(topic, on_delivery=delivered(place), **given)
                    break
                except BufferError:
                    self._producer.poll(0.1)
            self._producer.poll(0)
        left = self._producer.flush(TIMEOUT_S)
        failed = [place for place in places if isinstance(place, KafkaError)]
        assert not left and not failed, f"{topic}: {left} records not acknowledged, errors: {failed[:3]}"
        return places

    def _consumer(self, group, **properties):
        return Consumer({"bootstrap.servers": self.bootstrap, "group.id": group, "enable.auto.commit": False,
                         "auto.offset.reset": "earliest", "fetch.wait.max.ms": 20, "log_level": 0,
                         **properties})

    def _partitions(self, topic):
        return sorted(self._admin.list_topics(topic, timeout=TIMEOUT_S).topics[topic].partitions)

    def consume(self, topic, committed_only=False):
        """All records of a topic as Record, by partition and offset. Joins no group and commits nothing.
        committed_only: leave out what a transaction has not committed."""
        consumer = self._consumer("tests-reader", **{
            "enable.partition.eof": True,
            "isolation.level": "read_committed" if committed_only else "read_uncommitted"})
        try:
            partitions = self._partitions(topic)
            consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
            records, ended = [], set()
            while len(ended) < len(partitions):
                message = consumer.poll(TIMEOUT_S)
                assert message is not None, f"{topic}: no record and no end within {TIMEOUT_S} s"
                if message.error():
                    if message.error().code() != KafkaError._PARTITION_EOF:
                        raise KafkaException(message.error())
                    ended.add(message.partition())
                    continue
                records.append(Record(message.partition(), message.offset(), message.key(), message.value(),
                                      message.headers() or [], message.timestamp()[1]))
            return sorted(records, key=lambda record: (record.partition, record.offset))
        finally:
            consumer.close()

    def end_offsets(self, topic):
        """{partition: offset after the last record}"""
        consumer = self._consumer("tests-reader")
        try:
            return {partition: consumer.get_watermark_offsets(TopicPartition(topic, partition), TIMEOUT_S)[1]
                    for partition in self._partitions(topic)}
        finally:
            consumer.close()

    def committed(self, group, topic):
        """{partition: committed offset}; None where the group has committed nothing."""
        consumer = self._consumer(group)
        try:
            wanted = [TopicPartition(topic, partition) for partition in self._partitions(topic)]
            found = consumer.committed(wanted, timeout=TIMEOUT_S)
            return {place.partition: place.offset if place.offset >= 0 else None for place in found}
        finally:
            consumer.close()

    def lag(self, group, topic):
        """Records between the committed offsets and the ends, over all partitions."""
        committed = self.committed(group, topic)
        return sum(end - (committed[partition] or 0) for partition, end in self.end_offsets(topic).items())
