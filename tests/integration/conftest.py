"""ledger: the program (support.worker.Postonce) with its tables made in the test's own database."""
import pytest
from confluent_kafka import Consumer, TopicPartition


def begin_at_the_beginning(postonce):
    """Commits offset 0 of every partition. Where nothing is committed librdkafka asks the brokers for the beginning,
    and again half a second later if its connection is not up by then: half of what a test would take."""
    consumer = Consumer({"bootstrap.servers": postonce.kafka.bootstrap, "group.id": postonce.group, "log_level": 0})
    try:
        partitions = postonce.kafka.end_offsets(postonce.topic)
        consumer.commit(offsets=[TopicPartition(postonce.topic, partition, 0) for partition in partitions],
                        asynchronous=False)
    finally:
        consumer.close()


@pytest.fixture
def ledger(postonce):
    postonce.migrate()
    begin_at_the_beginning(postonce)
    return postonce
