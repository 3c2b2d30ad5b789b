"""postonce check --from-topic: what the records in the topics become, without changing anything."""
import json

from confluent_kafka.admin import AdminClient
from support.config import ROOT
from support.worker import notification

SAMPLES = ROOT / "tests/data/channel"


def outcomes(postonce, count, code):
    done = postonce.run("check", "-o", "json", "--from-topic", count, check=False)
    assert done.returncode == code, done.stderr
    return {(row["channel"], row["outcome"], row["event"], row["reason"]): row
            for row in json.loads(done.stdout)["outcomes"]}


def fill(postonce):
    sqb = [("channel", b"SQB")]
    for name, times in (("sqb-paid", 3), ("sqb-refunded", 1), ("sqb-in-prog", 2), ("hostile-truncated", 4)):
        postonce.publish(*[(SAMPLES / f"{name}.json").read_bytes()] * times, headers=sqb, partition=0)
    postonce.publish(*(notification(f"T{number}", "R1") for number in range(5)), partition=1)


def test_records_are_counted_by_channel_outcome_event_and_reason(ledger):
    fill(ledger)
    found = outcomes(ledger, 100, 1)
    assert {kind: row["count"] for kind, row in found.items()} == {
        ("SQB", "decoded", "PAYMENT_RECEIVED", None): 3,
        ("SQB", "refused", "REFUND_SUCCEEDED", "NO_EVENT_RULE"): 1,
        ("SQB", "ignored", None, None): 2,
        ("SQB", "refused", None, "TRUNCATED_JSON"): 4,
        ("WECHAT", "decoded", "PAYMENT_RECEIVED", None): 5}
    truncated = found["SQB", "refused", None, "TRUNCATED_JSON"]
    assert truncated["examples"].split() == [f"{ledger.topic}/0/{offset}" for offset in (6, 7, 8)]


def test_only_the_last_records_are_looked_at_and_good_ones_are_no_finding(ledger):
    ledger.publish(b"{", partition=2)
    ledger.publish(*(notification(f"T{number}", "R1") for number in range(20)), partition=2)
    found = outcomes(ledger, 20, 0)
    assert [(kind[1], row["count"]) for kind, row in found.items()] == [("decoded", 20)]


def test_a_topic_of_one_channel_decodes_by_it_and_people_see_a_table(ledger):
    ledger.configure({"topics": {ledger.topic: {"channel": "SQB"}}})
    ledger.publish((SAMPLES / "sqb-paid.json").read_bytes())
    done = ledger.run("check", "--from-topic", 10)
    assert "OUTCOME" in done.stdout and "1 records of 1 topics" in done.stdout and "SQB" in done.stdout


def test_nothing_is_changed_by_looking(ledger, db):
    fill(ledger)
    admin = AdminClient({"bootstrap.servers": ledger.kafka.bootstrap})
    tables = [name for name, in db.rows("SHOW TABLES")]

    def world():
        groups = {group.id for group in admin.list_groups(timeout=20)}
        return ({name for name in groups if ledger.topic in name or name == "postonce-nobody"},
                ledger.kafka.end_offsets(ledger.topic), ledger.kafka.lag(ledger.group, ledger.topic),
                ledger.kafka.end_offsets(ledger.dead_letter_topic),
                {name: db.rows(f"SELECT COUNT(*) FROM `{name}`") for name in tables})

    before = world()
    outcomes(ledger, 100, 1)
    assert world() == before and "postonce-nobody" not in before[0]


def test_it_needs_no_database(ledger):
    fill(ledger)
    ledger.configure({"mysql": {"port": 1}})
    assert len(outcomes(ledger, 100, 1)) == 5


def test_another_kind_of_check_at_once_is_refused(ledger):
    done = ledger.run("check", "--from-topic", 1, "--errors", check=False)
    assert done.returncode == 64 and "exclude" in done.stderr
