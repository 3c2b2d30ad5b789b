"""Dead letters on a real broker: whole, once each, and never passed by while they cannot be written."""
import collections
import json

import flood
import pytest
from support.packed import unpack
from support.wait import wait_until

GARBAGE = b"{ garbage"
BOUND = 1048588  # the broker's max.message.bytes


def ids(letters):
    return collections.Counter(dict(letter.headers)["postonce.letter_id"].decode() for letter in letters)


def foreign(headers):
    return [(name, value) for name, value in headers if not name.startswith("postonce.")]


def ours(letter):
    return {name: value.decode() for name, value in letter.headers if name.startswith("postonce.")}


def rows(db):
    return {row[0]: row[1:] for row in db.rows("SELECT letter_id, source_partition, source_offset, body"
                                              " FROM dead_letter")}


def wait_for_letters(postonce, count):
    return postonce.wait_for(lambda: len(rows(postonce.db)) == count, f"{count} letters")


def alarmed(worker, code):
    return f"alarm={code}" in worker.log_text()


# B-7
@pytest.mark.partitions(2)
def test_while_the_topic_is_gone_its_partition_waits_and_others_go_on(postonce, kafka, db):
    postonce.migrate()
    payments = flood.payments(60)
    flood.register(db, payments)
    worker = postonce.start()
    kafka.produce_many(postonce.topic, [{"value": GARBAGE, "partition": 0}, *[
        {"value": one, "partition": 1} for one in as_json(payments[:20])]])
    wait_for_letters(postonce, 1)
    postonce.wait_for_lag()

    kafka.delete(postonce.dead_letter_topic)
    kafka.produce_many(postonce.topic, [
        *[{"value": GARBAGE + b"%d" % n, "partition": 0} for n in range(3)],
        *[{"value": one, "partition": 0} for one in as_json(payments[20:40])],
        *[{"value": one, "partition": 1} for one in as_json(payments[40:])]])
    flood.wait_for_outcomes(postonce, 60)
    postonce.wait_for(lambda: alarmed(worker, "DEAD_LETTER_NOT_WRITABLE"), "an alarm")
    wait_until(lambda: kafka.committed(postonce.group, postonce.topic)[1] == 40, "the other partition goes on", 60)
    assert kafka.committed(postonce.group, postonce.topic)[0] == 1
    assert len(rows(db)) == 1
    more = flood.payments(20, first=61)
    flood.register(db, more)
    kafka.produce_many(postonce.topic, [{"value": one, "partition": 1} for one in as_json(more)])
    flood.wait_for_outcomes(postonce, 80)

    kafka.topic(1, name=postonce.dead_letter_topic)
    wait_for_letters(postonce, 4)
    postonce.wait_for_lag()
    letters = postonce.dead_letters()
    assert [letter.value for letter in letters] == [GARBAGE + b"%d" % n for n in range(3)]
    assert ids(letters).keys() <= rows(db).keys()
    assert set(ids(letters).values()) == {1}
    assert worker.stop() == 0


@pytest.mark.partitions(2)
def test_while_letters_cannot_be_written_the_group_keeps_its_member_and_others_flow(postonce, kafka, db):
    """A try waits for its topic; it must not wait longer than the group allows between two polls."""
    postonce.configure({"kafka": {"max.poll.interval.ms": 6000, "session.timeout.ms": 3000},
                        "mysql": {"connect_timeout": "1s", "read_timeout": "1s", "write_timeout": "1s"}})
    postonce.migrate()
    worker = postonce.start()
    kafka.produce_many(postonce.topic, [{"value": GARBAGE, "partition": 0}])
    wait_for_letters(postonce, 1)
    kafka.delete(postonce.dead_letter_topic)
    kafka.produce_many(postonce.topic, [{"value": GARBAGE + b"2", "partition": 0}])
    postonce.wait_for(lambda: alarmed(worker, "DEAD_LETTER_NOT_WRITABLE"), "an alarm")
    for turn in range(4):  # while it is tried again and again
        more = flood.payments(5, first=1 + 5 * turn)
        flood.register(db, more)
        kafka.produce_many(postonce.topic, [{"value": one, "partition": 1} for one in as_json(more)])
        flood.wait_for_outcomes(postonce, 5 * (turn + 1), 15)
    log = worker.log_text()
    assert "lost=1" not in log and log.count("event=rebalance") == 1
    kafka.topic(1, name=postonce.dead_letter_topic)
    wait_for_letters(postonce, 2)
    postonce.wait_for_lag()
    assert worker.stop() == 0


def as_json(notifications):
    return [json.dumps(one).encode() for one in notifications]


@pytest.mark.partitions(1)
def test_a_letter_is_the_record_with_null_and_empty_as_they_were(postonce, kafka, db):
    postonce.migrate()
    headers = [("attempt", b"\x80\0\0\0"), ("none", None), ("attempt", b""), ("attempt", b"2"), ("postonce.text", b"x")]
    given = [{"value": value, "key": key, "headers": headers, "partition": 0, "timestamp": 1700000000000 + n}
             for n, (value, key) in enumerate([(None, None), (b"", b""), (b"", None), (None, b"")])]
    kafka.produce_many(postonce.topic, given)
    assert postonce.drain() == [0]
    sources, letters = kafka.consume(postonce.topic), postonce.dead_letters()
    assert len(letters) == 4
    for source, letter in zip(sources, letters):
        assert (letter.key, letter.value, letter.timestamp) == (source.key, source.value, source.timestamp)
        assert foreign(letter.headers) == headers[:4]
        assert len(ours(letter)) == len([name for name, _ in letter.headers if name.startswith("postonce.")])
        assert ours(letter)["postonce.offset"] == str(source.offset)
    assert all(body is None for _, _, body in rows(db).values())


# B-6
@pytest.mark.partitions(1)
def test_a_record_as_large_as_the_topic_takes_becomes_a_pointer_and_its_row_keeps_it(postonce, kafka, db):
    postonce.migrate()
    value = GARBAGE + b"x" * (BOUND - 400)
    kafka.produce(postonce.topic, value, b"k" * 100, [("a", b"1"), ("none", None), ("a", b"")], 0, 1700000000000)
    assert postonce.drain() == [0]
    letter, = postonce.dead_letters()
    said = ours(letter)
    assert (letter.key, letter.value, foreign(letter.headers)) == (b"k" * 100, b"", [])
    assert said["postonce.pointer"] == "dead_letter:" + said["postonce.letter_id"]
    assert said["postonce.trimmed"] == "3 headers"
    (partition, offset, body), = rows(db).values()
    topic, kept = unpack(body)
    source, = kafka.consume(postonce.topic)
    assert (topic, kept) == (postonce.topic, source)
    assert (partition, offset) == (0, 0)


@pytest.mark.partitions(1)
def test_headers_give_way_before_the_value_does(postonce, kafka, db):
    postonce.migrate()
    headers = [("channel", b"NOWHERE"), ("huge", b"h" * 200000), ("late", b"1"), ("channel", b"WECHAT")]
    value = GARBAGE + b"x" * (BOUND - 200250)
    kafka.produce(postonce.topic, value, None, headers, 0)
    assert postonce.drain() == [0]
    letter, = postonce.dead_letters()
    assert letter.value == value
    assert foreign(letter.headers) == [headers[0], *headers[2:]]
    assert ours(letter)["postonce.trimmed"] == "1 headers" and "postonce.pointer" not in ours(letter)
    (_, _, body), = rows(db).values()
    assert unpack(body)[1].headers == headers


@pytest.mark.partitions(1)
def test_what_is_large_and_killed_before_its_row_is_sent_twice_and_counted_once(postonce, kafka, db):
    postonce.configure({"kafka": {"session.timeout.ms": 600, "heartbeat.interval.ms": 150}})
    postonce.migrate()
    value = GARBAGE + b"x" * (BOUND - 200)
    kafka.produce_many(postonce.topic, [{"value": value, "partition": 0}, {"value": GARBAGE, "partition": 0}])
    struck = postonce.start(failpoints="letter.acknowledged=kill@1")
    assert struck.wait() == -9
    assert flood.has_struck(struck, "letter.acknowledged", "kill")
    assert rows(db) == {} and kafka.committed(postonce.group, postonce.topic) == {0: None}
    sent = ids(postonce.dead_letters())
    assert sum(sent.values()) >= 1, "nothing was in flight"
    assert postonce.drain() == [0]
    again = ids(postonce.dead_letters())
    assert again.keys() == rows(db).keys() and len(again) == 2
    assert max(again.values()) == 2
    bodies = {offset: body for _, offset, body in rows(db).values()}
    assert unpack(bodies[0])[1].value == value and bodies[1] is None
    assert kafka.committed(postonce.group, postonce.topic) == {0: 2}


@pytest.mark.partitions(2)
def test_even_a_pointer_too_large_waits_with_an_alarm_until_the_topic_takes_it(postonce, kafka, db):
    postonce.migrate()
    payments = flood.payments(10)
    flood.register(db, payments)
    worker = postonce.start()
    postonce.wait_for(lambda: "event=started" in worker.log_text(), "it runs")
    kafka.configure(postonce.dead_letter_topic, {"max.message.bytes": "150"})
    kafka.produce_many(postonce.topic, [{"value": GARBAGE + b"x" * 2000, "partition": 0},
                                        {"value": GARBAGE, "partition": 0},
                                        *[{"value": one, "partition": 1} for one in as_json(payments)]])
    postonce.wait_for(lambda: alarmed(worker, "DEAD_LETTER_TOO_LARGE"), "an alarm")
    flood.wait_for_outcomes(postonce, 10)
    wait_until(lambda: kafka.committed(postonce.group, postonce.topic)[1] == 10, "the other partition goes on", 60)
    assert kafka.committed(postonce.group, postonce.topic)[0] in (None, 0)
    assert rows(db) == {} and postonce.dead_letters() == []

    kafka.configure(postonce.dead_letter_topic, {"max.message.bytes": "1500"})
    wait_for_letters(postonce, 2)
    postonce.wait_for_lag()
    letters = {ours(letter)["postonce.offset"]: letter for letter in postonce.dead_letters()}
    assert len(postonce.dead_letters()) == 2
    assert letters["0"].value == b"" and "postonce.pointer" in ours(letters["0"])
    assert letters["1"].value in (GARBAGE, b"")  # the brokers may have heard of the bound between two tries
    assert worker.stop() == 0


@pytest.mark.partitions(1)
def test_larger_than_the_topic_and_a_statement_is_held_with_an_alarm(postonce, kafka, db):
    postonce.migrate()
    kafka.produce(postonce.topic, GARBAGE + b"x" * (BOUND - 200), None, None, 0)
    before = db.value("SELECT @@GLOBAL.max_allowed_packet")
    db.execute(f"SET GLOBAL max_allowed_packet = {1024 * 1024}")
    try:
        worker = postonce.start()
        postonce.wait_for(lambda: alarmed(worker, "DEAD_LETTER_TOO_LARGE"), "an alarm")
        assert "max_allowed_packet" in worker.log_text()
        assert rows(db) == {} and postonce.dead_letters() == []
        assert worker.stop() in (0, 75)
    finally:
        db.execute(f"SET GLOBAL max_allowed_packet = {before}")
    assert postonce.drain() == [0]
    assert len(rows(db)) == 1


@pytest.mark.partitions(1)
def test_many_letters_at_once_are_none_too_large_for_each_other(postonce, kafka, db):
    postonce.migrate()
    worker = postonce.start()
    postonce.wait_for(lambda: "event=started" in worker.log_text(), "it runs")
    kafka.configure(postonce.dead_letter_topic, {"max.message.bytes": "2000"})
    kafka.produce_many(postonce.topic, [{"value": GARBAGE + b"%d" % n, "partition": 0} for n in range(200)])
    wait_for_letters(postonce, 200)
    letters = postonce.dead_letters()
    assert sorted(letter.value for letter in letters) == sorted(GARBAGE + b"%d" % n for n in range(200))
    assert set(ids(letters).values()) == {1}
    assert worker.stop() == 0


@pytest.mark.partitions(1)
def test_after_twenty_passes_a_letter_is_no_larger_than_after_the_first(postonce, kafka, db):
    postonce.migrate()
    postonce.start()
    headers, value, key = [("attempt", b"1"), ("attempt", b"2")], GARBAGE, b"k"
    sizes, origins = [], set()
    for count in range(1, 21):
        kafka.produce(postonce.topic, value, key, headers, 0)
        wait_for_letters(postonce, count)
        letter = postonce.dead_letters()[-1]
        headers, value, key = letter.headers, letter.value, letter.key
        sizes.append(sum(len(name) + len(value or b"") for name, value in headers))
        origins.add(ours(letter)["postonce.offset"])
        assert foreign(headers) == [("attempt", b"1"), ("attempt", b"2")]
    assert len(set(sizes)) == 1 and origins == {"0"}
