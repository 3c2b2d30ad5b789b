"""`postonce relay` on real servers: what readers of committed records see of the outbox."""
import json

import pytest

from support import relay
from support.worker import notification
import books
from pages import Pages


def drain(postonce, **options):
    """A relay to its end: its exit status."""
    return postonce.start("--until-end", command="relay", **options).wait(60)


@pytest.mark.both_databases
def test_every_message_is_told_once_and_those_of_one_order_in_order(postonce, db):
    topic = relay.begin(postonce)
    relay.post(postonce, [f"R{n}" for n in range(700)])
    assert drain(postonce) == 0
    relay.assert_told_once(postonce, topic)
    assert drain(postonce) == 0, "an empty outbox is drained"
    relay.assert_told_once(postonce, topic)


def test_a_message_is_the_row_its_key_the_order_of_its_tenant(postonce, db, kafka):
    topic = relay.begin(postonce)
    relay.post(postonce, ["R1"])
    row, = db.rows("SELECT id, type, aggregateid, payload FROM outbox WHERE type = 'ORDER_PAID'")
    assert drain(postonce) == 0
    first, second = kafka.consume(topic, committed_only=True)
    assert first.partition == second.partition, "one key, one partition"
    assert [(name, value.decode()) for name, value in first.headers] == [("id", row[0]), ("type", row[1])]
    assert (first.key.decode(), first.value.decode()) == (row[2], row[3]) and row[2] == "1:R1"


def test_a_relay_takes_up_what_comes_while_it_runs_and_stops_with_0(postonce, db):
    pages = Pages()
    topic = relay.begin(postonce)
    running = postonce.start(command="relay", changes=pages.options)
    postonce.wait_for(pages.is_ready, "the relay is ready")
    relay.post(postonce, ["R1", "R2"])
    postonce.wait_for(lambda: relay.unpublished(db) == 0, "all is published")
    assert pages.get("/healthz")[0] == 200
    postonce.wait_for(lambda: pages.figure("postonce_outbox_published_total") == 4, "four are counted")
    assert pages.figure("postonce_relay_active") == 1 and pages.figure("postonce_outbox_refused") == 0
    assert running.stop() == 0
    relay.assert_told_once(postonce, topic)


def test_of_two_relays_one_is_active_and_both_are_ready(postonce, db):
    topic, pages = relay.begin(postonce), [Pages(), Pages()]
    both = [postonce.start(command="relay", changes=one.options) for one in pages]
    for one in pages:
        postonce.wait_for(one.is_ready, "both are ready")
    postonce.wait_for(lambda: sum(map(relay.is_active, both)) == 1, "one is active")
    relay.post(postonce, [f"R{n}" for n in range(20)])
    postonce.wait_for(lambda: relay.unpublished(db) == 0, "all is published")
    assert sum(map(relay.is_active, both)) == 1
    assert sorted(one.figure("postonce_relay_active") for one in pages) == [0, 1]
    assert [one.stop() for one in both] == [0, 0]
    relay.assert_told_once(postonce, topic)


def test_the_standby_takes_over_from_one_that_stops(postonce, db):
    topic = relay.begin(postonce)
    first = postonce.start(command="relay")
    postonce.wait_for(lambda: relay.is_active(first), "the first is active")
    second = postonce.start(command="relay")
    relay.post(postonce, ["R1"])
    postonce.wait_for(lambda: relay.unpublished(db) == 0, "the first publishes")
    assert first.stop() == 0
    relay.post(postonce, ["R2"])
    postonce.wait_for(lambda: relay.unpublished(db) == 0, "the second publishes")
    assert relay.is_active(second) and second.stop() == 0
    relay.assert_told_once(postonce, topic)


@pytest.mark.both_databases
def test_a_row_that_commits_late_under_a_lower_number_is_told_as_well(postonce, db):
    """A worker of another group has R1's number and is frozen before it commits, while R2's is through."""
    topic = relay.begin(postonce, mysql={"wait_timeout": "60s"})
    books.register(db, "R1", "R2")
    elsewhere = postonce.kafka.topic(1)
    postonce.kafka.produce(elsewhere, json.dumps(notification("T1", "R1")).encode())
    late = postonce.start(failpoints="posting.before_balances=freeze@1", changes={
        "topics": {postonce.topic: None, elsewhere: {}}, "kafka": {"group.id": f"g-{elsewhere}"}})
    postonce.wait_for(late.is_frozen, "the first worker is frozen before its COMMIT")
    postonce.publish(notification("T2", "R2"))
    relaying, other = postonce.start(command="relay"), postonce.start()
    postonce.wait_for(lambda: db.value("SELECT COUNT(*) FROM outbox WHERE published_at IS NOT NULL") == 1,
                      "the higher number is published")
    assert [message.key for message in relay.told(postonce.kafka, topic)] == ["1:R2"]
    late.thaw()
    postonce.wait_for(lambda: db.value("SELECT COUNT(*) FROM outbox") == 2, "the lower number is committed")
    postonce.wait_for(lambda: relay.unpublished(db) == 0, "and published")
    assert [one.stop() for one in (relaying, late, other)] == [0, 0, 0]
    assert db.rows("SELECT aggregateid FROM outbox ORDER BY seq") == [("1:R1",), ("1:R2",)], "nothing came late"
    relay.assert_told_once(postonce, topic)


POISON = "UPDATE outbox SET payload = CONCAT(payload, REPEAT(' ', 4000)) WHERE aggregateid = '1:R2' AND type = %s"


@pytest.mark.both_databases
def test_what_its_topic_refuses_stops_its_order_alone_and_goes_on_when_the_topic_takes_it(postonce, db, kafka):
    topic, pages = relay.begin(postonce, topic_config={"max.message.bytes": "2000"}), Pages()
    relay.post(postonce, [f"R{n}" for n in range(60)])
    db.execute(POISON, "ORDER_PAID")
    running = postonce.start(command="relay", changes=pages.options)
    postonce.wait_for(lambda: relay.unpublished(db) == 2, "all but one order is published")
    expected = [message for message in relay.outbox(db) if message.key != "1:R2"]
    assert relay.by_key(relay.told(kafka, topic)) == relay.by_key(expected)
    assert db.rows("SELECT aggregatetype, aggregateid, reason, tries FROM outbox_refused") \
        == [("order", "1:R2", "TOO_LARGE", 1)]
    assert "alarm=OUTBOX_REFUSED" in running.log_text()
    postonce.wait_for(lambda: pages.figure("postonce_outbox_refused") == 1, "it is counted")
    assert pages.is_ready(), "other orders flow"
    assert running.stop() == 0
    assert drain(postonce) == 75
    kafka.configure(topic, {"max.message.bytes": "100000"})
    db.execute("UPDATE outbox_refused SET due_at = UTC_TIMESTAMP(6)")
    assert drain(postonce) == 0
    relay.assert_told_once(postonce, topic)
    again = postonce.start(command="relay", changes=pages.options)
    postonce.wait_for(pages.is_ready, "the relay is ready")
    postonce.wait_for(lambda: db.rows("SELECT seq FROM outbox_refused") == [], "it is forgotten")
    assert again.stop() == 0


def test_a_message_before_the_refused_one_of_its_order_is_told(postonce, db, kafka):
    topic = relay.begin(postonce, topic_config={"max.message.bytes": "2000"})
    relay.post(postonce, ["R1", "R2", "R3"])
    db.execute(POISON, "ORDER_SHIPPED")
    assert drain(postonce) == 75
    assert [message.type for message in relay.told(kafka, topic) if message.key == "1:R2"] == ["ORDER_PAID"]
    assert relay.unpublished(db) == 1


def test_a_message_that_a_person_marks_as_told_is_refused_no_longer(postonce, db, kafka):
    topic = relay.begin(postonce, topic_config={"max.message.bytes": "2000"})
    relay.post(postonce, ["R2"])
    db.execute(POISON, "ORDER_PAID")
    assert drain(postonce) == 75 and relay.told(kafka, topic) == []
    db.execute("UPDATE outbox SET published_at = UTC_TIMESTAMP(6) WHERE type = 'ORDER_PAID'")
    running = postonce.start(command="relay")
    postonce.wait_for(lambda: relay.unpublished(db) == 0, "what stood behind it is published")
    assert running.stop() == 0
    assert [message.type for message in relay.told(kafka, topic)] == ["ORDER_SHIPPED"]


def test_a_topic_that_is_missing_loses_nothing_and_reds_readiness_until_it_is_there(postonce, db, kafka):
    topic, pages = relay.begin(postonce), Pages()
    relay.post(postonce, ["R1"])
    kafka.delete(topic)
    running = postonce.start(command="relay", changes=pages.options)
    postonce.wait_for(pages.is_red, "readiness is red", 60)
    postonce.wait_for(lambda: "alarm=SYSTEMIC" in running.log_text(), "it is alarmed", 60)
    assert relay.unpublished(db) == 2
    kafka.topic(2, name=topic)
    postonce.wait_for(lambda: relay.unpublished(db) == 0, "it is published", 60)
    postonce.wait_for(pages.is_ready, "readiness is green again")
    assert running.stop() == 0
    relay.assert_told_once(postonce, topic)


@pytest.mark.parametrize("topics, outbox, place", [
    ({"postonce.order": {}}, None, "is meant by"), ({"^post": {}}, None, "is meant by"),
    ({"callbacks": {}}, "callbacks", "is meant by"), ({"callbacks": {}}, "x.{tenant}", "makes no topic's name"),
])
def test_what_would_come_in_again_is_refused_at_the_start(postonce, topics, outbox, place):
    changes = {"topics": {postonce.topic: None, **topics}, "outbox": outbox and {"topic": outbox}}
    for command in ("relay", "run"):
        refused = postonce.start(command=command, changes=changes)
        assert refused.wait() == 78 and place in refused.log_text()
