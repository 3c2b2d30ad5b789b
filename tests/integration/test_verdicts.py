"""What becomes of a notification: each verdict, what is written for it, and whether the offset passes."""
import copy
import json
import time

import books
import pytest
from support.config import ROOT
from support.worker import notification

SQB_PAID = ROOT / "tests/data/channel/sqb-paid.json"
POSTED_PAID = ("POSTED", '{"posted":"PAID"}')
SKIPPED_SHIPPED = ("SKIPPED", '{"skipped":"SHIPPED"}')
CLEARING, PAYABLE = "channel:WECHAT:clearing", "merchant:1:payable"
LONGEST_KEY = 191

DONE, AT_HOLD = [0], [75]


def log_of(ledger):
    return "\n".join(worker.log_text() for worker in ledger.workers)


def lag(ledger):
    return ledger.kafka.lag(ledger.group, ledger.topic)


@pytest.mark.both_databases
def test_a_payment_is_posted_with_its_entries_order_outbox_and_balance(ledger, db):
    books.register(db, "R1")
    (partition, offset), = ledger.publish(notification("T1", "R1"))
    assert ledger.drain() == DONE
    claim = books.claim(db, books.key("T1"))
    assert (claim.order_no, claim.amount, claim.deliveries) == ("R1", 1000, 1)
    assert (claim.topic, claim.partition, claim.offset) == (ledger.topic, partition, offset)
    assert books.outcomes(db) == {books.key("T1"): POSTED_PAID}
    assert books.entries(db, books.key("T1")) == [(CLEARING, 1000, "CNY"), (PAYABLE, -1000, "CNY")]
    assert books.balances(db) == {CLEARING: 1000, PAYABLE: -1000}
    assert books.order(db, "R1") == ("PAID", "WECHAT", "T1", 1000)
    assert books.outbox(db) == [("ORDER_PAID", "R1")]
    payload = json.loads(db.value("SELECT payload FROM outbox"))
    assert payload["claim_id"] == claim.id and payload["key"] == books.key("T1")
    assert (payload["amount_minor"], payload["currency"], payload["status"]) == (1000, "CNY", "PAID")
    assert db.value("SELECT COUNT(*) FROM payment_order WHERE moved_at >= created_at") == 1
    assert lag(ledger) == 0 and ledger.dead_letters() == []


@pytest.mark.both_databases
def test_a_re_push_is_a_duplicate_however_its_envelope_is_written(ledger, db):
    books.register(db, "R1")
    first = notification("T1", "R1")
    ledger.publish(first)
    assert ledger.drain() == DONE
    before = db.rows("SELECT * FROM outcome"), db.rows("SELECT * FROM entry"), books.balances(db)
    turned = json.dumps(dict(reversed(first.items())), indent=3).encode()
    later = {**first, "occurred_at": "2026-11-11T12:00:07+08:00"}
    ledger.publish(first, turned, later)
    assert ledger.drain() == DONE
    assert (db.rows("SELECT * FROM outcome"), db.rows("SELECT * FROM entry"), books.balances(db)) == before
    assert books.claim(db, books.key("T1")).deliveries == 4
    assert books.outbox(db) == [("ORDER_PAID", "R1")] and books.reviews(db) == []
    assert log_of(ledger).count('verdict=DUPLICATE result={"posted":"PAID"}') == 3
    assert lag(ledger) == 0


@pytest.mark.both_databases
def test_a_changed_amount_under_a_settled_key_is_kept_for_review_and_not_posted(ledger, db):
    books.register(db, "R1")
    first = notification("T1", "R1")
    ledger.publish(first)
    assert ledger.drain() == DONE
    first_hash = books.claim(db, books.key("T1")).payload_hash
    second = json.dumps({**first, "amount_minor": 999}, indent=1).encode() + b"\t\n"
    ledger.publish(second)
    assert ledger.drain() == DONE
    review, = books.reviews(db)
    assert (review.reason, review.state, review.amount) == ("PAYLOAD_CONFLICT", "OPEN", 999)
    assert review.claim_id == books.claim(db, books.key("T1")).id
    assert review.first_fingerprint == first_hash and review.fingerprint != first_hash
    assert review.body == second
    assert books.balances(db) == {CLEARING: 1000, PAYABLE: -1000}
    assert books.claim(db, books.key("T1")).payload_hash == first_hash
    alarms = [line for line in log_of(ledger).splitlines() if "alarm=PAYLOAD_CONFLICT" in line]
    assert len(alarms) == 1 and f"key={books.key('T1')}" in alarms[0] and "level=error" in alarms[0]
    assert "999" not in alarms[0]
    assert lag(ledger) == 0 and ledger.dead_letters() == []


def test_a_changed_amount_under_an_unsettled_key_is_never_posted(ledger, db):
    """The order is unknown, so the first notification waits; the second must not become its outcome."""
    first = notification("T1", "R1")
    ledger.publish(first, partition=0)
    assert ledger.drain() == DONE
    ledger.publish({**first, "amount_minor": 999}, partition=1)
    books.register(db, "R1", amount=999)
    assert ledger.drain() == DONE
    assert [review.amount for review in books.reviews(db)] == [999]
    assert books.outcomes(db) == {} and books.count(db, "entry") == 0
    assert ledger.kafka.committed(ledger.group, ledger.topic)[1] == 1


@pytest.mark.both_databases
def test_the_same_conflicting_content_again_adds_no_second_review(ledger, db):
    books.register(db, "R1")
    first = notification("T1", "R1")
    ledger.publish(first)
    assert ledger.drain() == DONE
    changed = {**first, "amount_minor": 999}
    ledger.publish(changed)
    assert ledger.drain() == DONE
    ledger.publish(changed, dict(reversed(changed.items())), {**first, "amount_minor": 998})
    assert ledger.drain() == DONE
    assert [review.amount for review in books.reviews(db)] == [999, 998]
    assert books.count(db, "outcome") == 1 and lag(ledger) == 0


@pytest.mark.both_databases
def test_a_payment_of_an_order_shipped_with_this_very_txn_is_skipped_without_review(ledger, db):
    books.register(db, "R1", status="SHIPPED", paid=("WECHAT", "T1", 1000))
    ledger.publish(notification("T1", "R1"))
    assert ledger.drain() == DONE
    assert books.outcomes(db) == {books.key("T1"): SKIPPED_SHIPPED}
    assert books.reviews(db) == [] and books.count(db, "entry") == 0 and books.count(db, "outbox") == 0
    assert books.order(db, "R1") == ("SHIPPED", "WECHAT", "T1", 1000)
    assert lag(ledger) == 0


@pytest.mark.both_databases
def test_a_payment_of_an_order_shipped_without_one_is_skipped_recorded_and_reviewed(ledger, db):
    books.register(db, "R1", status="SHIPPED")
    ledger.publish(notification("T1", "R1"))
    assert ledger.drain() == DONE
    assert books.outcomes(db) == {books.key("T1"): SKIPPED_SHIPPED}
    review, = books.reviews(db)
    assert (review.reason, review.state) == ("NO_POSTING_RECORDED", "OPEN")
    assert review.claim_id == books.claim(db, books.key("T1")).id
    assert books.order(db, "R1") == ("SHIPPED", "WECHAT", "T1", 1000)
    assert books.count(db, "entry") == 0 and lag(ledger) == 0


def test_an_order_that_ships_after_its_payment_stays_shipped(ledger, db):
    books.register(db, "R1")
    ledger.publish(notification("T1", "R1"))
    assert ledger.drain() == DONE
    ledger.run("order", "set", "R1", "SHIPPED", "--why", "parcel 4711")
    ledger.publish(notification("T1", "R1"))
    assert ledger.drain() == DONE
    assert books.order(db, "R1") == ("SHIPPED", "WECHAT", "T1", 1000)
    assert books.outcomes(db) == {books.key("T1"): POSTED_PAID} and books.reviews(db) == []


def test_an_event_posted_elsewhere_under_another_key_is_skipped(ledger, db):
    """A second channel event of the same movement: the order says which payment it has."""
    ledger.configure({"events": {"PAYMENT_CONFIRMED": copy.deepcopy(ledger.config["events"]["PAYMENT_RECEIVED"])}})
    books.register(db, "R1")
    ledger.publish(notification("T1", "R1"), notification("T1", "R1", event="PAYMENT_CONFIRMED"), partition=0)
    assert ledger.drain() == DONE
    assert books.outcomes(db) == {books.key("T1"): POSTED_PAID,
                                  books.key("T1", "PAYMENT_CONFIRMED"): ("SKIPPED", '{"skipped":"PAID"}')}
    assert books.count(db, "entry") == 2 and books.count(db, "outbox") == 1


@pytest.mark.parametrize("value,headers,reason", [
    (b"\xff\xfe{", [], "MALFORMED_JSON"),
    (b'{"channel":"WECHAT","txn":', [("h", b"1"), ("h", b"2"), ("empty", b"")], "TRUNCATED_JSON"),
    (None, [("h", b"1")], "NULL_VALUE"),
    (b"", [], "EMPTY_VALUE"),
    (json.dumps(notification("T1", "R1", channel="NOBODY")).encode(), [], "UNKNOWN_CHANNEL"),
    (json.dumps(notification("T1", "R1")).encode(), [("channel", b"NOBODY")], "UNKNOWN_CHANNEL"),
    (json.dumps(notification("T1", "R1", event="COUPON_USED")).encode(), [], "NO_EVENT_RULE"),
    (json.dumps(notification("T1", "R1", amount_minor=10.5)).encode(), [], "AMOUNT_NOT_EXACT"),
    (b'{"order_status":"REFUND_ERROR"}', [("channel", b"SQB")], "NO_RULE"),
], ids=["garbage", "cut", "null", "empty", "channel_of_envelope", "channel_of_header", "event", "amount", "rule"])
def test_what_cannot_be_read_is_in_the_dead_letters_unchanged_with_its_reason(ledger, db, value, headers, reason):
    then = (int(time.time()) - 3600) * 1000 + 123  # well within the topics' retention, which goes by it
    (partition, offset), = ledger.publish(value, key=b"k\x00ey", headers=headers, partition=2,
                                          timestamp=then)
    assert ledger.drain() == DONE
    letter, = ledger.dead_letters()
    assert (letter.key, letter.value, letter.timestamp) == (b"k\x00ey", value, then)
    ours = {name: text for name, text in letter.headers if name.startswith("postonce.")}
    assert [header for header in letter.headers if not header[0].startswith("postonce.")] == headers
    assert ours["postonce.reason"] == reason.encode() and ours["postonce.text"]
    assert ours["postonce.topic"] == ledger.topic.encode() and ours["postonce.partition"] == b"2"
    assert ours["postonce.offset"] == b"%d" % offset and ours["postonce.timestamp"] == b"%d" % then
    assert ours["postonce.attempts"] == b"1" and ours["postonce.version"]
    assert books.letters(db) == [(reason, partition, offset, 1)]
    assert ours["postonce.letter_id"].decode() == db.value("SELECT letter_id FROM dead_letter")
    assert books.count(db, "claim") == 0 and lag(ledger) == 0


def test_a_record_without_key_keeps_none_in_the_dead_letters(ledger):
    ledger.publish(b"garbage")
    assert ledger.drain() == DONE
    assert [letter.key for letter in ledger.dead_letters()] == [None]


def test_garbage_among_good_ones_does_not_stop_them(ledger, db):
    books.register(db, *(f"R{n}" for n in range(20)))
    ledger.publish(*[notification(f"T{n}", f"R{n}") if n != 7 else b"garbage" for n in range(20)], partition=0)
    assert ledger.drain() == DONE
    assert books.count(db, "outcome") == 19 and len(ledger.dead_letters()) == 1
    assert lag(ledger) == 0


def test_a_letter_that_came_back_gets_no_second_set_of_headers(ledger, db):
    """As a replayed letter does: its own postonce.* headers are replaced, its first origin kept."""
    ledger.publish(b"garbage", headers=[("h", b"1")], partition=1)
    assert ledger.drain() == DONE
    first, = ledger.dead_letters()
    ledger.publish(first.value, headers=first.headers, partition=3)
    assert ledger.drain() == DONE
    _, second = ledger.dead_letters()
    names = [name for name, _ in second.headers]
    assert len(names) == len(set(names))
    assert dict(second.headers)["postonce.partition"] == b"1"
    assert dict(second.headers)["postonce.letter_id"] != dict(first.headers)["postonce.letter_id"]
    assert books.count(db, "dead_letter") == 2


def test_without_dead_letter_topic_the_record_is_held_and_other_partitions_flow(ledger, db):
    ledger.configure({"dead_letter": None})
    books.register(db, "R1", "R2")
    ledger.publish(notification("T1", "R1"), b"garbage", notification("T2", "R2"), partition=0)
    ledger.publish(notification("T1", "R1"), partition=1)
    assert ledger.drain() == AT_HOLD
    committed = ledger.kafka.committed(ledger.group, ledger.topic)
    assert (committed[0], committed[1]) == (1, 1)
    assert "alarm=DEAD_LETTER_MISSING" in log_of(ledger)
    assert set(books.outcomes(db)) == {books.key("T1"), books.key("T2")}
    assert books.count(db, "dead_letter") == 0 and ledger.dead_letters() == []


def is_in_suspense(ledger, db, txn, status, why, amount=1000, currency="CNY"):
    """The money of txn, and nothing of it anywhere else; a person is asked."""
    found = books.key(txn)
    assert books.outcomes(db)[found] == ("SUSPENSE", '{"suspense":"%s"}' % status)
    assert books.entries(db, found) == [(CLEARING, amount, currency), ("suspense:WECHAT", -amount, currency)]
    review, = books.reviews(db)
    assert (review.reason, review.state, review.amount) == (why, "OPEN", amount)
    assert review.claim_id == books.claim(db, found).id
    assert lag(ledger) == 0 and ledger.dead_letters() == []


@pytest.mark.both_databases
def test_a_second_payment_of_a_paid_order_stands_in_suspense_for_a_person(ledger, db):
    books.register(db, "R1")
    ledger.publish(notification("T1", "R1"), notification("T2", "R1"), partition=0)
    assert ledger.drain() == DONE
    assert books.outcomes(db)[books.key("T1")] == POSTED_PAID
    assert books.order(db, "R1") == ("PAID", "WECHAT", "T1", 1000)
    assert books.outbox(db) == [("ORDER_PAID", "R1")]
    is_in_suspense(ledger, db, "T2", "PAID", "SECOND_PAYMENT")
    ledger.publish(notification("T2", "R1"), partition=1)
    assert ledger.drain() == DONE
    is_in_suspense(ledger, db, "T2", "PAID", "SECOND_PAYMENT")


@pytest.mark.parametrize("change", [{"amount_minor": 999}, {"amount_minor": 1001}, {"currency": "USD"}],
                         ids=["less", "more", "currency"])
def test_a_payment_of_another_amount_than_the_order_stands_in_suspense(ledger, db, change):
    books.register(db, "R1")
    ledger.publish({**notification("T1", "R1"), **change})
    assert ledger.drain() == DONE
    assert books.order(db, "R1") == ("PENDING_PAY", None, None, None)
    is_in_suspense(ledger, db, "T1", "PENDING_PAY", "AMOUNT_DIFFERS", change.get("amount_minor", 1000),
                   change.get("currency", "CNY"))
    ledger.publish(notification("T2", "R1"))
    assert ledger.drain() == DONE
    assert books.order(db, "R1") == ("PAID", "WECHAT", "T2", 1000)


def test_a_payment_of_a_closed_order_stands_in_suspense(ledger, db):
    books.register(db, "R1", status="CLOSED")
    ledger.publish(notification("T1", "R1"))
    assert ledger.drain() == DONE
    assert books.order(db, "R1") == ("CLOSED", None, None, None)
    is_in_suspense(ledger, db, "T1", "CLOSED", "STATE_REFUSED")


def test_a_real_callback_of_sqb_is_posted(ledger, db):
    books.register(db, "R8-20260114-000731", amount=12880)
    ledger.publish(SQB_PAID.read_bytes(), headers=[("channel", b"SQB")])
    assert ledger.drain() == DONE
    found = books.key("7895010041237719", channel="SQB")
    assert books.outcomes(db) == {found: POSTED_PAID}
    assert books.entries(db, found) == [("channel:SQB:clearing", 12880, "CNY"), (PAYABLE, -12880, "CNY")]
    assert books.order(db, "R8-20260114-000731") == ("PAID", "SQB", "7895010041237719", 12880)
    assert str(db.value("SELECT effective_at FROM outcome")) == "2026-01-14 04:41:07"


def test_a_topic_that_fixes_its_channel_needs_no_header(ledger, db):
    ledger.configure({"topics": {ledger.topic: {"channel": "SQB"}}})
    books.register(db, "R8-20260114-000731", amount=12880)
    ledger.publish(SQB_PAID.read_bytes())
    assert ledger.drain() == DONE
    assert books.outcomes(db) == {books.key("7895010041237719", channel="SQB"): POSTED_PAID}


def test_a_notification_that_the_profile_ignores_passes_without_a_claim(ledger, db):
    sample = ROOT / "tests/data/channel/sqb-in-prog.json"
    ledger.publish(sample.read_bytes(), headers=[("channel", b"SQB")])
    assert ledger.drain() == DONE
    assert books.count(db, "claim") == 0 and ledger.dead_letters() == [] and lag(ledger) == 0


@pytest.mark.both_databases
def test_a_key_twice_in_one_batch_is_posted_once_and_folded(ledger, db):
    books.register(db, "R1")
    ledger.publish(notification("T1", "R1"), notification("T1", "R1"), partition=0)
    assert ledger.drain() == DONE
    assert books.claim(db, books.key("T1")).deliveries == 2
    assert books.claim(db, books.key("T1")).offset == 0
    assert books.outcomes(db) == {books.key("T1"): POSTED_PAID} and books.count(db, "entry") == 2
    assert 'offset=1 key=WECHAT:T1:PAYMENT_RECEIVED verdict=DUPLICATE result={"posted":"PAID"}' in log_of(ledger)
    assert lag(ledger) == 0


@pytest.mark.both_databases
def test_a_key_twice_in_one_batch_with_two_contents_is_posted_once_and_reviewed(ledger, db):
    books.register(db, "R1")
    ledger.publish(notification("T1", "R1"), notification("T1", "R1", amount_minor=999), partition=0)
    assert ledger.drain() == DONE
    assert books.outcomes(db) == {books.key("T1"): POSTED_PAID}
    assert books.balances(db) == {CLEARING: 1000, PAYABLE: -1000}
    assert [(review.reason, review.amount) for review in books.reviews(db)] == [("PAYLOAD_CONFLICT", 999)]
    assert lag(ledger) == 0


def test_a_follower_in_the_batch_of_a_held_first_is_held_as_well(ledger, db):
    ledger.configure({"strict": {"hand_over": False}})
    ledger.publish(notification("T1", "R1"), notification("T1", "R1"), partition=0)
    assert ledger.drain() == AT_HOLD
    assert lag(ledger) == 2 and books.outcomes(db) == {}


@pytest.mark.both_databases
def test_a_rule_that_creates_orders_makes_the_unknown_one(ledger, db):
    ledger.configure({"events": {"PAYMENT_RECEIVED": {"order": {"create": "PENDING_PAY"}}}})
    books.register(db, "R2", amount=999)
    ledger.publish(notification("T1", "R1"), notification("T1", "R1"), notification("T2", "R2"), partition=0)
    assert ledger.drain() == DONE
    assert books.outcomes(db)[books.key("T1")] == POSTED_PAID
    assert books.outcomes(db)[books.key("T2")] == ("SUSPENSE", '{"suspense":"PENDING_PAY"}')
    assert books.order(db, "R1") == ("PAID", "WECHAT", "T1", 1000)
    assert books.order(db, "R2") == ("PENDING_PAY", None, None, None)  # it was there, so it counts
    assert db.value("SELECT amount FROM payment_order WHERE order_no = 'R2'") == 999


def test_a_rule_without_order_posts_only(ledger, db):
    ledger.configure({"events": {"FEE_CHARGED": {
        "post": [{"debit": "fees:{channel}", "credit": "channel:{channel}:clearing", "amount": "amount"}]}}})
    ledger.publish(notification("F1", "", event="FEE_CHARGED", amount_minor=6))
    assert ledger.drain() == DONE
    found = books.key("F1", "FEE_CHARGED")
    assert books.outcomes(db) == {found: ("POSTED", '{"posted":"FEE_CHARGED"}')}
    assert books.entries(db, found) == [("fees:WECHAT", 6, "CNY"), (CLEARING, -6, "CNY")]
    assert books.count(db, "payment_order") == 0 and books.count(db, "outbox") == 0


@pytest.mark.both_databases
def test_tenants_with_the_same_order_number_and_txn_are_apart(ledger, db):
    books.register(db, "R1", tenant=1)
    books.register(db, "R1", tenant=2, amount=500)
    ledger.publish(notification("T1", "R1"), notification("T1", "R1", tenant_id=2, amount_minor=500),
                   notification("T1", "R1", tenant_id=2, amount_minor=500), partition=0)
    assert ledger.drain() == DONE
    assert books.outcomes(db, 1) == books.outcomes(db, 2) == {books.key("T1"): POSTED_PAID}
    assert books.balances(db, 1) == {CLEARING: 1000, PAYABLE: -1000}
    assert books.balances(db, 2) == {CLEARING: 500, "merchant:2:payable": -500}
    assert books.order(db, "R1", 1).paid_amount == 1000 and books.order(db, "R1", 2).paid_amount == 500
    assert books.claim(db, books.key("T1"), 2).deliveries == 2


@pytest.mark.both_databases
def test_txns_that_differ_in_one_byte_are_different_claims(ledger, db):
    txns = ["A1", "a1", "A:1", "A%3A1", "A 1", "A_1", "Ä1", "A1.", "A/1"]
    books.register(db, *(f"R{n}" for n in range(len(txns))))
    ledger.publish(*[notification(txn, f"R{n}") for n, txn in enumerate(txns)], partition=0)
    assert ledger.drain() == DONE
    assert books.claims(db) == sorted(map(books.key, [
        "A1", "a1", "A%3A1", "A%253A1", "A%201", "A_1", "%C3%841", "A1.", "A%2F1"]))
    assert books.statuses(db) == {"PAID": len(txns)} and books.reviews(db) == []


@pytest.mark.both_databases
def test_order_numbers_that_differ_in_case_or_accent_are_different_orders(ledger, db):
    numbers = ["R1", "r1", "Ř1", "R１"]
    books.register(db, *numbers)
    ledger.publish(*[notification(f"T{n}", number) for n, number in enumerate(numbers)], partition=0)
    assert ledger.drain() == DONE
    assert [books.order(db, number).paid_txn for number in numbers] == ["T0", "T1", "T2", "T3"]


def test_a_key_of_the_longest_length_is_posted_and_one_byte_more_is_refused(ledger, db):
    longest = "T" * (LONGEST_KEY - len(books.key("")))
    books.register(db, "R1", "R2")
    ledger.publish(notification(longest, "R1"), notification(longest + "T", "R2"), partition=0)
    assert ledger.drain() == DONE
    assert books.outcomes(db) == {books.key(longest): POSTED_PAID}
    assert len(books.key(longest)) == LONGEST_KEY
    assert [letter.reason for letter in books.letters(db)] == ["KEY_TOO_LONG"]
    assert books.order(db, "R2").status == "PENDING_PAY" and lag(ledger) == 0


def test_no_payload_is_in_the_log(ledger, db):
    books.register(db, "R1")
    ledger.publish(notification("T1", "R1", body={"card": "6222020200112233"}),
                   notification("T1", "R1", amount_minor=77777), b'{"card":"6222020200112233', partition=0)
    assert ledger.drain(changes={"log": {"level": "debug"}}) == DONE
    text = log_of(ledger)
    assert "verdict=POSTED" in text and "verdict=CONFLICT" in text and "6222020200112233" not in text
    assert "77777" not in text and db.password not in text
