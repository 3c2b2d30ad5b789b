-- oldest_worker: 1
-- The flood guard asks at every reject when a person last resumed the intake.

ALTER TABLE audit
  ADD KEY audit_what (verb, what, at);
