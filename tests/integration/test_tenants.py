"""tenants: whose a notification is, by payload, header or constant; nobody unknown gets one."""
import json

import books
import pytest
from support.worker import notification

POSTED = ("POSTED", '{"posted":"PAID"}')


def owners(db):
    """{txn: tenant} of what was claimed."""
    return {key.split(":")[1]: tenant for tenant, key in db.rows("SELECT tenant_id, idem_key FROM claim")}


def reasons(db):
    return [letter.reason for letter in books.letters(db)]


def test_a_header_says_whose_it_is_and_the_payload_does_not(ledger, db):
    ledger.configure({"tenants": {"from": "header", "header": "x-tenant"}})
    books.register(db, "R1", tenant=7)
    ledger.publish(notification("T1", "R1"), headers=[("x-tenant", b"7")])
    ledger.publish(notification("T2", "R1"))
    ledger.publish(notification("T3", "R1"), headers=[("x-tenant", b"seven")])
    assert ledger.drain() == [0]
    assert owners(db) == {"T1": 7} and books.outcomes(db, tenant=7) == {books.key("T1"): POSTED}
    assert sorted(reasons(db)) == ["TENANT_MALFORMED", "TENANT_MISSING"]
    assert set(books.balances(db, tenant=7)) == {"channel:WECHAT:clearing", "merchant:7:payable"}


def test_an_unknown_tenant_is_rejected_and_the_known_ones_are_posted(ledger, db):
    ledger.configure({"tenants": {"known": [3, 1]}})
    for tenant in (1, 2, 3):
        books.register(db, "R1", tenant=tenant)
    ledger.publish(*(notification(f"T{tenant}", "R1", tenant_id=tenant) for tenant in (1, 2, 3)))
    assert ledger.drain() == [0]
    assert owners(db) == {"T1": 1, "T3": 3}
    assert reasons(db) == ["TENANT_UNKNOWN"]


def test_the_same_key_of_two_tenants_is_two_events(ledger, db):
    for tenant in (1, 2):
        books.register(db, "R1", tenant=tenant)
    ledger.publish(*(notification("T1", "R1", tenant_id=tenant) for tenant in (1, 2, 1, 2)))
    assert ledger.drain() == [0]
    assert books.outcomes(db, 1) == books.outcomes(db, 2) == {books.key("T1"): POSTED}
    assert books.balances(db, 1)["channel:WECHAT:clearing"] == books.balances(db, 2)["channel:WECHAT:clearing"] == 1000


def test_a_constant_is_everybodys(ledger, db):
    ledger.configure({"tenants": {"from": "constant", "constant": 5}})
    books.register(db, "R1", tenant=5)
    ledger.publish(notification("T1", "R1"))
    assert ledger.drain() == [0]
    assert books.outcomes(db, tenant=5) == {books.key("T1"): POSTED}


def test_check_shows_what_the_configuration_makes_of_a_sample(ledger, tmp_path):
    ledger.configure({"tenants": {"from": "header", "known": [7]}})
    sample = tmp_path / "sample.json"
    sample.write_text(json.dumps(notification("T1", "R1")))
    assert "TENANT_MISSING" in ledger.run("check", "--sample", sample, check=False).stdout
    done = ledger.run("check", "--sample", sample, "--header", "tenant_id=7", "-o", "json", check=False)
    assert done.returncode == 0 and '"tenant_id": 7' in done.stdout


@pytest.mark.parametrize("tenants", [{"from": "nowhere"}, {"known": []}, {"known": [1, 1]}, {"known": [0]},
                                     {"constant": 0}, {"known": "1"}])
def test_a_wrong_section_is_refused_with_its_place(ledger, tenants):
    ledger.configure({"tenants": tenants})
    done = ledger.run("check", check=False)
    assert done.returncode == 78 and "postonce.yaml:" in done.stderr
