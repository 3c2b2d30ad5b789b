"""postonce replay: dead letters back to the topic they came from, once, and posted once."""
import contextlib
import copy
import json
import os
import pty
import re
import signal
import struct
import subprocess

import books
import pytest
from confluent_kafka import Consumer, TopicPartition
from support.config import PAYMENT_RECEIVED
from support.worker import BINARY, Worker, notification

DONE, FINDINGS, USAGE, AWAY, UNDRAINED, CONFIGURATION = 0, 1, 64, 69, 75, 78
POSTED = ("POSTED", '{"posted":"PAID"}')
COUPON = "COUPON_USED"


def replay(ledger, *args, why="the rule is there now", check=None, **options):
    """The command's end; check: the exit code that it must have."""
    given = ["--why", why] if why and "--dry-run" not in args else []
    done = ledger.run("replay", *args, *given, check=False, **options)
    if check is not None:
        assert done.returncode == check, done.stdout + done.stderr
    return done


def found(ledger, *args, check=DONE, **options):
    """{(reason, channel): {column: number}} of a replay."""
    done = replay(ledger, *args, "-o", "json", check=check, **options)
    return {(row.pop("reason"), row.pop("channel")): row for row in json.loads(done.stdout)["letters"]}


def total(rows, column):
    return sum(row[column] for row in rows.values())


def coupon(txn, order_no=None, **more):
    """A notification that has no rule: a dead letter."""
    return notification(txn, order_no or f"R-{txn}", event=COUPON, **more)


def mend(ledger):
    """The rule that was missing."""
    ledger.configure({"events": {COUPON: copy.deepcopy(PAYMENT_RECEIVED)}})


def written_off(ledger, db, count, partition=None):
    """So many orders, and as many dead letters of their payments."""
    txns = [f"T{n:05}" for n in range(count)]
    books.register(db, *(f"R-{txn}" for txn in txns))
    ledger.publish(*map(coupon, txns), **({} if partition is None else {"partition": partition}))
    assert ledger.drain() == [DONE]
    assert len(ledger.dead_letters()) == count
    return txns


def posted(db):
    return sorted(key.split(":")[1] for key, outcome in books.outcomes(db).items() if outcome == POSTED)


def group_of(ledger):
    return f"{ledger.group}.replay"


def committed(ledger):
    return ledger.kafka.committed(group_of(ledger), ledger.dead_letter_topic)[0]


def sent_back(ledger, first=0):
    """What stands in the source topic behind the first records, by partition and offset."""
    return ledger.kafka.consume(ledger.topic)[first:]


def ours(record):
    return {name: value for name, value in record.headers if name.startswith("postonce.")}


def header_bytes(record):
    return sum(len(name) + len(value or b"") for name, value in record.headers)


def audit(db):
    return db.rows("SELECT who, verb, what, why FROM audit WHERE verb = 'replay' ORDER BY id")


def test_a_letter_whose_cause_is_mended_is_posted_once_and_nothing_is_left(ledger, db):
    txns = written_off(ledger, db, 7)
    assert found(ledger) == {("NO_EVENT_RULE", "WECHAT"): {"sent": 7, "copies": 0, "before": 0, "left": 0}}
    mend(ledger)
    assert ledger.drain() == [DONE]
    assert posted(db) == txns and books.statuses(db) == {"PAID": 7}
    assert found(ledger) == {} and committed(ledger) == 7
    assert ledger.drain() == [DONE] and books.count(db, "outcome") == 7


def test_the_record_comes_back_as_it_was_where_it_was_with_its_origin_and_a_count(ledger, db):
    headers = [("h", b"1"), ("none", None), ("h", b"2"), ("empty", b"")]
    value = json.dumps(coupon("T1")).encode()
    (partition, offset), = ledger.publish(value, key=b"k\x00ey", headers=headers, partition=2, timestamp=1700000000123)
    ledger.publish(None, key=b"null", partition=1)
    ledger.publish(b"", partition=3)
    assert ledger.drain() == [DONE]
    replay(ledger, check=DONE)
    back = {record.partition: record for record in sent_back(ledger) if record.offset > 0}
    assert set(back) == {1, 2, 3}
    record = back[2]
    assert (record.key, record.value, record.timestamp) == (b"k\x00ey", value, 1700000000123)
    assert [header for header in record.headers if not header[0].startswith("postonce.")] == headers
    mine = ours(record)
    assert (mine["postonce.topic"], mine["postonce.partition"]) == (ledger.topic.encode(), b"2")
    assert (mine["postonce.offset"], mine["postonce.replays"]) == (b"%d" % offset, b"01")
    assert mine["postonce.letter_id"] and "postonce.text" not in mine
    assert back[1].value is None and back[1].key == b"null" and back[3].value == b"" and back[3].key is None


def test_what_was_posted_meanwhile_is_a_confirmed_duplicate(ledger, db):
    txns = written_off(ledger, db, 3)
    mend(ledger)
    ledger.publish(*map(coupon, txns))
    assert ledger.drain() == [DONE]
    replay(ledger, check=DONE)
    assert ledger.drain() == [DONE]
    assert posted(db) == txns and books.count(db, "entry") == 6
    assert all(books.claim(db, books.key(txn, COUPON)).deliveries == 2 for txn in txns)
    assert books.reviews(db) == [] and len(ledger.dead_letters()) == 3


def test_a_record_that_stays_broken_stops_at_the_limit_and_does_not_grow(ledger):
    ledger.publish(b"garbage", key=b"k", headers=[("h", b"1"), ("h", b"2")])
    assert ledger.drain() == [DONE]
    for _ in range(20):
        replay(ledger, "--max-replays", 20, check=DONE)
        assert ledger.drain() == [DONE]
    done = replay(ledger, "--max-replays", 20, check=FINDINGS)
    assert "LOOP_LIMIT" in done.stderr and "offset 20" in done.stderr
    letters = ledger.dead_letters()
    assert len(letters) == 21 and len(ledger.kafka.consume(ledger.topic)) == 21
    assert [ours(letter).get("postonce.replays") for letter in letters] == [None] + [b"%02d" % n for n in range(1, 21)]
    assert len({header_bytes(letter) for letter in letters[1:]}) == 1
    assert len(letters[20].headers) == len(letters[0].headers) + 1
    assert {letter.value for letter in letters} == {b"garbage"}
    assert len({ours(letter)["postonce.offset"] for letter in letters}) == 1
    # It stays where it is, and its turn is over; a person finds it and raises the limit.
    assert found(ledger) == {}
    assert found(ledger, "--from-beginning", check=FINDINGS)[("MALFORMED_JSON", None)]["left"] == 1
    replay(ledger, "--partition", 0, "--from-offset", 20, "--max-replays", 0, check=DONE)
    assert len(ledger.kafka.consume(ledger.topic)) == 22


def test_three_replays_are_the_default_limit(ledger):
    ledger.publish(b"garbage")
    for expected in [DONE, DONE, DONE, FINDINGS]:
        assert ledger.drain() == [DONE]
        replay(ledger, check=expected)
    assert len(ledger.dead_letters()) == 4


def test_a_dry_run_shows_a_table_and_changes_nothing(ledger, db):
    written_off(ledger, db, 5)
    ledger.publish(b"garbage", b"{}", partition=1)
    assert ledger.drain() == [DONE]
    before = (ledger.kafka.end_offsets(ledger.topic), ledger.kafka.end_offsets(ledger.dead_letter_topic))
    rows = found(ledger, "--dry-run")
    assert rows[("NO_EVENT_RULE", "WECHAT")] == {"to_send": 5, "copies": 0, "before": 0, "left": 0}
    assert total(rows, "to_send") == 7 and len(rows) == 3
    done = replay(ledger, "--dry-run", check=DONE)
    assert re.search(r"REASON +CHANNEL +TO_SEND", done.stdout) and "MALFORMED_JSON" in done.stdout
    assert before == (ledger.kafka.end_offsets(ledger.topic), ledger.kafka.end_offsets(ledger.dead_letter_topic))
    assert committed(ledger) is None and audit(db) == []
    assert db.value("SELECT COUNT(*) FROM dead_letter WHERE replayed_at IS NOT NULL") == 0
    assert total(found(ledger), "sent") == 7


def test_a_filter_takes_only_what_it_names_and_the_rest_is_still_there(ledger, db):
    books.register(db, "R-T1", "R-T2", "R-T10")
    ledger.publish(coupon("T1"), coupon("T2"), coupon("T10"), b"garbage", partition=0)
    ledger.publish(b'{"order_status":"REFUND_ERROR"}', headers=[("channel", b"SQB")], partition=0)
    assert ledger.drain() == [DONE]
    dry = "--dry-run"
    assert set(found(ledger, dry, "--reason", "MALFORMED_JSON")) == {("MALFORMED_JSON", None)}
    assert set(found(ledger, dry, "--reason", "MALFORMED_JSON", "--reason", "NO_RULE")) == {
        ("MALFORMED_JSON", None), ("NO_RULE", "SQB")}
    assert total(found(ledger, dry, "--channel", "WECHAT"), "to_send") == 3
    assert total(found(ledger, dry, "--channel", "SQB"), "to_send") == 1
    assert total(found(ledger, dry, "--key", "WECHAT:T1"), "to_send") == 2
    assert total(found(ledger, dry, "--key", "WECHAT:T1:*"), "to_send") == 1
    assert total(found(ledger, dry, "--key", "*:T?:*", "--key", "WECHAT:T10:"), "to_send") == 3
    assert total(found(ledger, dry, "--partition", 0, "--from-offset", 1, "--to-offset", 2), "to_send") == 2
    assert total(found(ledger, dry, "--partition", 0, "--from-offset", 4), "to_send") == 1
    assert found(ledger, dry, "--reason", "NOBODY") == {}
    assert total(found(ledger, "--key", "WECHAT:T1:"), "sent") == 1
    assert committed(ledger) is None, "what the filter left out must come to the next run"
    # The same filter again finds it sent already; without one, the others go.
    assert total(found(ledger, "--key", "WECHAT:T1:"), "before") == 1
    rows = found(ledger)
    assert total(rows, "sent") == 4 and total(rows, "before") == 1 and committed(ledger) == 5
    mend(ledger)
    assert ledger.drain() == [DONE]
    assert posted(db) == ["T1", "T10", "T2"]
    assert all(books.claim(db, books.key(txn, COUPON)).deliveries == 1 for txn in ["T1", "T2", "T10"])


def test_times_are_those_of_the_records(ledger):
    for hour in range(4):
        ledger.publish(b"garbage", partition=0, timestamp=1768363200000 + hour * 3600000)  # from 04:00 UTC on
    assert ledger.drain() == [DONE]
    dry = "--dry-run"
    assert total(found(ledger, dry, "--from-time", "2026-01-14T05:00:00Z"), "to_send") == 3
    assert total(found(ledger, dry, "--to-time", "2026-01-14T13:00:00+08:00"), "to_send") == 1
    assert total(found(ledger, dry, "--from-time", "2026-01-14T05:00:00Z", "--to-time", "2026-01-14T06:00:00.001Z"),
                 "to_send") == 2
    assert "--from-time" in replay(ledger, dry, "--from-time", "yesterday", check=USAGE).stderr


def test_with_commit_a_filter_moves_the_group(ledger):
    ledger.publish(b"garbage", b"{}", b"garbage", partition=0)
    assert ledger.drain() == [DONE]
    assert total(found(ledger, "--reason", "MALFORMED_JSON", "--commit"), "sent") == 2
    assert committed(ledger) == 3 and found(ledger) == {}
    assert total(found(ledger, "--from-beginning", "--again"), "sent") == 3
    assert committed(ledger) == 3


def test_limit_and_resume_take_each_letter_once(ledger, db):
    txns = written_off(ledger, db, 25, partition=0)
    mend(ledger)
    for count, place in [(10, 10), (10, 20), (5, 25), (0, 25)]:
        assert total(found(ledger, "--limit", 10), "sent") == count
        assert committed(ledger) == place
    assert ledger.drain() == [DONE]
    assert posted(db) == txns
    assert all(books.claim(db, books.key(txn, COUPON)).deliveries == 1 for txn in txns)
    values = [json.loads(record.value)["txn"] for record in sent_back(ledger)]
    assert values == txns + txns, "not in order"


def test_a_rate_sends_all_the_same(ledger, db):
    txns = written_off(ledger, db, 30, partition=0)
    assert total(found(ledger, "--rate", 20), "sent") == 30
    assert [json.loads(record.value)["txn"] for record in sent_back(ledger, 30)] == txns


def start_replay(ledger, *args, failpoints=None):
    name = f"replay-{len(ledger.workers)}"
    worker = Worker(name, [str(BINARY), "replay", "--why", "x", *map(str, args), "--config", str(ledger.config_file)],
                    ledger._environment(failpoints, None), ledger.directory / f"{name}.log")
    ledger.workers.append(worker)
    return worker


def test_killed_in_mid_work_and_run_again_every_letter_is_posted_once(ledger, db):
    txns = written_off(ledger, db, 600)
    mend(ledger)
    worker = ledger.start()
    running = start_replay(ledger, "--rate", 100)
    ledger.wait_for(lambda: books.count(db, "outcome") >= 100, "100 letters are posted")
    assert running.alive(), "it was not in mid-work"
    running.kill()
    assert committed(ledger) < 600
    rows = found(ledger)
    assert 0 < total(rows, "sent") < 600
    ledger.wait_for_lag()
    assert worker.stop() == DONE
    assert posted(db) == txns and books.statuses(db) == {"PAID": 600}
    assert len(ledger.dead_letters()) == 600


@pytest.mark.parametrize("point,sent,before", [("replay.acknowledged", 20, 0), ("replay.noted", 0, 20)])
def test_killed_between_acknowledgement_and_commit_nothing_is_lost_or_posted_twice(ledger, db, point, sent, before):
    txns = written_off(ledger, db, 20)
    mend(ledger)
    assert start_replay(ledger, failpoints=f"{point}=kill").wait() == -signal.SIGKILL
    assert committed(ledger) is None and len(sent_back(ledger)) == 40
    rows = found(ledger)
    assert (total(rows, "sent"), total(rows, "before")) == (sent, before) and committed(ledger) == 20
    assert ledger.drain() == [DONE]
    assert posted(db) == txns and books.count(db, "entry") == 40
    assert [line[2].split()[0] for line in audit(db)] == ["begins", "begins", f"sent={sent}"]


def test_told_to_stop_it_ends_with_75_and_goes_on_later(ledger, db):
    txns = written_off(ledger, db, 300)
    running = start_replay(ledger, "--rate", 50)
    ledger.wait_for(lambda: (committed(ledger) or 0) >= 50, "a first slice is committed")
    assert running.stop() == UNDRAINED
    place = committed(ledger)
    assert 0 < place < 300
    assert total(found(ledger), "sent") == 300 - place
    assert sorted(json.loads(record.value)["txn"] for record in sent_back(ledger)) == sorted(txns * 2)


SPRING = [("kafka_dlt-exception-fqcn", b"org.springframework.kafka.listener.ListenerExecutionFailedException"),
          ("kafka_dlt-exception-message", b"boom")]


def spring_headers(topic, partition, offset):
    return [("kafka_dlt-original-topic", topic.encode()),
            ("kafka_dlt-original-partition", struct.pack(">i", partition)),
            ("kafka_dlt-original-offset", struct.pack(">q", offset)),
            ("kafka_dlt-original-timestamp", struct.pack(">q", 1700000000000)), *SPRING]


def connect_headers(topic, partition, offset):
    return [("__connect.errors.topic", topic.encode()), ("__connect.errors.partition", b"%d" % partition),
            ("__connect.errors.offset", b"%d" % offset), ("__connect.errors.connector.name", b"sink"),
            ("__connect.errors.exception.class.name", b"org.apache.kafka.connect.errors.DataException")]


@pytest.mark.parametrize("headers,reason", [
    (spring_headers, "org.springframework.kafka.listener.ListenerExecutionFailedException"),
    (connect_headers, "org.apache.kafka.connect.errors.DataException")], ids=["spring", "connect"])
def test_letters_of_other_systems_go_back_where_they_say(ledger, db, headers, reason):
    books.register(db, "R1", "R2")
    letter = {"value": json.dumps(notification("T1", "R1")).encode(), "key": b"k",
              "headers": [("h", b"1"), *headers(ledger.topic, 3, 7)]}
    other = {**letter, "value": json.dumps(notification("T2", "R2")).encode(),
             "headers": headers("somewhere-else", 0, 1)}
    ledger.kafka.produce_many(ledger.dead_letter_topic, [letter, letter, other])
    rows = found(ledger, check=FINDINGS)
    assert rows == {(reason, "WECHAT"): {"sent": 1, "copies": 1, "before": 0, "left": 1}}
    record, = sent_back(ledger)
    assert (record.partition, record.key, record.value) == (3, b"k", letter["value"])
    assert record.headers[:len(letter["headers"])] == letter["headers"]
    assert ours(record) == {"postonce.topic": ledger.topic.encode(), "postonce.partition": b"3",
                            "postonce.offset": b"7", "postonce.replays": b"01",
                            "postonce.timestamp": ours(record)["postonce.timestamp"]}
    short = reason.rpartition(".")[2]
    assert total(found(ledger, "--dry-run", "--from-beginning", "--reason", short, check=FINDINGS), "to_send") == 1
    assert total(found(ledger, "--from-beginning", "--partition", 0, "--to", ledger.topic, "--reason", short),
                 "sent") == 2
    assert ledger.drain() == [DONE]
    assert posted(db) == ["T1", "T2"]


def test_a_letter_that_stands_there_twice_is_sent_once(ledger, db):
    """As when a worker died between the acknowledgement and the row."""
    txns = written_off(ledger, db, 3)
    ledger.kafka.produce_many(ledger.dead_letter_topic, [
        {"value": letter.value, "headers": letter.headers} for letter in ledger.dead_letters()])
    rows = found(ledger)
    assert total(rows, "sent") == 3 and total(rows, "copies") == 3 and committed(ledger) == 6
    # Also when the second one comes later.
    letter = ledger.dead_letters()[0]
    ledger.kafka.produce(ledger.dead_letter_topic, letter.value, headers=letter.headers)
    assert total(found(ledger), "before") == 1 and len(sent_back(ledger)) == 6
    mend(ledger)
    assert ledger.drain() == [DONE] and posted(db) == txns


def test_a_header_does_not_lead_to_another_topic(ledger):
    """Whoever may write to a topic may write any header."""
    other = ledger.kafka.topic(1)
    forged = [("postonce.topic", other.encode()), ("postonce.partition", b"0"), ("postonce.offset", b"0"),
              ("postonce.timestamp", b"0")]
    into_letters = [("postonce.topic", ledger.dead_letter_topic.encode()), *forged[1:]]
    ledger.publish(b"garbage", headers=forged, partition=0)
    ledger.publish(b"garbage", headers=into_letters, partition=0)
    assert ledger.drain() == [DONE]
    done = replay(ledger, check=FINDINGS)
    assert done.stderr.count("NOT_OUR_TOPIC") == 2
    assert ledger.kafka.consume(other) == [] and len(ledger.dead_letters()) == 2
    assert len(ledger.kafka.consume(ledger.topic)) == 2


def test_a_topic_that_is_gone_leaves_its_letters(ledger):
    ledger.configure({"topics": {"gone": {}}})
    ledger.kafka.produce(ledger.dead_letter_topic, b"x", headers=connect_headers("gone", 0, 0))
    ledger.kafka.produce(ledger.dead_letter_topic, b"y")
    done = replay(ledger, check=FINDINGS)
    assert "NO_TOPIC" in done.stderr and "NO_ORIGIN" in done.stderr
    assert total(found(ledger, "--from-beginning", "--to", ledger.topic), "sent") == 2


def test_a_record_that_the_topic_refuses_is_left_and_the_group_stays_at_it(ledger):
    small = ledger.kafka.topic(1, config={"max.message.bytes": "2000"})
    ledger.publish(b"garbage", b"x" * 3000, b"garbage", partition=0)
    assert ledger.drain() == [DONE]
    done = replay(ledger, "--to", small, "-o", "json", check=FINDINGS)
    rows = {row["reason"]: row for row in json.loads(done.stdout)["letters"]}
    assert sum(row["sent"] for row in rows.values()) == 2 and "FAILED" in done.stderr and "offset 1" in done.stderr
    assert committed(ledger) == 1
    again = found(ledger, "--to", small, check=FINDINGS)
    assert total(again, "before") == 1 and total(again, "left") == 1 and committed(ledger) == 1
    done = replay(ledger, "--to", small, "--stop-after", 1, check=FINDINGS)
    assert "gave up after 1" in done.stderr
    # Where there is room for it, it goes.
    assert total(found(ledger), "sent") == 1 and committed(ledger) == 3


@pytest.mark.parametrize("value,header,form", [(4700, 5000, "trimmed"), (9700, 10, "pointer")],
                         ids=["trimmed", "pointer"])
def test_a_letter_that_was_too_large_comes_back_whole(ledger, db, value, header, form):
    """What filled its topic leaves no room for our headers: it goes as it came."""
    limit = {"max.message.bytes": "10000"}
    topic = ledger.kafka.topic(2, config=limit)
    letters = ledger.kafka.topic(1, name=f"{topic}.DLT", config=limit)
    ledger.configure({"topics": {ledger.topic: None, topic: {}}, "dead_letter": {"topic": letters}})
    record = {"value": b"x" * value, "key": b"k", "headers": [("h", b"y" * header), ("h", b"")], "partition": 1,
              "timestamp": 1700000000123}
    ledger.kafka.produce_many(topic, [record])
    assert ledger.drain() == [DONE]
    letter, = ledger.kafka.consume(letters)
    assert f"postonce.{form}" in ours(letter)
    assert total(found(ledger), "sent") == 1
    first, second = ledger.kafka.consume(topic)
    assert first.offset + 1 == second.offset and first[2:] == second[2:]
    # Purged, it cannot come back, and that is told.
    db.execute("UPDATE dead_letter SET body = NULL")
    assert "BODY_GONE" in replay(ledger, "--from-beginning", "--again", check=FINDINGS).stderr


def test_every_replay_is_audited(ledger, db):
    written_off(ledger, db, 2)
    replay(ledger, "--reason", "NO_EVENT_RULE", "--limit", 1, why="ticket 4711", check=DONE)
    begins, ends = audit(db)
    assert begins[0] and begins[3] == ends[3] == "ticket 4711"
    assert begins[2] == f"begins {ledger.dead_letter_topic} reason=NO_EVENT_RULE limit=1"
    assert ends[2].startswith("sent=1 copies=0 before=0 left=0 read=1 of ")
    for given in [(), ("--why", "")]:
        assert "--why" in replay(ledger, *given, why=None, check=USAGE).stderr


def test_a_terminal_sees_a_bar_and_a_pipe_does_not(ledger, db):
    written_off(ledger, db, 30)
    assert "#" not in replay(ledger, "--limit", 5, check=DONE).stderr
    ours_end, theirs_end = pty.openpty()
    running = subprocess.Popen([str(BINARY), "replay", "--why", "x", "--rate", "10", "--config",
                                str(ledger.config_file)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=theirs_end)
    os.close(theirs_end)
    seen = b""
    with contextlib.suppress(OSError):  # how a terminal says that its other end is closed
        while piece := os.read(ours_end, 4096):
            seen += piece
    os.close(ours_end)
    table, _ = running.communicate(timeout=30)
    assert running.returncode == DONE and b"#" not in table and b"WECHAT" in table
    assert re.search(rb"\rreplay \[#+-+\] +\d+% \d+/25", seen) and seen.endswith(b"\r\x1b[K"), seen


def test_an_empty_dead_letter_topic_is_done_at_once(ledger):
    assert found(ledger) == {}
    assert replay(ledger, check=DONE).stdout == ""


def test_a_mix_up_of_topics_or_groups_is_refused(ledger):
    for args in [("--topic", ledger.topic), ("--to", ledger.dead_letter_topic), ("--group", ledger.group),
                 ("--topic", "not-there"), ("--to", "not-there"), ("--partition", 7)]:
        assert replay(ledger, *args).returncode == CONFIGURATION, args
    for args in [("--from-offset", 1), ("--partition", 0, "--from-beginning", "--from-offset", 1), ("--rate", 0)]:
        assert replay(ledger, *args).returncode == USAGE, args
    ledger.configure({"dead_letter": None})
    assert "dead_letter.topic" in replay(ledger, check=CONFIGURATION).stderr


def test_a_topic_that_was_made_anew_is_not_silently_skipped(ledger):
    """The group's offset of the topic before it lies beyond the end."""
    ledger.kafka.produce(ledger.dead_letter_topic, b"x", headers=connect_headers(ledger.topic, 0, 0))
    properties = {"bootstrap.servers": ledger.kafka.bootstrap, "group.id": group_of(ledger)}
    with contextlib.closing(Consumer(properties)) as old:
        old.commit(offsets=[TopicPartition(ledger.dead_letter_topic, 0, 50)], asynchronous=False)
    assert "made anew" in replay(ledger, check=CONFIGURATION).stderr
    assert total(found(ledger, "--from-beginning"), "sent") == 1 and committed(ledger) == 1


def test_a_database_or_broker_that_is_away_is_told_and_nothing_is_lost(ledger, db, kafka):
    txns = written_off(ledger, db, 5)
    mend(ledger)
    db.server.stop()
    assert replay(ledger).returncode == AWAY
    db.server.start()
    assert committed(ledger) is None
    kafka.servers[0].stop()
    assert replay(ledger, timeout=120).returncode == AWAY
    kafka.servers[0].start()
    assert total(found(ledger), "sent") == 5
    assert ledger.drain() == [DONE] and posted(db) == txns
