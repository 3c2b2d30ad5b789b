"""What the tests ask of the ledger's tables, and the orders they put there themselves."""
import collections

Claim = collections.namedtuple("Claim", "id deliveries order_no amount payload_hash topic partition offset")
Order = collections.namedtuple("Order", "status paid_channel paid_txn paid_amount")
Review = collections.namedtuple("Review", "reason claim_id first_fingerprint fingerprint body state amount")
Parked = collections.namedtuple("Parked", "key order_no channel reason tries due_at first_parked_at")
Letter = collections.namedtuple("Letter", "reason partition offset attempts")


def key(txn, event="PAYMENT_RECEIVED", channel="WECHAT"):
    return f"{channel}:{txn}:{event}"


def register(db, *numbers, amount=1000, status="PENDING_PAY", tenant=1, paid=None):
    """Orders as a service of its own inserts them. paid: (channel, txn, amount) recorded on them."""
    channel, txn, paid_amount = paid or (None, None, None)
    with db.connect() as connection, connection.cursor() as cursor:
        cursor.executemany("INSERT INTO payment_order (tenant_id, order_no, amount, currency, status, paid_channel,"
                           " paid_txn, paid_amount) VALUES (%s, %s, %s, 'CNY', %s, %s, %s, %s)",
                           [(tenant, number, amount, status, channel, txn, paid_amount) for number in numbers])


def claim(db, idem_key, tenant=1):
    """The Claim of a key, or None."""
    rows = db.rows("SELECT id, deliveries, order_no, amount, payload_hash, source_topic, source_partition,"
                   " source_offset FROM claim WHERE tenant_id = %s AND idem_key = %s", tenant, idem_key)
    return Claim(*rows[0]) if rows else None


def claims(db):
    """All keys, by bytes."""
    return [found for found, in db.rows("SELECT idem_key FROM claim ORDER BY idem_key")]


def outcomes(db, tenant=1):
    """{key: (verdict, result)}"""
    return {found: (verdict, result) for found, verdict, result in db.rows(
        "SELECT c.idem_key, o.verdict, o.result_json FROM outcome o JOIN claim c ON c.id = o.claim_id"
        " WHERE c.tenant_id = %s", tenant)}


def entries(db, idem_key, tenant=1):
    """[(account, amount, currency)] by line."""
    return db.rows("SELECT a.code, e.amount, e.currency FROM entry e JOIN claim c ON c.id = e.claim_id"
                   " JOIN account a ON a.id = e.account_id WHERE c.tenant_id = %s AND c.idem_key = %s"
                   " ORDER BY e.line", tenant, idem_key)


def balances(db, tenant=1):
    """{account: amount}"""
    return {code: int(amount) for code, amount in db.rows(
        "SELECT a.code, SUM(b.amount) FROM balance b JOIN account a ON a.id = b.account_id"
        " WHERE a.tenant_id = %s GROUP BY a.code", tenant)}


def outbox(db):
    """[(type, order)] in order of seq."""
    return db.rows("SELECT type, SUBSTRING(aggregateid, LOCATE(':', aggregateid) + 1) FROM outbox ORDER BY seq")


def order(db, number, tenant=1):
    rows = db.rows("SELECT status, paid_channel, paid_txn, paid_amount FROM payment_order"
                   " WHERE tenant_id = %s AND order_no = %s", tenant, number)
    return Order(*rows[0]) if rows else None


def statuses(db):
    """{status: how many orders}"""
    return dict(db.rows("SELECT status, COUNT(*) FROM payment_order GROUP BY status"))


def reviews(db):
    return [Review(*row) for row in db.rows("SELECT reason, claim_id, first_fingerprint, fingerprint, body, state,"
                                            " amount FROM review ORDER BY id")]


def subjects(db):
    """[(subject, reason, state, seen)] of what waits, or waited, for a person without being one claim's content."""
    return db.rows("SELECT subject, reason, state, seen FROM review WHERE subject IS NOT NULL ORDER BY id")


def letters(db):
    """The rows of dead_letter."""
    return [Letter(*row) for row in db.rows("SELECT reason, source_partition, source_offset, attempts"
                                            " FROM dead_letter ORDER BY source_partition, source_offset")]


def count(db, table):
    return db.value(f"SELECT COUNT(*) FROM {table}")


def parked(db):
    """What waits, as it was parked."""
    return [Parked(*row) for row in db.rows("SELECT c.idem_key, p.order_no, p.channel, p.reason, p.tries, p.due_at,"
                                            " p.first_parked_at FROM parked p JOIN claim c ON c.id = p.claim_id"
                                            " ORDER BY p.first_parked_at, p.claim_id")]


def audit(db, verb):
    """[(who, what, why)] of a verb."""
    return db.rows("SELECT who, what, why FROM audit WHERE verb = %s ORDER BY id", verb)
