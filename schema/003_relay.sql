-- oldest_worker: 1
-- Publishing the outbox: what is not published is found by an index; rows that their topic does not
-- take, and with them what stands behind them of the same aggregate; who the relays are to Kafka.

ALTER TABLE outbox MODIFY COLUMN aggregateid VARCHAR(255) NOT NULL,
  ADD KEY outbox_unpublished (published_at);

CREATE TABLE outbox_refused (
  seq           BIGINT NOT NULL,
  aggregatetype VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  aggregateid   VARCHAR(255) NOT NULL,
  reason        VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  tries         INT UNSIGNED NOT NULL,
  first_at      DATETIME(6) NOT NULL,
  due_at        DATETIME(6) NOT NULL,
  PRIMARY KEY (seq),
  KEY outbox_refused_aggregate (aggregateid, aggregatetype)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE relay (
  id   TINYINT NOT NULL,
  uuid CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (id),
  CONSTRAINT relay_one CHECK (id = 1)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

INSERT INTO relay (id, uuid) VALUES (1, UUID());
