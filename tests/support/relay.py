"""What the tests of the relay share: orders with two messages each, and what readers of committed records see."""
import collections
import json

from .worker import notification

EVENTS = {"ORDER_SHIPPED": {"order": {"from": ["PAID"], "to": "SHIPPED"}, "outbox": "ORDER_SHIPPED"}}
Message = collections.namedtuple("Message", "id type key payload")


def begin(postonce, partitions=2, topic_config=None, **changes):
    """The program with its tables and a topic for its outbox, whose name is returned."""
    topic = postonce.kafka.topic(partitions, name=f"{postonce.topic}.order", config=topic_config)
    postonce.configure({"events": EVENTS, "outbox": {"topic": postonce.topic + ".{aggregatetype}"}, **changes})
    postonce.migrate()
    return topic


def post(postonce, orders):
    """Pays and ships every order: two messages of each. Returns when they stand in the outbox."""
    rows = ", ".join(f"(1, '{order}', 1000, 'CNY', 'PENDING_PAY')" for order in orders)
    postonce.db.execute(f"INSERT INTO payment_order (tenant_id, order_no, amount, currency, status) VALUES {rows}")
    paid = [notification(f"P-{order}", order) for order in orders]
    shipped = [notification(f"S-{order}", order, event="ORDER_SHIPPED", amount_minor=None, currency=None)
               for order in orders]
    postonce.publish(*paid, *shipped, partition=0)
    assert postonce.drain() == [0]


def outbox(db):
    """What is to be told: Messages in order of their numbers."""
    return [Message(*row[:3], json.loads(row[3])) for row in
            db.rows("SELECT id, type, aggregateid, payload FROM outbox ORDER BY seq")]


def unpublished(db):
    return db.value("SELECT COUNT(*) FROM outbox WHERE published_at IS NULL")


def told(kafka, topic, committed_only=True):
    """What is in the topic, in its order; of one partition after the other."""
    found = []
    for record in kafka.consume(topic, committed_only=committed_only):
        headers = dict(record.headers)
        found.append(Message(headers["id"].decode(), headers["type"].decode(), record.key.decode(),
                             json.loads(record.value)))
    return found


def by_key(messages):
    """{key: [ids in order]}"""
    found = collections.defaultdict(list)
    for message in messages:
        found[message.key].append(message.id)
    return found


def assert_told_once(postonce, topic):
    """Every message of the outbox, each once, those of one order in their order, and all marked."""
    messages, there = told(postonce.kafka, topic), outbox(postonce.db)
    assert sorted(messages) == sorted(there)
    assert by_key(messages) == by_key(there)
    assert unpublished(postonce.db) == 0


def without_copies(messages):
    """The first of each id, as a reader takes them."""
    return list({message.id: message for message in reversed(messages)}.values())[::-1]


def is_active(relay):
    return "event=relay_active" in relay.log_text()
