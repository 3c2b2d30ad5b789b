"""Too early: what waits for its order, or for its order's state, passes, and is posted when its time has come."""
import json

import books
import pytest
from pages import Pages
from support.worker import notification

DONE, FINDINGS, USAGE = 0, 1, 64
POSTED_PAID = ("POSTED", '{"posted":"PAID"}')
CLEARING, PAYABLE, SUSPENSE = "channel:WECHAT:clearing", "merchant:1:payable", "suspense:WECHAT"

# Nothing is due by itself within a test: whatever is posted was made due.
NEVER = {"park": {"delays": ["5m"]}}
OFTEN = {"park": {"delays": ["200ms"]}}
GIVES_UP = {"park": {"delays": ["200ms"], "give_up_after": "1s"}}

# States that other events than the payment move, without money.
PACKED = {"order": {"from": ["PAID"], "to": "PACKED", "wait": ["PENDING_PAY"]}}
SHIPPED = {"order": {"from": ["PENDING_PAY"], "to": "SHIPPED"}, "otherwise": "skip"}
CLOSED = {"order": {"from": ["PENDING_PAY"], "to": "CLOSED"}, "otherwise": "skip"}


def moneyless(txn, order_no, event):
    """A notification that moves an order and no money."""
    whole = notification(txn, order_no, event=event)
    return {name: value for name, value in whole.items() if name not in ("amount_minor", "currency")}


def lag(ledger):
    return ledger.kafka.lag(ledger.group, ledger.topic)


def park(ledger, *notifications, **place):
    """A worker that has parked all of these and stays."""
    ledger.publish(*notifications, **place)
    worker = ledger.start()
    ledger.wait_for(lambda: not worker.alive() or books.count(ledger.db, "parked") == len(notifications), "all parked")
    assert worker.alive()
    ledger.wait_for_lag(0)
    return worker


def wait_for_posting(ledger, *keys):
    ledger.wait_for(lambda: set(keys) <= books.outcomes(ledger.db).keys(), f"{keys} are settled")


def test_a_payment_of_an_unknown_order_is_parked_and_passes_and_nothing_waits_for_it(ledger, db):
    ledger.configure(NEVER)
    books.register(db, "R2")
    ledger.publish(notification("T1", "R1"), notification("T2", "R2"), partition=0)
    assert ledger.drain() == [DONE]
    assert lag(ledger) == 0
    assert books.outcomes(db) == {books.key("T2"): POSTED_PAID}
    row, = books.parked(db)
    assert (row.key, row.order_no, row.channel, row.reason, row.tries) == (
        books.key("T1"), "R1", "WECHAT", "ORDER_UNKNOWN", 0)
    assert row.due_at > row.first_parked_at
    assert "verdict=PARKED reason=ORDER_UNKNOWN" in ledger.workers[0].log_text()
    assert ledger.dead_letters() == [] and books.reviews(db) == []


def order_csv(ledger):
    path = ledger.directory / "orders.csv"
    path.write_text("order_no,amount,currency\nR0,1.00,CNY\nR1,10.00,CNY\n")
    return path


REGISTRATIONS = {
    "register": lambda ledger: ledger.run("order", "register", "R1", "--amount", "10.00"),
    "import": lambda ledger: ledger.run("order", "import", order_csv(ledger)),
}


@pytest.mark.both_databases
@pytest.mark.parametrize("way", REGISTRATIONS)
def test_an_order_that_is_registered_brings_its_payment_without_a_new_delivery(ledger, db, way):
    ledger.configure(NEVER)
    worker = park(ledger, notification("T1", "R1"))
    REGISTRATIONS[way](ledger)
    wait_for_posting(ledger, books.key("T1"))
    assert worker.stop() == DONE
    assert books.outcomes(db) == {books.key("T1"): POSTED_PAID} and books.parked(db) == []
    assert books.entries(db, books.key("T1")) == [(CLEARING, 1000, "CNY"), (PAYABLE, -1000, "CNY")]
    assert books.order(db, "R1") == ("PAID", "WECHAT", "T1", 1000)
    assert books.outbox(db) == [("ORDER_PAID", "R1")]
    assert books.claim(db, books.key("T1")).deliveries == 1


@pytest.mark.both_databases
def test_an_order_that_another_worker_moves_brings_what_waited_for_its_state(ledger, db):
    ledger.configure({**NEVER, "events": {"ORDER_PACKED": PACKED}})
    books.register(db, "R1")
    worker = park(ledger, moneyless("P1", "R1", "ORDER_PACKED"), partition=0)
    assert books.parked(db)[0].reason == "TOO_EARLY"
    other = ledger.start()
    ledger.publish(notification("T1", "R1"), partition=1)
    wait_for_posting(ledger, books.key("T1"), books.key("P1", "ORDER_PACKED"))
    assert [worker.stop(), other.stop()] == [DONE, DONE]
    assert books.outcomes(db) == {books.key("T1"): POSTED_PAID,
                                  books.key("P1", "ORDER_PACKED"): ("POSTED", '{"posted":"PACKED"}')}
    assert books.order(db, "R1").status == "PACKED" and books.parked(db) == []


def test_an_order_set_by_hand_brings_what_waited_for_its_state(ledger, db):
    ledger.configure({**NEVER, "events": {"ORDER_SIGNED": {
        "order": {"from": ["SHIPPED"], "to": "SIGNED", "wait": ["PENDING_PAY"]}}}})
    books.register(db, "R1")
    worker = park(ledger, moneyless("P1", "R1", "ORDER_SIGNED"))
    ledger.run("order", "set", "R1", "SHIPPED", "--why", "parcel 4711")
    wait_for_posting(ledger, books.key("P1", "ORDER_SIGNED"))
    assert worker.stop() == DONE
    assert books.order(db, "R1").status == "SIGNED" and books.parked(db) == []


def test_an_order_that_a_service_inserts_itself_is_found_when_the_payment_is_due(ledger, db):
    ledger.configure(OFTEN)
    worker = park(ledger, notification("T1", "R1"))
    ledger.wait_for(lambda: books.parked(db)[0].tries >= 2, "it has been tried twice")
    assert books.outcomes(db) == {}
    books.register(db, "R1")
    wait_for_posting(ledger, books.key("T1"))
    assert worker.stop() == DONE
    assert books.outcomes(db) == {books.key("T1"): POSTED_PAID} and books.parked(db) == []
    assert books.count(db, "outbox") == 1


def test_a_re_push_of_what_is_parked_changes_nothing_and_passes(ledger, db):
    ledger.configure(NEVER)
    first = notification("T1", "R1")
    worker = park(ledger, first)
    before = db.rows("SELECT * FROM parked")
    turned = json.dumps(dict(reversed(first.items())), indent=1).encode()
    ledger.publish(first, turned, partition=0)
    ledger.publish(first, partition=1)
    ledger.wait_for(lambda: books.claim(db, books.key("T1")).deliveries == 4, "it was delivered three times more")
    ledger.wait_for_lag(0)
    assert worker.stop() == DONE
    assert db.rows("SELECT * FROM parked") == before
    assert books.outcomes(db) == {} and books.reviews(db) == [] and ledger.dead_letters() == []


def test_another_amount_under_a_parked_key_is_a_conflict_and_the_parked_one_waits_on(ledger, db):
    ledger.configure(NEVER)
    worker = park(ledger, notification("T1", "R1"))
    before = db.rows("SELECT * FROM parked")
    ledger.publish(notification("T1", "R1", amount_minor=1))
    ledger.wait_for(lambda: books.reviews(db), "it is kept for review")
    ledger.wait_for_lag(0)
    assert [(review.reason, review.amount) for review in books.reviews(db)] == [("PAYLOAD_CONFLICT", 1)]
    assert db.rows("SELECT * FROM parked") == before
    ledger.run("order", "register", "R1", "--amount", "10.00")
    wait_for_posting(ledger, books.key("T1"))
    assert worker.stop() == DONE
    assert books.balances(db) == {CLEARING: 1000, PAYABLE: -1000}


@pytest.mark.both_databases
def test_money_that_waited_too_long_goes_to_suspense_with_a_review(ledger, db):
    ledger.configure(GIVES_UP)
    worker = park(ledger, notification("T1", "R1"))
    wait_for_posting(ledger, books.key("T1"))
    assert books.outcomes(db) == {books.key("T1"): ("SUSPENSE", '{"suspense":"UNKNOWN"}')}
    assert books.entries(db, books.key("T1")) == [(CLEARING, 1000, "CNY"), (SUSPENSE, -1000, "CNY")]
    assert books.balances(db) == {CLEARING: 1000, SUSPENSE: -1000}
    review, = books.reviews(db)
    assert (review.reason, review.state, review.amount) == ("PARK_GAVE_UP", "OPEN", 1000)
    assert review.claim_id == books.claim(db, books.key("T1")).id
    assert books.parked(db) == [] and books.outbox(db) == [] and ledger.dead_letters() == []
    # It is settled: neither its order nor a re-push brings it again.
    ledger.run("order", "register", "R1", "--amount", "10.00")
    ledger.publish(notification("T1", "R1"))
    ledger.wait_for(lambda: 'verdict=DUPLICATE result={"suspense":"UNKNOWN"}' in worker.log_text(), "a duplicate")
    assert worker.stop() == DONE
    assert books.order(db, "R1").status == "PENDING_PAY"
    assert books.balances(db) == {CLEARING: 1000, SUSPENSE: -1000} and len(books.reviews(db)) == 1


def test_money_that_waited_too_long_for_a_state_names_the_state_it_found(ledger, db):
    rule = {**ledger.config["events"]["PAYMENT_RECEIVED"],
            "order": {"from": ["SHIPPED"], "to": "PAID", "already": ["PAID"], "wait": ["PENDING_PAY"]}}
    ledger.configure({**GIVES_UP, "events": {"PAYMENT_RECEIVED": rule}})
    books.register(db, "R1")
    worker = park(ledger, notification("T1", "R1"))
    wait_for_posting(ledger, books.key("T1"))
    assert worker.stop() == DONE
    assert books.outcomes(db) == {books.key("T1"): ("SUSPENSE", '{"suspense":"PENDING_PAY"}')}
    assert books.order(db, "R1") == ("PENDING_PAY", None, None, None)
    assert books.balances(db) == {CLEARING: 1000, SUSPENSE: -1000}


def test_a_channel_that_re_pushes_for_ever_does_not_postpone_giving_up(ledger, db):
    ledger.configure(GIVES_UP)
    first = notification("T1", "R1")
    worker = park(ledger, first)

    def settled():
        ledger.publish(first)
        return books.outcomes(db)
    ledger.wait_for(settled, "it gives up")
    ledger.wait_for_lag(0)
    assert worker.stop() == DONE
    assert books.claim(db, books.key("T1")).deliveries >= 5
    assert books.outcomes(db) == {books.key("T1"): ("SUSPENSE", '{"suspense":"UNKNOWN"}')}
    assert len(books.reviews(db)) == 1 and books.parked(db) == []


def test_what_carries_no_money_and_waited_too_long_is_a_dead_letter_with_its_whole_record(ledger, db):
    ledger.configure({**GIVES_UP, "events": {"ORDER_PACKED": PACKED}})
    value = json.dumps(moneyless("P1", "R1", "ORDER_PACKED"), indent=2).encode() + b"\n"
    headers = [("h", b"1"), ("h", b"2"), ("empty", b""), ("bytes", b"\x00\xff")]
    (partition, offset), = ledger.publish(value, key=b"k\x00ey", headers=headers, partition=2,
                                          timestamp=1700000000123)
    worker = ledger.start()
    ledger.wait_for(lambda: books.letters(db) and not books.parked(db), "it gives up")
    assert worker.stop() == DONE
    letter, = ledger.dead_letters()
    assert (letter.key, letter.value, letter.timestamp) == (b"k\x00ey", value, 1700000000123)
    assert [header for header in letter.headers if not header[0].startswith("postonce.")] == headers
    ours = {name: text for name, text in letter.headers if name.startswith("postonce.")}
    assert ours["postonce.reason"] == b"PARK_GAVE_UP" and ours["postonce.topic"] == ledger.topic.encode()
    assert (ours["postonce.partition"], ours["postonce.offset"]) == (b"2", b"%d" % offset)
    assert books.letters(db) == [("PARK_GAVE_UP", partition, offset, 1)]
    assert books.claim(db, books.key("P1", "ORDER_PACKED")) and books.outcomes(db) == {}
    assert lag(ledger) == 0 and books.count(db, "failure") == 0


LIST = """\
channel: LIST
body: json
each: /items
rules:
  - when: [["@/txn", exists]]
    event: ORDER_PACKED
    txn: "@/txn"
    order: "@/order_no"
"""


@pytest.mark.partitions(1)
def test_each_notification_of_one_record_that_gives_up_has_a_letter_that_names_it(ledger, db):
    """The record's letter for the first says nothing of the second, which gives up a day later."""
    (ledger.directory / "list.yaml").write_text(LIST)
    ledger.configure({"park": {"delays": ["200ms"], "give_up_after": "1h"}, "channels": ["list.yaml"],
                      "topics": {ledger.topic: {"channel": "LIST"}}, "events": {"ORDER_PACKED": PACKED}})
    ledger.publish({"items": [{"txn": "P1", "order_no": "R1"}, {"txn": "P2", "order_no": "R2"}]})
    worker = ledger.start()
    ledger.wait_for(lambda: books.count(db, "parked") == 2, "both are parked")
    keys = [books.key(txn, "ORDER_PACKED", channel="LIST") for txn in ("P1", "P2")]
    for number, key in enumerate(keys, 1):
        db.execute("UPDATE parked SET waits_since = waits_since - INTERVAL 1 DAY WHERE claim_id = %s",
                   books.claim(db, key).id)
        ledger.wait_for(lambda: books.count(db, "dead_letter") == number, "it gives up")
        ledger.wait_for(lambda: books.count(db, "parked") == 2 - number, "its row is gone")
    assert worker.stop() == DONE
    texts = [dict(letter.headers)["postonce.text"].decode() for letter in ledger.dead_letters()]
    assert len(texts) == 2 and all(key in text for key, text in zip(keys, texts))
    assert len({dict(letter.headers)["postonce.letter_id"] for letter in ledger.dead_letters()}) == 2


@pytest.mark.both_databases
def test_a_parked_row_that_cannot_be_read_waits_for_a_person_until_it_can_or_is_discarded(ledger, db):
    ledger.configure(OFTEN)
    worker = park(ledger, notification("T1", "R1"), notification("T2", "R2"), partition=0)
    claims = [books.claim(db, books.key(txn)).id for txn in ("T1", "T2")]
    kept = db.value("SELECT raw FROM parked WHERE claim_id = %s", claims[0])
    db.execute("UPDATE parked SET raw = 'damaged'")
    ledger.wait_for(lambda: len(books.subjects(db)) == 2 and min(row[3] for row in books.subjects(db)) > 1,
                    "they are asked for")
    assert [row[:3] for row in books.subjects(db)] == [
        (f"parked {claim}", "PARKED_UNREADABLE", "OPEN") for claim in claims]
    assert worker.log_text().count("alarm=PARKED_UNREADABLE") == 2
    books.register(db, "R1")
    db.execute("UPDATE parked SET raw = %s WHERE claim_id = %s", kept, claims[0])
    ledger.run("park", "discard", books.key("T2"), "--why", "damaged")
    wait_for_posting(ledger, books.key("T1"))
    assert worker.stop() == DONE and books.parked(db) == []
    assert [row[2] for row in books.subjects(db)] == ["CLOSED", "CLOSED"]


@pytest.mark.partitions(1)
def test_parked_records_larger_than_one_take_are_all_re_driven(ledger, db):
    count, size = 30, 900_000
    ledger.configure(NEVER)
    for n in range(count):
        ledger.publish(notification(f"T{n}", f"R{n}", body={"filler": "x" * size}))
    assert ledger.drain() == [DONE]
    assert db.value("SELECT SUM(LENGTH(raw)) FROM parked") > 24_000_000
    books.register(db, *[f"R{n}" for n in range(count)])
    db.execute("UPDATE parked SET due_at = UTC_TIMESTAMP(6)")
    worker = ledger.start()
    ledger.wait_for(lambda: books.count(db, "outcome") == count, "all are posted", 20)
    assert worker.stop() == DONE and books.parked(db) == [] and books.statuses(db) == {"PAID": count}


def test_a_key_that_has_given_up_without_money_is_judged_afresh_when_it_comes_again(ledger, db):
    ledger.configure({**GIVES_UP, "events": {"ORDER_PACKED": PACKED}})
    late = moneyless("P1", "R1", "ORDER_PACKED")
    ledger.publish(late)
    worker = ledger.start()
    ledger.wait_for(lambda: books.letters(db) and not books.parked(db), "it gives up")
    books.register(db, "R1", status="PAID", paid=("WECHAT", "T1", 1000))
    ledger.publish(late)
    wait_for_posting(ledger, books.key("P1", "ORDER_PACKED"))
    assert worker.stop() == DONE
    assert books.order(db, "R1").status == "PACKED" and len(ledger.dead_letters()) == 1


def test_what_was_parked_first_in_one_batch_is_judged_first(ledger, db):
    """Claims are sorted by key, so the second has the lower claim id."""
    ledger.configure({**NEVER, "events": {"ORDER_SHIPPED": SHIPPED, "ORDER_CLOSED": CLOSED}})
    worker = park(ledger, moneyless("Z", "R1", "ORDER_SHIPPED"), moneyless("A", "R1", "ORDER_CLOSED"), partition=0)
    first, second = books.key("Z", "ORDER_SHIPPED"), books.key("A", "ORDER_CLOSED")
    assert books.claim(db, first).id > books.claim(db, second).id
    ledger.run("order", "register", "R1", "--amount", "10.00")
    wait_for_posting(ledger, first, second)
    assert worker.stop() == DONE
    assert books.outcomes(db) == {first: ("POSTED", '{"posted":"SHIPPED"}'),
                                  second: ("SKIPPED", '{"skipped":"SHIPPED"}')}


@pytest.mark.both_databases
def test_what_was_parked_first_is_judged_first_whatever_was_due_first(ledger, db):
    ledger.configure({**NEVER, "events": {"ORDER_SHIPPED": SHIPPED, "ORDER_CLOSED": CLOSED}})
    ledger.publish(moneyless("A", "R1", "ORDER_CLOSED"))
    assert ledger.drain() == [DONE]
    worker = park_another(ledger, moneyless("Z", "R1", "ORDER_SHIPPED"))
    first, second = books.key("Z", "ORDER_SHIPPED"), books.key("A", "ORDER_CLOSED")
    db.execute("UPDATE parked SET first_parked_at = first_parked_at - INTERVAL 1 HOUR WHERE claim_id = %s",
               books.claim(db, first).id)
    books.register(db, "R1")
    db.execute("UPDATE parked SET due_at = UTC_TIMESTAMP(6) - INTERVAL IF(claim_id = %s, 1, 2) HOUR",
               books.claim(db, first).id)
    wait_for_posting(ledger, first, second)
    assert worker.stop() == DONE
    assert books.outcomes(db) == {first: ("POSTED", '{"posted":"SHIPPED"}'),
                                  second: ("SKIPPED", '{"skipped":"SHIPPED"}')}


def park_another(ledger, one):
    """A worker that has parked one more."""
    before = books.count(ledger.db, "parked")
    ledger.publish(one)
    worker = ledger.start()
    ledger.wait_for(lambda: books.count(ledger.db, "parked") == before + 1, "it is parked")
    return worker


@pytest.mark.partitions(1)
def test_a_worker_without_partitions_re_drives(ledger, db):
    ledger.configure({**NEVER, "kafka": {"session.timeout.ms": 30000}})
    ledger.publish(notification("T1", "R1"))
    pages = [Pages() for _ in range(3)]
    workers = [ledger.start(changes=page.options) for page in pages]

    def shares():
        return [page.figure("postonce_partitions_assigned") for page in pages]
    ledger.wait_for(lambda: all(page.is_ready() for page in pages) and sorted(shares()) == [0, 0, 1], "one has it")
    ledger.wait_for(lambda: books.parked(db), "it is parked")
    ledger.wait_for_lag(0)
    owner = shares().index(1)
    workers[owner].freeze()
    ledger.run("order", "register", "R1", "--amount", "10.00")
    wait_for_posting(ledger, books.key("T1"))
    others = [page for place, page in enumerate(pages) if place != owner]
    assert [page.figure("postonce_partitions_assigned") for page in others] == [0, 0]
    assert sum(page.verdicts("POSTED") for page in others) == 1
    workers[owner].thaw()
    assert [worker.stop() for worker in workers] == [DONE] * 3
    assert books.outcomes(db) == {books.key("T1"): POSTED_PAID} and books.parked(db) == []


def test_more_than_one_take_are_re_driven_by_several_workers_each_once(ledger, db):
    count = 300
    ledger.configure(NEVER)
    ledger.publish(*[notification(f"T{n}", f"R{n}") for n in range(count)])
    workers = [ledger.start() for _ in range(3)]
    ledger.wait_for(lambda: books.count(db, "parked") == count, "all are parked")
    ledger.wait_for_lag(0)
    path = ledger.directory / "orders.csv"
    path.write_text("order_no,amount,currency\n" + "".join(f"R{n},10.00,CNY\n" for n in range(count)))
    ledger.run("order", "import", path)
    ledger.wait_for(lambda: books.count(db, "outcome") == count, "all are posted", 20)
    assert [worker.stop() for worker in workers] == [DONE] * 3
    assert books.statuses(db) == {"PAID": count} and books.count(db, "outbox") == count
    assert books.count(db, "parked") == 0 and books.balances(db) == {CLEARING: 1000 * count, PAYABLE: -1000 * count}


def test_what_is_left_in_parked_of_a_claim_that_is_settled_disappears(ledger, db):
    """As a worker leaves it that froze before it parked a claim which another settled meanwhile."""
    ledger.configure(NEVER)
    worker = park(ledger, notification("T1", "R1"))
    db.execute("CREATE TABLE kept AS SELECT * FROM parked")
    ledger.run("order", "register", "R1", "--amount", "10.00")
    wait_for_posting(ledger, books.key("T1"))
    before = db.rows("SELECT * FROM outcome"), db.rows("SELECT * FROM entry"), books.balances(db)
    db.execute("INSERT INTO parked SELECT * FROM kept")
    db.execute("UPDATE parked SET due_at = UTC_TIMESTAMP(6), waits_since = waits_since - INTERVAL 3 DAY")
    ledger.wait_for(lambda: books.parked(db) == [], "it is gone")
    assert worker.stop() == DONE
    assert (db.rows("SELECT * FROM outcome"), db.rows("SELECT * FROM entry"), books.balances(db)) == before
    assert books.reviews(db) == [] and ledger.dead_letters() == [] and books.count(db, "outbox") == 1


# The verbs of an operator.

def test_list_tells_what_waits_and_release_makes_it_due_with_who_and_why(ledger, db):
    ledger.configure(NEVER)
    worker = park(ledger, notification("T1", "R1"), notification("T2", "R2"), partition=0)
    rows = json.loads(ledger.run("park", "list", "-o", "json").stdout)["parked"]
    assert [(row["tenant_id"], row["key"], row["order_no"], row["reason"], row["tries"]) for row in rows] == [
        (1, books.key("T1"), "R1", "ORDER_UNKNOWN", 0), (1, books.key("T2"), "R2", "ORDER_UNKNOWN", 0)]
    table = ledger.run("park", "list", "--limit", "1").stdout
    assert books.key("T1") in table and books.key("T2") not in table
    books.register(db, "R1", "R2")  # by itself, it would be found in five minutes
    ledger.run("park", "release", books.key("T2"), "--why", "订单已有", env={"SUDO_USER": "li"})
    wait_for_posting(ledger, books.key("T2"))
    assert worker.stop() == DONE
    assert books.outcomes(db) == {books.key("T2"): POSTED_PAID}
    assert [row.key for row in books.parked(db)] == [books.key("T1")]
    assert books.audit(db, "park release") == [("li", books.key("T2"), "订单已有")]


def test_what_is_discarded_is_never_posted_and_later_deliveries_are_duplicates_of_that(ledger, db):
    ledger.configure(NEVER)
    worker = park(ledger, notification("T1", "R1"))
    ledger.run("park", "discard", books.key("T1"), "--why", "test payment", env={"SUDO_USER": "li"})
    discarded = {books.key("T1"): ("DISCARDED", '{"discarded":true}')}
    assert books.outcomes(db) == discarded and books.parked(db) == []
    assert books.audit(db, "park discard") == [("li", books.key("T1"), "test payment")]
    ledger.run("order", "register", "R1", "--amount", "10.00")
    ledger.publish(notification("T1", "R1"))
    ledger.wait_for(lambda: 'verdict=DUPLICATE result={"discarded":true}' in worker.log_text(), "a duplicate")
    ledger.wait_for_lag(0)
    assert worker.stop() == DONE
    assert books.outcomes(db) == discarded and books.count(db, "entry") == 0 and books.parked(db) == []
    assert books.order(db, "R1").status == "PENDING_PAY"


WRONG = [
    ([], USAGE, "park"), (["steal"], USAGE, "steal"), (["release"], USAGE, "KEY"), (["release", "K"], USAGE, "--why"),
    (["discard", "K", "--why", ""], USAGE, "--why"), (["list", "--limit", "0"], USAGE, "limit"),
    (["list", "K"], USAGE, "K"), (["release", "K", "--why", "x"], FINDINGS, "K"),
    (["discard", "K", "--why", "x"], FINDINGS, "K"),
    (["release", "WECHAT:T1:PAYMENT_RECEIVED", "--why", "x", "--tenant", "2"], FINDINGS, "tenant 2"),
    (["release", "WECHAT:T2:PAYMENT_RECEIVED", "--why", "x"], FINDINGS, "not parked"),
    (["discard", "WECHAT:T2:PAYMENT_RECEIVED", "--why", "x"], FINDINGS, "settled already"),
    (["discard", "WECHAT:T3:PAYMENT_RECEIVED", "--why", "x"], FINDINGS, "not parked"),
]


def test_wrong_use_of_park_is_told_and_changes_nothing(parked_world, db):
    def world():
        return [db.rows(f"SELECT * FROM {table}") for table in ("parked", "outcome", "audit")]
    before = world()
    for arguments, code, text in WRONG:
        done = parked_world.run("park", *arguments, check=False)
        assert (done.returncode, done.stdout) == (code, ""), (arguments, done.stderr)
        assert text in done.stderr, arguments
        assert world() == before, arguments


@pytest.fixture
def parked_world(ledger, db):
    """T1 is parked, T2 is settled, T3 is neither: claims as workers leave them."""
    for number, txn in enumerate(("T1", "T2", "T3"), 1):
        db.execute("INSERT INTO claim (id, tenant_id, idem_key, channel, event_type, order_no, payload_hash,"
                   " hash_version, source_topic, source_partition, source_offset, deliveries, created_at,"
                   " last_seen_at) VALUES (%s, 1, %s, 'WECHAT', 'PAYMENT_RECEIVED', 'R1', REPEAT('h', 32), 1, 't', 0,"
                   " %s, 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))", number, books.key(txn), number)
    db.execute("INSERT INTO parked (claim_id, tenant_id, order_no, channel, reason, due_at, first_parked_at, waits_since,"
               " tries, notification, raw) VALUES (1, 1, 'R1', 'WECHAT', 'ORDER_UNKNOWN', UTC_TIMESTAMP(6),"
               " UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 0, '{}', '')")
    db.execute("INSERT INTO outcome SELECT id, 'SKIPPED', '{}', payload_hash, 1, 't', 0, 2, 0, NULL,"
               " UTC_TIMESTAMP(6), NULL FROM claim WHERE id = 2")
    return ledger
