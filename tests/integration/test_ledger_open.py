"""postonce ledger open: opening balances, each once, through the same path as a payment."""
import signal

import books
import pytest
from test_ledger import balances, pay

DONE, FINDINGS, CONFIGURATION = 0, 1, 78
HEAD = "account,currency,amount,tenant_id\n"


def open_books(ledger, text, *args, check=DONE):
    path = ledger.directory / "opening.csv"
    path.write_text(text)
    done = ledger.run("ledger", "open", path, *args, check=False)
    assert done.returncode == check, done.stdout + done.stderr
    return done


def minors(ledger):
    return {account: minor for (_, account, _), (_, minor) in balances(ledger, "--tenant", "1").items()}


@pytest.mark.both_databases
def test_an_opening_balance_is_posted_once_and_the_books_balance(ledger, db):
    text = HEAD + "channel:WECHAT:clearing,CNY,100.00,\nmerchant:1:payable,CNY,-30.50,\nbank,KWD,1.005,2\n"
    assert open_books(ledger, text).stdout == "3 opening balances: 3 posted, 0 there already, 0 refused\n"
    assert minors(ledger) == {"channel:WECHAT:clearing": 10000, "equity:opening": -6950, "merchant:1:payable": -3050}
    key = "POSTONCE:opening-channel%3AWECHAT%3Aclearing/CNY:OPENING_BALANCE"
    assert books.outcomes(db)[key] == ("POSTED", '{"posted":"OPENING_BALANCE"}')
    assert books.entries(db, key) == [("channel:WECHAT:clearing", 10000, "CNY"), ("equity:opening", -10000, "CNY")]
    assert "0 posted, 3 there already" in open_books(ledger, text).stdout
    assert books.count(db, "entry") == 6
    pay(ledger, ("T1", 1, 500, "CNY"))
    assert minors(ledger)["channel:WECHAT:clearing"] == 10500
    assert [what.split(" of ")[0] for _, what, _ in books.audit(db, "ledger open")] == ["3 balances"] * 2


def test_another_amount_or_side_is_refused_and_the_other_rows_are_posted(ledger, db):
    open_books(ledger, HEAD + "a,CNY,1.00,\nb,CNY,-1.00,\n")
    done = open_books(ledger, HEAD + "a,CNY,2.00,\nb,CNY,1.00,\nc,CNY,3.00,\na,JPY,5,\n", "--counter", "equity",
                      check=FINDINGS)
    assert "opening.csv:2: account a CNY of tenant 1 has another" in done.stderr and ":3: account b CNY" in done.stderr
    assert done.stdout == "4 opening balances: 2 posted, 0 there already, 2 refused\n"
    assert {code: amount for code, amount in books.balances(db).items() if code != "a"} == {
        "b": -100, "c": 300, "equity": -305, "equity:opening": 0}
    assert books.reviews(db) == []


def test_a_wrong_line_is_named_and_nothing_is_posted(ledger, db):
    assert "opening.csv:3: amount: " in open_books(ledger, HEAD + "a,CNY,1,\nb,CNY,1.001,\n", check=FINDINGS).stderr
    assert [books.count(db, table) for table in ("claim", "entry", "audit")] == [0, 0, 0]


def test_a_file_larger_than_one_transaction_is_posted_whole(ledger, db):
    text = HEAD + "".join(f"merchant:{n}:payable,CNY,-{n}.00,\n" for n in range(1, 451))
    assert "450 posted" in open_books(ledger, text).stdout
    assert books.balances(db)["equity:opening"] == 450 * 451 // 2 * 100


def test_one_that_was_killed_between_claim_and_commit_is_posted_by_the_next_try(ledger, db):
    path = ledger.directory / "opening.csv"
    path.write_text(HEAD + "bank,CNY,5.00,\n")
    done = ledger.run("ledger", "open", path, check=False, failpoints="posting.before_commit=kill@1")
    assert done.returncode == -signal.SIGKILL
    assert [books.count(db, table) for table in ("claim", "outcome", "entry")] == [1, 0, 0]
    assert "1 posted, 0 there already" in open_books(ledger, HEAD + "bank,CNY,5.00,\n").stdout
    assert books.balances(db) == {"bank": 500, "equity:opening": -500}
