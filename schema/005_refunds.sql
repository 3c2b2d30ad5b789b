-- oldest_worker: 1
-- Refunds, registered before the channel is asked or by their notices; what an order was before its
-- first refund; which payment a parked refund awaits when it does not know its order.

CREATE TABLE refund (
  tenant_id  BIGINT NOT NULL,
  refund_no  VARCHAR(191) NOT NULL,
  order_no   VARCHAR(64) NOT NULL,
  amount     BIGINT NOT NULL,
  currency   CHAR(3) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  status     VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  reserved   BIGINT NOT NULL,
  channel    VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL,
  txn        VARCHAR(191) CHARACTER SET ascii COLLATE ascii_bin NULL,
  claim_id   BIGINT NULL,
  origin     VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  created_at DATETIME(6) NOT NULL,
  moved_at   DATETIME(6) NULL,
  PRIMARY KEY (tenant_id, refund_no),
  KEY refund_order (tenant_id, order_no),
  CONSTRAINT refund_amount CHECK (amount > 0),
  CONSTRAINT refund_reserved CHECK (reserved = 0 OR reserved = amount),
  CONSTRAINT refund_status CHECK (status <> ''),
  CONSTRAINT refund_origin CHECK (origin IN ('REGISTERED', 'NOTICE'))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

ALTER TABLE payment_order
  ADD COLUMN status_before_refund VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL;

ALTER TABLE parked
  ADD COLUMN awaits VARCHAR(191) CHARACTER SET ascii COLLATE ascii_bin NULL,
  ADD KEY parked_awaits (tenant_id, awaits);
