"""postonce migrate --grants: three users, and a worker that cannot change what proves something."""
import contextlib
import json

import books
import pymysql
import pytest
from support import databases
from support.database import statements
from support.worker import notification

REFUSED = (1142, 1143, 1370)
USERS = ("owner", "worker", "auditor")


@pytest.fixture
def users(postonce, db):
    """{role: name} of three users of this server; their password is their name."""
    names = {role: f"{db.name}_{role[0]}" for role in USERS}
    with databases.connect(db.server) as connection, connection.cursor() as cursor:
        for name in names.values():
            cursor.execute(f"CREATE USER '{name}'@'%' IDENTIFIED BY '{name}'")
        yield names
        for name in names.values():
            cursor.execute(f"DROP USER '{name}'@'%'")


def grant(postonce, db, users, only=None):
    options = [part for role in USERS for part in (f"--{role}", users[role])]
    text = postonce.run("migrate", "--grants", "--server", db.kind, *options).stdout
    for statement in statements(text):
        if only is None or f"'{users[only]}'" in statement:
            db.execute(statement)


def become(postonce, name):
    path = postonce.directory / name
    path.write_text(name)
    path.chmod(0o600)
    postonce.configure({"mysql": {"user": name, "password_file": str(path)}})


@contextlib.contextmanager
def session(db, name):
    with pymysql.connect(host=db.host, port=db.port, user=name, password=name, database=db.name,
                         autocommit=True) as connection, connection.cursor() as cursor:
        yield cursor


def refused(cursor, statement):
    with pytest.raises(pymysql.err.Error) as caught:
        cursor.execute(statement)
    assert caught.value.args[0] in REFUSED, (statement, caught.value)


@pytest.mark.both_databases
def test_the_owner_migrates_and_the_worker_does_the_whole_job(postonce, db, users):
    grant(postonce, db, users, only="owner")
    become(postonce, users["owner"])
    postonce.migrate()
    grant(postonce, db, users)
    become(postonce, users["worker"])

    postonce.configure({"park": {"delays": ["1s"]}})
    postonce.run("order", "register", "R1", "--amount", "10.00")
    postonce.run("order", "register", "R2", "--amount", "10.00")
    postonce.publish(notification("T1", "R1"), notification("T1", "R1"), notification("T2", "R2"), b"{",
                     notification("T1", "R1", 999), notification("T3", "R3"), notification("T9", "R1"))
    assert postonce.drain(workers=2) == [0, 0]
    assert [row.key for row in books.parked(db)] == [books.key("T3")]
    assert len(postonce.dead_letters()) == 1 and len(books.letters(db)) == 1
    assert "PAYLOAD_CONFLICT" in {review.reason for review in books.reviews(db)}
    assert books.outcomes(db)[books.key("T9")][0] == "SUSPENSE"

    worker = postonce.start()
    postonce.run("order", "register", "R3", "--amount", "10.00")
    postonce.publish(notification("T1", "R1"))
    postonce.wait_for(lambda: books.statuses(db) == {"PAID": 3}, "the parked one is posted")
    postonce.wait_for_lag()
    assert worker.stop() == 0

    postonce.run("pause", "--why", "x")
    postonce.run("resume", "--why", "x")
    postonce.run("order", "set", "R3", "SHIPPED", "--why", "x")
    old = postonce.directory / "old.csv"
    old.write_text(f"key\nSQB:OLD:X\n{books.key('T1')}\n")
    assert "1 taken over" in postonce.run("claim", "import", old, check=False).stdout
    opening = postonce.directory / "opening.csv"
    opening.write_text("account,currency,amount\nbank,CNY,5.00\n")
    postonce.run("ledger", "open", opening)
    postonce.run("ledger", "balance", "--as-of", "2999-01-01T00:00:00Z")


@pytest.mark.both_databases
def test_a_worker_cannot_change_an_outcome_an_entry_or_a_claims_key(postonce, db, users):
    postonce.migrate()
    grant(postonce, db, users)
    with session(db, users["worker"]) as cursor:
        for statement in ("UPDATE entry SET amount = 1", "DELETE FROM entry", "UPDATE outcome SET verdict = 'SKIPPED'",
                          "DELETE FROM outcome", "DELETE FROM claim", "DELETE FROM audit",
                          "UPDATE audit SET who = 'x'", "DROP TABLE entry", "ALTER TABLE entry ADD x INT",
                          "TRUNCATE entry", "DELETE FROM payment_order", "UPDATE outbox SET payload = ''",
                          "REPLACE INTO entry (claim_id, line, account_id, amount, currency) VALUES (1, 1, 1, 1, 'X')",
                          "INSERT INTO outcome (claim_id) VALUES (1) ON DUPLICATE KEY UPDATE turn = 1"):
            refused(cursor, statement)
        if db.kind == "mysql":  # MariaDB wants UPDATE of every column for ON DUPLICATE KEY UPDATE
            for column in ("claim SET idem_key", "claim SET payload_hash", "account SET code"):
                refused(cursor, f"UPDATE {column} = 'x'")
        cursor.execute("UPDATE claim SET deliveries = deliveries + 1, last_seen_at = UTC_TIMESTAMP(6)")
    with session(db, users["auditor"]) as cursor:
        for table in sorted(db.tables()):
            cursor.execute(f"SELECT COUNT(*) FROM {table}")
            refused(cursor, f"DELETE FROM {table}")
        refused(cursor, "INSERT INTO pause (channel, at, who, why) VALUES ('', NOW(), '', '')")


def rights(postonce):
    done = postonce.run("check", "-o", "json", check=False)
    return {(row["state"], row["finding"]) for row in json.loads(done.stdout)["findings"] if row["area"] == "rights"}


@pytest.mark.both_databases
def test_check_reports_a_user_that_may_change_what_proves_something(postonce, db, users):
    postonce.migrate()
    assert rights(postonce) == {("note", "this user may UPDATE outcome")}
    grant(postonce, db, users)
    become(postonce, users["worker"])
    assert rights(postonce) == {("ok", "what proves something can only be added to")}
    db.execute(f"GRANT DELETE ON {db.name}.entry TO '{users['worker']}'@'%'")
    assert rights(postonce) == {("note", "this user may DELETE entry")}
