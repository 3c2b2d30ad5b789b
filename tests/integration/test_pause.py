"""postonce pause and resume: the whole intake, or one channel; durable, seen by every worker, audited."""

import books
import pytest
from pages import Pages
from support.wait import stays
from support.worker import notification

DONE, USAGE, UNDRAINED = 0, 64, 75
POSTED_PAID = ("POSTED", '{"posted":"PAID"}')
NEVER = {"park": {"delays": ["5m"]}}  # what was parked is due at resume, or never within a test
LOOKS_S = 1.0  # how often a worker looks at the pauses


def pause(ledger, *arguments, why="database move"):
    return ledger.run("pause", *arguments, "--why", why, env={"SUDO_USER": "li"})


def resume(ledger, *arguments, why="moved"):
    return ledger.run("resume", *arguments, "--why", why, env={"SUDO_USER": "wang"})


def start(ledger, count=1, **options):
    """Workers with their pages, all of them members of the group."""
    pages = [Pages() for _ in range(count)]
    workers = [ledger.start(changes=page.options, **options) for page in pages]
    ledger.wait_for(lambda: all(page.is_ready() for page in pages), "all have joined")
    return workers, pages


def wait_for_paused(ledger, pages, value=1):
    ledger.wait_for(lambda: [page.figure("postonce_paused") for page in pages] == [value] * len(pages),
                    "all have seen it")


def test_a_paused_intake_posts_nothing_in_any_worker_keeps_its_members_and_goes_on_at_resume(ledger, db):
    limit_ms = 2500
    ledger.configure({"kafka": {"max.poll.interval.ms": limit_ms, "session.timeout.ms": 1500},
                      "mysql": {"connect_timeout": "1s", "read_timeout": "1s", "write_timeout": "1s"}})
    workers, pages = start(ledger, 2)
    assert pause(ledger).stdout == "intake paused\n"
    wait_for_paused(ledger, pages)
    books.register(db, *(f"R{n}" for n in range(8)))
    for partition in range(4):
        ledger.publish(*[notification(f"T{n}", f"R{n}") for n in range(2 * partition, 2 * partition + 2)],
                       partition=partition)
    before = [page.figure("postonce_rebalances_total") for page in pages]
    stays(lambda: books.count(db, "claim") == 0, "nobody works", 1.2 * limit_ms / 1000)
    assert all(page.is_red() for page in pages)
    assert [page.figure("postonce_rebalances_total") for page in pages] == before
    assert sum(page.figure("postonce_partitions_assigned") for page in pages) == 4
    assert all(page.get("/healthz")[0] == 200 for page in pages)
    assert resume(ledger).stdout == "intake resumed\n"
    ledger.wait_for_lag(0)
    wait_for_paused(ledger, pages, 0)
    assert [worker.stop() for worker in workers] == [DONE, DONE]
    assert books.statuses(db) == {"PAID": 8} and books.count(db, "outbox") == 8
    assert all("lost=1" not in worker.log_text() for worker in workers)


def test_a_pause_survives_a_restart_and_ends_a_drain_with_75(ledger, db):
    pause(ledger)
    books.register(db, "R1")
    ledger.publish(notification("T1", "R1"))
    pages = Pages()
    worker = ledger.start(changes=pages.options)
    wait_for_paused(ledger, [pages])
    stays(lambda: books.count(db, "claim") == 0, "it does not work", LOOKS_S)
    assert pages.is_red() and pages.get("/healthz")[0] == 200
    assert worker.stop() == DONE
    assert ledger.drain() == [UNDRAINED] and books.count(db, "claim") == 0
    resume(ledger)
    assert ledger.drain() == [DONE]
    assert books.outcomes(db) == {books.key("T1"): POSTED_PAID}


def test_a_paused_intake_leaves_what_is_parked_alone(ledger, db):
    ledger.configure({"park": {"delays": ["100ms"]}})
    ledger.publish(notification("T1", "R1"))
    (worker,), pages = start(ledger)
    ledger.wait_for(lambda: books.parked(db) and books.parked(db)[0].tries >= 1, "it is parked and tried")
    pause(ledger)
    wait_for_paused(ledger, pages)
    tries = books.parked(db)[0].tries
    stays(lambda: books.parked(db)[0].tries == tries, "it is not tried", 2 * LOOKS_S)
    resume(ledger)
    ledger.wait_for(lambda: books.parked(db)[0].tries > tries, "it is tried again")
    assert worker.stop() == DONE


@pytest.mark.both_databases
def test_a_paused_channel_is_parked_without_giving_up_while_the_others_flow(ledger, db):
    ledger.configure({"park": {"delays": ["100ms"], "give_up_after": "1s"}})
    assert pause(ledger, "--channel", "WECHAT", why="wrong amounts").stdout == "WECHAT paused\n"
    workers, pages = start(ledger, 2)
    books.register(db, "R1", "R2", "R3")
    ledger.publish(notification("T1", "R1"), notification("T2", "R2", channel="SQB"), notification("T3", "R3"),
                   partition=0)
    ledger.publish(notification("T1", "R1"), partition=3)
    ledger.wait_for(lambda: books.count(db, "parked") == 2, "they are parked")
    ledger.wait_for_lag(0)
    posted = {books.key("T2", channel="SQB"): POSTED_PAID}
    assert books.outcomes(db) == posted
    assert sorted((row.key, row.channel, row.reason) for row in books.parked(db)) == [
        (books.key("T1"), "WECHAT", "PAUSED"), (books.key("T3"), "WECHAT", "PAUSED")]
    assert [page.figure("postonce_paused") for page in pages] == [0, 0] and all(page.is_ready() for page in pages)
    db.execute("UPDATE parked SET waits_since = waits_since - INTERVAL 3 DAY")
    tries = max(row.tries for row in books.parked(db))
    ledger.wait_for(lambda: min(row.tries for row in books.parked(db)) > tries, "they are tried after that")
    assert books.outcomes(db) == posted and {row.reason for row in books.parked(db)} == {"PAUSED"}
    resume(ledger, "--channel", "WECHAT")
    ledger.wait_for(lambda: books.statuses(db) == {"PAID": 3}, "they are posted")
    assert [worker.stop() for worker in workers] == [DONE, DONE]
    assert books.count(db, "parked") == 0 and books.count(db, "outbox") == 3 and books.reviews(db) == []


def test_running_workers_all_see_the_pause_of_a_channel_and_its_resume(ledger, db):
    ledger.configure(NEVER)
    workers, _ = start(ledger, 2)
    pause(ledger, "--channel", "WECHAT")
    sent = []

    def parks(partition):
        sent.append(f"R{len(sent)}")
        books.register(db, sent[-1])
        ledger.publish(notification(f"T{sent[-1]}", sent[-1]), partition=partition)
        return db.value("SELECT COUNT(*) FROM parked p JOIN claim c ON c.id = p.claim_id WHERE p.reason = 'PAUSED'"
                        " AND c.source_partition = %s", partition)
    for partition in (0, 3):  # one of each worker's
        ledger.wait_for(lambda: parks(partition), "it is parked")
    ledger.wait_for_lag(0)
    resume(ledger, "--channel", "WECHAT")
    ledger.wait_for(lambda: books.statuses(db) == {"PAID": len(sent)}, "all are posted")
    assert [worker.stop() for worker in workers] == [DONE, DONE] and books.count(db, "parked") == 0


def test_a_label_that_no_profile_makes_is_told(ledger, db):
    ledger.run("migrate")
    for command in (pause, resume):
        assert "no profile" not in command(ledger, "--channel", "WECHAT").stderr
        told = command(ledger, "--channel", "WECHT")
        assert "makes WECHT" in told.stderr and told.stdout.startswith("WECHT ")


def test_the_resume_of_one_channel_leaves_what_another_parked(ledger, db):
    ledger.configure(NEVER)
    pause(ledger, "--channel", "WECHAT")
    pause(ledger, "--channel", "ALIPAY")
    books.register(db, "R1", "R2")
    ledger.publish(notification("T1", "R1"), notification("T2", "R2"), partition=0)
    assert ledger.drain() == [DONE]
    before = db.rows("SELECT * FROM parked")
    assert len(before) == 2
    resume(ledger, "--channel", "ALIPAY")
    assert db.rows("SELECT * FROM parked") == before
    resume(ledger, "--channel", "WECHAT")
    worker = ledger.start()
    ledger.wait_for(lambda: books.statuses(db) == {"PAID": 2}, "they are posted")
    assert worker.stop() == DONE and books.count(db, "parked") == 0


def test_giving_up_begins_at_the_resume_for_what_its_order_is_still_missing(ledger, db):
    ledger.configure({"park": {"delays": ["100ms"], "give_up_after": "2s"}})
    pause(ledger, "--channel", "WECHAT")
    ledger.publish(notification("T1", "R1"))
    (worker,), _ = start(ledger)
    ledger.wait_for(lambda: books.parked(db), "it is parked")
    db.execute("UPDATE parked SET waits_since = waits_since - INTERVAL 1 DAY, first_parked_at = first_parked_at"
               " - INTERVAL 1 DAY")
    resume(ledger, "--channel", "WECHAT")
    ledger.wait_for(lambda: [row.reason for row in books.parked(db)] == ["ORDER_UNKNOWN"], "it waits for its order")
    assert books.outcomes(db) == {}
    ledger.run("order", "register", "R1", "--amount", "10.00")
    ledger.wait_for(lambda: books.outcomes(db) == {books.key("T1"): POSTED_PAID}, "it is posted")
    assert worker.stop() == DONE and books.reviews(db) == []


@pytest.mark.both_databases
def test_a_pause_of_the_intake_does_not_count_for_giving_up(ledger, db):
    ledger.configure({"park": {"delays": ["100ms"], "give_up_after": "1h"}})
    ledger.publish(*[notification(f"T{n}", f"R{n}") for n in range(3)], partition=0)
    assert ledger.drain() == [DONE]
    pause(ledger)
    # Parked two hours ago, paused since one and a half hours: it has waited for half an hour so far.
    db.execute("UPDATE parked SET waits_since = waits_since - INTERVAL 2 HOUR, due_at = UTC_TIMESTAMP(6)")
    db.execute("UPDATE pause SET at = at - INTERVAL 90 MINUTE")
    resume(ledger)
    (worker,), _ = start(ledger)
    ledger.wait_for(lambda: min(row.tries for row in books.parked(db)) >= 2, "all are tried")
    assert books.outcomes(db) == {} and books.count(db, "parked") == 3
    # Half an hour later the time is over.
    db.execute("UPDATE parked SET waits_since = waits_since - INTERVAL 31 MINUTE")
    ledger.wait_for(lambda: books.count(db, "outcome") == 3, "they give up")
    assert worker.stop() == DONE and db.rows("SELECT DISTINCT verdict FROM outcome") == [("SUSPENSE",)]


@pytest.mark.both_databases
def test_what_a_resume_left_when_it_was_killed_is_due_all_the_same(ledger, db):
    """Its pause is over in a commit of its own; nobody has to run it again."""
    ledger.configure({"park": {"delays": ["200ms"], "give_up_after": "1h"}})
    pause(ledger, "--channel", "WECHAT")
    books.register(db, "R1", "R2")
    (worker,), _ = start(ledger)
    ledger.publish(notification("T1", "R1"), notification("T2", "R2"), partition=0)
    ledger.wait_for(lambda: books.count(db, "parked") == 2, "they are parked")
    db.execute("UPDATE parked SET waits_since = waits_since - INTERVAL 2 HOUR")
    killed = ledger.run("resume", "--channel", "WECHAT", "--why", "moved", check=False,
                        failpoints="resume.committed=kill@1")
    assert killed.returncode == -9 and books.count(db, "pause") == 0
    ledger.wait_for(lambda: books.statuses(db) == {"PAID": 2}, "they are posted", 10)
    assert worker.stop() == DONE and books.count(db, "parked") == 0 and books.reviews(db) == []


def test_a_resume_makes_more_than_one_chunk_due(ledger, db):
    ledger.configure(NEVER)
    pause(ledger, "--channel", "WECHAT")
    ledger.publish(notification("T1", "R1"))
    assert ledger.drain() == [DONE]
    columns = "tenant_id, order_no, channel, reason, due_at, first_parked_at, waits_since, tries, notification, raw"
    digits = "(SELECT 0 AS n" + "".join(f" UNION ALL SELECT {n}" for n in range(1, 10)) + ")"
    db.execute(f"INSERT INTO parked (claim_id, {columns}) SELECT 1000000 + a.n + 10 * b.n + 100 * c.n + 1000 * d.n,"
               f" {columns} FROM parked, {digits} a, {digits} b, {digits} c, {digits} d WHERE d.n < 3")
    db.execute("UPDATE parked SET reason = 'ORDER_UNKNOWN' WHERE claim_id % 7 = 0")
    waiting = db.value("SELECT COUNT(*) FROM parked WHERE reason = 'PAUSED'")
    assert waiting > 2000
    resume(ledger, "--channel", "WECHAT")
    assert db.rows("SELECT reason, COUNT(*) FROM parked GROUP BY reason ORDER BY reason") == [
        ("ORDER_UNKNOWN", 3001 - waiting), ("RESUMED", waiting)]
    db.execute("DELETE FROM parked")  # claims that never were


def test_a_settled_key_of_a_paused_channel_is_a_duplicate_and_another_amount_a_conflict(ledger, db):
    ledger.configure(NEVER)
    books.register(db, "R1")
    ledger.publish(notification("T1", "R1"))
    assert ledger.drain() == [DONE]
    pause(ledger, "--channel", "WECHAT")
    ledger.publish(notification("T1", "R1"), notification("T1", "R1", amount_minor=1), partition=0)
    assert ledger.drain() == [DONE]
    assert "verdict=DUPLICATE" in ledger.workers[-1].log_text() and "verdict=CONFLICT" in ledger.workers[-1].log_text()
    assert books.count(db, "parked") == 0 and len(books.reviews(db)) == 1


def test_pause_and_resume_are_audited_and_twice_is_once(ledger, db):
    pause(ledger)
    first = db.rows("SELECT channel, who, why FROM pause")
    pause(ledger, why="again")
    assert db.rows("SELECT channel, who, why FROM pause") == first == [("", "li", "database move")]
    pause(ledger, "--channel", "WECHAT", why="数额有误")
    resume(ledger)
    assert db.rows("SELECT channel, who, why FROM pause") == [("WECHAT", "li", "数额有误")]
    resume(ledger, "--channel", "WECHAT")
    assert books.audit(db, "pause") == [("li", "intake", "database move"), ("li", "intake", "again"),
                                        ("li", "WECHAT", "数额有误")]
    assert books.audit(db, "resume") == [("wang", "intake", "moved"), ("wang", "WECHAT", "moved")]
    assert books.count(db, "pause") == 0


WRONG = [
    [], ["--why", ""], ["--channel", "WECHAT"], ["--channel", "", "--why", "x"], ["--channel", "wechat", "--why", "x"],
    ["--channel", "A" * 40, "--why", "x"], ["WECHAT", "--why", "x"], ["--why", "x", "--colour", "red"],
]


def test_wrong_use_is_told_and_changes_nothing(ledger, db):
    for command in ("pause", "resume"):
        for arguments in WRONG:
            done = ledger.run(command, *arguments, check=False)
            assert (done.returncode, done.stdout) == (USAGE, ""), (command, arguments)
            assert command in done.stderr
    assert books.count(db, "pause") == 0 and books.count(db, "audit") == 0
