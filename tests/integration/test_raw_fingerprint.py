"""`fingerprint: raw`: equal bytes are a duplicate, other bytes a conflict, and a change of mind is neither."""
import json

import books
import pytest
from support.worker import notification

DONE = 0
KEY = books.key("T1")
POSTED = ("POSTED", '{"posted":"PAID"}')


@pytest.fixture
def switch(ledger, tmp_path):
    """Makes the channel's fingerprint raw or normalised for every worker from now on."""
    def switch(word):
        profile = tmp_path / f"{word}.yaml"
        profile.write_text(f"channel: WECHAT\nbody: envelope\nfingerprint: {word}\nverify: {{ op: none }}\n")
        ledger.configure({"channels": [str(profile)], "park": {"delays": ["5m"]}})
    return switch


def spaced(whole):
    """Other bytes that say the same."""
    return json.dumps(whole, indent=1).encode()


def versions(db, table):
    return db.rows(f"SELECT hash_version FROM {table}")


def verdicts(ledger):
    return [verdict for verdict in ("DUPLICATE", "CONFLICT") if f"verdict={verdict}" in ledger.workers[-1].log_text()]


def test_raw_folds_equal_bytes_and_keeps_others_for_a_person_whatever_they_say(ledger, db, switch):
    switch("raw")
    books.register(db, "R1")
    first = notification("T1", "R1")
    ledger.publish(first, first, partition=0)
    assert ledger.drain() == [DONE]
    ledger.publish(first, partition=1)
    assert ledger.drain() == [DONE]
    assert books.outcomes(db) == {KEY: POSTED} and books.reviews(db) == []
    assert versions(db, "claim") == versions(db, "outcome") == [(2,)]
    ledger.publish(spaced(first))
    assert ledger.drain() == [DONE]
    review, = books.reviews(db)
    assert (review.reason, bytes(review.body)) == ("PAYLOAD_CONFLICT", spaced(first))
    assert books.claim(db, KEY).deliveries == 4 and len(books.entries(db, KEY)) == 2


@pytest.mark.parametrize("before, after", [("normalised", "raw"), ("raw", "normalised")])
def test_a_profile_that_changes_its_mind_between_deliveries_makes_no_conflict(ledger, db, switch, before, after):
    books.register(db, "R1")
    first = notification("T1", "R1")
    for word in (before, after, before):
        switch(word)
        ledger.publish(first)
        assert ledger.drain() == [DONE]
    assert books.outcomes(db) == {KEY: POSTED} and books.reviews(db) == []
    assert books.claim(db, KEY).deliveries == 3
    assert verdicts(ledger) == ["DUPLICATE"]


@pytest.mark.parametrize("before, after", [("normalised", "raw"), ("raw", "normalised")])
def test_another_amount_is_a_conflict_across_a_change_of_mind(ledger, db, switch, before, after):
    books.register(db, "R1")
    switch(before)
    ledger.publish(notification("T1", "R1"))
    assert ledger.drain() == [DONE]
    switch(after)
    ledger.publish(notification("T1", "R1", amount_minor=1))
    assert ledger.drain() == [DONE]
    assert [(review.reason, review.amount) for review in books.reviews(db)] == [("PAYLOAD_CONFLICT", 1)]
    assert books.outcomes(db) == {KEY: POSTED} and verdicts(ledger) == ["CONFLICT"]


@pytest.mark.parametrize("before, after, version", [("raw", "raw", 2), ("raw", "normalised", 2),
                                                    ("normalised", "raw", 1)])
def test_what_was_parked_is_settled_by_the_fingerprint_that_it_was_claimed_by(ledger, db, switch, before, after,
                                                                             version):
    switch(before)
    first = notification("T1", "R1")
    ledger.publish(first)
    assert ledger.drain() == [DONE]
    assert books.count(db, "parked") == 1
    switch(after)
    ledger.publish(first)  # a push again while it waits
    assert ledger.drain() == [DONE]
    ledger.run("order", "register", "R1", "--amount", "10.00")
    worker = ledger.start()
    ledger.wait_for(lambda: KEY in books.outcomes(db), "it is posted")
    assert worker.stop() == DONE
    assert books.outcomes(db) == {KEY: POSTED} and books.reviews(db) == [] and books.count(db, "parked") == 0
    assert versions(db, "claim") == versions(db, "outcome") == [(version,)]


def test_the_outcome_of_an_unfinished_claim_keeps_the_claims_fingerprint(ledger, db, switch):
    """Else what the claim was made by would meet the digest of the copy that settled it, and be a conflict."""
    switch("normalised")
    first = notification("T1", "R1")
    ledger.publish(first)
    assert ledger.drain() == [DONE]
    switch("raw")
    books.register(db, "R1")
    ledger.publish(spaced(first))
    assert ledger.drain() == [DONE]
    ledger.publish(first)
    assert ledger.drain() == [DONE]
    assert books.outcomes(db) == {KEY: POSTED} and books.reviews(db) == []
    assert versions(db, "outcome") == [(1,)]


def test_a_sample_shows_the_version(ledger, switch, tmp_path):
    sample = tmp_path / "sample.json"
    sample.write_text(json.dumps(notification("T1", "R1")))
    for word, version in (("normalised", 1), ("raw", 2)):
        switch(word)
        done = ledger.run("check", "-o", "json", "--sample", sample, "--channel", "WECHAT")
        row, = json.loads(done.stdout)["notifications"]
        assert row["fingerprint_version"] == version
