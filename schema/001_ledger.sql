-- oldest_worker: 1
-- The tables of the main job. What each key is for stands in schema/README.md.
-- Times are UTC by the database's clock. Text that identifies is compared by bytes.

CREATE TABLE claim (
  id               BIGINT NOT NULL AUTO_INCREMENT,
  tenant_id        BIGINT NOT NULL,
  idem_key         VARCHAR(191) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  channel          VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  event_type       VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  order_no         VARCHAR(64) NOT NULL,
  amount           BIGINT NULL,
  currency         CHAR(3) CHARACTER SET ascii COLLATE ascii_bin NULL,
  payload_hash     BINARY(32) NOT NULL,
  hash_version     TINYINT UNSIGNED NOT NULL,
  source_topic     VARCHAR(249) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  source_partition INT NOT NULL,
  source_offset    BIGINT NOT NULL,
  deliveries       INT UNSIGNED NOT NULL,
  created_at       DATETIME(6) NOT NULL,
  last_seen_at     DATETIME(6) NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY uk_idem (tenant_id, idem_key)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE outcome (
  claim_id         BIGINT NOT NULL,
  verdict          VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  result_json      VARCHAR(255) NOT NULL,
  payload_hash     BINARY(32) NOT NULL,
  hash_version     TINYINT UNSIGNED NOT NULL,
  source_topic     VARCHAR(249) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  source_partition INT NOT NULL,
  source_offset    BIGINT NOT NULL,
  turn             INT UNSIGNED NOT NULL,
  effective_at     DATETIME(6) NULL,
  settled_at       DATETIME(6) NOT NULL,
  reverses         BIGINT NULL,
  PRIMARY KEY (claim_id),
  UNIQUE KEY uk_reverses (reverses),
  CONSTRAINT outcome_verdict CHECK (verdict IN ('POSTED', 'SKIPPED', 'SUSPENSE', 'DISCARDED'))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE account (
  id         BIGINT NOT NULL AUTO_INCREMENT,
  tenant_id  BIGINT NOT NULL,
  code       VARCHAR(128) NOT NULL,
  currency   CHAR(3) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  created_at DATETIME(6) NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY uk_account (tenant_id, code, currency)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE entry (
  claim_id   BIGINT NOT NULL,
  line       SMALLINT UNSIGNED NOT NULL,
  account_id BIGINT NOT NULL,
  amount     BIGINT NOT NULL,
  currency   CHAR(3) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (claim_id, line)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE balance (
  account_id BIGINT NOT NULL,
  slot       SMALLINT UNSIGNED NOT NULL DEFAULT 0,
  amount     BIGINT NOT NULL,
  PRIMARY KEY (account_id, slot)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE payment_order (
  tenant_id       BIGINT NOT NULL,
  order_no        VARCHAR(64) NOT NULL,
  amount          BIGINT NOT NULL,
  currency        CHAR(3) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  status          VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  paid_channel    VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL,
  paid_txn        VARCHAR(191) CHARACTER SET ascii COLLATE ascii_bin NULL,
  paid_amount     BIGINT NULL,
  refunded        BIGINT NOT NULL DEFAULT 0,
  refund_reserved BIGINT NOT NULL DEFAULT 0,
  created_at      DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
  moved_at        DATETIME(6) NULL,
  PRIMARY KEY (tenant_id, order_no),
  CONSTRAINT payment_order_amount CHECK (amount > 0),
  CONSTRAINT payment_order_status CHECK (status <> '')
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE outbox (
  seq           BIGINT NOT NULL AUTO_INCREMENT,
  id            CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  aggregatetype VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  aggregateid   VARCHAR(191) NOT NULL,
  type          VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  payload       TEXT NOT NULL,
  headers       TEXT NULL,
  created_at    DATETIME(6) NOT NULL,
  published_at  DATETIME(6) NULL,
  PRIMARY KEY (seq)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE review (
  id                BIGINT NOT NULL AUTO_INCREMENT,
  tenant_id         BIGINT NOT NULL,
  claim_id          BIGINT NOT NULL,
  reason            VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  fingerprint       BINARY(32) NOT NULL,
  first_fingerprint BINARY(32) NOT NULL,
  order_no          VARCHAR(64) NOT NULL,
  amount            BIGINT NULL,
  currency          CHAR(3) CHARACTER SET ascii COLLATE ascii_bin NULL,
  source_topic      VARCHAR(249) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  source_partition  INT NOT NULL,
  source_offset     BIGINT NOT NULL,
  body              LONGBLOB NULL,
  state             VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  created_at        DATETIME(6) NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY uk_review (claim_id, reason, fingerprint),
  CONSTRAINT review_state CHECK (state IN ('OPEN', 'ACCEPTED', 'DISCARDED'))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE failure (
  letter_id        CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  source_topic     VARCHAR(249) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  source_partition INT NOT NULL,
  source_offset    BIGINT NOT NULL,
  attempts         INT UNSIGNED NOT NULL,
  reason           VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  first_at         DATETIME(6) NOT NULL,
  last_at          DATETIME(6) NOT NULL,
  PRIMARY KEY (letter_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE dead_letter (
  letter_id        CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  reason           VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  source_topic     VARCHAR(249) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  source_partition INT NOT NULL,
  source_offset    BIGINT NOT NULL,
  letter_topic     VARCHAR(249) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  letter_partition INT NOT NULL,
  letter_offset    BIGINT NOT NULL,
  attempts         INT UNSIGNED NOT NULL,
  created_at       DATETIME(6) NOT NULL,
  PRIMARY KEY (letter_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE audit (
  id      BIGINT NOT NULL AUTO_INCREMENT,
  at      DATETIME(6) NOT NULL,
  who     VARCHAR(64) NOT NULL,
  verb    VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  what    VARCHAR(255) NOT NULL,
  why     VARCHAR(255) NOT NULL,
  PRIMARY KEY (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE VIEW notify_claim AS
  SELECT c.idem_key AS biz_key, c.order_no, c.payload_hash,
         CASE WHEN o.claim_id IS NULL THEN 'CLAIMED' ELSE 'DONE' END AS claim_state,
         o.result_json, c.created_at
    FROM claim c LEFT JOIN outcome o ON o.claim_id = c.id;
