-- oldest_worker: 1
-- What waits and what was stopped: parked notifications, holds, pauses; bodies of letters that were
-- too large; who made a claim (for strict.unfinished).

CREATE TABLE parked (
  claim_id        BIGINT NOT NULL,
  tenant_id       BIGINT NOT NULL,
  order_no        VARCHAR(64) NOT NULL,
  channel         VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  reason          VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  due_at          DATETIME(6) NOT NULL,
  first_parked_at DATETIME(6) NOT NULL,
  waits_since     DATETIME(6) NOT NULL,
  tries           INT UNSIGNED NOT NULL,
  notification    TEXT NOT NULL,
  raw             LONGBLOB NOT NULL,
  PRIMARY KEY (claim_id),
  KEY parked_due (due_at),
  KEY parked_order (tenant_id, order_no)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE pause (
  channel VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  at      DATETIME(6) NOT NULL,
  who     VARCHAR(64) NOT NULL,
  why     VARCHAR(255) NOT NULL,
  PRIMARY KEY (channel)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE hold (
  topic        VARCHAR(249) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  partition_no INT NOT NULL,
  held_offset  BIGINT NOT NULL,
  reason       VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  tries        INT UNSIGNED NOT NULL,
  since        DATETIME(6) NOT NULL,
  last_at      DATETIME(6) NOT NULL,
  decision     VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NULL,
  who          VARCHAR(64) NULL,
  why          VARCHAR(255) NULL,
  PRIMARY KEY (topic, partition_no, held_offset),
  CONSTRAINT hold_decision CHECK (decision IS NULL OR decision IN ('RELEASE', 'SKIP'))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

ALTER TABLE dead_letter ADD COLUMN body LONGBLOB NULL, ADD COLUMN replayed_at DATETIME(6) NULL,
  ADD KEY dead_letter_created (created_at);

ALTER TABLE claim ADD COLUMN made_by BINARY(16) NULL;
