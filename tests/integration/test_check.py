"""postonce check: what is wrong is named with its mend, and nothing is changed."""
import json
import pathlib

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


def test_check_changes_nothing(postonce, kafka, db):
    postonce.migrate()
    before = {table: db.value(f"SELECT COUNT(*) FROM {table}") for table in db.tables()}
    postonce.run("check", check=False)
    assert {table: db.value(f"SELECT COUNT(*) FROM {table}") for table in db.tables()} == before
    assert set(kafka.committed(postonce.group, postonce.topic).values()) == {None}
