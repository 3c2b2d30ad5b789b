"""postonce ledger export: hledger takes the books and comes to the same balances."""
import collections
import csv
import decimal
import io
import subprocess

import books
import pytest
from support.worker import notification
from test_ledger import balances, pay


def hledger(path, *args):
    done = subprocess.run(["hledger", "-f", str(path), *args], capture_output=True, text=True, timeout=60,
                          env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"})
    assert done.returncode == 0, done.stderr
    return done.stdout


def export(ledger, *args):
    path = ledger.directory / "books.journal"
    path.write_text(ledger.run("ledger", "export", *args).stdout)
    hledger(path, "check", "--strict")
    return path


def sums(path, *query):
    """{(account, currency): Decimal} as hledger sees it."""
    text = hledger(path, "balance", *query, "--flat", "--empty", "--no-total", "--layout=bare", "-O", "csv")
    return {(row["account"], row["commodity"]): decimal.Decimal(row["balance"])
            for row in csv.DictReader(io.StringIO(text))}


def ours(ledger, *args, prefix=False):
    return {(f"tenant:{tenant}:{account}" if prefix else account, currency): decimal.Decimal(amount)
            for (tenant, account, currency), (amount, _) in balances(ledger, *args).items()}


AWKWARD = ['R;1', 'R  2 ', '(R3)', 'R"4", 5', 'R|6 = @ 7', '单-8', '; key:x', "R%3B9"]


@pytest.mark.both_databases
def test_hledger_comes_to_the_same_balances_account_by_account(ledger, db):
    ledger.configure({"events": {"PAYMENT_RECEIVED": {"post": [
        {"debit": "channel:{channel}: clearing; (x)  {currency}", "credit": "merchant:{tenant}:payable",
         "amount": "amount"}]}}})
    pay(ledger, *((f"T{n}", n % 3 + 1, n * 37 + 1, ("CNY", "JPY", "KWD")[n % 7 % 3]) for n in range(60)))
    def encoded(found):
        return {(name.replace(": clearing; (x)  ", ":%20clearing%3B%20%28x%29%20%20"), currency): amount
                for (name, currency), amount in found.items()}

    for tenant in (1, 2, 3):
        assert sums(export(ledger, "--tenant", tenant)) == encoded(ours(ledger, "--tenant", tenant))
    everything = sums(export(ledger))
    assert everything == encoded(ours(ledger, prefix=True))
    assert len(everything) == 18 and sum(everything.values()) == 0


def test_whatever_an_order_is_called_stays_in_its_place(ledger, db):
    names = [name.strip() for name in AWKWARD]
    books.register(db, *names)
    ledger.publish(*(notification(f"T{n}", name) for n, name in enumerate(names)))
    assert ledger.drain() == [0]
    path = export(ledger, "--tenant", "1")
    assert sums(path) == ours(ledger, "--tenant", "1")
    keys = [line for line in hledger(path, "tags", "key", "--values").splitlines()]
    assert sorted(keys) == sorted(books.key(f"T{n}") for n in range(len(names)))
    assert hledger(path, "register", "date:2026-11-11", "-O", "csv").count("PAYMENT_RECEIVED") == 2 * len(names)


def test_csv_has_every_entry_as_it_is(ledger, db):
    pay(ledger, ("T1", 1, 12880, "CNY"), ("T2", 2, 5, "JPY"))
    text = ledger.run("ledger", "export", "--format", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [(row["tenant_id"], row["account"], row["amount"], row["amount_minor"], row["key"]) for row in rows] == [
        ("1", "channel:WECHAT:clearing", "128.80", "12880", books.key("T1")),
        ("1", "merchant:1:payable", "-128.80", "-12880", books.key("T1")),
        ("2", "channel:WECHAT:clearing", "5", "5", books.key("T2")),
        ("2", "merchant:2:payable", "-5", "-5", books.key("T2"))]
    assert collections.Counter(row["effective_at"] for row in rows) == {"2026-11-11 04:00:00.000000": 4}


def test_an_empty_ledger_is_an_empty_journal(ledger):
    assert sums(export(ledger)) == {}
