"""postonce check: what is wrong is named with its mend, and nothing is changed."""
import json
import pathlib
import re

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]


def findings(postonce):
    done = postonce.run("check", "-o", "json", check=False)
    return done.returncode, {(row["area"], row["state"]): row for row in json.loads(done.stdout)["findings"]}


def test_a_world_in_order_has_only_the_known_limits_as_findings(postonce):
    postonce.migrate()
    status, found = findings(postonce)
    assert [area for area, state in found if state == "error"] == []
    assert ("database", "ok") in found and ("topics", "ok") in found and ("dead letters", "ok") in found
    assert "without a rule" in found["events", "warning"]["mend"]
    assert status == 1


def test_a_database_without_tables_is_an_error_that_names_migrate(postonce):
    status, found = findings(postonce)
    assert status == 1
    assert "postonce migrate" in found["database", "error"]["finding"]


def test_topics_that_do_not_exist_are_errors(postonce):
    postonce.migrate()
    postonce.configure({"topics": {"no-such-topic": {}}, "dead_letter": {"topic": "no-such-dlt"}})
    status, found = findings(postonce)
    assert status == 1
    assert "no-such-topic" in found["topics", "error"]["finding"]
    assert "no-such-dlt" in found["dead letters", "error"]["finding"]


def test_topics_that_are_written_to_are_looked_at(postonce, kafka):
    postonce.migrate()
    results, outbox = f"{postonce.topic}-results", f"{postonce.topic}-outbox"
    postonce.configure({"results": {"topic": results}, "outbox": {"topic": outbox}})
    status, found = findings(postonce)
    assert status == 1
    assert results in found["results", "error"]["finding"] and "create the topic" in found["results", "error"]["mend"]
    assert outbox in found["outbox", "note"]["finding"]
    kafka.topic(name=results)
    kafka.topic(name=outbox)
    _, found = findings(postonce)
    assert results in found["results", "ok"]["finding"] and outbox in found["outbox", "ok"]["finding"]


def test_check_changes_nothing(postonce, kafka, db):
    postonce.migrate()
    before = {table: db.value(f"SELECT COUNT(*) FROM {table}") for table in db.tables()}
    postonce.run("check", check=False)
    assert {table: db.value(f"SELECT COUNT(*) FROM {table}") for table in db.tables()} == before
    assert set(kafka.committed(postonce.group, postonce.topic).values()) == {None}


def words_of(profile):
    for shape in profile.get("shapes", [profile]):
        for rule in shape.get("rules", []):
            event = rule.get("event")
            yield from event["map"].values() if isinstance(event, dict) else [event] if event else []


def test_every_word_of_a_shipped_profile_has_a_rule_and_stands_on_the_page():
    words = {word for path in (ROOT / "deploy/channels").glob("*.yaml")
             for word in words_of(yaml.safe_load(path.read_text()))}
    assert words <= set(yaml.safe_load((ROOT / "deploy/postonce.yaml").read_text())["events"])
    page = (ROOT / "docs/channels.md").read_text().partition("## The words of the shipped profiles")[2].partition("\n## ")[0]
    assert words == set(re.findall(r"^\| ([A-Z_]+) \|", page, flags=re.M))
