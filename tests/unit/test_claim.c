/* The claim: committed before anything is posted, then what is there decides. */
#include "claim_fixture.h"

#include "channel/fingerprint.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

START_TEST(no_notifications_claim_nothing)
{
        start();
        acquired(0);
        ck_assert_int_eq(claims_read(claims, open_postings, 0, &error), PO_OK);
        fake_saw_nothing();
}
END_TEST

START_TEST(a_claim_is_written_whole_outside_of_any_transaction_and_read_back)
{
        start();
        notified(0, "T1");
        fake_rows("FROM claim");
        claimed("T1", "7", "1");
        acquired(1);
        fake_saw("INSERT INTO claim (tenant_id, idem_key, channel, event_type, order_no, amount,"
                 " currency, payload_hash, hash_version, source_topic, source_partition,"
                 " source_offset, deliveries, created_at, last_seen_at) VALUES"
                 " (1,'SQB:T1:PAYMENT_RECEIVED','SQB','PAYMENT_RECEIVED','R8-1',12880,"
                 "'CNY'," FINGERPRINT_A_UNHEX
                 ",1,'callbacks',0,100,1,UTC_TIMESTAMP(6),UTC_TIMESTAMP(6))"
                 " ON DUPLICATE KEY UPDATE deliveries = deliveries + VALUES(deliveries),"
                 " last_seen_at = VALUES(last_seen_at)",
                 "SELECT c.tenant_id, c.idem_key, c.id, c.deliveries, c.payload_hash,"
                 " c.hash_version, o.verdict, o.result_json, o.payload_hash, o.hash_version,"
                 " o.source_topic, o.source_partition, o.source_offset"
                 " FROM claim c FORCE INDEX (uk_idem) LEFT JOIN outcome o ON o.claim_id = c.id"
                 " WHERE (c.tenant_id = 1 AND c.idem_key IN ('SQB:T1:PAYMENT_RECEIVED'))");
        ck_assert(!fake_was_in_transaction("INSERT INTO claim"));
        ck_assert_uint_eq(fake_count("BEGIN"), 0);
        ck_assert_int_eq(postings[0].claim_id, 7);
        ck_assert_uint_eq(postings[0].deliveries, 1);
        ck_assert_mem_eq(postings[0].first_fingerprint, FINGERPRINT_A, PO_FINGERPRINT_BYTES);
        is(&postings[0], VERDICT_NONE, false, "");
}
END_TEST

START_TEST(a_claim_without_money_has_neither_amount_nor_currency)
{
        start();
        notified(0, "T1");
        notifications[0].amount_kind = PO_AMOUNT_NONE;
        fake_rows("FROM claim");
        claimed("T1", "7", "1");
        acquired(1);
        unit_assert_in(fake_statement("INSERT INTO claim"), "'R8-1',NULL,NULL,UNHEX('");
}
END_TEST

/* Asserts that pieces stand in text in this order. */
static void in_order(const char *text, const char *const *pieces)
{
        for (const char *at = text; *pieces != NULL; pieces++) {
                const char *piece = strstr(at, *pieces);
                ck_assert_msg(piece != NULL, "%s is not where it should be in: %s", *pieces, text);
                at = piece + strlen(*pieces);
        }
}

START_TEST(keys_are_sorted_by_tenant_and_bytes)
{
        static const char *const order[] = { "(1,'SQB:A:", "(1,'SQB:B:", "(1,'SQB:a:", "(2,'SQB:A:",
                                             NULL };
        start();
        notified(0, "a");
        notified(1, "A");
        notifications[1].tenant_id = 2;
        notified(2, "B");
        notified(3, "A");
        fake_fail("FROM claim", PO_TRANSIENT, 1213);
        ck_assert_int_eq(acquire(4), PO_TRANSIENT);
        in_order(fake_statement("INSERT INTO claim"), order);
        unit_assert_in(fake_statement("SELECT"),
                       "WHERE (c.tenant_id = 1 AND c.idem_key IN ('SQB:A:PAYMENT_RECEIVED',"
                       "'SQB:B:PAYMENT_RECEIVED','SQB:a:PAYMENT_RECEIVED')) OR"
                       " (c.tenant_id = 2 AND c.idem_key IN ('SQB:A:PAYMENT_RECEIVED'))");
        /* The caller's own order is left as it was. */
        for (size_t i = 0; i < 4; i++)
                ck_assert_ptr_eq(open_postings[i], &postings[i]);
}
END_TEST

START_TEST(a_key_stands_once_with_the_number_of_its_deliveries)
{
        start();
        notified(0, "T1");
        notified(1, "T2");
        notified(2, "T1");
        fake_rows("FROM claim");
        claimed("T1", "7", "2");
        claimed("T2", "8", "1");
        acquired(3);
        const char *text = fake_statement("INSERT INTO claim");
        const char *first = strstr(text, KEY("T1"));
        ck_assert_ptr_nonnull(first);
        ck_assert_ptr_null(strstr(first + 1, KEY("T1")));
        unit_assert_in(text, ",0,100,2,UTC_TIMESTAMP(6)"); /* under the first one's coordinates */
        unit_assert_in(text, ",0,101,1,UTC_TIMESTAMP(6)");
}
END_TEST

START_TEST(a_second_one_of_a_batch_follows_the_first)
{
        start();
        /* Offered out of order of arrival: the turn counts. */
        notified(0, "T1")->turn = 5;
        notified(1, "T1")->turn = 3;
        notified(2, "T1")->turn = 9;
        fake_rows("FROM claim");
        claimed("T1", "7", "3");
        acquired(3);
        ck_assert_ptr_null(postings[1].leader);
        ck_assert_ptr_eq(postings[0].leader, &postings[1]);
        ck_assert_ptr_eq(postings[2].leader, &postings[1]);
        for (size_t i = 0; i < 3; i++) {
                is(&postings[i], VERDICT_NONE, false, "");
                ck_assert_int_eq(postings[i].claim_id, 7);
                ck_assert_uint_eq(postings[i].deliveries, 3);
        }
}
END_TEST

START_TEST(a_second_one_with_another_fingerprint_is_a_conflict)
{
        start();
        notified(0, "T1");
        notified(1, "T1");
        notified(2, "T1");
        memcpy(notifications[1].fingerprint, FINGERPRINT_B, PO_FINGERPRINT_BYTES);
        fake_rows("FROM claim");
        claimed("T1", "7", "3");
        acquired(3);
        is(&postings[0], VERDICT_NONE, false, "");
        is(&postings[1], VERDICT_CONFLICT, false, "");
        ck_assert_ptr_null(postings[1].leader);
        ck_assert_mem_eq(postings[1].first_fingerprint, FINGERPRINT_A, PO_FINGERPRINT_BYTES);
        ck_assert_ptr_eq(postings[2].leader, &postings[0]);
}
END_TEST

START_TEST(a_claim_without_outcome_is_ours_to_finish_whoever_began)
{
        start();
        notified(0, "T1");
        fake_rows("FROM claim");
        claimed("T1", "7", "4");
        acquired(1);
        is(&postings[0], VERDICT_NONE, false, "");
        ck_assert_uint_eq(postings[0].deliveries, 4);
}
END_TEST

START_TEST(an_outcome_with_an_equal_fingerprint_makes_a_duplicate)
{
        start();
        notified(0, "T1");
        notified(1, "T1");
        fake_rows("FROM claim");
        settled("T1", "7", "SKIPPED", "{\"skipped\":\"SHIPPED\"}", "99");
        acquired(2);
        for (size_t i = 0; i < 2; i++) {
                is(&postings[i], VERDICT_DUPLICATE, false, "{\"skipped\":\"SHIPPED\"}");
                ck_assert_ptr_null(postings[i].leader);
                ck_assert_int_eq(postings[i].claim_id, 7);
        }
}
END_TEST

START_TEST(what_this_very_delivery_settled_is_settled_again)
{
        start();
        notified(0, "T1"); /* callbacks/0 at 100 */
        fake_rows("FROM claim");
        settled("T1", "7", "POSTED", "{\"posted\":\"PAID\"}", "100");
        acquired(1);
        is(&postings[0], VERDICT_POSTED, true, "{\"posted\":\"PAID\"}");
}
END_TEST

START_TEST(the_same_offset_elsewhere_is_another_delivery)
{
        start();
        notified(0, "T1");
        records[0].partition = 1;
        notified(1, "T2");
        records[1].topic = "callbacks2";
        fake_rows("FROM claim");
        settled("T1", "7", "POSTED", "{\"posted\":\"PAID\"}", "100");
        settled("T2", "8", "POSTED", "{\"posted\":\"PAID\"}", "101");
        acquired(2);
        is(&postings[0], VERDICT_DUPLICATE, false, "{\"posted\":\"PAID\"}");
        is(&postings[1], VERDICT_DUPLICATE, false, "{\"posted\":\"PAID\"}");
}
END_TEST

START_TEST(an_outcome_of_a_word_that_is_not_known_is_a_duplicate)
{
        start();
        notified(0, "T1");
        fake_rows("FROM claim");
        settled("T1", "7", "REVERSED", "{\"reversed\":\"PAID\"}", "100");
        acquired(1);
        is(&postings[0], VERDICT_DUPLICATE, true, "{\"reversed\":\"PAID\"}");
}
END_TEST

START_TEST(another_fingerprint_than_the_claims_is_a_conflict)
{
        start();
        notified(0, "T1");
        fake_rows("FROM claim");
        fake_row("1", KEY("T1"), "7", "2", FINGERPRINT_B, "1", NULL, NULL, NULL, NULL, NULL, NULL,
                 NULL);
        acquired(1);
        is(&postings[0], VERDICT_CONFLICT, false, "");
        ck_assert_mem_eq(postings[0].first_fingerprint, FINGERPRINT_B, PO_FINGERPRINT_BYTES);
}
END_TEST

START_TEST(the_outcomes_fingerprint_counts_before_the_claims)
{
        start();
        notified(0, "T1"); /* A: the claim's, but the outcome is of B */
        notified(1, "T2"); /* A: the outcome's, the claim was of B */
        fake_rows("FROM claim");
        fake_row("1", KEY("T1"), "7", "2", FINGERPRINT_A, "1", "POSTED", "{}", FINGERPRINT_B, "1",
                 "callbacks", "0", "100");
        fake_row("1", KEY("T2"), "8", "2", FINGERPRINT_B, "1", "POSTED", "{}", FINGERPRINT_A, "1",
                 "callbacks", "0", "9");
        acquired(2);
        is(&postings[0], VERDICT_CONFLICT, false, "");
        ck_assert_mem_eq(postings[0].first_fingerprint, FINGERPRINT_B, PO_FINGERPRINT_BYTES);
        is(&postings[1], VERDICT_DUPLICATE, false, "{}");
}
END_TEST

START_TEST(a_fingerprint_of_version_0_never_conflicts)
{
        start();
        notified(0, "T1");
        notified(1, "T2");
        fake_rows("FROM claim");
        fake_row("1", KEY("T1"), "7", "2", FINGERPRINT_B, "0", "SKIPPED", "{}", FINGERPRINT_B, "0",
                 "import", "0", "0");
        fake_row("1", KEY("T2"), "8", "2", FINGERPRINT_B, "0", NULL, NULL, NULL, NULL, NULL, NULL,
                 NULL);
        acquired(2);
        is(&postings[0], VERDICT_DUPLICATE, false, "{}");
        is(&postings[1], VERDICT_NONE, false, "");
}
END_TEST

/* A claim whose row holds bytes of a version; nothing is settled. */
static void claimed_by(const char *key, const char *id, const unsigned char *bytes,
                       const char *version)
{
        static char texts[FIXTURE_MAX][PO_FINGERPRINT_BYTES + 1];
        static size_t used;
        char *text = texts[used++ % FIXTURE_MAX];
        memcpy(text, bytes, PO_FINGERPRINT_BYTES);
        ck_assert_uint_eq(strnlen(text, PO_FINGERPRINT_BYTES), PO_FINGERPRINT_BYTES);
        fake_row("1", key, id, "2", text, version, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
}

/* Its digest by another version than its own. */
static const unsigned char *digest_of(size_t i, int version)
{
        static unsigned char digest[PO_FINGERPRINT_BYTES];
        const struct record *record = postings[i].record;
        ck_assert_int_eq(fingerprint_by(version, postings[i].notification, record->value,
                                        record->value_bytes, digest, &error),
                         PO_OK);
        return digest;
}

START_TEST(a_stored_fingerprint_of_another_version_is_compared_by_its_own_algorithm)
{
        start();
        notified(0, "T1");
        notified(1, "T2");
        notifications[1].fingerprint_version = PO_FINGERPRINT_RAW;
        fake_rows("FROM claim");
        claimed_by(KEY("T1"), "7", digest_of(0, PO_FINGERPRINT_RAW), "2");
        claimed_by(KEY("T2"), "8", digest_of(1, PO_FINGERPRINT_VERSION), "1");
        acquired(2);
        is(&postings[0], VERDICT_NONE, false, "");
        is(&postings[1], VERDICT_NONE, false, "");
        ck_assert_int_eq(postings[0].kept_version, PO_FINGERPRINT_RAW);
        ck_assert_int_eq(postings[1].kept_version, PO_FINGERPRINT_VERSION);
}
END_TEST

START_TEST(another_content_is_a_conflict_across_versions_too)
{
        start();
        notified(0, "T1");
        notified(1, "T2");
        notifications[1].fingerprint_version = PO_FINGERPRINT_RAW;
        fake_rows("FROM claim");
        /* Equal bytes by different versions prove nothing. */
        claimed_by(KEY("T1"), "7", notifications[0].fingerprint, "2");
        claimed_by(KEY("T2"), "8", notifications[1].fingerprint, "1");
        acquired(2);
        is(&postings[0], VERDICT_CONFLICT, false, "");
        is(&postings[1], VERDICT_CONFLICT, false, "");
        ck_assert_int_eq(postings[0].kept_version, 0);
}
END_TEST

START_TEST(a_claim_carries_the_version_of_its_fingerprint)
{
        start();
        notified(0, "T1");
        notifications[0].fingerprint_version = PO_FINGERPRINT_RAW;
        fake_rows("FROM claim");
        fake_row("1", KEY("T1"), "7", "1", FINGERPRINT_A, "2", NULL, NULL, NULL, NULL, NULL, NULL,
                 NULL);
        acquired(1);
        unit_assert_in(fake_statement("INSERT INTO claim"), FINGERPRINT_A_UNHEX ",2,'callbacks'");
        is(&postings[0], VERDICT_NONE, false, "");
        ck_assert_int_eq(postings[0].kept_version, 0);
}
END_TEST

START_TEST(a_fingerprint_of_a_newer_version_asks_for_a_newer_worker)
{
        start();
        notified(0, "T1");
        fake_rows("FROM claim");
        fake_row("1", KEY("T1"), "7", "2", FINGERPRINT_B, "3", NULL, NULL, NULL, NULL, NULL, NULL,
                 NULL);
        ck_assert_int_eq(acquire(1), PO_SYSTEMIC);
        unit_assert_in(error.text, "fingerprint version 3, this program knows 2");
        fake_saw("INSERT INTO claim", "SELECT");
        notified(0, "T2"); /* its rows are closed: the next read goes */
        fake_rows("FROM claim");
        claimed("T2", "8", "1");
        acquired(1);
}
END_TEST

START_TEST(a_fingerprint_of_another_length_is_a_bug)
{
        start();
        notified(0, "T1");
        fake_rows("FROM claim");
        fake_row("1", KEY("T1"), "7", "2", "short", "1", NULL, NULL, NULL, NULL, NULL, NULL, NULL);
        ck_assert_int_eq(acquire(1), PO_BUG);
        unit_assert_in(error.text, "a fingerprint of 5 bytes");
}
END_TEST

START_TEST(a_claim_that_is_not_there_is_a_bug)
{
        start();
        notified(0, "T1");
        notified(1, "T2");
        fake_rows("FROM claim");
        claimed("T2", "8", "1");
        ck_assert_int_eq(acquire(2), PO_BUG);
        unit_assert_in(error.text, "read claims: 1 of 2 are there");
}
END_TEST

START_TEST(a_claim_that_fails_decides_nothing)
{
        start();
        notified(0, "T1");
        fake_fail("INSERT INTO claim", PO_TRANSIENT, 1213);
        ck_assert_int_eq(acquire(1), PO_TRANSIENT);
        unit_assert_in(error.text, "claim 1 notifications: ");
        fake_saw("INSERT INTO claim");
        fake_fail("FROM claim", PO_TRANSIENT, 2013);
        ck_assert_int_eq(acquire(1), PO_TRANSIENT);
        unit_assert_in(error.text, "read 1 claims: ");
        is(&postings[0], VERDICT_NONE, false, "");
}
END_TEST

START_TEST(a_unique_key_that_speaks_is_not_taken_for_a_duplicate)
{
        start();
        notified(0, "T1");
        fake_fail("INSERT INTO claim", PO_EXISTS, 1062);
        ck_assert_int_eq(acquire(1), PO_EXISTS);
        is(&postings[0], VERDICT_NONE, false, "");
}
END_TEST

START_TEST(reading_again_forgets_what_was_decided_before)
{
        start();
        struct posting *posting = notified(0, "T1");
        posting->verdict = VERDICT_HELD;
        posting->reason = "TOO_EARLY";
        posting->review = "NO_POSTING_RECORDED";
        posting->again = true;
        snprintf(posting->result, sizeof posting->result, "x");
        fake_rows("FROM claim");
        claimed("T1", "7", "1");
        ck_assert_int_eq(claims_read(claims, open_postings, 1, &error), PO_OK);
        is(posting, VERDICT_NONE, false, "");
        ck_assert_ptr_null(posting->reason);
        ck_assert_ptr_null(posting->review);
        fake_saw("SELECT");
}
END_TEST

START_TEST(one_key_of_two_tenants_is_two_claims)
{
        start();
        notified(0, "T1");
        notified(1, "T1");
        notifications[1].tenant_id = 2;
        fake_rows("FROM claim");
        claimed("T1", "7", "1");
        fake_row("2", KEY("T1"), "8", "1", FINGERPRINT_A, "1", NULL, NULL, NULL, NULL, NULL, NULL,
                 NULL);
        acquired(2);
        ck_assert_int_eq(postings[0].claim_id, 7);
        ck_assert_int_eq(postings[1].claim_id, 8);
        ck_assert_ptr_null(postings[1].leader);
}
END_TEST

START_TEST(a_claim_inside_a_transaction_stops_the_program)
{
        start();
        notified(0, "T1");
        ck_assert_int_eq(db_begin(db, &error), PO_OK);
        pid_t child = fork();
        if (child == 0) {
                const struct rlimit none = { 0, 0 };
                setrlimit(RLIMIT_CORE, &none);
                close(STDERR_FILENO);
                _exit(acquire(1) == PO_OK);
        }
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
END_TEST

START_TEST(no_claims_are_closed_like_any)
{
        claims_close(NULL);
}
END_TEST

/* With strict.unfinished: who made the claim, and whether it stands in `parked`. */
static char maker[33];

static void start_strict(void)
{
        start();
        ck_assert_int_eq(claims_be_strict(claims, &error), PO_OK);
        claims_begin(claims);
}

/* The maker that the last claim was written with, in hexadecimal digits. */
static const char *made_by(void)
{
        const char *at = strstr(fake_statement("INSERT INTO claim"), "UTC_TIMESTAMP(6),UNHEX('");
        ck_assert_ptr_nonnull(at);
        at += strlen("UTC_TIMESTAMP(6),UNHEX('");
        snprintf(maker, sizeof maker, "%.32s", at);
        return maker;
}

static void strictly_claimed(const char *made, const char *is_parked, const char *is_reviewed)
{
        static char bytes[8][17];
        static size_t next;
        char *cell = bytes[next++ % 8];
        for (size_t i = 0; i < 16; i++) {
                char digits[3] = { made[2 * i], made[2 * i + 1], '\0' };
                cell[i] = (char)strtol(digits, NULL, 16);
        }
        fake_rows("FROM claim");
        fake_row("1", KEY("T1"), "7", "1", FINGERPRINT_A, "1", NULL, NULL, NULL, NULL, NULL, NULL,
                 NULL, fake_binary(cell, 16), is_parked, is_reviewed);
}

#define ANOTHER "6D616465206279206F74686572732121"

/* Claims T1, which cannot be read back, and says under which maker. */
static const char *maker_of_this_attempt(void)
{
        notified(0, "T1");
        fake_fail("FROM claim", PO_TRANSIENT, 1205);
        ck_assert_int_eq(acquire(1), PO_TRANSIENT);
        return made_by();
}

START_TEST(strictly_a_claim_carries_its_maker_and_an_insert_alone_sets_it)
{
        start_strict();
        maker_of_this_attempt();
        unit_assert_in(fake_statement("INSERT INTO claim"), "last_seen_at, made_by) VALUES");
        const char *seen = strstr(fake_statement("INSERT INTO claim"), "ON DUPLICATE KEY");
        ck_assert_ptr_nonnull(seen);
        unit_assert_not_in(seen, "made_by");
        unit_assert_in(fake_statement("SELECT"), "c.made_by, EXISTS (SELECT 1 FROM parked p WHERE"
                                                 " p.claim_id = c.id), EXISTS (SELECT 1 FROM"
                                                 " review r WHERE r.claim_id = c.id AND"
                                                 " r.reason = 'ORPHAN') FROM claim c");
}
END_TEST

START_TEST(strictly_what_this_attempt_claimed_is_ours)
{
        start_strict();
        strictly_claimed(maker_of_this_attempt(), "0", "0");
        acquired(1);
        is(&postings[0], VERDICT_NONE, false, "");
}
END_TEST

START_TEST(strictly_an_unfinished_claim_of_another_is_an_orphan)
{
        start_strict();
        notified(0, "T1");
        strictly_claimed(ANOTHER, "0", "0");
        acquired(1);
        is(&postings[0], VERDICT_ORPHANED, false, "");
        ck_assert_ptr_null(postings[0].leader);

        /* One from before the switch has no maker. */
        fake_rows("FROM claim");
        fake_row("1", KEY("T1"), "7", "1", FINGERPRINT_A, "1", NULL, NULL, NULL, NULL, NULL, NULL,
                 NULL, NULL, "0", "0");
        acquired(1);
        is(&postings[0], VERDICT_ORPHANED, false, "");
}
END_TEST

START_TEST(strictly_a_push_again_of_what_is_parked_stays_parked)
{
        start_strict();
        notified(0, "T1");
        strictly_claimed(ANOTHER, "1", "0");
        acquired(1);
        is(&postings[0], VERDICT_PARKED, false, "");
        ck_assert_str_eq(postings[0].reason, "PARKED_ALREADY");
}
END_TEST

START_TEST(strictly_what_comes_out_of_parked_is_ours_whoever_claimed_it)
{
        start_strict();
        notified(0, "T1")->unparks = true;
        strictly_claimed(ANOTHER, "1", "0");
        ck_assert_int_eq(claims_read(claims, open_postings, 1, &error), PO_OK);
        is(&postings[0], VERDICT_NONE, false, "");
}
END_TEST

START_TEST(strictly_a_settled_claim_of_another_is_a_duplicate)
{
        start_strict();
        notified(0, "T1");
        fake_rows("FROM claim");
        fake_row("1", KEY("T1"), "7", "2", FINGERPRINT_A, "1", "POSTED", "{}", FINGERPRINT_A, "1",
                 "callbacks", "0", "55", NULL, "0", "0");
        acquired(1);
        is(&postings[0], VERDICT_DUPLICATE, false, "{}");
}
END_TEST

START_TEST(strictly_what_was_called_an_orphan_once_stays_one)
{
        start_strict();
        strictly_claimed(maker_of_this_attempt(), "0", "1");
        acquired(1);
        is(&postings[0], VERDICT_ORPHANED, false, "");
}
END_TEST

START_TEST(strictly_what_may_have_been_posted_is_an_orphan_wherever_it_comes_from)
{
        start_strict();
        const char *made = maker_of_this_attempt();
        for (int unparks = 0; unparks < 2; unparks++) {
                postings[0].unparks = unparks;
                postings[0].in_doubt = true;
                strictly_claimed(made, unparks ? "1" : "0", "0");
                ck_assert_int_eq(claims_read(claims, open_postings, 1, &error), PO_OK);
                is(&postings[0], VERDICT_ORPHANED, false, "");
        }
}
END_TEST

/* T1 is claimed, and its batch ends so. Then it comes again; the maker is the first attempt's. */
static void comes_again_after(bool comes_again, bool begun, enum verdict verdict)
{
        char made[33];
        snprintf(made, sizeof made, "%s", maker_of_this_attempt());
        postings[0].begun = begun;
        postings[0].verdict = verdict;
        claims_end(claims, &postings[0], comes_again);
        claims_begin(claims);
        notified(0, "T1");
        strictly_claimed(made, "0", "0");
        acquired(1);
}

START_TEST(strictly_what_was_given_back_before_its_posting_is_ours_in_every_later_attempt)
{
        static const enum verdict verdicts[] = { VERDICT_NONE, VERDICT_HELD, VERDICT_PARKED,
                                                 VERDICT_REJECTED };
        for (size_t i = 0; i < 4; i++) {
                start_strict();
                comes_again_after(true, false, verdicts[i]);
                is(&postings[0], VERDICT_NONE, false, "");
                /* Another batch was posted meanwhile, and this one is given back once more. */
                char made[33];
                snprintf(made, sizeof made, "%s", maker);
                claims_end(claims, &postings[0], true);
                for (int other = 0; other < 3; other++) {
                        claims_begin(claims);
                        ck_assert_str_ne(maker_of_this_attempt(), made);
                }
        }
}
END_TEST

START_TEST(strictly_what_was_begun_or_passed_is_ours_no_longer)
{
        start_strict();
        comes_again_after(true, true, VERDICT_NONE);
        is(&postings[0], VERDICT_ORPHANED, false, "");
        start_strict();
        comes_again_after(false, false, VERDICT_PARKED);
        is(&postings[0], VERDICT_ORPHANED, false, "");
}
END_TEST

START_TEST(strictly_what_was_kept_is_forgotten_when_it_is_begun)
{
        char made[33];
        start_strict();
        comes_again_after(true, false, VERDICT_NONE);
        snprintf(made, sizeof made, "%s", maker);
        postings[0].begun = true;
        claims_end(claims, &postings[0], true);
        claims_begin(claims);
        notified(0, "T1");
        strictly_claimed(made, "0", "0");
        acquired(1);
        is(&postings[0], VERDICT_ORPHANED, false, "");
}
END_TEST

START_TEST(strictly_a_conflict_says_nothing_of_the_claim_that_it_met)
{
        char made[33];
        start_strict();
        snprintf(made, sizeof made, "%s", maker_of_this_attempt());
        claims_end(claims, &postings[0], true);
        postings[0].verdict = VERDICT_CONFLICT;
        claims_end(claims, &postings[0], false);
        claims_begin(claims);
        notified(0, "T1");
        strictly_claimed(made, "0", "0");
        acquired(1);
        is(&postings[0], VERDICT_NONE, false, "");
}
END_TEST

START_TEST(two_workers_are_two_makers)
{
        char first[33];
        start_strict();
        snprintf(first, sizeof first, "%s", maker_of_this_attempt());
        start_strict();
        ck_assert_str_ne(maker_of_this_attempt(), first);
}
END_TEST

UNIT_MAIN("claim", no_notifications_claim_nothing,
          a_claim_is_written_whole_outside_of_any_transaction_and_read_back,
          a_claim_without_money_has_neither_amount_nor_currency,
          keys_are_sorted_by_tenant_and_bytes, a_key_stands_once_with_the_number_of_its_deliveries,
          a_second_one_of_a_batch_follows_the_first,
          a_second_one_with_another_fingerprint_is_a_conflict,
          a_claim_without_outcome_is_ours_to_finish_whoever_began,
          an_outcome_with_an_equal_fingerprint_makes_a_duplicate,
          what_this_very_delivery_settled_is_settled_again,
          the_same_offset_elsewhere_is_another_delivery,
          an_outcome_of_a_word_that_is_not_known_is_a_duplicate,
          another_fingerprint_than_the_claims_is_a_conflict,
          the_outcomes_fingerprint_counts_before_the_claims,
          a_fingerprint_of_version_0_never_conflicts,
          a_stored_fingerprint_of_another_version_is_compared_by_its_own_algorithm,
          another_content_is_a_conflict_across_versions_too,
          a_claim_carries_the_version_of_its_fingerprint,
          a_fingerprint_of_a_newer_version_asks_for_a_newer_worker,
          a_fingerprint_of_another_length_is_a_bug, a_claim_that_is_not_there_is_a_bug,
          a_claim_that_fails_decides_nothing, a_unique_key_that_speaks_is_not_taken_for_a_duplicate,
          reading_again_forgets_what_was_decided_before, one_key_of_two_tenants_is_two_claims,
          a_claim_inside_a_transaction_stops_the_program,
          strictly_a_claim_carries_its_maker_and_an_insert_alone_sets_it,
          strictly_what_this_attempt_claimed_is_ours,
          strictly_an_unfinished_claim_of_another_is_an_orphan,
          strictly_a_push_again_of_what_is_parked_stays_parked,
          strictly_what_comes_out_of_parked_is_ours_whoever_claimed_it,
          strictly_a_settled_claim_of_another_is_a_duplicate,
          strictly_what_was_called_an_orphan_once_stays_one,
          strictly_what_may_have_been_posted_is_an_orphan_wherever_it_comes_from,
          strictly_what_was_given_back_before_its_posting_is_ours_in_every_later_attempt,
          strictly_what_was_begun_or_passed_is_ours_no_longer,
          strictly_what_was_kept_is_forgotten_when_it_is_begun,
          strictly_a_conflict_says_nothing_of_the_claim_that_it_met, two_workers_are_two_makers,
          no_claims_are_closed_like_any)
