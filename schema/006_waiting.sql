-- oldest_worker: 1
-- Everything that waits for a person stands in review: besides claims also holds and the stop by the
-- flood guard, by a subject of their own, unique while it is open. Holds belong to a consumer group.
-- How long the intake was paused does not count for what is parked.

ALTER TABLE hold
  ADD COLUMN consumer_group VARCHAR(255) NOT NULL DEFAULT '' FIRST,
  DROP PRIMARY KEY,
  ADD PRIMARY KEY (consumer_group, topic, partition_no, held_offset);

ALTER TABLE review
  DROP CONSTRAINT review_state;

ALTER TABLE review
  MODIFY tenant_id BIGINT NULL,
  MODIFY claim_id BIGINT NULL,
  MODIFY fingerprint BINARY(32) NULL,
  MODIFY first_fingerprint BINARY(32) NULL,
  MODIFY order_no VARCHAR(64) NULL,
  MODIFY source_topic VARCHAR(249) CHARACTER SET ascii COLLATE ascii_bin NULL,
  MODIFY source_partition INT NULL,
  MODIFY source_offset BIGINT NULL,
  ADD COLUMN seen INT UNSIGNED NOT NULL DEFAULT 1,
  ADD COLUMN subject VARCHAR(600) NULL,
  ADD COLUMN closed_at DATETIME(6) NULL,
  ADD CONSTRAINT review_state CHECK (state IN ('OPEN', 'ACCEPTED', 'DISCARDED', 'CLOSED'));

ALTER TABLE review
  ADD COLUMN open_subject VARCHAR(600)
    GENERATED ALWAYS AS (CASE WHEN state = 'OPEN' THEN subject END) STORED,
  ADD UNIQUE KEY review_subject (open_subject),
  ADD KEY review_by_state (state);

CREATE TABLE intake_pause (
  id       BIGINT NOT NULL AUTO_INCREMENT,
  began_at DATETIME(6) NOT NULL,
  ended_at DATETIME(6) NOT NULL,
  PRIMARY KEY (id),
  KEY intake_pause_ended (ended_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
