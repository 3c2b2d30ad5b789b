/* Pauses: read whole, set and cleared with their audit, and what a resume makes due. */
#include "fake_db.h"

#include "ledger/pause.h"

static struct db *db;
static struct sql sql;
static struct po_error error;
static struct pauses pauses;

static void read_them(void)
{
        memset(&pauses, 0x5a, sizeof pauses);
        ck_assert_int_eq(pauses_read(db, &sql, &pauses, &error), PO_OK);
}

START_TEST(without_a_row_nothing_is_paused)
{
        db = fake_db_open();
        read_them();
        fake_saw("SELECT channel FROM pause ORDER BY channel LIMIT 65");
        ck_assert(!pauses.all);
        ck_assert_uint_eq(pauses.count, 0);
        ck_assert(!pauses_have(&pauses, "SQB"));
        ck_assert(!pauses_have(&pauses, ""));
}
END_TEST

START_TEST(each_row_pauses_its_channel_and_no_other)
{
        db = fake_db_open();
        fake_rows("FROM pause");
        fake_row("SQB");
        fake_row("WECHAT");
        read_them();
        ck_assert(!pauses.all);
        ck_assert(pauses_have(&pauses, "SQB") && pauses_have(&pauses, "WECHAT"));
        ck_assert(!pauses_have(&pauses, "WECHA") && !pauses_have(&pauses, "SQB2"));
}
END_TEST

START_TEST(the_empty_label_is_the_whole_intake)
{
        db = fake_db_open();
        fake_rows("FROM pause");
        fake_row("");
        fake_row("SQB");
        read_them();
        ck_assert(pauses.all);
        ck_assert_uint_eq(pauses.count, 1);
}
END_TEST

START_TEST(what_cannot_be_read_changes_nothing)
{
        db = fake_db_open();
        pauses = (struct pauses){ .all = true, .count = 1, .channels = { "SQB" } };
        fake_fail("FROM pause", PO_TRANSIENT, 2013);
        ck_assert_int_eq(pauses_read(db, &sql, &pauses, &error), PO_TRANSIENT);
        ck_assert(pauses.all && pauses_have(&pauses, "SQB"));
}
END_TEST

START_TEST(a_pause_is_audited_in_the_same_transaction_and_again_is_nothing)
{
        db = fake_db_open();
        ck_assert_int_eq(pause_set(db, &sql, "SQB", "ann", "wrong amounts", &error), PO_OK);
        fake_saw("BEGIN",
                 "INSERT INTO pause (channel, at, who, why) VALUES ('SQB',UTC_TIMESTAMP(6),"
                 "LEFT('ann',64),LEFT('wrong amounts',255))"
                 " ON DUPLICATE KEY UPDATE pause.channel = pause.channel",
                 "INSERT INTO audit (at, who, verb, what, why) VALUES (UTC_TIMESTAMP(6), 'ann',"
                 "'pause','SQB','wrong amounts')",
                 "COMMIT");
        ck_assert_int_eq(pause_set(db, &sql, PAUSE_ALL, "ann", "move", &error), PO_OK);
        unit_assert_in(fake_statement("INSERT INTO audit"), "'pause','intake','move'");
        unit_assert_in(fake_statement("INSERT INTO pause"), "VALUES ('',");
}
END_TEST

START_TEST(a_resume_of_a_channel_makes_due_what_waited_for_it)
{
        db = fake_db_open();
        fake_rows("FROM parked");
        fake_row("7");
        ck_assert_int_eq(pause_clear(db, &sql, "SQB", "ann", "mended", &error), PO_OK);
        fake_saw("BEGIN", "DELETE FROM pause WHERE channel = 'SQB'",
                 "INSERT INTO audit (at, who, verb, what, why) VALUES (UTC_TIMESTAMP(6), 'ann',"
                 "'resume','SQB','mended')",
                 "COMMIT", "SELECT COALESCE(MAX(claim_id), 0) FROM (SELECT claim_id FROM parked",
                 "UPDATE parked FORCE INDEX (PRIMARY) SET reason = 'RESUMED'",
                 "SELECT COALESCE(MAX(claim_id), 0) FROM (SELECT claim_id FROM parked");
        unit_assert_in(fake_statement("UPDATE parked"), "AND channel = 'SQB'");
        ck_assert(!fake_was_in_transaction("UPDATE parked"));
}
END_TEST

START_TEST(a_resume_of_the_intake_leaves_paused_channels_paused)
{
        db = fake_db_open();
        ck_assert_int_eq(pause_clear(db, &sql, PAUSE_ALL, "ann", "moved", &error), PO_OK);
        fake_saw("BEGIN",
                 "INSERT INTO intake_pause (began_at, ended_at) SELECT at, UTC_TIMESTAMP(6) FROM"
                 " pause WHERE channel = ''",
                 "UPDATE review SET state = 'CLOSED'", "DELETE FROM pause WHERE channel = ''",
                 "INSERT INTO audit", "COMMIT");
        unit_assert_in(fake_statement("INSERT INTO audit"), "'resume','intake','moved'");
}
END_TEST

START_TEST(whatever_fails_leaves_nothing_behind)
{
        static const char *const steps[] = { "INSERT INTO pause", "DELETE FROM pause",
                                             "INSERT INTO audit" };
        for (size_t i = 0; i < 3; i++) {
                db = fake_db_open();
                fake_fail(steps[i], PO_TRANSIENT, 1205);
                enum po_class kind = i == 0 ? pause_set(db, &sql, "SQB", "ann", "x", &error)
                                            : pause_clear(db, &sql, "SQB", "ann", "x", &error);
                ck_assert_int_eq(kind, PO_TRANSIENT);
                ck_assert_uint_eq(fake_count("COMMIT"), 0);
                ck_assert_uint_eq(fake_count("ROLLBACK"), 1);
        }
}
END_TEST

UNIT_MAIN("pause", without_a_row_nothing_is_paused, each_row_pauses_its_channel_and_no_other,
          the_empty_label_is_the_whole_intake, what_cannot_be_read_changes_nothing,
          a_pause_is_audited_in_the_same_transaction_and_again_is_nothing,
          a_resume_of_a_channel_makes_due_what_waited_for_it,
          a_resume_of_the_intake_leaves_paused_channels_paused,
          whatever_fails_leaves_nothing_behind)
