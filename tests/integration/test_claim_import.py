"""postonce claim import: what an older system booked is a duplicate here."""
import collections
import signal

import books
import pytest
from support.worker import notification

DONE, FINDINGS, USAGE = 0, 1, 64
IMPORTED = ("SKIPPED", '{"skipped":"IMPORTED"}')
POSTED = ("POSTED", '{"posted":"PAID"}')


def write(ledger, *lines, name="old.csv"):
    path = ledger.directory / name
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def load(ledger, *lines, args=(), check=DONE):
    done = ledger.run("claim", "import", write(ledger, *lines), *args, check=False)
    assert done.returncode == check, done.stdout + done.stderr
    return done


@pytest.mark.both_databases
def test_a_late_push_after_the_switch_posts_nothing(ledger, db):
    books.register(db, "R1", "R2", "R3")
    done = load(ledger, "txn,event,order_no,amount,currency,created_at",
                "T1,PAYMENT_RECEIVED,R1,10.00,CNY,2026-01-14T12:00:00+08:00", "T2,PAYMENT_RECEIVED,R2,,,",
                args=["--channel", "WECHAT"])
    assert done.stdout.startswith("2 lines: 2 taken over, 0 unfinished claims settled, 0 there already, 0 posted")
    # another amount than imported: without a fingerprint anything matches
    ledger.publish(notification("T1", "R1", 1000), notification("T2", "R2", 999), notification("T3", "R3"))
    assert ledger.drain() == [0]
    assert books.outcomes(db) == {books.key("T1"): IMPORTED, books.key("T2"): IMPORTED, books.key("T3"): POSTED}
    assert books.statuses(db) == {"PENDING_PAY": 2, "PAID": 1}
    assert books.count(db, "entry") == 2 and books.reviews(db) == []
    assert (books.claim(db, books.key("T1")).deliveries, books.claim(db, books.key("T1")).amount) == (1, 1000)
    assert db.value("SELECT created_at FROM claim WHERE idem_key = %s", books.key("T1")).isoformat() == \
        "2026-01-14T04:00:00"


def test_a_given_fingerprint_makes_another_content_a_conflict(ledger, db):
    books.register(db, "R1", "R2")
    ledger.publish(notification("T1", "R1"))
    assert ledger.drain() == [0]
    fingerprint = books.claim(db, books.key("T1")).payload_hash.hex()
    for table in ("entry", "outbox", "balance", "outcome", "claim"):
        db.execute(f"DELETE FROM {table}")
    load(ledger, "key,fingerprint", f"{books.key('T1')},{fingerprint}", f"{books.key('T2')},{'ab' * 32}")
    ledger.publish(notification("T1", "R1"), notification("T2", "R2"))
    assert ledger.drain() == [0]
    assert set(books.outcomes(db).values()) == {IMPORTED}
    assert [(review.reason, review.fingerprint != review.first_fingerprint) for review in books.reviews(db)] == [
        ("PAYLOAD_CONFLICT", True)]
    db.execute("UPDATE payment_order SET status = 'PENDING_PAY', paid_txn = NULL, paid_channel = NULL")


@pytest.mark.both_databases
def test_a_second_import_changes_nothing(ledger, db):
    lines = ["key,tenant_id", *(f"SQB:T{n}:PAYMENT_RECEIVED,{n % 3 + 1}" for n in range(1200))]
    assert "1200 taken over" in load(ledger, *lines).stdout
    before = db.rows("SELECT * FROM claim ORDER BY id"), db.rows("SELECT * FROM outcome ORDER BY claim_id")
    assert "0 taken over, 0 unfinished claims settled, 1200 there already" in load(ledger, *lines).stdout
    assert before == (db.rows("SELECT * FROM claim ORDER BY id"), db.rows("SELECT * FROM outcome ORDER BY claim_id"))
    assert [what.split(" of ")[0] for _, what, _ in books.audit(db, "claim import")] == ["1200 lines"] * 2


def test_a_dry_run_tells_and_changes_nothing(ledger, db):
    done = load(ledger, "key", "SQB:T1:X", "SQB:T2:X", "SQB:T1:X", args=["--dry-run"])
    assert done.stdout.startswith("3 lines: 2 would be taken over")
    assert [books.count(db, table) for table in ("claim", "outcome", "audit")] == [0, 0, 0]


def test_a_wrong_line_is_named_and_nothing_of_the_file_is_written(ledger, db):
    lines = ["key", *(f"SQB:T{n}:X" for n in range(900)), "SQB:T901", "SQB:T902:X"]
    assert "old.csv:902: key must be channel:txn:event" in load(ledger, *lines, check=FINDINGS).stderr
    assert [books.count(db, table) for table in ("claim", "outcome", "audit")] == [0, 0, 0]


def test_an_unfinished_claim_is_settled_and_what_waited_for_its_order_is_not_posted_later(ledger, db):
    ledger.publish(notification("T1", "R1"))
    assert ledger.drain() == [0]
    assert [row.key for row in books.parked(db)] == [books.key("T1")]
    assert "0 taken over, 1 unfinished claims settled" in load(ledger, "key", books.key("T1")).stdout
    assert books.parked(db) == []
    ledger.run("order", "register", "R1", "--amount", "10.00")
    ledger.publish(notification("T1", "R1"))
    assert ledger.drain() == [0]
    assert books.outcomes(db) == {books.key("T1"): IMPORTED} and books.count(db, "entry") == 0


def test_what_was_posted_here_stays_and_is_told(ledger, db):
    books.register(db, "R1")
    ledger.publish(notification("T1", "R1"))
    assert ledger.drain() == [0]
    done = load(ledger, "key", "WECHAT:T0:PAYMENT_RECEIVED", books.key("T1"), check=FINDINGS)
    assert f"old.csv:3: {books.key('T1')} of tenant 1 was posted here: booked twice" in done.stderr
    assert "1 taken over" in done.stdout and "1 posted here before" in done.stdout
    assert books.outcomes(db)[books.key("T1")] == POSTED
    assert len(books.entries(db, books.key("T1"))) == 2


def test_wrong_use_is_told(ledger):
    for arguments in [["import"], ["import", "a", "b"], ["import", "a.csv", "--tenant", "0"], [], ["export"]]:
        assert ledger.run("claim", *arguments, check=False).returncode == USAGE, arguments


def test_an_import_killed_before_a_commit_leaves_whole_chunks_and_goes_on_where_it_was(ledger, db):
    path = write(ledger, "key", *(f"SQB:T{n}:X" for n in range(1300)))
    done = ledger.run("claim", "import", path, check=False, failpoints="import.before_commit=kill@3")
    assert done.returncode == -signal.SIGKILL
    assert [books.count(db, table) for table in ("claim", "outcome")] == [1000, 1000]
    assert "300 taken over, 0 unfinished claims settled, 1000 there already" in ledger.run("claim", "import", path).stdout
    assert [books.count(db, table) for table in ("claim", "outcome")] == [1300, 1300]


@pytest.mark.both_databases
def test_an_import_while_workers_post_settles_each_key_once(ledger, db):
    count = 1500
    ledger.configure({"batch": {"max_records": 10}})
    books.register(db, *(f"R{n}" for n in range(count)))
    ledger.publish(*(notification(f"T{n}", f"R{n}") for n in range(count)))
    path = write(ledger, "key", *(books.key(f"T{n}") for n in range(count)))
    workers = [ledger.start("--until-end") for _ in range(2)]
    ledger.wait_for(lambda: books.count(db, "outcome") > 0, "workers post")
    done = ledger.run("claim", "import", path, check=False)
    assert done.returncode in (DONE, FINDINGS), done.stderr
    assert [worker.wait(60) for worker in workers] == [0, 0]
    verdicts = collections.Counter(books.outcomes(db).values())
    assert verdicts[POSTED] + verdicts[IMPORTED] == count and set(verdicts) <= {POSTED, IMPORTED}
    assert verdicts[POSTED] == int(done.stdout.split(", ")[3].split()[0]) == books.count(db, "entry") // 2
    assert books.statuses(db).get("PAID", 0) == verdicts[POSTED]
