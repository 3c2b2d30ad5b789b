"""postonce hold: records that hold their partition are shown, tried again and skipped, audited."""
import json

import books
import pytest
from pages import Pages
from support.worker import notification


def held(ledger, db, **options):
    """A worker whose partition 0 is held by a payment of an unknown order, with a payment of R2 behind it."""
    ledger.configure({"strict": {"hand_over": False}})
    books.register(db, "R1", "R2")
    ledger.publish(notification("T1", "R1"), notification("T9", "R9"), notification("T2", "R2"), partition=0)
    worker = ledger.start(**options)
    ledger.wait_for(lambda: db.value("SELECT COUNT(*) FROM hold") == 1, "the hold is noted")
    return worker


def holds(ledger):
    return json.loads(ledger.run("hold", "list", "-o", "json").stdout)["holds"]


def test_a_hold_that_lasts_is_listed_with_its_place_and_reason(ledger, db):
    held(ledger, db)
    [row] = holds(ledger)
    assert row["group"] == ledger.group
    assert (row["topic"], row["partition"], row["offset"], row["reason"]) == (ledger.topic, 0, 1, "PARKED")
    assert row["tries"] >= 3


def test_a_skipped_record_passes_as_discarded_and_is_never_posted(ledger, db):
    held(ledger, db)
    ledger.run("hold", "skip", ledger.topic, "0", "1", "--why", "booked by hand")
    ledger.wait_for_lag(0)
    assert db.value("SELECT o.verdict FROM outcome o JOIN claim c ON c.id = o.claim_id WHERE c.idem_key LIKE %s",
                    "WECHAT:T9:%") == "DISCARDED"
    assert db.value("SELECT COUNT(*) FROM outcome WHERE verdict = 'POSTED'") == 2
    ledger.wait_for(lambda: db.value("SELECT COUNT(*) FROM hold") == 0, "the hold is gone")
    assert db.rows("SELECT verb, what, why FROM audit") == [("hold skip", f"{ledger.topic}/0/1", "booked by hand")]
    ledger.publish(notification("T9", "R9"), partition=0)
    ledger.wait_for_lag(0)
    assert db.value("SELECT COUNT(*) FROM outcome") == 3


def test_a_released_record_is_tried_at_once_and_posted_when_its_cause_is_gone(ledger, db):
    """The order was not registered; somebody makes up for it and does not want to wait."""
    ledger.configure({"retry": {"first": "50ms", "most": "10m"}, "strict": {"hand_over": False}})
    ledger.publish(notification("T1", "R1"), partition=0)
    worker = ledger.start()
    ledger.wait_for(lambda: db.value("SELECT COUNT(*) FROM hold WHERE reason = 'PARKED'") == 1, "the hold is noted")
    books.register(db, "R1")
    ledger.run("hold", "release", ledger.topic, "0", "0", "--why", "order registered")
    ledger.wait_for(lambda: books.statuses(db) == {"PAID": 1}, "it is tried again")
    ledger.wait_for_lag(0)
    assert worker.stop() == 0


def lasts(ledger, db):
    """The subject of partition 0's hold at offset 1, once it has lasted for a while."""
    db.execute("UPDATE hold SET since = since - INTERVAL 2 MINUTE")
    ledger.wait_for(lambda: books.subjects(db), "it waits for a person")
    return f"hold {ledger.group} {ledger.topic}/0@1"


@pytest.mark.both_databases
def test_a_hold_that_lasts_waits_for_a_person_once_and_no_more_when_it_is_skipped(ledger, db):
    pages = Pages()
    held(ledger, db, changes=pages.options)
    assert books.subjects(db) == []
    subject = lasts(ledger, db)
    tries = db.value("SELECT tries FROM hold")
    ledger.wait_for(lambda: db.value("SELECT tries FROM hold") > tries + 1, "it is tried on")
    assert books.subjects(db) == [(subject, "PARTITION_HELD", "OPEN", 1)]
    ledger.wait_for(lambda: pages.figure("postonce_reviews_open") == 1, "it is counted", 40)
    ledger.run("hold", "skip", ledger.topic, "0", "1", "--why", "booked by hand")
    ledger.wait_for(lambda: db.value("SELECT COUNT(*) FROM hold") == 0, "the hold is gone")
    assert books.subjects(db) == [(subject, "PARTITION_HELD", "CLOSED", 1)]
    assert len(books.audit(db, "hold skip")) == 1


def test_a_hold_that_ends_by_itself_waits_for_nobody(ledger, db):
    held(ledger, db)
    subject = lasts(ledger, db)
    books.register(db, "R9")
    ledger.wait_for_lag(0)
    ledger.wait_for(lambda: books.subjects(db) == [(subject, "PARTITION_HELD", "CLOSED", 1)], "it is closed")


@pytest.mark.both_databases
def test_a_decision_is_found_behind_any_number_of_other_workers_holds_and_only_of_its_group(ledger, db):
    held(ledger, db)
    columns = "(consumer_group, topic, partition_no, held_offset, reason, tries, since, last_at, decision)"
    for group, topic in ((ledger.group, "a"), ("other", ledger.topic)):
        db.execute(f"INSERT INTO hold {columns} VALUES " + ", ".join(
            f"('{group}', '{topic}', {n}, 1, 'PARKED', 3, UTC_TIMESTAMP(6) - INTERVAL 1 DAY, UTC_TIMESTAMP(6), 'SKIP')"
            for n in range(150)))
    ledger.run("hold", "skip", ledger.topic, "0", "1", "--why", "booked by hand")
    ledger.wait_for_lag(0)
    ledger.wait_for(lambda: db.value("SELECT COUNT(*) FROM hold") == 300, "only its own is gone")
    assert db.value("SELECT COUNT(*) FROM outcome WHERE verdict = 'DISCARDED'") == 1


def test_another_groups_decision_skips_nothing_here(ledger, db):
    held(ledger, db)
    db.execute("INSERT INTO hold (consumer_group, topic, partition_no, held_offset, reason, tries, since, last_at,"
               " decision) SELECT 'other', topic, partition_no, held_offset, reason, tries, since, last_at, 'SKIP'"
               " FROM hold")
    tries = db.value("SELECT MAX(tries) FROM hold")
    ledger.wait_for(lambda: db.value("SELECT MAX(tries) FROM hold") > tries + 2, "it is tried on")
    assert db.value("SELECT COUNT(*) FROM outcome WHERE verdict = 'DISCARDED'") == 0


def test_a_conflict_behind_a_hold_is_alarmed_once_however_often_it_comes_again(ledger, db):
    ledger.configure({"strict": {"hand_over": False}})
    books.register(db, "R1")
    ledger.publish(notification("T1", "R1"), notification("T9", "R9"), notification("T1", "R1", amount_minor=1),
                   partition=0)
    worker = ledger.start()
    ledger.wait_for(lambda: db.value("SELECT COALESCE(MAX(seen), 0) FROM review") >= 3, "it comes again and again")
    assert worker.log_text().count("alarm=PAYLOAD_CONFLICT") == 1
    assert [review.reason for review in books.reviews(db)] == ["PAYLOAD_CONFLICT"]
    ledger.publish(notification("T1", "R1", amount_minor=2), partition=0)
    ledger.wait_for(lambda: worker.log_text().count("alarm=PAYLOAD_CONFLICT") == 2, "another content is news")


def test_what_is_not_held_cannot_be_decided(ledger, db):
    done = ledger.run("hold", "skip", ledger.topic, "0", "1", "--why", "x", check=False)
    assert done.returncode == 1 and "not held" in done.stderr
    assert ledger.run("hold", "skip", ledger.topic, "zero", "1", "--why", "x", check=False).returncode == 64
    assert ledger.run("hold", "release", ledger.topic, "0", "1", check=False).returncode == 64
    assert db.value("SELECT COUNT(*) FROM audit") == 0
