"""postonce order: register, import, set, show; and the services that insert their orders themselves."""
import json

import books
import pymysql
import pytest
from support.worker import notification

DONE, FINDINGS, USAGE = 0, 1, 64


def refused(ledger, *args, code=FINDINGS):
    """A command that must fail and change nothing; what it said."""
    before = ledger.db.rows("SELECT * FROM payment_order"), books.count(ledger.db, "audit")
    done = ledger.run("order", *args, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    assert (ledger.db.rows("SELECT * FROM payment_order"), books.count(ledger.db, "audit")) == before
    assert done.stdout == ""
    return done.stderr


@pytest.mark.both_databases
def test_a_registered_order_is_in_the_initial_state(ledger, db):
    ledger.run("order", "register", "R8-1", "--amount", "128.80")
    ledger.run("order", "register", "R8-1", "--amount", "5", "--currency", "JPY", "--tenant", "7")
    assert db.rows("SELECT tenant_id, order_no, amount, currency, status, paid_txn, refunded FROM payment_order"
                   " ORDER BY tenant_id") == [(1, "R8-1", 12880, "CNY", "PENDING_PAY", None, 0),
                                              (7, "R8-1", 5, "JPY", "PENDING_PAY", None, 0)]


@pytest.mark.both_databases
def test_registering_again_does_nothing_and_with_another_amount_is_refused(ledger, db):
    ledger.run("order", "register", "R1", "--amount", "10.00")
    db.execute("UPDATE payment_order SET status = 'SHIPPED'")
    before = db.rows("SELECT * FROM payment_order")
    ledger.run("order", "register", "R1", "--amount", "10")
    assert db.rows("SELECT * FROM payment_order") == before
    assert "1000 CNY" in refused(ledger, "register", "R1", "--amount", "10.01")
    refused(ledger, "register", "R1", "--amount", "10.00", "--currency", "USD")


WRONG_USE = [
    ["register", "R1"], ["register", "--amount", "1"], ["register", "R1", "R2", "--amount", "1"],
    ["register", "R1", "--amount", "1", "--tenant", "0"], ["register", "R1", "--amount", "1", "--colour", "red"],
    ["set", "R1", "SHIPPED"], ["set", "R1", "SHIPPED", "--why", ""], ["set", "R1", "--why", "x"],
    ["import"], ["show"], ["show", "R1", "-o", "xml"], ["destroy", "R1"], [],
]


def test_wrong_use_is_told_and_exits_64(ledger):
    for arguments in WRONG_USE:
        assert "order" in refused(ledger, *arguments, code=USAGE), arguments


IMPOSSIBLE = {  # number, amount, currency
    "zero": ("R1", "0", "CNY"), "negative": ("R1", "-1", "CNY"), "too exact": ("R1", "1.001", "CNY"),
    "exponent": ("R1", "1e2", "CNY"), "comma": ("R1", "1,00", "CNY"), "no amount": ("R1", "", "CNY"),
    "overflow": ("R1", "99999999999999999999", "CNY"), "lower case": ("R1", "1", "cny"),
    "no currency": ("R1", "1", "XXY"), "yen have no sen": ("R1", "1.5", "JPY"), "no number": ("", "1", "CNY"),
    "padded": ("R1 ", "1", "CNY"), "control": ("R\n1", "1", "CNY"), "too long": ("R" * 65, "1", "CNY"),
}


def test_an_order_that_cannot_be_is_refused(ledger):
    for case, (number, amount, currency) in IMPOSSIBLE.items():
        text = refused(ledger, "register", number, f"--amount={amount}", "--currency", currency)
        assert text.startswith("postonce: "), case


def write(ledger, text):
    path = ledger.directory / "orders.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.both_databases
def test_an_imported_file_registers_every_line_and_again_nothing(ledger, db):
    path = write(ledger, b'\xef\xbb\xbfcurrency,order_no,amount,tenant_id\r\nCNY,"A ""1"", x",12.80,\r\n'
                         b'JPY,\xe5\x8d\x95-2,500,9\r\n\r\nCNY,C3,0.01,1')
    assert ledger.run("order", "import", path).stdout == "3 orders are registered\n"
    rows = db.rows("SELECT tenant_id, order_no, amount, currency, status FROM payment_order ORDER BY order_no")
    assert rows == [(1, 'A "1", x', 1280, "CNY", "PENDING_PAY"), (1, "C3", 1, "CNY", "PENDING_PAY"),
                    (9, "单-2", 500, "JPY", "PENDING_PAY")]
    ledger.run("order", "import", path)
    assert books.count(db, "payment_order") == 3


def test_a_file_larger_than_one_statement_is_imported_whole(ledger, db):
    path = write(ledger, "order_no,amount,currency\n" + "".join(f"R{n},{n}.5,CNY\n" for n in range(1, 4001)))
    assert ledger.run("order", "import", path, "--tenant", "3").stdout == "4000 orders are registered\n"
    assert db.rows("SELECT tenant_id, COUNT(*), SUM(amount) FROM payment_order GROUP BY tenant_id") == [
        (3, 4000, 4000 * 4001 // 2 * 100 + 4000 * 50)]


HEAD = "order_no,amount,currency\n"
WRONG_FILES = {  # text, what the refusal names
    "empty": ("", "orders.csv"), "column missing": ("order_no,amount\nR1,1\n", "orders.csv:1"),
    "column unknown": ("order_no,amount,currency,colour\n", ":1"),
    "column twice": ("order_no,amount,currency,amount\n", ":1"), "quote without end": (HEAD + '"R1,1,CNY\n', ":2"),
    "a field too few": (HEAD + "R1,1,CNY\nR2,1\n", ":3"), "a field too many": (HEAD + "R1,1,CNY\nR2,1,CNY,x\n", ":3"),
    "amount": (HEAD + "R1,1,CNY\nR2,x,CNY\n", ":3"), "no number": (HEAD + "R1,1,CNY\n,1,CNY\n", ":3"),
    "tenant": ("order_no,amount,currency,tenant_id\nR1,1,CNY,0\n", ":2"),
    "order twice": (HEAD + "R1,1,CNY\nR1,1,CNY\n", "R1"),
}


def test_a_wrong_file_is_refused_with_its_line_before_anything_is_written(ledger, db):
    for case, (text, place) in WRONG_FILES.items():
        assert place in refused(ledger, "import", write(ledger, text)), case
    assert books.count(db, "payment_order") == 0


def test_a_file_that_is_not_there_is_told(ledger):
    assert "nowhere.csv" in refused(ledger, "import", ledger.directory / "nowhere.csv", code=78)


@pytest.mark.both_databases
def test_a_state_set_by_hand_is_audited_with_who_and_why(ledger, db):
    books.register(db, "R1")
    ledger.run("order", "set", "R1", "SHIPPED", "--why", "parcel 4711, 已发货", env={"SUDO_USER": "li"})
    assert books.order(db, "R1").status == "SHIPPED"
    assert db.rows("SELECT who, verb, what, why FROM audit") == [
        ("li", "order set", "1/R1 PENDING_PAY -> SHIPPED", "parcel 4711, 已发货")]
    assert db.value("SELECT ABS(TIMESTAMPDIFF(SECOND, at, UTC_TIMESTAMP())) < 60 FROM audit") == 1


NOT_TO_BE_SET = {  # arguments, what the refusal names
    "only postings lead to it": (["set", "R1", "PAID", "--why", "x"], "orders.external"),
    "unknown state": (["set", "R1", "NONSENSE", "--why", "x"], "NONSENSE"),
    "unknown order": (["set", "R2", "SHIPPED", "--why", "x"], "R2"),
    "another tenant's": (["set", "R1", "SHIPPED", "--why", "x", "--tenant", "2"], "R1"),
    "nothing to show": (["show", "R2"], "R2"),
}


def test_what_only_postings_do_and_what_is_not_there_are_refused(ledger, db):
    books.register(db, "R1")
    for case, (arguments, text) in NOT_TO_BE_SET.items():
        assert text in refused(ledger, *arguments), case


def test_show_tells_the_order_and_its_payment(ledger, db):
    books.register(db, "R1", status="PAID", paid=("SQB", "T1", 1000))
    found, = json.loads(ledger.run("order", "show", "R1", "-o", "json").stdout)["orders"]
    assert found == {"tenant_id": 1, "order_no": "R1", "status": "PAID", "amount_minor": 1000, "currency": "CNY", "reserved_minor": 0, "refunds": None,
                     "paid_channel": "SQB", "paid_txn": "T1", "paid_minor": 1000, "refunded_minor": 0}
    table = ledger.run("order", "show", "R1").stdout
    assert "PAID" in table and "T1" in table


@pytest.mark.both_databases
def test_a_service_inserts_its_orders_with_the_documented_columns_only(ledger, db):
    db.execute("INSERT INTO payment_order (tenant_id, order_no, amount, currency, status)"
               " VALUES (1, 'R1', 1000, 'CNY', 'PENDING_PAY')")
    ledger.publish(notification("T1", "R1"))
    assert ledger.drain() == [DONE]
    assert books.order(db, "R1") == ("PAID", "WECHAT", "T1", 1000)


@pytest.mark.both_databases
def test_an_order_that_makes_no_sense_is_refused_by_the_table(ledger, db):
    for amount, status in ((0, "PENDING_PAY"), (-5, "PENDING_PAY"), (1, "")):
        with pytest.raises(pymysql.err.MySQLError):
            db.execute("INSERT INTO payment_order (tenant_id, order_no, amount, currency, status)"
                       " VALUES (1, 'R1', %s, 'CNY', %s)", amount, status)
