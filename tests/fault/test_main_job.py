"""The main job under kill -9: what goes in once comes out once, whenever a worker dies."""
import flood

COUNT, EVERY, DISTANCE = 19047, 20, 300  # 20,000 records, 953 of them duplicates
STRIKES = (2000, 5000, 8000, 11000, 14000)
QUICK_GROUP = {"kafka": {"session.timeout.ms": 1500, "heartbeat.interval.ms": 300}, "batch": {"max_records": 100}}


def test_twenty_thousand_notifications_are_posted_once_through_five_kills(postonce, db):
    postonce.configure(QUICK_GROUP)
    postonce.migrate()
    payments = flood.payments(COUNT)
    flood.register(db, payments)
    records = flood.with_duplicates(payments, EVERY, DISTANCE)
    assert len(records) == 20000
    # The same key with another amount, behind the first in its partition.
    changed = dict(payments[4000], amount_minor=1)
    first = records.index(payments[4000])
    records.insert(first + 4 * 1000, changed)
    flood.publish(postonce, records)

    workers = [postonce.start(), postonce.start()]
    seen = []
    for strike in STRIKES:
        flood.wait_for_outcomes(postonce, strike)
        # The older one first; if it has nothing to do just now, as in a rebalance, the other.
        victim = flood.freeze_inside_transaction(db, *workers)
        seen.append(flood.outcomes(db))
        assert seen[-1] < COUNT, "nothing was in flight"
        victim.kill()
        workers.remove(victim)
        workers.append(postonce.start())
    assert seen == sorted(set(seen)), "no progress between the strikes"

    flood.wait_for_outcomes(postonce, COUNT)
    postonce.wait_for_lag(0)
    assert [worker.stop() for worker in workers] == [0, 0]
    flood.assert_posted_once(postonce, payments, reviews=1)
    assert db.rows("SELECT c.idem_key, r.reason, r.amount, c.amount, r.state FROM review r JOIN claim c"
                   " ON c.id = r.claim_id") == [("WECHAT:T004001:PAYMENT_RECEIVED", "PAYLOAD_CONFLICT", 1,
                                                 payments[4000]["amount_minor"], "OPEN")]
    deliveries = db.value("SELECT SUM(deliveries) FROM claim")
    assert deliveries > len(records), "no kill made a record come twice"
