-- Each query must return no row, whatever happened to the workers. Run after every integration,
-- fault and bench run.

-- P1: an outcome without its claim
SELECT 'outcome without claim', o.claim_id FROM outcome o LEFT JOIN claim c ON c.id = o.claim_id WHERE c.id IS NULL;
-- P1: entries without the outcome that they were written with
SELECT 'entry without outcome', e.claim_id FROM entry e LEFT JOIN outcome o ON o.claim_id = e.claim_id WHERE o.claim_id IS NULL;
-- P7: entries of an outcome that do not sum to zero per currency
SELECT 'unbalanced', e.claim_id, e.currency, SUM(e.amount) FROM entry e GROUP BY e.claim_id, e.currency HAVING SUM(e.amount) <> 0;
-- P7: only money that was posted has entries
SELECT 'entries of a verdict without money', o.claim_id, o.verdict FROM outcome o JOIN entry e ON e.claim_id = o.claim_id WHERE o.verdict NOT IN ('POSTED', 'SUSPENSE');
-- P7: money that was posted has entries: always in suspense, and where its event has them at all (what is taken back
-- had none, then its reversal has none)
SELECT 'money without entries', m.event_type, m.verdict, MIN(m.claim_id) FROM (SELECT c.event_type, o.verdict, o.claim_id, c.amount, (SELECT COUNT(*) FROM entry e WHERE e.claim_id = o.claim_id) AS line_count FROM outcome o STRAIGHT_JOIN claim c ON c.id = o.claim_id WHERE o.verdict IN ('POSTED', 'SUSPENSE') AND o.reverses IS NULL) m GROUP BY m.event_type, m.verdict HAVING SUM(m.amount > 0 AND m.line_count = 0) > 0 AND (m.verdict = 'SUSPENSE' OR SUM(m.line_count) > 0);
-- P7: an entry in another currency than its account's
SELECT 'currency differs from account', e.claim_id, e.line FROM entry e JOIN account a ON a.id = e.account_id WHERE a.currency <> e.currency;
-- P7: books of one tenant, in the currency of the money that was claimed (unless a person accepted another content)
SELECT 'entry of another tenant or currency', e.claim_id, e.line FROM entry e STRAIGHT_JOIN claim c ON c.id = e.claim_id STRAIGHT_JOIN outcome o ON o.claim_id = e.claim_id STRAIGHT_JOIN account a ON a.id = e.account_id WHERE a.tenant_id <> c.tenant_id OR (o.payload_hash = c.payload_hash AND c.currency <> e.currency);
SELECT 'entry without account', e.claim_id, e.line FROM entry e LEFT JOIN account a ON a.id = e.account_id WHERE a.id IS NULL;
SELECT 'balance without account', b.account_id FROM balance b LEFT JOIN account a ON a.id = b.account_id WHERE a.id IS NULL;
-- P7: balances equal the sum of entries, both ways
SELECT 'balance differs', b.account_id, b.total, COALESCE(s.total, 0) FROM (SELECT account_id, SUM(amount) AS total FROM balance GROUP BY account_id) b LEFT JOIN (SELECT account_id, SUM(amount) AS total FROM entry GROUP BY account_id) s ON s.account_id = b.account_id WHERE b.total <> COALESCE(s.total, 0);
SELECT 'entries without balance', s.account_id FROM (SELECT DISTINCT account_id FROM entry) s LEFT JOIN balance b ON b.account_id = s.account_id WHERE b.account_id IS NULL;
-- P10: an outbox row without its posting, or two of one posting and type
SELECT 'outbox without posting', x.seq FROM outbox x LEFT JOIN outcome o ON o.claim_id = CAST(JSON_UNQUOTE(JSON_EXTRACT(x.payload, '$.claim_id')) AS SIGNED) AND o.verdict IN ('POSTED', 'SUSPENSE') WHERE o.claim_id IS NULL;
SELECT 'outbox row twice', x.id, COUNT(*) FROM outbox x GROUP BY x.id HAVING COUNT(*) > 1;
-- P8: one payment per order, but for those that were taken back
SELECT 'order paid twice', c.tenant_id, c.order_no, COUNT(*) FROM outcome o JOIN claim c ON c.id = o.claim_id LEFT JOIN outcome b ON b.reverses = o.claim_id WHERE b.claim_id IS NULL AND o.verdict = 'POSTED' AND o.result_json = '{"posted":"PAID"}' GROUP BY c.tenant_id, c.order_no HAVING COUNT(*) > 1;
-- P8: an order that a posting paid names that posting's movement
-- (in this order of tables: after a crash MariaDB's statistics are empty, and it would scan claim for each order)
SELECT 'order names another payment', c.order_no FROM outcome o STRAIGHT_JOIN claim c ON c.id = o.claim_id STRAIGHT_JOIN payment_order p ON p.tenant_id = c.tenant_id AND p.order_no = c.order_no LEFT JOIN outcome b ON b.reverses = o.claim_id WHERE b.claim_id IS NULL AND o.verdict = 'POSTED' AND o.result_json = '{"posted":"PAID"}' AND (p.paid_txn IS NULL OR c.idem_key <> CONCAT(p.paid_channel, ':', p.paid_txn, ':', c.event_type));
-- P8: the movement that an order was moved to PAID by has an outcome (a service may insert an order with one of its own,
-- and its refunds move that one, too)
SELECT 'order paid by nothing settled', m.tenant_id, m.movement FROM (SELECT tenant_id, CONCAT(paid_channel, ':', paid_txn) AS movement, 1 AS paid, 0 AS settled FROM payment_order p WHERE status = 'PAID' AND moved_at IS NOT NULL AND paid_txn IS NOT NULL AND NOT EXISTS (SELECT 1 FROM refund r WHERE r.tenant_id = p.tenant_id AND r.order_no = p.order_no) UNION ALL SELECT c.tenant_id, SUBSTRING_INDEX(c.idem_key, ':', 2), 0, 1 FROM outcome o STRAIGHT_JOIN claim c ON c.id = o.claim_id) m GROUP BY m.tenant_id, m.movement HAVING SUM(m.paid) > 0 AND SUM(m.settled) = 0;
-- P8: what an order counts as refunded and reserved is what its refunds say, and never more than was paid
SELECT 'refunds differ', p.tenant_id, p.order_no, p.refunded, p.refund_reserved FROM payment_order p LEFT JOIN (SELECT tenant_id, order_no, SUM(reserved) AS reserved, SUM(IF(claim_id IS NULL, 0, amount)) AS refunded FROM refund GROUP BY tenant_id, order_no) r ON r.tenant_id = p.tenant_id AND r.order_no = p.order_no WHERE p.refunded <> COALESCE(r.refunded, 0) OR p.refund_reserved <> COALESCE(r.reserved, 0);
SELECT 'refunded beyond what was paid', p.tenant_id, p.order_no FROM payment_order p WHERE p.refunded + p.refund_reserved > COALESCE(p.paid_amount, 0) OR p.refunded < 0 OR p.refund_reserved < 0;
SELECT 'refund without order', r.tenant_id, r.refund_no FROM refund r LEFT JOIN payment_order p ON p.tenant_id = r.tenant_id AND p.order_no = r.order_no WHERE p.order_no IS NULL;
-- P8: a refund has succeeded if and only if its posting stands and was not taken back
SELECT 'refund without its posting', r.tenant_id, r.refund_no FROM refund r LEFT JOIN outcome o ON o.claim_id = r.claim_id AND o.verdict = 'POSTED' LEFT JOIN outcome b ON b.reverses = r.claim_id WHERE (r.status = 'SUCCEEDED') <> (o.claim_id IS NOT NULL AND b.claim_id IS NULL) OR b.claim_id IS NOT NULL OR (r.claim_id IS NULL) <> (r.txn IS NULL);
SELECT 'posting without its refund', o.claim_id FROM outcome o LEFT JOIN outcome b ON b.reverses = o.claim_id LEFT JOIN (SELECT DISTINCT claim_id FROM refund WHERE claim_id IS NOT NULL) r ON r.claim_id = o.claim_id WHERE o.result_json = '{"posted":"SUCCEEDED"}' AND b.claim_id IS NULL AND r.claim_id IS NULL;
-- P8: what takes a posting back is its negation, account by account
SELECT 'reversal of nothing', o.claim_id FROM outcome o LEFT JOIN outcome t ON t.claim_id = o.reverses WHERE o.reverses IS NOT NULL AND (t.claim_id IS NULL OR t.verdict NOT IN ('POSTED', 'SUSPENSE') OR t.reverses IS NOT NULL);
SELECT 'reversal is no negation', x.claim_id, x.account_id FROM (SELECT o.claim_id, e.account_id, e.amount FROM outcome o JOIN entry e ON e.claim_id = o.claim_id WHERE o.reverses IS NOT NULL UNION ALL SELECT o.claim_id, e.account_id, e.amount FROM outcome o JOIN entry e ON e.claim_id = o.reverses) x GROUP BY x.claim_id, x.account_id HAVING SUM(x.amount) <> 0;
-- the queue of people: a review item without its claim, or about nothing
SELECT 'review without claim', r.id FROM review r LEFT JOIN claim c ON c.id = r.claim_id WHERE c.id IS NULL AND (r.claim_id IS NOT NULL OR r.subject IS NULL);
-- what waits for its time: a notification without its claim
SELECT 'parked without claim', p.claim_id FROM parked p LEFT JOIN claim c ON c.id = p.claim_id WHERE c.id IS NULL;
