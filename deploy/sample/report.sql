-- deploy/demo's table: each record that was sent, and where the ledger keeps what became of it.
SELECT CASE kind
         WHEN 'first' THEN 'a payment, first delivery'
         WHEN 'again' THEN 'the same event, pushed again'
         WHEN 'at_once' THEN 'the same, in two partitions at once'
         WHEN 'recorded' THEN 'payment that a SHIPPED order names'
         WHEN 'unrecorded' THEN 'payment, the SHIPPED order names none'
         WHEN 'changed' THEN 'a known key, another amount'
         WHEN 'garbage' THEN 'garbage'
       END AS `what came in`, COUNT(*) AS records, verdict AS became, proof AS `what is kept`
FROM (
  SELECT s.kind,
         CASE WHEN o.claim_id IS NOT NULL THEN o.verdict
              WHEN r.reason = 'PAYLOAD_CONFLICT' THEN 'CONFLICT'
              WHEN d.letter_id IS NOT NULL THEN 'REJECTED'
              -- nothing is written for one of these: the worker says so, and its key has an outcome
              WHEN said.verdict = 'DUPLICATE' AND first.claim_id IS NOT NULL THEN 'DUPLICATE'
              ELSE 'NOT SETTLED' END AS verdict,
         CONCAT_WS(', ',
           CONCAT('outcome ', o.result_json),
           (SELECT CONCAT(COUNT(*), ' entries') FROM entry e WHERE e.claim_id = o.claim_id HAVING COUNT(*) > 0),
           CONCAT('review ', r.reason),
           CONCAT('dead letter ', d.reason),
           IF(o.claim_id IS NULL AND r.id IS NULL, CONCAT('nothing new: the first one is ', first.result_json), NULL)) AS proof
    FROM demo.sent s
    LEFT JOIN demo.said ON said.p = s.p AND said.o = s.o
    LEFT JOIN outcome o ON o.source_topic = 'callbacks' AND o.source_partition = s.p AND o.source_offset = s.o
    LEFT JOIN review r ON r.source_topic = 'callbacks' AND r.source_partition = s.p AND r.source_offset = s.o
    LEFT JOIN dead_letter d ON d.source_topic = 'callbacks' AND d.source_partition = s.p AND d.source_offset = s.o
    LEFT JOIN claim c ON c.tenant_id = 1 AND c.idem_key = said.idem_key
    LEFT JOIN outcome first ON first.claim_id = c.id
) settled
GROUP BY kind, verdict, proof
ORDER BY FIELD(kind, 'first', 'again', 'at_once', 'recorded', 'unrecorded', 'changed', 'garbage'), verdict DESC, proof;
