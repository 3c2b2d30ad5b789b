"""A dead-letter topic that would lose letters: `run` refuses it at the start, `check` names the mend."""
import json

import pytest

from support.wait import wait_until
from support.worker import free_port, notification

CONFIGURATION = 78
SOURCE = {"max.message.bytes": "900000", "retention.ms": "3600000", "message.timestamp.type": "LogAppendTime"}


def world(postonce, kafka, letters, source=None):
    """Source and dead-letter topic with these configurations (letters None: there is none); what check says."""
    topic = kafka.topic(1, config={**SOURCE, **(source or {})})
    dead = f"{topic}.DLT"
    if letters is not None:
        kafka.topic(1, name=dead, config={**SOURCE, **letters})
    postonce.topic, postonce.dead_letter_topic = topic, dead
    postonce.configure({"topics": None})
    postonce.configure({"topics": {topic: {}}, "dead_letter": {"topic": dead}})
    postonce.migrate()
    return look(postonce)


def look(postonce):
    rows = json.loads(postonce.run("check", "-o", "json", check=False).stdout)["findings"]
    return [row for row in rows if row["area"] == "dead letters"]


@pytest.mark.parametrize("letters, source, word", [
    (None, {}, "does not exist"),
    ({"cleanup.policy": "compact"}, {}, "compacted"),
    ({"cleanup.policy": "compact,delete"}, {}, "compacted"),
    ({"max.message.bytes": "899999"}, {}, "takes 899999 bytes"),
    ({"retention.ms": "3599999"}, {}, "keeps 3599999 ms"),
    ({}, {"retention.ms": "-1"}, "keeps for ever"),
    ({}, {"cleanup.policy": "compact"}, "keeps for ever"),
], ids=["missing", "compacted", "compacted-and-deleted", "smaller", "shorter", "source-for-ever", "source-compacted"])
def test_run_refuses_an_unsafe_topic_and_check_names_it(letters, source, word, postonce, kafka):
    found = world(postonce, kafka, letters, source)
    assert [row["state"] for row in found] == ["error"]
    assert word in found[0]["finding"] and found[0]["mend"]
    postonce.publish({"no": "notification"}, key="a compacted source takes none without")
    done = postonce.run("run", "--until-end", check=False)
    assert done.returncode == CONFIGURATION
    assert word in done.stderr and "dead_letter.topic is not safe" in done.stderr
    assert set(kafka.committed(postonce.group, postonce.topic).values()) == {None}


def test_a_topic_at_least_like_its_source_is_safe(postonce, kafka):
    assert [row["state"] for row in world(postonce, kafka, {})] == ["ok"]
    assert [row["state"] for row in world(postonce, kafka, {"retention.ms": "-1", "max.message.bytes": "900001"})] \
        == ["ok"]
    postonce.publish({"no": "notification"})
    assert postonce.drain() == [0]
    assert len(postonce.dead_letters()) == 1


def test_letters_that_the_age_of_their_records_deletes_are_told_with_the_mend(postonce, kafka):
    """A letter bears its record's time, so that the topic may delete it as soon as it is written."""
    found = world(postonce, kafka, {"message.timestamp.type": "CreateTime"})
    assert [row["state"] for row in found] == ["warning", "ok"]
    assert "retention.ms of the dead-letter topic to -1" in found[0]["mend"]
    assert "message.timestamp.type to LogAppendTime" in found[0]["mend"]
    for mend in ({"retention.ms": "-1"}, {"message.timestamp.type": "LogAppendTime"}):
        kafka.configure(postonce.dead_letter_topic, {**SOURCE, "message.timestamp.type": "CreateTime", **mend})
        wait_until(lambda: [row["state"] for row in look(postonce)] == ["ok"], f"nothing is told after {mend}")
    postonce.publish({"no": "notification"})
    assert postonce.drain() == [0], "advice does not stop it"


def test_all_that_is_unsafe_is_named_at_once(postonce, kafka):
    found = world(postonce, kafka, {"cleanup.policy": "compact", "max.message.bytes": "1000", "retention.ms": "1000"})
    assert len(found) == 2  # what is compacted for good forgets nothing by age
    found = world(postonce, kafka, {"cleanup.policy": "compact,delete", "max.message.bytes": "1000",
                                    "retention.ms": "1000"})
    assert len(found) == 3


def test_a_source_is_never_the_dead_letter_topic(postonce):
    postonce.configure({"dead_letter": {"topic": postonce.topic}})
    done = postonce.run("run", "--until-end", check=False)
    assert done.returncode == CONFIGURATION
    assert "its letters would come back" in done.stderr


def test_without_a_dead_letter_topic_nothing_is_asked(postonce, kafka):
    postonce.migrate()
    postonce.configure({"dead_letter": None})
    postonce.publish(notification("T1", "R1"))
    assert postonce.drain()[0] in (0, 75)


def test_brokers_that_are_away_at_the_start_are_waited_for(postonce, kafka):
    postonce.migrate()
    worker = postonce.start(changes={"kafka": {"bootstrap.servers": f"127.0.0.1:{free_port()}"}})
    wait_until(lambda: "event=waiting_for_brokers" in worker.log_text(), "it waits", 30, [worker.log])
    assert worker.alive()
    assert worker.stop() == 0
