"""More dead letters a minute than were allowed are no bad records: intake stops, of all workers, until `resume`."""
import re

import books
import pytest
from pages import Pages
from support.wait import stays
from support.worker import notification

DONE, UNDRAINED = 0, 75
LIMIT = 10
GUARDED = {"dead_letter": {"max_per_minute": LIMIT, "attempts": 1}, "park": {"delays": ["100ms"]}}
PACKED = {"order": {"from": ["PAID"], "to": "PACKED", "wait": ["PENDING_PAY"]}}


def garbage(count, first=0):
    return [b"garbage %d" % n for n in range(first, first + count)]


def values(ledger):
    """The bodies of all letters, each as often as it is there."""
    return sorted(letter.value for letter in ledger.dead_letters())


def minute_passes(db):
    """For the guard's count: it looks back over one minute by the database's clock."""
    db.execute("UPDATE dead_letter SET created_at = created_at - INTERVAL 61 SECOND")


def flood(ledger, db):
    """A worker stopped by the guard; its process and pages."""
    pages = Pages()
    books.register(db, "R0", "R1")
    ledger.publish(notification("T0", "R0"), *garbage(LIMIT + 2), notification("T1", "R1"), partition=0)
    worker = ledger.start(changes=pages.options)
    ledger.wait_for(lambda: "alarm=DEAD_LETTER_FLOOD" in worker.log_text(), "the guard trips")
    ledger.wait_for(lambda: pages.figure("postonce_paused") == 1 and pages.is_red(), "it is told")
    return worker, pages


@pytest.mark.both_databases
def test_more_letters_than_allowed_stop_intake_until_resume(ledger, db):
    ledger.configure(GUARDED)
    worker, pages = flood(ledger, db)
    assert db.rows("SELECT channel, who, why FROM pause") == [("", "postonce", "too many dead letters a minute")]
    assert [who for who, what, _ in books.audit(db, "pause") if what == "intake"] == ["postonce"]
    assert "alarm=SYSTEMIC" in worker.log_text() and pages.get("/healthz")[0] == 200
    assert "postonce resume" in worker.log_text()
    # What was good in the batch is posted; letters went out up to the limit, and none more does by waiting.
    assert books.statuses(db) == {"PAID": 2}
    ledger.publish(*garbage(1, first=100), partition=1)
    minute_passes(db)
    stays(lambda: books.count(db, "dead_letter") == LIMIT, "no letter more is sent", 2)
    assert values(ledger) == sorted(garbage(LIMIT)) and books.count(db, "claim") == 2
    assert worker.log_text().count("alarm=DEAD_LETTER_FLOOD") == 1
    # It waits for a person, and no more once one has come.
    item, = books.subjects(db)
    assert item == ("pause *", "DEAD_LETTER_FLOOD", "OPEN", 1)
    assert worker.stop() == UNDRAINED
    ledger.run("resume", "--why", "seen")
    assert books.subjects(db)[0][2] == "CLOSED"


def test_after_a_resume_under_a_higher_limit_the_rest_goes_out_each_once(ledger, db):
    ledger.configure(GUARDED)
    worker, _ = flood(ledger, db)
    sent = books.count(db, "dead_letter")
    assert worker.stop() == UNDRAINED
    ledger.configure({"dead_letter": {"max_per_minute": 100}})
    pages = Pages()
    worker = ledger.start(changes=pages.options)
    ledger.wait_for(lambda: pages.figure("postonce_paused") == 1, "the pause survives a restart")
    assert books.count(db, "dead_letter") == sent
    ledger.run("resume", "--why", "they are really garbage")
    ledger.wait_for_lag(0)
    ledger.wait_for(pages.is_ready, "it is ready")
    assert worker.stop() == DONE
    assert values(ledger) == sorted(garbage(LIMIT + 2)) and books.count(db, "dead_letter") == LIMIT + 2
    assert books.statuses(db) == {"PAID": 2}


def test_a_resume_after_the_cause_is_mended_posts_what_would_have_been_letters(ledger, db):
    ledger.configure(GUARDED)
    pages = Pages()
    numbers = [f"R{n}" for n in range(LIMIT + 5)]
    books.register(db, *numbers)
    db.execute("ALTER TABLE payment_order ADD CONSTRAINT culprit CHECK (order_no = 'R0' OR status <> 'PAID')")
    ledger.publish(*[notification(f"T{n}", number) for n, number in enumerate(numbers)], partition=0)
    worker = ledger.start(changes=pages.options)
    ledger.wait_for(lambda: pages.figure("postonce_paused") == 1 and pages.is_red(), "the guard trips")
    assert books.count(db, "dead_letter") == LIMIT
    db.execute("ALTER TABLE payment_order DROP CONSTRAINT culprit")
    ledger.run("resume", "--why", "constraint dropped")
    ledger.wait_for_lag(0)
    ledger.wait_for(pages.is_ready, "the same worker is ready again")
    assert worker.stop() == DONE
    assert books.statuses(db) == {"PAID": len(numbers) - LIMIT, "PENDING_PAY": LIMIT}
    assert len(ledger.dead_letters()) == LIMIT


def test_a_resume_without_a_mend_lets_a_minutes_worth_pass_and_trips_again(ledger, db):
    """A batch may hold more than the limit: without progress no number of resumes would ever end it."""
    ledger.configure(GUARDED)
    pages = Pages()
    ledger.publish(*garbage(2 * LIMIT + 1), partition=0)
    worker = ledger.start(changes=pages.options)
    for turn in (1, 2):
        ledger.wait_for(lambda: worker.log_text().count("alarm=DEAD_LETTER_FLOOD") == turn, "it trips")
        ledger.wait_for(lambda: books.count(db, "dead_letter") == turn * LIMIT, "a minute's worth is sent")
        assert values(ledger) == sorted(garbage(turn * LIMIT))
        ledger.run("resume", "--why", "hope")
    ledger.wait_for_lag(0)
    ledger.wait_for(pages.is_ready, "it is ready")
    assert worker.stop() == DONE
    assert values(ledger) == sorted(garbage(2 * LIMIT + 1))
    assert [who for who, what, _ in books.audit(db, "pause")] == ["postonce"] * 2
    assert [row[2] for row in books.subjects(db)] == ["CLOSED"] * 2


def test_letters_up_to_the_limit_go_out_and_one_more_of_the_same_minute_does_not(ledger, db):
    ledger.configure(GUARDED)
    ledger.publish(*garbage(LIMIT), partition=0)
    pages = Pages()
    worker = ledger.start(changes=pages.options)
    ledger.wait_for_lag(0)
    ledger.wait_for(pages.is_ready, "it is ready")
    assert books.count(db, "dead_letter") == LIMIT
    ledger.publish(*garbage(1, first=LIMIT), partition=1)
    ledger.wait_for(lambda: pages.figure("postonce_paused") == 1, "the guard trips")
    assert values(ledger) == sorted(garbage(LIMIT))
    ledger.run("resume", "--why", "one by one")  # counts from here
    ledger.wait_for_lag(0)
    ledger.wait_for(pages.is_ready, "it is ready")
    assert worker.stop() == DONE
    assert values(ledger) == sorted(garbage(LIMIT + 1))


def test_letters_that_are_recorded_already_are_not_counted_again(ledger, db):
    """As after a crash between the letters' rows and the offset: they come again, and pass."""
    ledger.configure(GUARDED)
    ledger.publish(*garbage(LIMIT), partition=0)
    worker = ledger.start(failpoints="letter.recorded=kill@1")
    assert worker.wait() == -9
    assert books.count(db, "dead_letter") == LIMIT
    assert ledger.kafka.committed(ledger.group, ledger.topic)[0] in (None, 0)
    assert ledger.drain() == [DONE]
    assert ledger.kafka.lag(ledger.group, ledger.topic) == 0 and books.count(db, "pause") == 0
    assert values(ledger) == sorted(garbage(LIMIT))


def test_failures_that_are_tried_again_count_when_they_become_letters(ledger, db):
    ledger.configure({**GUARDED, "dead_letter": {"max_per_minute": LIMIT, "attempts": 2}})
    numbers = [f"R{n}" for n in range(LIMIT + 5)]
    books.register(db, *numbers)
    db.execute("ALTER TABLE payment_order ADD CONSTRAINT culprit CHECK (order_no = 'R0' OR status <> 'PAID')")
    ledger.publish(*[notification(f"T{n}", number) for n, number in enumerate(numbers)], partition=0)
    pages = Pages()
    worker = ledger.start(changes=pages.options)
    ledger.wait_for(lambda: pages.figure("postonce_paused") == 1, "the guard trips")
    assert books.count(db, "dead_letter") <= LIMIT
    assert db.value("SELECT MAX(attempts) FROM failure") >= 2
    assert worker.stop() == UNDRAINED
    assert len(values(ledger)) == books.count(db, "dead_letter")


def test_several_workers_are_counted_together_and_all_stop(ledger, db):
    ledger.configure(GUARDED)
    pages = [Pages() for _ in range(3)]
    workers = [ledger.start(changes=page.options) for page in pages]
    ledger.wait_for(lambda: all(page.is_ready() for page in pages), "all have joined")
    count = 4 * LIMIT  # more than what each of them might send before it counts what the others did
    for partition in range(4):
        ledger.publish(*garbage(LIMIT, first=partition * LIMIT), partition=partition)
    ledger.wait_for(lambda: [page.figure("postonce_paused") for page in pages] == [1, 1, 1], "all are paused")
    # One of them tells.
    assert sum(worker.log_text().count("alarm=DEAD_LETTER_FLOOD") for worker in workers) == 1
    assert len(books.audit(db, "pause")) == 1
    sent = books.count(db, "dead_letter")
    assert sent <= 3 * LIMIT
    books.register(db, "R1")
    ledger.publish(*[notification("T1", "R1")])
    stays(lambda: books.count(db, "claim") == 0 and books.count(db, "dead_letter") == sent, "nobody works", 1.5)
    assert any("alarm=DEAD_LETTER_FLOOD" in worker.log_text() for worker in workers)

    def passes():
        if books.count(db, "pause"):
            minute_passes(db)
            ledger.run("resume", "--why", "go on")
        return ledger.kafka.lag(ledger.group, ledger.topic) == 0
    ledger.wait_for(passes, "each resume lets some pass", 60)
    assert [worker.stop() for worker in workers] == [DONE] * 3
    assert values(ledger) == sorted(garbage(count)) and books.statuses(db) == {"PAID": 1}


def test_parked_ones_that_give_up_are_paced_below_the_limit_by_all_workers_together(ledger, db):
    count = 3 * LIMIT
    ledger.configure({**GUARDED, "events": {"ORDER_PACKED": PACKED}})
    packed = [notification(f"P{n}", f"R{n}", event="ORDER_PACKED") for n in range(count)]
    for one in packed:
        del one["amount_minor"], one["currency"]
    ledger.publish(*packed)
    assert ledger.drain() == [DONE]
    assert books.count(db, "parked") == count
    db.execute("UPDATE parked SET waits_since = waits_since - INTERVAL 2 DAY, due_at = UTC_TIMESTAMP(6)")
    pages = [Pages() for _ in range(3)]
    workers = [ledger.start(changes=page.options) for page in pages]

    def due():
        db.execute("UPDATE parked SET due_at = UTC_TIMESTAMP(6)")
        return True
    ledger.wait_for(lambda: due() and books.count(db, "dead_letter") >= 3, "some give up")
    stays(lambda: due() and books.count(db, "dead_letter") < LIMIT and not books.count(db, "pause"), "below it", 2)
    minute_passes(db)
    before = books.count(db, "dead_letter")
    ledger.wait_for(lambda: due() and books.count(db, "dead_letter") > before, "more of them in the next minute")
    # They leave room for a record at fault.
    ledger.publish(b"garbage")
    ledger.wait_for(lambda: b"garbage" in values(ledger), "a letter of another kind goes out")
    assert [worker.stop() for worker in workers] == [DONE] * 3
    assert books.count(db, "pause") == 0 and books.count(db, "parked") == count + 1 - books.count(db, "dead_letter")
    assert {reason for reason, in db.rows("SELECT DISTINCT reason FROM dead_letter")} == {"PARK_GAVE_UP",
                                                                                         "MALFORMED_JSON"}


def test_money_that_gives_up_sends_no_letters_and_is_not_paced(ledger, db):
    count = 3 * LIMIT
    ledger.configure(GUARDED)
    ledger.publish(*[notification(f"T{n}", f"R{n}") for n in range(count)])
    assert ledger.drain() == [DONE]
    db.execute("UPDATE parked SET waits_since = waits_since - INTERVAL 2 DAY, due_at = UTC_TIMESTAMP(6)")
    worker = ledger.start()
    ledger.wait_for(lambda: books.count(db, "outcome") == count, "all give up")
    assert worker.stop() == DONE
    assert db.rows("SELECT DISTINCT verdict FROM outcome") == [("SUSPENSE",)] and books.count(db, "pause") == 0
    assert books.balances(db) == {"channel:WECHAT:clearing": 1000 * count, "suspense:WECHAT": -1000 * count}


def test_the_pages_tell_of_each_figure_once(ledger):
    pages = Pages()
    ledger.start(changes=pages.options)
    ledger.wait_for(lambda: pages.figure("postonce_paused") == 0, "the figure is there")
    told = re.findall(r"^# TYPE (\S+)", pages.get("/metrics")[1], re.MULTILINE)
    assert len(told) == len(set(told))
