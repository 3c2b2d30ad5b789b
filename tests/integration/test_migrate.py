"""postonce migrate, and a worker that finds the tables not as it needs them."""
import subprocess

import books
import pytest
from support.worker import BINARY, notification

CONFIGURATION = 78
pytestmark = pytest.mark.both_databases


def schema(db):
    """What the database has: columns, keys, checks and views, as the server tells them."""
    columns = db.rows("SELECT table_name, column_name, column_type, is_nullable, collation_name, column_default"
                      " FROM information_schema.columns WHERE table_schema = %s ORDER BY 1, ordinal_position", db.name)
    keys = db.rows("SELECT table_name, index_name, seq_in_index, column_name, non_unique"
                   " FROM information_schema.statistics WHERE table_schema = %s ORDER BY 1, 2, 3", db.name)
    checks = db.rows("SELECT constraint_name FROM information_schema.table_constraints"
                     " WHERE table_schema = %s ORDER BY 1", db.name)
    return columns, keys, checks


def versions(db):
    return db.rows("SELECT version, oldest_worker, started_at, finished_at FROM schema_version")


def test_migrate_makes_the_tables_and_again_does_nothing(postonce, db):
    first = postonce.migrate().stdout
    assert "applied" in first and "version" in first
    assert {"claim", "outcome", "entry", "account", "balance", "payment_order", "outbox", "review", "failure",
            "dead_letter", "audit", "notify_claim", "schema_version"} <= db.tables()
    before = schema(db), versions(db)
    assert "nothing to do" in postonce.migrate().stdout
    assert (schema(db), versions(db)) == before
    assert all(finished for _, _, _, finished in versions(db))


def test_a_dry_run_prints_the_statements_and_changes_nothing(postonce, db):
    printed = postonce.run("migrate", "--dry-run").stdout
    assert "CREATE TABLE claim (" in printed and "CREATE VIEW notify_claim" in printed
    assert db.tables() == set()
    postonce.migrate()
    before = schema(db), versions(db)
    assert "CREATE TABLE claim" not in postonce.run("migrate", "--dry-run").stdout
    assert (schema(db), versions(db)) == before


def test_a_half_applied_schema_is_refused_until_the_mend_that_is_told(postonce, db):
    postonce.migrate()
    half_applied = 1
    db.execute("DELETE FROM schema_version WHERE version > %s", half_applied)
    db.execute("UPDATE schema_version SET finished_at = NULL WHERE version = %s", half_applied)
    db.execute("DROP VIEW notify_claim")
    for command in (["migrate"], ["run", "--until-end"], ["order", "show", "R1"]):
        done = postonce.run(*command, check=False)
        assert done.returncode == CONFIGURATION, done.stderr
        mend = f"DELETE FROM schema_version WHERE version = {half_applied}"
        assert mend in done.stderr and "drop what it made" in done.stderr
    db.execute(mend)
    for table in db.tables() - {"schema_version"}:
        db.execute(f"DROP TABLE {table}")
    postonce.migrate()
    assert db.value("SELECT COUNT(*) FROM notify_claim") == 0


def test_run_refuses_a_database_without_tables(postonce, db):
    books_before = db.tables()
    worker = postonce.start()
    assert worker.wait() == CONFIGURATION
    assert "postonce migrate" in worker.log_text() and db.tables() == books_before == set()


def test_run_refuses_a_schema_that_asks_for_a_newer_program(ledger, db):
    db.execute("INSERT INTO schema_version VALUES (900, 900, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))")
    worker = ledger.start()
    assert worker.wait() == CONFIGURATION
    assert "900" in worker.log_text() and "newer postonce" in worker.log_text()


def test_run_goes_on_under_a_newer_schema_that_allows_it(ledger, db):
    newest = max(version for version, *_ in versions(db))
    db.execute("INSERT INTO schema_version VALUES (900, %s, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))", newest)
    books.register(db, "R1")
    ledger.publish(notification("T1", "R1"))
    assert ledger.drain() == [0]
    assert books.order(db, "R1").status == "PAID"


def test_the_view_tells_claimed_and_done(ledger, db):
    books.register(db, "R1")
    ledger.publish(notification("T1", "R1"), notification("T2", "R2"), partition=0)
    assert ledger.drain() == [0]  # R2 is not known: claimed and parked
    rows = db.rows("SELECT biz_key, order_no, claim_state, result_json, LENGTH(payload_hash)"
                   " FROM notify_claim ORDER BY biz_key")
    assert rows == [(books.key("T1"), "R1", "DONE", '{"posted":"PAID"}', 32),
                    (books.key("T2"), "R2", "CLAIMED", None, 32)]


def test_migrates_at_once_apply_each_version_once(postonce, db):
    command = [str(BINARY), "migrate", "--config", str(postonce.config_file)]
    running = [subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True) for _ in range(3)]
    said = [process.communicate(timeout=60)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], said
    assert sum("applied" in text for text in said) == 1, said
    assert len(versions(db)) == len({version for version, *_ in versions(db)})
    assert "nothing to do" in postonce.migrate().stdout
