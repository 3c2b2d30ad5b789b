"""What may come in a record, under a key or from a clock, as others have got it wrong."""
import json
import uuid

import books
import pytest
from support import raw_produce
from support.worker import notification

HOLDS = {"strict": {"hand_over": False}}


# Headers

def test_hundreds_of_headers_and_foreign_counters_stay_as_they_were_and_count_nothing(ledger, db):
    """Counters come from our own rows, whatever headers of the same name say; the letter has all headers in order."""
    foreign = [("attempt", value) for value in (b"\x01", b"\x00\x02", b"\xff" * 8, b"-1", b"2147483648", b"", None)]
    headers = [(f"h-{n:03d}", bytes([n % 256]) * (n % 5)) for n in range(500)] + foreign
    headers += [("postonce.attempts", b"-1"), ("postonce.attempts", b"\xff" * 8), ("postonce.replays", b"x")]
    books.register(db, "R1")
    ledger.publish(notification("T1", "R1"), b"{ garbage", partition=0, headers=headers)
    assert ledger.drain() == [0]
    assert books.statuses(db) == {"PAID": 1}
    letter, = ledger.dead_letters()
    assert [header for header in letter.headers if not header[0].startswith("postonce.")] == headers[:-3]
    ours = [name for name, _ in letter.headers if name.startswith("postonce.")]
    assert len(ours) == len(set(ours)), "each of ours once"
    assert dict(letter.headers)["postonce.attempts"] == b"1"
    row, = books.letters(db)
    assert row.attempts == 1


HOSTILE = {
    "nul": b"a\0b",
    "only-nul": b"\0",
    "empty": b"",
    "not-utf-8": b"\xff\xfe\xf0channel",
    "long": b"n" * 30000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_header_with_a_hostile_name_harms_nobody(ledger, db, name):
    books.register(db, "R1", "R2")
    headers = [(HOSTILE[name], b"\0\xff"), (HOSTILE[name], None), (b"channel", b"WECHAT")]
    values = [json.dumps(notification("T1", "R1")).encode(), b"{ garbage", b"", None,
              json.dumps(notification("T2", "R2")).encode()]
    for value in values:
        raw_produce.produce(ledger.kafka.bootstrap, ledger.topic, value, headers)
    assert ledger.drain() == [0]
    assert books.statuses(db) == {"PAID": 2}
    assert books.count(db, "dead_letter") == 3
    assert ledger.kafka.committed(ledger.group, ledger.topic)[0] == len(values)


# One event twice at the same time, and clocks

def test_one_event_in_two_partitions_at_once_is_posted_once_whoever_claimed_it(ledger, db):
    """The worker that claimed it died; it comes again, and its re-push comes in another partition to another worker."""
    ledger.configure({"kafka": {"session.timeout.ms": 1000, "heartbeat.interval.ms": 200}})
    books.register(db, *(f"R{n}" for n in range(20)))
    made = [notification(f"T{n}", f"R{n}") for n in range(20)]
    ledger.publish(*made, partition=0)
    assert ledger.start(failpoints="claim.committed=kill@1").wait() == -9
    assert books.count(db, "claim") == 20 and books.count(db, "outcome") == 0
    ledger.publish(*reversed(made), partition=3)
    assert ledger.drain(workers=2) == [0, 0]
    assert books.statuses(db) == {"PAID": 20}
    assert books.count(db, "outcome") == books.count(db, "outbox") == 20 and books.count(db, "entry") == 40


@pytest.mark.parametrize("hours", [-1, 1, -24 * 400])
def test_a_claim_is_finished_whatever_a_clock_says_of_its_age(ledger, db, hours):
    """As after a jump of the database's clock: no lease and no expiry is asked, only whether there is an outcome."""
    books.register(db, "R1", "R2")
    ledger.publish(notification("T1", "R1"), partition=0)
    assert ledger.start(failpoints="claim.committed=kill@1").wait() == -9
    assert db.execute(f"UPDATE claim SET created_at = created_at + INTERVAL {hours} HOUR,"
                      f" last_seen_at = last_seen_at + INTERVAL {hours} HOUR") == 1
    assert ledger.drain() == [0]
    assert books.statuses(db) == {"PAID": 1, "PENDING_PAY": 1}
    ledger.publish(notification("T1", "R1"), notification("T2", "R2"), partition=1)
    assert ledger.drain() == [0]
    assert books.count(db, "outcome") == books.count(db, "outbox") == 2


def test_a_notification_from_another_time_is_posted_like_any(ledger, db):
    """Records and events that are dated years before or after now."""
    ledger.kafka.configure(ledger.topic, {"message.timestamp.after.max.ms": str(2 ** 63 - 1)})
    books.register(db, "R1", "R2", "R3")
    for number, when, timestamp in (("1", "1999-12-31T23:59:59Z", 1), ("2", "2099-01-01T00:00:00+14:00", 4070908800000),
                                    ("3", "2026-03-29T02:30:00+01:00", None)):
        ledger.publish({**notification(f"T{number}", f"R{number}"), "occurred_at": when}, partition=0,
                       timestamp=timestamp)
    assert ledger.drain() == [0]
    assert books.statuses(db) == {"PAID": 3}


# A pattern that fixes the channel

def test_a_pattern_may_fix_the_channel_of_all_its_topics(ledger, db):
    """Bytes of a topic that it matches are that channel's, also of one that is made later; a name goes before it."""
    stem = f"p-{uuid.uuid4().hex[:8]}"
    named = ledger.kafka.topic(1, name=f"{stem}-named")
    ledger.configure({"topics": None})
    ledger.configure({"topics": {f"^{stem}-": {"channel": "SQB"}, named: {"channel": "WECHAT"}},
                      "kafka": {"topic.metadata.refresh.interval.ms": 500}})
    books.register(db, "R1", "R2", "R3", amount=1000)
    sqb = [{"sn": f"S{n}", "client_sn": f"R{n}", "status": "SUCCESS", "order_status": "PAID", "total_amount": "1000",
            "net_amount": "1000", "finish_time": "1700000000000", "channel_finish_time": "1700000000000"}
           for n in (1, 2)]
    ledger.kafka.produce(ledger.kafka.topic(1, name=f"{stem}-first"), json.dumps(sqb[0]).encode())
    ledger.kafka.produce(named, json.dumps(notification("T3", "R3")).encode())
    worker = ledger.start()
    ledger.wait_for(lambda: books.statuses(db).get("PAID") == 2, "both are posted")
    ledger.kafka.produce(ledger.kafka.topic(1, name=f"{stem}-later"), json.dumps(sqb[1]).encode())
    ledger.wait_for(lambda: books.statuses(db) == {"PAID": 3}, "the topic made later has the channel, too")
    assert worker.stop() == 0
    assert books.claims(db) == sorted([books.key("S1", channel="SQB"), books.key("S2", channel="SQB"),
                                       books.key("T3")])


# A person's word on what cannot be claimed

def test_a_skip_waits_until_its_claim_can_be_settled(ledger, db):
    """The skip is decided while the claim statement fails: were the record let pass then, its claim would stay open
    for ever, or its key unknown, and a re-push would be posted."""
    ledger.configure(HOLDS)
    ledger.publish(notification("T1", "R1"), partition=0)
    worker = ledger.start()
    ledger.wait_for(lambda: books.count(db, "hold") == 1, "the hold is noted")
    db.execute("CREATE TRIGGER refuse BEFORE UPDATE ON claim FOR EACH ROW SIGNAL SQLSTATE '45000'"
               " SET MYSQL_ERRNO = 1142, MESSAGE_TEXT = 'refused'")
    ledger.wait_for(lambda: "code=1142" in worker.log_text(), "the claim statement fails")
    ledger.run("hold", "skip", ledger.topic, "0", "0", "--why", "booked by hand")
    tries = worker.log_text().count("code=1142")
    ledger.wait_for(lambda: worker.log_text().count("code=1142") >= tries + 3, "it is tried again and again")
    assert books.count(db, "outcome") == 0
    assert ledger.kafka.committed(ledger.group, ledger.topic)[0] in (None, 0)
    db.execute("DROP TRIGGER refuse")
    ledger.wait_for(lambda: [verdict for verdict, _ in books.outcomes(db).values()] == ["DISCARDED"], "it is discarded")
    ledger.wait_for_lag(0)
    books.register(db, "R1")
    ledger.publish(notification("T1", "R1"), partition=1)
    ledger.wait_for_lag(0)
    assert books.statuses(db) == {"PENDING_PAY": 1} and books.count(db, "outcome") == 1
    assert worker.stop() == 0
