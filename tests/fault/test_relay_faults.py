"""Relays that are killed, frozen and cut off in the middle of a transaction: nothing is lost, nothing told in disorder."""
import pytest

import flood
from support import relay

ORDERS = [f"R{n}" for n in range(300)]
ROWS = 2 * len(ORDERS)
ROWS_A_TRANSACTION = 500
# The point at which it dies -> how many ids readers of committed records then see.
POINTS = {"relay.locked": 0, "relay.read": 0, "courier.sent": 0, "relay.committed": ROWS_A_TRANSACTION,
          "relay.marked": ROWS_A_TRANSACTION}


def begin(postonce, **changes):
    topic = relay.begin(postonce, **changes)
    relay.post(postonce, ORDERS)
    return topic


def drain(postonce):
    return postonce.start("--until-end", command="relay").wait(60)


def assert_nothing_is_lost(postonce, topic, copies=0):
    """Every message is told; those of one order in order, if a reader takes each id once."""
    messages, there = relay.told(postonce.kafka, topic), relay.outbox(postonce.db)
    assert relay.by_key(relay.without_copies(messages)) == relay.by_key(there)
    assert {message.id: message for message in messages} == {message.id: message for message in there}
    assert len(messages) == len(there) + copies
    assert relay.unpublished(postonce.db) == 0


@pytest.mark.parametrize("point", POINTS)
def test_killed_there_the_next_one_tells_the_rest(postonce, db, kafka, point):
    topic = begin(postonce)
    struck = postonce.start(command="relay", failpoints=f"{point}=kill@1")
    assert struck.wait() == -9 and flood.has_struck(struck, point, "kill")
    assert relay.unpublished(db) == ROWS - (ROWS_A_TRANSACTION if point == "relay.marked" else 0)
    assert drain(postonce) == 0
    assert_nothing_is_lost(postonce, topic, copies=ROWS_A_TRANSACTION if point == "relay.committed" else 0)


@pytest.mark.parametrize("point", POINTS)
def test_failed_there_the_same_relay_brings_it_to_its_end(postonce, db, point):
    topic = begin(postonce)
    struck = postonce.start("--until-end", command="relay", failpoints=f"{point}=error@1")
    assert struck.wait(60) == 0 and flood.has_struck(struck, point, "error")
    assert_nothing_is_lost(postonce, topic)


@pytest.mark.parametrize("point, told", POINTS.items())
def test_frozen_there_and_woken_after_its_successor_took_over_it_tells_nothing(postonce, db, kafka, point, told):
    topic = begin(postonce, mysql={"wait_timeout": "2s"})
    frozen = postonce.start(command="relay", failpoints=f"{point}=freeze@1")
    flood.wait_for_strike(postonce, frozen, point, "freeze")
    postonce.wait_for(frozen.is_frozen, "the relay is frozen")
    assert relay.unpublished(db) == ROWS - (ROWS_A_TRANSACTION if point == "relay.marked" else 0), "nothing in flight"
    successor = postonce.start(command="relay")
    postonce.wait_for(lambda: relay.unpublished(db) == 0, "the successor tells everything", 60)
    copies = ROWS_A_TRANSACTION if point == "relay.committed" else 0
    assert_nothing_is_lost(postonce, topic, copies)
    ends = kafka.end_offsets(topic)
    frozen.thaw()
    if point in ("relay.read", "courier.sent"):
        postonce.wait_for(lambda: "event=fenced" in frozen.log_text(), "the woken one is told", 60)
    if point in ("relay.committed", "relay.marked"):
        postonce.wait_for(lambda: "event=relay_steps_back" in frozen.log_text(), "the woken one steps back", 60)
    # The successor goes on, and the woken one stands by for it.
    if point != "relay.locked":
        relay.post(postonce, ["S1"])
        postonce.wait_for(lambda: relay.unpublished(db) == 0, "the successor goes on")
        assert_nothing_is_lost(postonce, topic, copies)
        assert sum(kafka.end_offsets(topic).values()) >= sum(ends.values()) + 2
    successor.kill()
    relay.post(postonce, ["S2"])
    postonce.wait_for(lambda: relay.unpublished(db) == 0, "the woken one takes over", 60)
    assert frozen.stop() == 0
    assert_nothing_is_lost(postonce, topic, copies)


def test_the_standby_takes_over_from_one_that_is_killed_inside_its_transaction(postonce, db, kafka):
    topic = begin(postonce)
    active = postonce.start(command="relay", failpoints="courier.sent=kill@1")
    postonce.wait_for(lambda: relay.is_active(active) or not active.alive(), "the first is active")
    standby = postonce.start(command="relay")
    assert active.wait() == -9
    postonce.wait_for(lambda: relay.unpublished(db) == 0, "the stand-by tells everything", 60)
    assert standby.stop() == 0
    assert_nothing_is_lost(postonce, topic)
    assert len(relay.told(kafka, topic, committed_only=False)) > ROWS, "nothing was in flight"


def test_database_connection_lost_after_the_commit_the_rows_are_marked_and_not_told_again(postonce, db):
    topic = begin(postonce)
    active = postonce.start(command="relay", failpoints="relay.committed=freeze@1")
    postonce.wait_for(active.is_frozen, "the relay is frozen")
    for connection in flood.connections(db, active):
        db.execute(f"KILL {connection}")
    active.thaw()
    postonce.wait_for(lambda: relay.unpublished(db) == 0, "everything is marked", 60)
    assert active.stop() == 0
    assert_nothing_is_lost(postonce, topic)


def freeze_in_flight(postonce, point, **changes):
    """A relay that stands still at that point of its first transaction, and its topic."""
    topic = begin(postonce, **changes)
    active = postonce.start(command="relay", failpoints=f"{point}=freeze@1")
    flood.wait_for_strike(postonce, active, point, "freeze")
    postonce.wait_for(active.is_frozen, "the relay is frozen")
    assert relay.unpublished(postonce.db) == ROWS, "nothing was in flight"
    return active, topic


@pytest.mark.parametrize("point", ("relay.read", "courier.sent", "relay.committed"))
def test_broker_killed_there_the_same_relay_tells_the_rest(postonce, db, kafka, point):
    active, topic = freeze_in_flight(postonce, point)
    if point == "courier.sent":
        assert relay.told(kafka, topic) == [], "it was committed already"
    broker = kafka.servers[0]
    broker.kill()
    active.thaw()
    postonce.wait_for(lambda: "event=outage" in active.log_text(), "the relay meets the outage", 60)
    assert active.alive()
    broker.start()
    postonce.wait_for(lambda: relay.unpublished(db) == 0, "the same relay tells everything", 60)
    assert active.stop() == 0
    assert_nothing_is_lost(postonce, topic)


@pytest.mark.both_databases
@pytest.mark.parametrize("point", ("relay.read", "courier.sent"))
def test_database_killed_there_what_was_told_is_marked_and_not_told_again(postonce, db, kafka, point):
    active, topic = freeze_in_flight(postonce, point)
    db.server.kill()
    active.thaw()
    postonce.wait_for(lambda: "event=outage" in active.log_text(), "the relay meets the outage")
    assert active.alive()
    postonce.wait_for(lambda: len(relay.told(kafka, topic)) == ROWS_A_TRANSACTION, "Kafka has what it had in hand")
    db.server.start()
    postonce.wait_for(lambda: relay.unpublished(db) == 0, "the same relay marks them and tells the rest", 60)
    assert active.stop() == 0
    assert_nothing_is_lost(postonce, topic)
