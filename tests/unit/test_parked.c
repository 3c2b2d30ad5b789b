/* Parked rows: how they come, are leased, wait on and go. The servers' part is in integration. */
#include "fake_db.h"
#include "posting_fixture.h"

#include "base/record_pack.h"
#include "ledger/parked.h"

#define LEASE "2026-01-03 00:01:00.000000"

enum { LEASE_MS = 60000, DAY_MS = 86400000, ROWS = 8 };

static struct db *db;
static struct sql sql;
static struct parked_row rows[ROWS];
static size_t taken;

static struct posting *parked(size_t i, const char *txn, const char *reason)
{
        struct posting *posting = fixture_posting(i, NULL, txn, "R8-1");
        posting->verdict = VERDICT_PARKED;
        posting->reason = reason;
        return posting;
}

START_TEST(a_row_is_the_whole_notification_and_the_whole_record)
{
        db = fake_db_open();
        parked(0, "T1", "ORDER_UNKNOWN");
        ck_assert_int_eq(parked_insert(db, &sql, open_postings, 1, 5000, &error), PO_OK);
        fake_saw("INSERT INTO parked (claim_id, tenant_id, order_no, channel, reason, due_at,"
                 " first_parked_at, waits_since, tries, notification, raw, awaits) VALUES"
                 " (1000,1,'R8-1','SQB','ORDER_UNKNOWN',"
                 "UTC_TIMESTAMP(6) + INTERVAL 5000000 MICROSECOND,"
                 "UTC_TIMESTAMP(6) + INTERVAL 0 MICROSECOND,UTC_TIMESTAMP(6),0,"
                 "'{\\\"tenant_id\\\":1,");
        unit_assert_in(fake_statement("INSERT"), "\\\"txn\\\":\\\"T1\\\"");
        unit_assert_in(fake_statement("INSERT"), ",X'504F5231");            /* POR1 */
        unit_assert_in(fake_statement("INSERT"), "5345435245542D424F4459"); /* SECRET-BODY */
        ck_assert(!fake_was_in_transaction("INSERT"));
}
END_TEST

START_TEST(a_push_again_changes_nothing)
{
        db = fake_db_open();
        parked(0, "T1", "ORDER_UNKNOWN");
        parked(1, "T2", "TOO_EARLY");
        ck_assert_int_eq(parked_insert(db, &sql, open_postings, 2, 5000, &error), PO_OK);
        const char *end = strstr(fake_statement("INSERT"), " ON DUPLICATE KEY UPDATE ");
        ck_assert_ptr_nonnull(end);
        ck_assert_str_eq(end, " ON DUPLICATE KEY UPDATE parked.claim_id = parked.claim_id");
        ck_assert_int_eq(parked_insert(db, &sql, open_postings, 0, 5000, &error), PO_OK);
        ck_assert_uint_eq(fake_count("INSERT"), 1);
}
END_TEST

START_TEST(of_one_statement_the_first_was_parked_first)
{
        db = fake_db_open();
        parked(0, "T1", "TOO_EARLY");
        parked(1, "T2", "TOO_EARLY");
        ck_assert_int_eq(parked_insert(db, &sql, open_postings, 2, 5000, &error), PO_OK);
        unit_assert_in(strstr(fake_statement("INSERT"), "(1001,"),
                       "UTC_TIMESTAMP(6) + INTERVAL 1 MICROSECOND,UTC_TIMESTAMP(6),0,");
}
END_TEST

START_TEST(what_is_unblocked_already_is_due_at_once)
{
        db = fake_db_open();
        parked(0, "T1", "TOO_EARLY")->unblocked = true;
        ck_assert_int_eq(parked_insert(db, &sql, open_postings, 1, 5000, &error), PO_OK);
        unit_assert_in(fake_statement("INSERT"), "UTC_TIMESTAMP(6) + INTERVAL 0 MICROSECOND,");
}
END_TEST

START_TEST(rows_are_deleted_by_their_claims_and_none_without)
{
        db = fake_db_open();
        parked(0, "T1", NULL);
        parked(1, "T2", NULL);
        ck_assert_int_eq(parked_delete(db, &sql, open_postings, 2, &error), PO_OK);
        fake_saw("DELETE p FROM parked p FORCE INDEX (PRIMARY) WHERE p.claim_id IN (1000,1001)");
        ck_assert_int_eq(parked_delete(db, &sql, open_postings, 0, &error), PO_OK);
        fake_saw_nothing();
        fake_fail("DELETE", PO_TRANSIENT, 1205);
        ck_assert_int_eq(parked_delete(db, &sql, open_postings, 2, &error), PO_TRANSIENT);
        unit_assert_in(error.text, "unpark 2 notifications: ");
}
END_TEST

static const struct order_id ids[] = { { 1, "A" }, { 1, "B" }, { 2, "A" } };

START_TEST(nothing_parked_costs_one_look)
{
        db = fake_db_open();
        ck_assert_int_eq(parked_make_due(db, &sql, ids, 3, &error), PO_OK);
        fake_saw("SELECT 1 FROM parked LIMIT 1");
        ck_assert_int_eq(parked_make_due(db, &sql, ids, 0, &error), PO_OK);
        fake_saw_nothing();
}
END_TEST

START_TEST(what_waits_for_an_order_is_due_but_for_what_waits_for_a_resume)
{
        db = fake_db_open();
        fake_rows("SELECT 1 FROM parked");
        fake_row("1");
        ck_assert_int_eq(parked_make_due(db, &sql, ids, 3, &error), PO_OK);
        fake_saw("SELECT 1 FROM parked LIMIT 1",
                 "UPDATE parked FORCE INDEX (parked_order) SET due_at = UTC_TIMESTAMP(6)"
                 " WHERE reason <> 'PAUSED' AND ((tenant_id = 1 AND order_no IN ('A','B')) OR"
                 " (tenant_id = 2 AND order_no IN ('A')))");
}
END_TEST

static const char *due[ROWS]; /* claims of the rows that row() scripted */
static size_t due_count;

/* What is read of them after the lease. */
static void script_contents(void)
{
        fake_rows("SELECT claim_id, notification, raw FROM parked");
        for (size_t i = 0; i < due_count; i++)
                fake_row(due[i], "{}", "RAW");
        due_count = 0;
}

static enum po_class take_bytes(size_t bytes_max)
{
        for (size_t i = 0; i < taken; i++)
                parked_row_free(&rows[i]);
        if (due_count > 0)
                script_contents();
        return parked_take(db, &sql, LEASE_MS, DAY_MS, bytes_max, rows, ROWS, &taken, &error);
}

static enum po_class take(void)
{
        return take_bytes(SIZE_MAX);
}

#define row(claim, tries, reason, gave_up, since)                                                  \
        do {                                                                                       \
                due[due_count++] = claim;                                                          \
                fake_row(claim, tries, reason, gave_up, "1000", since, "0", LEASE);                \
        } while (0)

START_TEST(rows_are_leased_in_a_short_transaction_that_skips_what_others_hold)
{
        db = fake_db_open();
        fake_rows("FROM parked");
        row("7", "0", "TOO_EARLY", "0", "2026-01-02 00:00:00.000000");
        row("5", "3", "ORDER_UNKNOWN", "1", "2026-01-02 00:00:00.000001");
        ck_assert_int_eq(take(), PO_OK);
        fake_saw(
                "BEGIN",
                "SELECT claim_id, tries, reason,"
                " waits_since + INTERVAL 86400000000 MICROSECOND <= UTC_TIMESTAMP(6),"
                " LENGTH(notification) + LENGTH(raw), first_parked_at, begun_at IS NOT NULL,"
                " UTC_TIMESTAMP(6) + INTERVAL 60000000 MICROSECOND FROM parked FORCE INDEX (parked_due)"
                " WHERE due_at <= UTC_TIMESTAMP(6) AND (begun_at IS NULL OR begun_at <="
                " UTC_TIMESTAMP(6) - INTERVAL 60000000 MICROSECOND) ORDER BY due_at LIMIT 8"
                " FOR UPDATE SKIP LOCKED",
                "SELECT p.claim_id FROM parked p WHERE p.claim_id IN (5) AND p.waits_since"
                " + INTERVAL 86400000000 MICROSECOND + INTERVAL (SELECT",
                "UPDATE parked FORCE INDEX (PRIMARY) SET tries = tries + 1,"
                " due_at = '" LEASE "' WHERE claim_id IN (7,5)",
                "COMMIT",
                "SELECT claim_id, notification, raw FROM parked FORCE INDEX (PRIMARY)"
                " WHERE claim_id IN (7,5)");
        ck_assert(!fake_was_in_transaction("SELECT claim_id, notification"));
        ck_assert_uint_eq(taken, 2);
        ck_assert_int_eq(rows[0].claim_id, 7);
        ck_assert_str_eq(rows[0].lease, LEASE);
        ck_assert_uint_eq(rows[0].tries, 0);
        ck_assert(!rows[0].gave_up && !rows[0].for_resume);
        ck_assert_int_eq(rows[1].claim_id, 5);
        ck_assert_uint_eq(rows[1].tries, 3);
        ck_assert(rows[1].gave_up);
        ck_assert_str_eq(rows[1].notification, "{}");
        ck_assert_uint_eq(rows[1].raw_bytes, 3);
        ck_assert_mem_eq(rows[1].raw, "RAW", 3);
}
END_TEST

START_TEST(what_waited_long_enough_only_with_the_pauses_of_the_intake_has_not_given_up)
{
        db = fake_db_open();
        fake_rows("FROM parked FORCE INDEX");
        row("5", "3", "ORDER_UNKNOWN", "1", "2026-01-02 00:00:00.000001");
        row("6", "3", "ORDER_UNKNOWN", "1", "2026-01-02 00:00:00.000002");
        fake_rows("FROM intake_pause");
        fake_row("5");
        ck_assert_int_eq(take(), PO_OK);
        ck_assert(!rows[0].gave_up && rows[1].gave_up);
}
END_TEST

START_TEST(no_more_is_taken_than_fits_at_once_but_always_one)
{
        db = fake_db_open();
        for (int i = 0; i < 2; i++) {
                fake_rows("FROM parked FORCE INDEX (parked_due)");
                row("5", "3", "ORDER_UNKNOWN", "0", "2026-01-02 00:00:00.000001");
                row("6", "3", "ORDER_UNKNOWN", "0", "2026-01-02 00:00:00.000002");
                row("7", "3", "ORDER_UNKNOWN", "0", "2026-01-02 00:00:00.000003");
                ck_assert_int_eq(take_bytes(i == 0 ? 2500 : 10), PO_OK);
                ck_assert_uint_eq(taken, i == 0 ? 2 : 1);
                unit_assert_in(fake_statement("UPDATE parked"),
                               i == 0 ? "WHERE claim_id IN (5,6)" : "WHERE claim_id IN (5)");
        }
}
END_TEST

START_TEST(what_was_settled_after_the_lease_is_left_out)
{
        db = fake_db_open();
        fake_rows("FROM parked FORCE INDEX (parked_due)");
        row("5", "3", "ORDER_UNKNOWN", "0", "2026-01-02 00:00:00.000001");
        row("6", "3", "ORDER_UNKNOWN", "0", "2026-01-02 00:00:00.000002");
        due_count = 0;
        fake_rows("SELECT claim_id, notification");
        fake_row("6", "{}", "RAW");
        ck_assert_int_eq(take(), PO_OK);
        ck_assert_uint_eq(taken, 1);
        ck_assert_int_eq(rows[0].claim_id, 6);
}
END_TEST

START_TEST(rows_come_in_the_order_in_which_they_were_first_parked)
{
        db = fake_db_open();
        fake_rows("FROM parked"); /* as they are due */
        row("9", "0", "X", "0", "2026-01-03 00:00:00.000000");
        row("8", "0", "X", "0", "2026-01-01 00:00:00.000000");
        row("3", "0", "X", "0", "2026-01-02 00:00:00.000000");
        row("2", "0", "X", "0", "2026-01-02 00:00:00.000000");
        ck_assert_int_eq(take(), PO_OK);
        static const int64_t order[] = { 8, 2, 3, 9 };
        for (size_t i = 0; i < 4; i++)
                ck_assert_int_eq(rows[i].claim_id, order[i]);
}
END_TEST

START_TEST(what_waits_for_a_resume_does_not_give_up)
{
        db = fake_db_open();
        fake_rows("FROM parked");
        row("7", "9", "PAUSED", "1", "2020-01-01 00:00:00.000000");
        ck_assert_int_eq(take(), PO_OK);
        ck_assert(rows[0].for_resume);
        ck_assert(!rows[0].gave_up);
}
END_TEST

START_TEST(nothing_due_takes_nothing)
{
        db = fake_db_open();
        ck_assert_int_eq(take(), PO_OK);
        ck_assert_uint_eq(taken, 0);
        fake_saw("BEGIN", "SELECT claim_id", "ROLLBACK");
}
END_TEST

START_TEST(a_take_that_fails_has_taken_nothing)
{
        static const char *const steps[] = { "BEGIN", "FROM parked", "UPDATE parked", "COMMIT" };
        for (size_t i = 0; i < 4; i++) {
                db = fake_db_open();
                if (i != 1) {
                        fake_rows("FROM parked");
                        row("7", "0", "TOO_EARLY", "0", "2026-01-02 00:00:00.000000");
                }
                fake_fail(steps[i], i == 3 ? PO_UNCERTAIN : PO_TRANSIENT, 2013);
                ck_assert_int_eq(take(), i == 3 ? PO_UNCERTAIN : PO_TRANSIENT);
                ck_assert_uint_eq(taken, 0);
                ck_assert_ptr_null(rows[0].notification);
                ck_assert(!db_is_in_transaction(db));
        }
}
END_TEST

START_TEST(what_was_made_due_while_it_was_tried_stays_due)
{
        static const int64_t waiting[] = { 7, 9 };
        db = fake_db_open();
        ck_assert_int_eq(parked_delay(db, &sql, waiting, 2, LEASE, 30000, NULL, false, &error),
                         PO_OK);
        fake_saw("UPDATE parked FORCE INDEX (PRIMARY) SET"
                 " due_at = IF(due_at = '" LEASE "', UTC_TIMESTAMP(6) + INTERVAL 30000000"
                 " MICROSECOND, due_at), begun_at = NULL"
                 " WHERE claim_id IN (7,9) AND due_at <= '" LEASE "'");
        ck_assert_int_eq(
                parked_delay(db, &sql, waiting, 1, LEASE, 30000, PARKED_PAUSED, false, &error),
                PO_OK);
        unit_assert_in(fake_statement("UPDATE"), "begun_at = NULL, reason = 'PAUSED' WHERE");
}
END_TEST

START_TEST(one_whose_posting_began_stays_so_unless_it_was_judged_to_wait)
{
        static const int64_t begun[] = { 7 };
        db = fake_db_open();
        fake_rows("FROM parked");
        fake_row("7", "0", "TOO_EARLY", "0", "1000", "2026-01-02 00:00:00.000000", "1", LEASE);
        due[due_count++] = "7";
        ck_assert_int_eq(take(), PO_OK);
        ck_assert(rows[0].begun);
        ck_assert_int_eq(parked_delay(db, &sql, begun, 1, LEASE, 1, NULL, true, &error), PO_OK);
        unit_assert_not_in(fake_statement("UPDATE"), "begun_at");
        parked(0, "T1", NULL);
        ck_assert_int_eq(parked_begin(db, &sql, open_postings, 1, &error), PO_OK);
        ck_assert_str_eq(fake_statement("UPDATE"), "UPDATE parked FORCE INDEX (PRIMARY) SET"
                                                   " begun_at = UTC_TIMESTAMP(6)"
                                                   " WHERE claim_id IN (1000)");
        ck_assert_int_eq(parked_begin(db, &sql, open_postings, 0, &error), PO_OK);
        fake_fail("UPDATE parked", PO_TRANSIENT, 1205);
        ck_assert_int_eq(parked_begin(db, &sql, open_postings, 1, &error), PO_TRANSIENT);
}
END_TEST

START_TEST(after_a_resume_that_missed_it_a_row_waits_for_giving_up_anew)
{
        static const int64_t resumed[] = { 7 };
        db = fake_db_open();
        ck_assert_int_eq(parked_delay(db, &sql, resumed, 1, LEASE, 1, "TOO_EARLY", false, &error),
                         PO_OK);
        /* Before the reason is set: assignments are made from left to right. */
        unit_assert_in(fake_statement("UPDATE"),
                       "waits_since = CASE reason WHEN 'PAUSED' THEN UTC_TIMESTAMP(6) ELSE"
                       " waits_since END, reason = 'TOO_EARLY' WHERE");
}
END_TEST

START_TEST(what_cannot_be_read_waits_for_a_person)
{
        bool fresh = false;
        db = fake_db_open();
        ck_assert_int_eq(parked_ask_person(db, &sql, 7, &fresh, &error), PO_OK);
        unit_assert_in(fake_statement("INSERT INTO review"),
                       "('parked 7','PARKED_UNREADABLE',7,'OPEN'");
        ck_assert(fresh);
        ck_assert_int_eq(parked_close_review(db, &sql, 7, &error), PO_OK);
        unit_assert_in(fake_statement("UPDATE review"), "open_subject = 'parked 7'");
}
END_TEST

START_TEST(a_resume_makes_due_what_waited_for_it)
{
        db = fake_db_open();
        fake_rows("FROM parked");
        fake_row("1500");
        fake_rows("FROM parked");
        fake_row("1700");
        fake_rows("FROM parked");
        fake_row("0");
        ck_assert_int_eq(parked_resume(db, &sql, "WECHAT", &error), PO_OK);
        fake_saw("SELECT COALESCE(MAX(claim_id), 0) FROM (SELECT claim_id FROM parked FORCE INDEX"
                 " (PRIMARY) WHERE claim_id > 0 AND channel = 'WECHAT' AND reason = 'PAUSED'"
                 " ORDER BY claim_id LIMIT 1000) chunk",
                 "UPDATE parked FORCE INDEX (PRIMARY) SET reason = 'RESUMED',"
                 " due_at = UTC_TIMESTAMP(6), waits_since = UTC_TIMESTAMP(6) WHERE claim_id > 0"
                 " AND claim_id <= 1500 AND channel = 'WECHAT' AND reason = 'PAUSED'",
                 "SELECT COALESCE(MAX(claim_id), 0)",
                 "UPDATE parked FORCE INDEX (PRIMARY) SET reason = 'RESUMED',"
                 " due_at = UTC_TIMESTAMP(6), waits_since = UTC_TIMESTAMP(6) WHERE claim_id > 1500"
                 " AND claim_id <= 1700",
                 "SELECT COALESCE(MAX(claim_id), 0)");
        ck_assert(!fake_was_in_transaction("UPDATE"));
}
END_TEST

START_TEST(a_resume_that_fails_midway_says_so_and_keeps_what_is_due)
{
        db = fake_db_open();
        fake_rows("FROM parked");
        fake_row("1500");
        fake_fail("UPDATE parked", PO_TRANSIENT, 1205);
        ck_assert_int_eq(parked_resume(db, &sql, "WECHAT", &error), PO_TRANSIENT);
        ck_assert_uint_eq(fake_count("ROLLBACK"), 0);
}
END_TEST

START_TEST(a_list_is_bounded_and_the_oldest_come_first)
{
        db = fake_db_open();
        ck_assert_int_eq(parked_list(db, &sql, 3, &error), PO_OK);
        db_rows_end(db);
        fake_saw("SELECT p.tenant_id, c.idem_key, p.order_no, p.reason, p.tries,"
                 " p.first_parked_at, p.due_at FROM parked p JOIN claim c ON c.id = p.claim_id"
                 " ORDER BY p.first_parked_at, p.claim_id LIMIT 3");
}
END_TEST

static enum po_class release(void)
{
        return parked_release(db, &sql, 7, "SQB:T1:X", "ann", "order is there", &error);
}

START_TEST(a_release_is_audited_in_the_same_transaction)
{
        db = fake_db_open();
        ck_assert_int_eq(release(), PO_OK);
        fake_saw("BEGIN", "UPDATE parked SET due_at = UTC_TIMESTAMP(6) WHERE claim_id = 7",
                 "INSERT INTO audit (at, who, verb, what, why) VALUES (UTC_TIMESTAMP(6), 'ann',"
                 "'park release','SQB:T1:X','order is there')",
                 "COMMIT");

        fake_affect("UPDATE parked", 0);
        ck_assert_int_eq(release(), PO_RECORD);
        ck_assert_str_eq(error.reason, "NOT_PARKED");
        fake_saw("BEGIN", "UPDATE parked", "ROLLBACK");
}
END_TEST

UNIT_MAIN("parked", a_row_is_the_whole_notification_and_the_whole_record,
          a_push_again_changes_nothing, of_one_statement_the_first_was_parked_first,
          what_is_unblocked_already_is_due_at_once,
          rows_are_deleted_by_their_claims_and_none_without, nothing_parked_costs_one_look,
          what_waits_for_an_order_is_due_but_for_what_waits_for_a_resume,
          rows_are_leased_in_a_short_transaction_that_skips_what_others_hold,
          rows_come_in_the_order_in_which_they_were_first_parked,
          what_waits_for_a_resume_does_not_give_up, nothing_due_takes_nothing,
          a_take_that_fails_has_taken_nothing, what_was_made_due_while_it_was_tried_stays_due,
          one_whose_posting_began_stays_so_unless_it_was_judged_to_wait,
          after_a_resume_that_missed_it_a_row_waits_for_giving_up_anew,
          a_resume_makes_due_what_waited_for_it,
          a_resume_that_fails_midway_says_so_and_keeps_what_is_due,
          a_list_is_bounded_and_the_oldest_come_first, a_release_is_audited_in_the_same_transaction,
          what_waited_long_enough_only_with_the_pauses_of_the_intake_has_not_given_up,
          no_more_is_taken_than_fits_at_once_but_always_one,
          what_was_settled_after_the_lease_is_left_out, what_cannot_be_read_waits_for_a_person)
