"""The outbox's rows: what they say, to whom, and under which id."""
import json
import uuid

import jsonschema
import pytest

from support.config import ROOT
from support.worker import notification
import books

NAMESPACE = uuid.UUID("5b0e5a0a-2d1c-4d5e-9d3a-6f41700c9e51")
RULES = {
    "ORDER_SHIPPED": {"order": {"from": ["PAID"], "to": "SHIPPED"}, "outbox": "ORDER_SHIPPED"},
    "FEE_CHARGED": {"post": [{"debit": "fees", "credit": "channel:{channel}:clearing", "amount": "amount"}],
                    "outbox": "FEE_CHARGED"},
}


def validator():
    schema = json.loads((ROOT / "schema/outbox.schema.json").read_text())
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema)


@pytest.mark.both_databases
def test_real_rows_are_as_the_schema_says(ledger, db):
    ledger.configure({"events": RULES})
    books.register(db, 'R"1\\é', "R2")
    books.register(db, "R2", tenant=2)
    without_money = {"amount_minor": None, "currency": None}
    ledger.publish(notification("T1", 'R"1\\é'), notification("T2", "R2", occurred_at=None),
                   notification("T3", "R2", tenant_id=2, parent="P1", refund_no="F1"),
                   notification("T4", 'R"1\\é', event="ORDER_SHIPPED", **without_money),
                   notification("T/5", None, 15, event="FEE_CHARGED"), partition=0)
    assert ledger.drain() == [0]
    rows = db.rows("SELECT id, aggregatetype, aggregateid, type, payload FROM outbox ORDER BY seq")
    check, found = validator(), []
    for identity, kind, aggregate, word, text in rows:
        payload = json.loads(text)
        check.validate(payload)
        assert set(payload) <= set(check.schema["properties"])
        assert (kind, word) == ("order", payload["type"])
        assert identity == str(uuid.uuid5(NAMESPACE, f"{payload['claim_id']}:0"))
        found.append((aggregate, word, payload.get("order_no"), payload.get("status"), payload.get("amount_minor")))
    assert found == [('1:R"1\\é', "ORDER_PAID", 'R"1\\é', "PAID", 1000), ("1:R2", "ORDER_PAID", "R2", "PAID", 1000),
                     ("2:R2", "ORDER_PAID", "R2", "PAID", 1000),
                     ('1:R"1\\é', "ORDER_SHIPPED", 'R"1\\é', "SHIPPED", None),
                     ("1:WECHAT:T%2F5", "FEE_CHARGED", None, None, 15)]
    payloads = [json.loads(row[4]) for row in rows]
    assert [payload.get("occurred_at") for payload in payloads[:3]] \
        == ["2026-11-11T04:00:00.000000Z", None, "2026-11-11T04:00:00.000000Z"]
    assert [payload.get("refund_no") for payload in payloads] == [None, None, "F1", None, None]


def test_a_posting_that_is_rolled_back_and_tried_again_tells_under_the_same_id(ledger, db):
    """The id is of the claim, which stands; so it is known before the row is there."""
    books.register(db, "R1")
    ledger.publish(notification("T1", "R1"))
    worker = ledger.start(failpoints="posting.before_commit=kill@1")
    assert worker.wait() == -9 and books.count(db, "outbox") == 0
    expected = str(uuid.uuid5(NAMESPACE, f"{books.claim(db, books.key('T1')).id}:0"))
    assert ledger.drain() == [0]
    assert db.rows("SELECT id FROM outbox") == [(expected,)]
