"""Claims that another program settles inside its own transaction, on a connection of its own that is unlike ours."""
import json

import books
import pytest
from installed import RUN_TIMEOUT_S, Installed, Program, run
from support.config import ROOT
from support.wait import wait_until
from support.worker import notification

BOOK = "sql=INSERT INTO shop.booking (txn) VALUES ('T1')"
ONCE = ["acquire", "begin", BOOK, "settle", "commit"]
SETTLED = '{"settled":"BOOKED"}'
KEY = books.key("T1")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    return Installed(tmp_path_factory.mktemp("installed"))


@pytest.fixture(scope="module")
def program(installed):
    return installed.compile("book_once", *run("pkg-config", "--cflags", "--libs", "mysqlclient").split())


class Shop:
    """book_once with a body; its own table is in a database of its own."""

    def __init__(self, program, db, directory):
        self.program, self.db, self.directory = program, db, directory
        self.own = f"{db.name}_shop"
        db.execute(f"CREATE DATABASE {self.own}")
        db.execute(f"CREATE TABLE {self.own}.booking (txn VARCHAR(64) NOT NULL)")

    def arguments(self, steps, amount):
        body = self.directory / f"body-{amount}.json"
        body.write_text(json.dumps(notification("T1", "R1", amount)))
        return [ROOT / "tests/data/wechat-envelope.yaml", body, *[step.replace("shop.", f"{self.own}.") for step in steps]]

    def run(self, *steps, amount=1000):
        """(exit status, the last line)"""
        status, lines = self.program.run(*self.arguments(steps, amount))
        return status, lines[-1]

    def start(self, *steps):
        """A process that is at its `pause` when this returns."""
        process = self.program.start(*self.arguments(steps, 1000))
        for line in process.stdout:
            if line == "paused\n":
                return process
        raise AssertionError("it ended before its pause")

    def bookings(self):
        return self.db.value(f"SELECT COUNT(*) FROM {self.own}.booking")


@pytest.fixture
def shop(installed, program, ledger, db, tmp_path):
    own = Shop(Program(installed, program, db, tmp_path), db, tmp_path)
    yield own
    db.execute(f"DROP DATABASE {own.own}")


@pytest.mark.both_databases
def test_a_claim_is_settled_with_the_callers_own_work_and_only_once(shop, db):
    assert shop.run(*ONCE) == (0, "commit: done")
    assert books.outcomes(db) == {KEY: ("SKIPPED", SETTLED)} and shop.bookings() == 1
    assert db.rows("SELECT source_topic, source_partition, source_offset, effective_at FROM outcome o")[0][:3] == (
        "shop.http", -1, 0)
    assert db.value("SELECT effective_at = '2026-11-11 04:00:00' AND settled_at >= created_at FROM outcome o"
                    " JOIN claim c ON c.id = o.claim_id") == 1
    assert shop.program.run(*shop.arguments(["acquire"], 1000))[1][0] == f"acquire SETTLED {SETTLED}"
    status, last = shop.run(*ONCE)
    assert status == 1 and "BUG" in last and shop.bookings() == 1


def test_a_rollback_takes_the_outcome_and_leaves_the_claim(shop, db):
    assert shop.run("acquire", "begin", BOOK, "settle", "rollback") == (0, "rollback: done")
    assert books.outcomes(db) == {} and books.claims(db) == [KEY] and shop.bookings() == 0
    assert shop.run(*ONCE) == (0, "commit: done")
    assert books.outcomes(db) == {KEY: ("SKIPPED", SETTLED)} and shop.bookings() == 1


@pytest.mark.both_databases
def test_of_two_at_once_one_books(shop, db):
    """Both acquired the unfinished claim; the second waits at the fence for the first one's commit."""
    first = shop.start("acquire", "begin", BOOK, "settle", "pause", "commit")
    second = shop.start("acquire", "pause", "begin", BOOK, "settle", "commit")
    second.stdin.write("\n")
    second.stdin.flush()
    wait_until(lambda: db.value("SELECT COUNT(*) FROM information_schema.processlist"
                                " WHERE info LIKE %s", f"INSERT INTO `{db.name}`.outcome%") == 1,
               "the second is at the fence", 30)
    assert first.communicate("\n", timeout=RUN_TIMEOUT_S)[0].endswith("commit: done\n") and first.returncode == 0
    said, _ = second.communicate(timeout=RUN_TIMEOUT_S)
    assert second.returncode == 1 and "failed: EXISTS" in said, said
    assert books.outcomes(db) == {KEY: ("SKIPPED", SETTLED)} and shop.bookings() == 1


def test_who_is_killed_before_its_commit_leaves_the_work_to_the_next(shop, db):
    process = shop.start("acquire", "begin", BOOK, "settle", "pause", "commit")
    process.kill()
    process.communicate()
    wait_until(lambda: shop.run(*ONCE) == (0, "commit: done"), "the server ended its transaction", 60)
    assert books.outcomes(db) == {KEY: ("SKIPPED", SETTLED)} and shop.bookings() == 1


def test_outside_of_a_transaction_nothing_is_settled(shop, db):
    for steps in [("acquire", "settle"), ("acquire", "begin", "commit", "settle")]:
        status, last = shop.run(*steps)
        assert status == 1 and "BUG" in last and "no transaction is open" in last, last
    assert books.outcomes(db) == {}


def test_a_transaction_that_looked_before_the_claim_does_not_settle_it(shop, db):
    status, last = shop.run("sql=SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
                            "sql=START TRANSACTION WITH CONSISTENT SNAPSHOT", "acquire", "settle", "commit")
    assert status == 1 and "does not see the claim" in last, last
    assert books.outcomes(db) == {}


def test_another_content_is_a_conflict_for_a_person(shop, db):
    assert shop.run(*ONCE)[0] == 0
    for _ in range(2):
        status, lines = shop.program.run(*shop.arguments(["acquire", "begin", "settle"], 999))
        assert status == 1 and lines[0].startswith("acquire CONFLICT") and "BUG" in lines[-1], lines
    [review] = books.reviews(db)
    assert review.reason == "PAYLOAD_CONFLICT" and b"999" in review.body and review.state == "OPEN"


def test_workers_and_other_programs_keep_out_of_each_others_way(shop, ledger, db):
    """What a program settled no worker posts; what a worker posted no program settles."""
    books.register(db, "R1", "R2")
    assert shop.run(*ONCE)[0] == 0
    ledger.publish(notification("T1", "R1"), notification("T2", "R2"))
    assert ledger.drain() == [0]
    assert books.outcomes(db) == {KEY: ("SKIPPED", SETTLED), books.key("T2"): ("POSTED", '{"posted":"PAID"}')}
    assert db.value("SELECT status FROM payment_order WHERE order_no = 'R1'") == "PENDING_PAY"


def test_a_worker_finishes_what_a_program_only_claimed(shop, ledger, db):
    books.register(db, "R1")
    assert shop.run("acquire")[0] == 0
    ledger.publish(notification("T1", "R1"))
    assert ledger.drain() == [0]
    assert books.outcomes(db)[KEY] == ("POSTED", '{"posted":"PAID"}')
    assert shop.program.run(*shop.arguments(["acquire"], 1000))[1][0] == 'acquire SETTLED {"posted":"PAID"}'
