"""Refunds: registered, posted once, never beyond what was paid, taken back where they fail."""
import concurrent.futures
import json

import books
import pytest
import yaml
from support.config import ROOT
from support.worker import notification

CLEARING, PAYABLE, SUSPENSE = "channel:WECHAT:clearing", "merchant:1:payable", "suspense:WECHAT"
SHIPPED = yaml.safe_load((ROOT / "deploy/postonce.yaml").read_text())
DONE = [0]


def whole_machine(ledger):
    """The events that postonce ships."""
    ledger.configure({"orders": SHIPPED["orders"], "events": SHIPPED["events"]})


def refund(txn, order="R1", event="REFUND_SUCCEEDED", amount=300, **more):
    return notification(txn, order, event=event, amount_minor=amount, **more)


def failure(txn, order="R1", event="REFUND_FAILED", **more):
    told = refund(txn, order, event, **more)
    return {name: value for name, value in told.items() if name not in ("amount_minor", "currency")}


def paid(ledger, db, *orders):
    whole_machine(ledger)
    books.register(db, *orders)
    ledger.publish(*[notification("T-" + order, order) for order in orders])
    assert ledger.drain() == DONE


def post(ledger, *notices):
    ledger.publish(*notices, partition=0)
    assert ledger.drain() == DONE


def register(ledger, number, amount="3.00", order="R1", check=True):
    return ledger.run("refund", "register", number, "--order", order, "--amount", amount, "-o", "json", check=check)


def row(db, number):
    """(status, amount, reserved, txn, origin) of a refund."""
    found = db.rows("SELECT status, amount, reserved, txn, origin FROM refund WHERE refund_no = %s", number)
    return found[0] if found else None


def sums(db, order="R1"):
    """(status, refunded, reserved) of an order."""
    return db.rows("SELECT status, refunded, refund_reserved FROM payment_order WHERE order_no = %s", order)[0]


def verdict(db, txn, event="REFUND_SUCCEEDED"):
    return books.outcomes(db)[books.key(txn, event)]


def reasons(db):
    return [review.reason for review in books.reviews(db)]


@pytest.mark.both_databases
def test_a_registered_refund_is_reserved_then_posted_and_its_order_follows(ledger, db):
    paid(ledger, db, "R1")
    [told] = json.loads(register(ledger, "RF-1").stdout)["refunds"]
    assert (told["status"], told["amount_minor"], told["reserved_minor"]) == ("REGISTERED", 300, 300)
    assert sums(db) == ("PAID", 0, 300)
    post(ledger, refund("F1", refund_no="RF-1", parent="T-R1"))
    assert verdict(db, "F1") == ("POSTED", '{"posted":"SUCCEEDED"}')
    assert row(db, "RF-1") == ("SUCCEEDED", 300, 0, "F1", "REGISTERED")
    assert sums(db) == ("PARTIALLY_REFUNDED", 300, 0)
    assert books.entries(db, books.key("F1", "REFUND_SUCCEEDED")) == [(PAYABLE, 300, "CNY"), (CLEARING, -300, "CNY")]
    register(ledger, "RF-2", "7.00")
    post(ledger, refund("F2", amount=700, refund_no="RF-2"), refund("F2", amount=700, refund_no="RF-2"))
    assert sums(db) == ("REFUNDED", 1000, 0)
    assert books.balances(db) == {CLEARING: 0, PAYABLE: 0} and reasons(db) == []
    assert [kind for kind, _ in books.outbox(db)] == ["ORDER_PAID", "ORDER_REFUNDED", "ORDER_REFUNDED"]
    shown = json.loads(ledger.run("order", "show", "R1", "-o", "json").stdout)["orders"][0]
    assert shown["refunds"] == "RF-1 SUCCEEDED 300, RF-2 SUCCEEDED 700"


def test_a_second_registration_gets_the_first_ones_row_and_another_is_refused(ledger, db):
    paid(ledger, db, "R1", "R2")
    register(ledger, "RF-1", "9.00")
    [told] = json.loads(register(ledger, "RF-1", "9.00").stdout)["refunds"]
    assert told["reserved_minor"] == 900 and sums(db) == ("PAID", 0, 900)
    for amount, order, why in (("8.00", "R1", "is registered for order R1"), ("9.00", "R2", "is registered for order R1")):
        refused = register(ledger, "RF-1", amount, order, check=False)
        assert refused.returncode != 0 and why in refused.stderr
    refused = register(ledger, "RF-2", "1.01", check=False)
    assert refused.returncode != 0 and "too much" in refused.stderr
    register(ledger, "RF-2", "1.00")
    assert sums(db) == ("PAID", 0, 1000) and sums(db, "R2") == ("PAID", 0, 0)
    assert "no order" in register(ledger, "RF-3", order="NONE", check=False).stderr
    assert ledger.run("refund", "register", "RF-3", check=False).returncode == 64


@pytest.mark.both_databases
def test_two_that_register_at_once_cannot_give_back_more_than_was_paid(ledger, db):
    paid(ledger, db, "R1")
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        done = list(pool.map(lambda n: register(ledger, f"RF-{n}", "4.00", check=False), range(6)))
    assert sorted(one.returncode for one in done).count(0) == 2
    assert sums(db) == ("PAID", 0, 800) and books.count(db, "refund") == 2


def test_a_refund_that_nobody_registered_is_posted_and_shown_to_a_person(ledger, db):
    paid(ledger, db, "R1")
    post(ledger, refund("F1"))
    assert verdict(db, "F1") == ("POSTED", '{"posted":"SUCCEEDED"}')
    assert row(db, "F1") == ("SUCCEEDED", 300, 0, "F1", "NOTICE")
    assert reasons(db) == ["REFUND_UNREGISTERED"]


def test_a_refund_beyond_what_was_paid_stands_in_suspense(ledger, db):
    paid(ledger, db, "R1")
    register(ledger, "RF-1", "8.00")
    post(ledger, refund("F1", amount=201))
    assert verdict(db, "F1") == ("SUSPENSE", '{"suspense":"PAID"}') and reasons(db) == ["REFUND_EXCEEDS"]
    assert books.entries(db, books.key("F1", "REFUND_SUCCEEDED")) == [(SUSPENSE, 201, "CNY"), (CLEARING, -201, "CNY")]
    assert row(db, "F1") is None and sums(db) == ("PAID", 0, 800)


def test_a_success_that_differs_from_its_registration_stands_in_suspense(ledger, db):
    paid(ledger, db, "R1", "R2")
    register(ledger, "RF-1")
    post(ledger, refund("F1", amount=301, refund_no="RF-1"), refund("F2", order="R2", refund_no="RF-1"))
    assert verdict(db, "F1")[0] == verdict(db, "F2")[0] == "SUSPENSE"
    assert reasons(db) == ["REFUND_DIFFERS"] * 2 and row(db, "RF-1")[0] == "REGISTERED"


@pytest.mark.both_databases
def test_a_refund_before_its_payment_waits_and_both_are_posted_at_once(ledger, db):
    """One of them names its order, the other only the payment."""
    whole_machine(ledger)
    ledger.configure({"park": {"delays": ["1h"]}})
    books.register(db, "R1")
    ledger.start()
    ledger.publish(refund("F1", parent="T1"), refund("F2", order="", parent="T1", amount=200), partition=0)
    ledger.wait_for(lambda: books.count(db, "parked") == 2, "both are parked")
    ledger.publish(notification("T1", "R1"), partition=0)
    ledger.wait_for(lambda: sums(db) == ("PARTIALLY_REFUNDED", 500, 0), "both are posted")
    ledger.wait_for(lambda: books.count(db, "parked") == 0, "nothing is parked")
    assert db.value("SELECT order_no FROM refund WHERE refund_no = 'F2'") == "R1"


def test_a_payment_and_its_refunds_in_one_batch_are_judged_one_after_the_other(ledger, db):
    whole_machine(ledger)
    books.register(db, "R1")
    post(ledger, notification("T1", "R1"), refund("Q1", event="REFUND_REQUESTED", refund_no="RF-1"),
         refund("F1", refund_no="RF-1"), refund("F2", amount=700), refund("F3", amount=1))
    assert sums(db) == ("REFUNDED", 1000, 0)
    assert verdict(db, "Q1", "REFUND_REQUESTED") == ("POSTED", '{"posted":"REGISTERED"}')
    assert row(db, "RF-1") == ("SUCCEEDED", 300, 0, "F1", "REGISTERED")
    assert reasons(db) == ["REFUND_UNREGISTERED", "REFUND_EXCEEDS"]


def test_a_failure_frees_what_is_reserved_and_a_later_success_still_posts(ledger, db):
    paid(ledger, db, "R1")
    register(ledger, "RF-1", "10.00")
    post(ledger, failure("F1", refund_no="RF-1"))
    assert row(db, "RF-1")[:3] == ("FAILED", 1000, 0) and sums(db) == ("PAID", 0, 0)
    post(ledger, refund("F1", amount=1000, refund_no="RF-1"))
    assert row(db, "RF-1")[:3] == ("SUCCEEDED", 1000, 0) and sums(db) == ("REFUNDED", 1000, 0)
    assert reasons(db) == []


@pytest.mark.both_databases
def test_a_failure_after_the_success_takes_its_posting_back_once(ledger, db):
    paid(ledger, db, "R1")
    register(ledger, "RF-1")
    post(ledger, refund("F1", refund_no="RF-1"), refund("F2", amount=200))
    assert sums(db) == ("PARTIALLY_REFUNDED", 500, 0)
    post(ledger, failure("F1", refund_no="RF-1"), failure("F1", refund_no="RF-1"))
    assert verdict(db, "F1", "REFUND_FAILED") == ("POSTED", '{"posted":"FAILED"}')
    assert books.entries(db, books.key("F1", "REFUND_FAILED")) == [(PAYABLE, -300, "CNY"), (CLEARING, 300, "CNY")]
    assert sums(db) == ("PARTIALLY_REFUNDED", 200, 0) and row(db, "RF-1")[:4] == ("FAILED", 300, 0, None)
    post(ledger, failure("F2"))
    assert sums(db) == ("PAID", 0, 0) and books.balances(db) == {CLEARING: 1000, PAYABLE: -1000}
    assert db.value("SELECT COUNT(*) FROM outcome WHERE reverses IS NOT NULL") == 2


def test_a_success_and_its_failure_in_one_batch_end_as_in_two(ledger, db):
    paid(ledger, db, "R1")
    ledger.publish(refund("F1"), failure("F1"), partition=0)
    ledger.start()
    ledger.wait_for(lambda: row(db, "F1") and row(db, "F1")[0] == "FAILED", "it is taken back")
    assert sums(db) == ("PAID", 0, 0) and books.balances(db) == {CLEARING: 1000, PAYABLE: -1000}


@pytest.mark.both_databases
def test_a_refund_that_comes_back_goes_out_of_suspense_where_its_success_stands(ledger, db):
    """Its payment was taken back before, so that no order had it; one of them is registered."""
    paid(ledger, db, "R1", "R2")
    register(ledger, "RF-2", order="R2")
    post(ledger, notification("T-R1", "R1", event="PAYMENT_REVERSED"))
    post(ledger, refund("F1"), refund("F2", "R2", amount=301, refund_no="RF-2"))
    assert verdict(db, "F1") == ("SUSPENSE", '{"suspense":"REVERSED"}') and verdict(db, "F2")[0] == "SUSPENSE"
    post(ledger, refund("F1", event="REFUND_REVERSED"), failure("F2", "R2", refund_no="RF-2"))
    assert verdict(db, "F1", "REFUND_REVERSED") == ("POSTED", '{"posted":"REFUND_REVERSED"}')
    assert verdict(db, "F2", "REFUND_FAILED") == ("POSTED", '{"posted":"FAILED"}')
    assert books.balances(db) == {CLEARING: 1000, PAYABLE: -1000, SUSPENSE: 0}
    assert row(db, "F1") is None and row(db, "RF-2")[:3] == ("FAILED", 300, 0)
    assert books.order(db, "R1")[0] == "REVERSED" and sums(db, "R2") == ("PAID", 0, 0)


@pytest.mark.parametrize("event", ["REFUND_FAILED", "REFUND_REVERSED"])
def test_a_success_in_suspense_and_what_takes_it_back_in_one_batch_end_as_in_two(ledger, db, event):
    paid(ledger, db, "R1")
    register(ledger, "RF-1", "8.00")
    ledger.publish(refund("F1", amount=201), failure("F1", event=event), partition=0)
    ledger.start()
    ledger.wait_for(lambda: books.balances(db).get(SUSPENSE) == 0, "it is taken from suspense")
    assert sums(db) == ("PAID", 0, 800) and books.balances(db)[CLEARING] == 1000
    ledger.wait_for(lambda: books.count(db, "parked") == 0, "nothing is parked")


@pytest.mark.parametrize("batches", [1, 2])
def test_a_success_after_its_failure_is_posted_in_one_batch_as_in_two(ledger, db, batches):
    """One of them registered. The claim of what stands behind in the batch is there already: it must not count."""
    paid(ledger, db, "R1", "R2")
    register(ledger, "RF-2", order="R2")
    told = [failure("F1"), failure("F2", "R2", refund_no="RF-2"), refund("F1"), refund("F2", "R2", refund_no="RF-2")]
    for batch in ([told] if batches == 1 else [told[:2], told[2:]]):
        post(ledger, *batch)
    assert sums(db) == sums(db, "R2") == ("PARTIALLY_REFUNDED", 300, 0)
    assert verdict(db, "F1", "REFUND_FAILED")[0] == "SKIPPED"
    assert sorted(reasons(db)) == ["REFUND_UNKNOWN", "REFUND_UNREGISTERED"]


def test_what_takes_back_a_success_waits_for_it_and_is_due_when_it_stands_in_suspense(ledger, db):
    paid(ledger, db, "R1")
    ledger.configure({"park": {"delays": ["1h"]}})
    register(ledger, "RF-1", "8.00")
    ledger.start()
    ledger.publish(refund("F1", amount=201, event="REFUND_REVERSED"), partition=0)
    ledger.wait_for(lambda: books.count(db, "parked") == 1, "it is parked")
    ledger.publish(refund("F1", amount=201), partition=0)
    ledger.wait_for(lambda: books.balances(db).get(SUSPENSE) == 0 and books.count(db, "parked") == 0, "both are posted")


@pytest.mark.both_databases
def test_a_payment_that_is_taken_back_is_reversed_once_and_the_order_may_be_paid_again(ledger, db):
    paid(ledger, db, "R1")
    post(ledger, notification("T-R1", "R1", event="PAYMENT_REVERSED"),
         notification("X9", "R1", event="PAYMENT_REVERSED", parent="T-R1"))
    assert verdict(db, "T-R1", "PAYMENT_REVERSED") == ("POSTED", '{"posted":"REVERSED"}')
    assert verdict(db, "X9", "PAYMENT_REVERSED") == ("SKIPPED", '{"skipped":"REVERSED"}')
    assert books.order(db, "R1") == ("REVERSED", None, None, None)
    assert books.balances(db) == {CLEARING: 0, PAYABLE: 0}
    post(ledger, notification("T2", "R1"))
    assert books.order(db, "R1") == ("PAID", "WECHAT", "T2", 1000)
    assert reasons(db) == []


def test_a_reversal_before_its_payment_waits_for_it(ledger, db):
    whole_machine(ledger)
    ledger.configure({"park": {"delays": ["1h"]}})
    books.register(db, "R1")
    ledger.start()
    ledger.publish(notification("T1", "R1", event="PAYMENT_REVERSED"), partition=0)
    ledger.wait_for(lambda: books.count(db, "parked") == 1, "it is parked")
    ledger.publish(notification("T1", "R1"), partition=0)
    ledger.wait_for(lambda: sums(db)[0] == "REVERSED", "both are posted")


def test_a_reversal_of_money_in_suspense_takes_it_from_there(ledger, db):
    paid(ledger, db, "R1")
    post(ledger, notification("T2", "R1"), notification("Y1", "R1", event="FILLER_NOT_KNOWN"))
    post(ledger, notification("T2", "R1", event="PAYMENT_REVERSED"))
    assert books.order(db, "R1") == ("PAID", "WECHAT", "T-R1", 1000)
    assert books.balances(db) == {CLEARING: 1000, PAYABLE: -1000, SUSPENSE: 0}


def test_a_reversal_after_a_refund_stands_in_suspense(ledger, db):
    paid(ledger, db, "R1", "R2")
    register(ledger, "RF-2", order="R2")
    post(ledger, refund("F1"))
    post(ledger, notification("T-R1", "R1", event="PAYMENT_REVERSED"),
         notification("T-R2", "R2", event="PAYMENT_REVERSED"))
    assert verdict(db, "T-R1", "PAYMENT_REVERSED") == ("SUSPENSE", '{"suspense":"PARTIALLY_REFUNDED"}')
    assert verdict(db, "T-R2", "PAYMENT_REVERSED") == ("SUSPENSE", '{"suspense":"PAID"}')
    assert reasons(db) == ["REFUND_UNREGISTERED", "STATE_REFUSED", "REFUND_OPEN"]
    assert books.entries(db, books.key("T-R1", "PAYMENT_REVERSED")) == [(SUSPENSE, 1000, "CNY"), (CLEARING, -1000, "CNY")]


def test_a_refund_of_a_second_payment_goes_out_of_suspense_and_its_order_stays_paid(ledger, db):
    paid(ledger, db, "R1")
    post(ledger, notification("T2", "R1"))
    post(ledger, refund("F2", parent="T2", amount=1000))
    assert verdict(db, "F2") == ("SUSPENSE", '{"suspense":"PAID"}')
    assert sums(db) == ("PAID", 0, 0)
    assert books.balances(db) == {CLEARING: 1000, PAYABLE: -1000, SUSPENSE: 0}
    assert reasons(db) == ["SECOND_PAYMENT", "REFUND_DIFFERS"]


def test_a_refund_that_may_still_be_paid_keeps_what_is_reserved(ledger, db):
    paid(ledger, db, "R1")
    register(ledger, "RF-1", "10.00")
    post(ledger, failure("F1", event="REFUND_ABNORMAL", refund_no="RF-1"))
    assert row(db, "RF-1")[0] == "ABNORMAL" and sums(db) == ("PAID", 0, 1000)
    assert register(ledger, "RF-2", "10.00", check=False).returncode != 0
    post(ledger, refund("F1", refund_no="RF-1", amount=1000))
    assert sums(db) == ("REFUNDED", 1000, 0)
    assert reasons(db) == []


def test_the_machines_are_drawn(ledger):
    whole_machine(ledger)
    drawn = ledger.run("check", "--graph").stdout
    assert drawn.startswith("digraph postonce {") and drawn.count("{") == drawn.count("}")
    for edge in ("order_PENDING_PAY -> order_PAID", "order_PAID -> order_REFUNDED",
                 "order_PAID -> order_REVERSED", "refund_REGISTERED -> refund_SUCCEEDED",
                 "refund_SUCCEEDED -> refund_FAILED"):
        assert edge in drawn


@pytest.mark.parametrize("point", ["refund.begun", "refund.reserved", "refund.before_commit"])
def test_a_registration_that_dies_leaves_nothing_and_is_made_again(ledger, db, point):
    paid(ledger, db, "R1")
    died = ledger.run("refund", "register", "RF-1", "--order", "R1", "--amount", "10.00", check=False,
                      failpoints=f"{point}=kill")
    assert died.returncode == -9
    ledger.wait_for(lambda: register(ledger, "RF-1", "10.00", check=False).returncode == 0, "the order's lock is free")
    assert sums(db) == ("PAID", 0, 1000) and books.count(db, "refund") == 1


@pytest.mark.parametrize("point", ["posting.fenced", "posting.before_balances", "posting.before_commit"])
def test_a_worker_that_dies_while_it_reverses_reverses_once(ledger, db, point):
    paid(ledger, db, "R1", "R2")
    post(ledger, refund("F1"))
    ledger.publish(failure("F1"), notification("T-R2", "R2", event="PAYMENT_REVERSED"), partition=0)
    died = ledger.start(failpoints=f"{point}=kill")
    assert died.wait() == -9
    assert books.count(db, "outcome") == 3
    assert ledger.drain() == DONE
    assert sums(db) == ("PAID", 0, 0) and sums(db, "R2")[0] == "REVERSED"
    assert books.balances(db) == {CLEARING: 1000, PAYABLE: -1000}
    assert db.value("SELECT COUNT(*) FROM outcome WHERE reverses IS NOT NULL") == 2


def test_a_fee_is_booked_beside_the_net_amount_and_taken_back_with_it(ledger, db):
    whole_machine(ledger)
    fees = "expense:{channel}:fee"
    ledger.configure({"events": {"PAYMENT_RECEIVED": {"post": [
        {"debit": "channel:{channel}:clearing", "amount": "net"}, {"debit": fees, "amount": "fee"},
        {"credit": "merchant:{tenant}:payable", "amount": "amount"}]}}})
    books.register(db, "R1", "R2")
    post(ledger, notification("T1", "R1", fee_minor=6), notification("T2", "R2"))
    assert books.entries(db, books.key("T1")) == [
        (CLEARING, 994, "CNY"), ("expense:WECHAT:fee", 6, "CNY"), (PAYABLE, -1000, "CNY")]
    assert books.entries(db, books.key("T2")) == [(CLEARING, 1000, "CNY"), (PAYABLE, -1000, "CNY")]
    post(ledger, notification("T1", "R1", event="PAYMENT_REVERSED"))
    assert books.balances(db) == {CLEARING: 1000, "expense:WECHAT:fee": 0, PAYABLE: -1000}


def test_a_number_that_is_registered_for_another_order_meanwhile_is_judged_again(ledger, db):
    """The refund's key refuses what the worker judged before the other one's commit."""
    paid(ledger, db, "R1", "R2")
    ledger.publish(refund("F1", refund_no="RF-1"), partition=0)
    worker = ledger.start("--until-end", failpoints="posting.locked=freeze@1")
    ledger.wait_for(lambda: "name=posting.locked action=freeze" in worker.log_text(), "the worker is frozen")
    register(ledger, "RF-1", order="R2")
    worker.thaw()
    assert worker.wait() == 0
    assert verdict(db, "F1")[0] == "SUSPENSE" and reasons(db) == ["REFUND_DIFFERS"]
    assert row(db, "RF-1") == ("REGISTERED", 300, 300, None, "REGISTERED")
    assert sums(db) == ("PAID", 0, 0) and sums(db, "R2") == ("PAID", 0, 300)
    assert ledger.dead_letters() == []


def test_success_and_failure_told_twice_in_any_order_move_the_money_once(ledger, db):
    paid(ledger, db, "R1", "R2")
    register(ledger, "RF-1")
    register(ledger, "RF-2", order="R2")
    for _ in range(2):
        post(ledger, failure("F1", refund_no="RF-1"), refund("F2", order="R2", refund_no="RF-2"))
    for _ in range(2):
        post(ledger, refund("F1", refund_no="RF-1"), failure("F2", order="R2", refund_no="RF-2"),
             failure("F9", order="R2", refund_no="RF-2"))
    assert sums(db) == ("PARTIALLY_REFUNDED", 300, 0) and sums(db, "R2") == ("PAID", 0, 0)
    assert row(db, "RF-1")[0] == "SUCCEEDED" and row(db, "RF-2")[0] == "FAILED"
    assert books.balances(db) == {CLEARING: 1700, PAYABLE: -1700}
    assert db.value("SELECT COUNT(*) FROM outcome WHERE reverses IS NOT NULL") == 1


def test_money_beyond_64_bits_stops_intake_names_the_account_and_stays_to_be_posted(ledger, db):
    whole_machine(ledger)
    most = 2 ** 53 - 1  # of one notice; 1024 of them are as near to the border as they come
    orders = [f"R{n}" for n in range(1026)]
    books.register(db, *orders, amount=most)
    post(ledger, *[notification("T-" + order, order, most) for order in orders[:1024]])
    post(ledger, refund("F1", "R0", amount=most))
    post(ledger, notification("T-R1024", "R1024", most))
    assert sums(db, "R0") == ("REFUNDED", most, 0)
    full = {CLEARING: 1024 * most, PAYABLE: -1024 * most}
    assert books.balances(db) == full
    ledger.publish(notification("T-R1025", "R1025", most), partition=0)
    worker = ledger.start()
    ledger.wait_for(lambda: "would leave 64 bits" in worker.log_text(), "the account is named")
    assert CLEARING in worker.log_text() or PAYABLE in worker.log_text()
    assert books.claim(db, books.key("T-R1025")) and books.key("T-R1025") not in books.outcomes(db)
    assert books.order(db, "R1025").status == "PENDING_PAY" and books.balances(db) == full
    assert ledger.dead_letters() == []


def refund_file(path, *rows, header="refund_no,order_no,amount,currency"):
    path.write_text("\n".join([header, *rows, ""]))
    return path


def test_a_file_of_refunds_is_registered_once_and_what_does_not_fit_is_named(ledger, db, tmp_path):
    paid(ledger, db, "R1", "R2")
    file = refund_file(tmp_path / "refunds.csv", "RF-1,R1,3.00,CNY", "RF-2,R1,8.00,CNY", "RF-3,R2,10.00,CNY")

    first = ledger.run("refund", "import", file, check=False)
    assert first.returncode == 1 and first.stdout == "2 refunds registered, 0 were there, 1 refused\n"
    assert f"{file}:3: " in first.stderr and "RF-2" in first.stderr
    assert sums(db, "R1") == ("PAID", 0, 300) and sums(db, "R2") == ("PAID", 0, 1000)

    again = ledger.run("refund", "import", file, check=False)
    assert again.returncode == 1 and again.stdout == "0 refunds registered, 2 were there, 1 refused\n"
    assert sums(db, "R1") == ("PAID", 0, 300) and sums(db, "R2") == ("PAID", 0, 1000)


@pytest.mark.parametrize("line, reason", [("RF-2,R1,0.001,CNY", "amount"), (",R1,1.00,CNY", "refund number"),
                                          ("RF-2,R1,1.00", "fields"), ("RF-2,R1,1.00,XYZ", "currency")])
def test_a_file_with_a_bad_line_registers_nothing(ledger, db, tmp_path, line, reason):
    paid(ledger, db, "R1")
    file = refund_file(tmp_path / "refunds.csv", "RF-1,R1,3.00,CNY", line)
    done = ledger.run("refund", "import", file, check=False)
    assert done.returncode != 0 and f"{file}:3: " in done.stderr and reason in done.stderr
    assert row(db, "RF-1") is None and sums(db) == ("PAID", 0, 0)
