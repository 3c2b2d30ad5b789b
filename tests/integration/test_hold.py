"""postonce hold: records that hold their partition are shown, tried again and skipped, audited."""
import json

import books
from support.worker import notification


def held(ledger, db):
    """A worker whose partition 0 is held by a payment of an unknown order, with a payment of R2 behind it."""
    ledger.configure({"strict": {"hand_over": False}})
    books.register(db, "R1", "R2")
    ledger.publish(notification("T1", "R1"), notification("T9", "R9"), notification("T2", "R2"), partition=0)
    worker = ledger.start()
    ledger.wait_for(lambda: db.value("SELECT COUNT(*) FROM hold") == 1, "the hold is noted")
    return worker


def holds(ledger):
    return json.loads(ledger.run("hold", "list", "-o", "json").stdout)["holds"]


def test_a_hold_that_lasts_is_listed_with_its_place_and_reason(ledger, db):
    held(ledger, db)
    [row] = holds(ledger)
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


def test_what_is_not_held_cannot_be_decided(ledger, db):
    done = ledger.run("hold", "skip", ledger.topic, "0", "1", "--why", "x", check=False)
    assert done.returncode == 1 and "not held" in done.stderr
    assert ledger.run("hold", "skip", ledger.topic, "zero", "1", "--why", "x", check=False).returncode == 64
    assert ledger.run("hold", "release", ledger.topic, "0", "1", check=False).returncode == 64
    assert db.value("SELECT COUNT(*) FROM audit") == 0
