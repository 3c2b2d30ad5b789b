/* DISCARDED: an outcome without entries through the fence, audited, or nothing at all. */
#include "fake_db.h"

#include "ledger/discard.h"

static struct db *db;
static struct sql sql;
static struct po_error error;

#define OUTCOME                                                                                    \
        "INSERT INTO outcome (claim_id, verdict, result_json, payload_hash, hash_version,"         \
        " source_topic, source_partition, source_offset, turn, settled_at)"                        \
        " SELECT id, 'DISCARDED', '{\"discarded\":true}', payload_hash, hash_version,"             \
        " source_topic, source_partition, source_offset, 0, UTC_TIMESTAMP(6)"                      \
        " FROM claim WHERE id = 7"

static enum po_class discard(void)
{
        return claim_discard(db, &sql, 7, "SQB:T1:X", "park discard", "ann", "a test", &error);
}

START_TEST(the_outcome_the_row_and_the_audit_are_one_transaction)
{
        db = fake_db_open();
        ck_assert_int_eq(discard(), PO_OK);
        fake_saw("BEGIN", OUTCOME, "DELETE FROM parked WHERE claim_id = 7",
                 "UPDATE review SET state = 'CLOSED'",
                 "INSERT INTO audit (at, who, verb, what, why) VALUES (UTC_TIMESTAMP(6), 'ann',"
                 "'park discard','SQB:T1:X','a test')",
                 "COMMIT");
        unit_assert_not_in(fake_statement("INSERT INTO outcome"), "FOR UPDATE");
}
END_TEST

START_TEST(what_is_settled_stays_as_it_is)
{
        db = fake_db_open();
        fake_fail("INSERT INTO outcome", PO_EXISTS, 1062);
        ck_assert_int_eq(discard(), PO_RECORD);
        ck_assert_str_eq(error.reason, "SETTLED_ALREADY");
        fake_saw("BEGIN", "INSERT INTO outcome", "ROLLBACK");
}
END_TEST

START_TEST(what_is_not_parked_is_not_discarded)
{
        db = fake_db_open();
        fake_affect("DELETE FROM parked", 0);
        ck_assert_int_eq(discard(), PO_RECORD);
        ck_assert_str_eq(error.reason, "NOT_PARKED");
        fake_saw("BEGIN", "INSERT INTO outcome", "DELETE", "ROLLBACK");
}
END_TEST

START_TEST(a_claim_that_is_not_there_is_a_bug)
{
        db = fake_db_open();
        fake_affect("INSERT INTO outcome", 0);
        ck_assert_int_eq(discard(), PO_BUG);
        ck_assert_uint_eq(fake_count("COMMIT"), 0);
}
END_TEST

START_TEST(whatever_fails_leaves_nothing_behind)
{
        static const char *const steps[] = { "INSERT INTO outcome", "DELETE", "INSERT INTO audit" };
        for (size_t i = 0; i < 3; i++) {
                db = fake_db_open();
                fake_fail(steps[i], PO_TRANSIENT, 1205);
                ck_assert_int_eq(discard(), PO_TRANSIENT);
                ck_assert_uint_eq(fake_count("COMMIT"), 0);
                ck_assert_uint_eq(fake_count("ROLLBACK"), 1);
        }
        db = fake_db_open();
        fake_fail("COMMIT", PO_UNCERTAIN, 2013);
        ck_assert_int_eq(discard(), PO_UNCERTAIN);
        ck_assert(!db_is_in_transaction(db));
}
END_TEST

START_TEST(the_outcome_alone_is_its_own_commit)
{
        db = fake_db_open();
        ck_assert_int_eq(claim_settle_discarded(db, &sql, 7, "SQB:T1:X", &error), PO_OK);
        fake_saw(OUTCOME);
        fake_fail("INSERT INTO outcome", PO_EXISTS, 1062);
        ck_assert_int_eq(claim_settle_discarded(db, &sql, 7, "SQB:T1:X", &error), PO_RECORD);
        ck_assert_str_eq(error.reason, "SETTLED_ALREADY");
}
END_TEST

START_TEST(a_claim_is_found_by_tenant_and_key)
{
        int64_t claim_id = 5;
        bool found = true;
        db = fake_db_open();
        ck_assert_int_eq(claim_find(db, &sql, 2, "SQB:it's:X", &claim_id, &found, &error), PO_OK);
        ck_assert(!found);
        fake_saw("SELECT id FROM claim WHERE tenant_id = 2 AND idem_key = 'SQB:it\\'s:X'");

        fake_rows("FROM claim");
        fake_row("7");
        ck_assert_int_eq(claim_find(db, &sql, 2, "SQB:T1:X", &claim_id, &found, &error), PO_OK);
        ck_assert(found);
        ck_assert_int_eq(claim_id, 7);

        fake_fail("FROM claim", PO_TRANSIENT, 2013);
        ck_assert_int_eq(claim_find(db, &sql, 2, "SQB:T1:X", &claim_id, &found, &error),
                         PO_TRANSIENT);
}
END_TEST

UNIT_MAIN("discard", the_outcome_the_row_and_the_audit_are_one_transaction,
          what_is_settled_stays_as_it_is, what_is_not_parked_is_not_discarded,
          a_claim_that_is_not_there_is_a_bug, whatever_fails_leaves_nothing_behind,
          the_outcome_alone_is_its_own_commit, a_claim_is_found_by_tenant_and_key)
