-- oldest_worker: 1
-- When the posting of a parked notification began, for strict.unfinished: whoever takes the row
-- after a crash must know that it may have had effects.

ALTER TABLE parked ADD COLUMN begun_at DATETIME(6) NULL;
