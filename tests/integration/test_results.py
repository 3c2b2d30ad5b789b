"""The results topic: every notification's verdict and first result, before its offset passes."""
import collections
import json

import jsonschema
import pytest

from support.config import ROOT
from support.worker import notification
import books

Result = collections.namedtuple("Result", "verdict duplicate result reason")
QUICK = {"kafka": {"session.timeout.ms": 1000, "heartbeat.interval.ms": 200}}
PAID = {"posted": "PAID"}
pytestmark = pytest.mark.partitions(1)


@pytest.fixture
def told(ledger):
    """A topic of results; gives {correlation: [Result]} of what is in it, each as the schema says."""
    topic = ledger.kafka.topic(1, name=f"{ledger.topic}.results")
    ledger.configure({**QUICK, "results": {"topic": topic}, "park": {"delays": ["1h"]}})
    schema = json.loads((ROOT / "schema/result.schema.json").read_text())
    check = jsonschema.validators.validator_for(schema)(schema)

    def read():
        found = collections.defaultdict(list)
        for record in ledger.kafka.consume(topic):
            body = json.loads(record.value)
            check.validate(body)
            assert set(body) <= set(schema["properties"])
            assert (record.key or b"").decode() == body.get("key", "")
            correlation = dict(record.headers).get("correlation-id", b"none").decode()
            found[correlation].append(Result(body["verdict"], body["duplicate"], body.get("result"), body.get("reason")))
        return dict(found)
    read.topic = topic
    return read


def publish(ledger, one, correlation):
    ledger.publish(one, headers=[("correlation-id", correlation.encode())] if correlation else None, partition=0)


def test_a_re_push_is_told_the_first_answer(ledger, db, told):
    books.register(db, "R1")
    for correlation in ("a", "b"):
        publish(ledger, notification("T1", "R1"), correlation)
    assert ledger.drain() == [0]
    publish(ledger, notification("T1", "R1"), "c")
    publish(ledger, notification("T1", "R1"), None)
    assert ledger.drain() == [0]
    assert told() == {"a": [("POSTED", False, PAID, None)], "b": [("DUPLICATE", True, PAID, None)],
                      "c": [("DUPLICATE", True, PAID, None)], "none": [("DUPLICATE", True, PAID, None)]}


def test_what_is_not_posted_is_told_with_its_verdict(ledger, db, told):
    books.register(db, "R1")
    publish(ledger, notification("T1", "R1"), "posted")
    publish(ledger, notification("T1", "R1", 7), "conflict")
    publish(ledger, notification("T2", "R1", event="NOBODY_KNOWS"), "rejected")
    publish(ledger, b"{ garbage", "garbage")
    assert ledger.drain() == [0]
    found = told()
    assert found["posted"] == [("POSTED", False, PAID, None)]
    assert [one[:3] for one in found["conflict"]] == [("CONFLICT", False, None)]
    assert found["rejected"] == [("REJECTED", False, None, "NO_EVENT_RULE")]
    assert [one[:3] for one in found["garbage"]] == [("REJECTED", False, None)] and found["garbage"][0].reason


@pytest.mark.parametrize("point", [None, "posting.committed=kill@2", "results.acknowledged=kill@2"])
def test_what_was_parked_is_told_again_when_it_is_settled_whoever_dies_between(ledger, db, told, point):
    publish(ledger, notification("T1", "R1"), "a")
    worker = ledger.start(failpoints=point)
    ledger.wait_for(lambda: told() == {"a": [("PARKED", False, None, "ORDER_UNKNOWN")]}, "it is told as parked")
    ledger.run("order", "register", "R1", "--amount", "10.00")
    if point:
        assert worker.wait() == -9
        assert books.outcomes(db) == {books.key("T1"): ("POSTED", '{"posted":"PAID"}')}
        db.execute("UPDATE parked SET due_at = UTC_TIMESTAMP(6)")
        worker = ledger.start()
    ledger.wait_for(lambda: len(told()["a"]) > (2 if point and "results" in point else 1), "it is told as posted")
    ledger.wait_for(lambda: books.count(db, "parked") == 0, "nothing is parked")
    assert worker.stop() == 0
    posted = told()["a"][1:]
    assert posted == [("POSTED", False, PAID, None)] * len(posted)


@pytest.mark.parametrize("point", ["posting.committed", "results.acknowledged", "settle.begun"])
def test_killed_before_the_offset_the_result_is_told_when_the_record_comes_again(ledger, db, told, point):
    books.register(db, "R1")
    publish(ledger, notification("T1", "R1"), "a")
    struck = ledger.start(failpoints=f"{point}=kill@1")
    assert struck.wait() == -9
    before = told().get("a", [])
    assert len(before) == (0 if point == "posting.committed" else 1)
    assert ledger.drain() == [0]
    assert told()["a"] == [("POSTED", False, PAID, None)] * (len(before) + 1)


def test_results_that_cannot_be_written_hold_the_partition_until_they_can(ledger, db, kafka, told):
    books.register(db, "R1")
    kafka.delete(told.topic)
    publish(ledger, notification("T1", "R1"), "a")
    worker = ledger.start()
    ledger.wait_for(lambda: "alarm=RESULTS_NOT_WRITABLE" in worker.log_text(), "it is alarmed", 60)
    assert kafka.lag(ledger.group, ledger.topic) == 1
    assert books.outcomes(db) == {books.key("T1"): ("POSTED", '{"posted":"PAID"}')}
    kafka.topic(1, name=told.topic)
    ledger.wait_for_lag(0)
    assert worker.stop() == 0
    found = told()["a"]
    assert found == [("POSTED", False, PAID, None)] * len(found) and ledger.dead_letters() == []


def test_another_header_may_carry_the_correlation(ledger, db, told):
    ledger.configure({"results": {"correlation_header": "x-request"}})
    books.register(db, "R1")
    ledger.publish(notification("T1", "R1"), headers=[("x-request", b"\x00\xff"), ("correlation-id", b"a")])
    assert ledger.drain() == [0]
    record, = ledger.kafka.consume(told.topic)
    assert record.headers == [("x-request", b"\x00\xff")]


@pytest.mark.parametrize("topics, topic", [({"callbacks": {}}, "callbacks"), ({"^call": {}}, "callbacks.results")])
def test_results_that_would_come_in_as_records_are_refused_at_the_start(postonce, topics, topic):
    refused = postonce.start(changes={"topics": {postonce.topic: None, **topics}, "results": {"topic": topic}})
    assert refused.wait() == 78 and "is meant by" in refused.log_text()
