"""postonce ledger balance and statement: the books as they are, and as they were."""
import json

import books
from support.worker import notification

DONE, FINDINGS, USAGE = 0, 1, 64


def balances(ledger, *args):
    """{(tenant, account, currency): (decimal, minor)}"""
    done = ledger.run("ledger", "balance", "-o", "json", *args)
    return {(row["tenant_id"], row["account"], row["currency"]): (row["balance"], row["balance_minor"])
            for row in json.loads(done.stdout)["balances"]}


def statement(ledger, account, *args):
    return json.loads(ledger.run("ledger", "statement", account, "-o", "json", *args).stdout)["entries"]


def pay(ledger, *payments):
    """(txn, tenant, minor, currency): an order of its own each, paid."""
    for txn, tenant, minor, currency in payments:
        ledger.db.execute("INSERT INTO payment_order (tenant_id, order_no, amount, currency, status)"
                          " VALUES (%s, %s, %s, %s, 'PENDING_PAY')", tenant, f"R-{txn}", minor, currency)
    ledger.publish(*(notification(txn, f"R-{txn}", minor, tenant_id=tenant, currency=currency)
                     for txn, tenant, minor, currency in payments))
    assert ledger.drain() == [0]


def test_balances_are_exact_in_currencies_of_0_2_and_3_decimals(ledger, db):
    assert ledger.run("ledger", "balance").stdout == ""
    pay(ledger, ("T1", 1, 12880, "CNY"), ("T2", 1, 500, "JPY"), ("T3", 2, 1001, "KWD"), ("T4", 2, 9007199254740991, "CNY"))
    assert balances(ledger) == {
        (1, "channel:WECHAT:clearing", "CNY"): ("128.80", 12880), (1, "merchant:1:payable", "CNY"): ("-128.80", -12880),
        (1, "channel:WECHAT:clearing", "JPY"): ("500", 500), (1, "merchant:1:payable", "JPY"): ("-500", -500),
        (2, "channel:WECHAT:clearing", "KWD"): ("1.001", 1001), (2, "merchant:2:payable", "KWD"): ("-1.001", -1001),
        (2, "channel:WECHAT:clearing", "CNY"): ("90071992547409.91", 9007199254740991),
        (2, "merchant:2:payable", "CNY"): ("-90071992547409.91", -9007199254740991)}
    assert {key for key, *_ in balances(ledger, "--tenant", "1")} == {1}
    assert "128.80" in ledger.run("ledger", "balance").stdout


def test_a_past_balance_is_what_was_settled_before_that_time(ledger, db):
    pay(ledger, ("T1", 1, 100, "CNY"))
    noon = db.value("SELECT DATE_FORMAT(MAX(settled_at) + INTERVAL 1 MICROSECOND, '%Y-%m-%dT%H:%i:%s.%fZ')"
                    " FROM outcome")
    first = db.value("SELECT DATE_FORMAT(MIN(settled_at), '%Y-%m-%dT%H:%i:%s.%fZ') FROM outcome")
    before = balances(ledger)
    pay(ledger, ("T2", 1, 50, "CNY"))
    assert balances(ledger, "--as-of", noon) == before
    assert balances(ledger, "--as-of", first) == {}
    assert balances(ledger, "--as-of", "2999-01-01T00:00:00+08:00") == balances(ledger)
    assert ledger.run("ledger", "balance", "--as-of", "yesterday", check=False).returncode == USAGE


def test_a_statement_runs_and_says_what_brought_each_entry(ledger, db):
    pay(ledger, ("T1", 1, 100, "CNY"))
    pay(ledger, ("T2", 1, 250, "CNY"))
    rows = statement(ledger, "merchant:1:payable")
    assert [(row["amount"], row["balance"], row["verdict"], row["order_no"], row["key"]) for row in rows] == [
        ("-1.00", "-1.00", "POSTED", "R-T1", books.key("T1")), ("-2.50", "-3.50", "POSTED", "R-T2", books.key("T2"))]
    assert rows[0]["effective_at"] == "2026-11-11 04:00:00.000000"
    last = statement(ledger, "merchant:1:payable", "--last", "1")
    assert [(row["balance"], row["key"]) for row in last] == [
        ("-1.00", "(brought forward: 1 entries)"), ("-3.50", books.key("T2"))]


def test_an_account_of_several_currencies_asks_which_and_an_unknown_one_is_told(ledger):
    pay(ledger, ("T1", 1, 100, "CNY"), ("T2", 1, 5, "JPY"))
    done = ledger.run("ledger", "statement", "merchant:1:payable", check=False)
    assert done.returncode == FINDINGS and "CNY JPY" in done.stderr
    assert [row["balance"] for row in statement(ledger, "merchant:1:payable", "--currency", "JPY")] == ["-5"]
    for args in (["nothing"], ["merchant:1:payable", "--tenant", "2"], ["merchant:1:payable", "--currency", "USD"]):
        done = ledger.run("ledger", "statement", *args, check=False)
        assert done.returncode == FINDINGS and "has no account" in done.stderr, args
