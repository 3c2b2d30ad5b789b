/* The ledger transaction: what is sent, in which order, and what is left when it fails. */
#include "fake_db.h"
#include "posting_fixture.h"

#include "ledger/posting.h"

static struct db *db;
static struct rules *rules;
static struct ledger *ledger;

#define SHIP_RULE                                                                                  \
        "ORDER_SHIPPED:\n"                                                                         \
        "  order: { from: [PAID], to: SHIPPED, already: [SHIPPED] }\n"                             \
        "  outbox: SHIPPED\n"
#define ALL_RULES PAYMENT_RULE FEE_RULE SHIP_RULE

static void start_with(const char *events)
{
        db = fake_db_open();
        ledger_close(ledger);
        rules_free(rules);
        rules = fixture_rules(ORDERS_WITH_OTHERS, events);
        ck_assert_int_eq(ledger_open(&ledger, db, rules, FIXTURE_MAX, &error), PO_OK);
}

static struct posting *payment(size_t i, const char *txn, const char *order_no)
{
        return fixture_posting(i, rules_find(rules, "PAYMENT_RECEIVED"), txn, order_no);
}

static struct posting *shipment(size_t i, const char *txn, const char *order_no)
{
        struct posting *posting =
                fixture_posting(i, rules_find(rules, "ORDER_SHIPPED"), txn, order_no);
        notifications[i].amount_kind = PO_AMOUNT_NONE;
        return posting;
}

/* The accounts of a payment are known, and nothing is remembered as seen. */
static void start(void)
{
        start_with(ALL_RULES);
        payment(0, "T0", "");
        fake_rows("FROM account");
        fake_row("11", "1", "channel:SQB:clearing", "CNY");
        fake_row("10", "1", "merchant:1:payable", "CNY");
        fake_row("12", "1", "suspense:SQB", "CNY");
        ck_assert_int_eq(posting_run(ledger, open_postings, 1, &error), PO_OK);
        fake_saw("INSERT INTO account", "SELECT id", "BEGIN", "ROLLBACK");
        ck_assert(!fake_was_in_transaction("INSERT INTO account"));
}

static enum po_class run(size_t count)
{
        return posting_run(ledger, open_postings, count, &error);
}

static void posts(size_t count)
{
        ck_assert_msg(run(count) == PO_OK, "%s", error.text);
}

static void is(const struct posting *posting, enum verdict verdict, const char *result)
{
        const char *reason = posting->reason != NULL ? posting->reason : "none";
        ck_assert_msg(posting->verdict == verdict, "%s is %s, reason %s",
                      posting->notification->key, verdict_name(posting->verdict), reason);
        ck_assert_str_eq(posting->result, result);
        ck_assert(!posting->again);
}

static void is_for_a_reason(const struct posting *posting, enum verdict verdict, const char *reason)
{
        is(posting, verdict, "");
        ck_assert_pstr_eq(posting->reason, reason);
}

static void is_ours_again(size_t count)
{
        for (size_t i = 0; i < count; i++) {
                is_for_a_reason(&postings[i], VERDICT_NONE, NULL);
                ck_assert(!postings[i].review);
        }
        ck_assert(!db_is_in_transaction(db));
}

#define LOCK       "SELECT tenant_id, order_no"
#define CLAIMS     "SELECT c.tenant_id"
#define OUTCOME    "INSERT INTO outcome"
#define UNPARK     "DELETE p FROM parked p FORCE INDEX (PRIMARY) WHERE p.claim_id IN "
#define ANY_PARKED "SELECT 1 FROM parked LIMIT 1"
#define PENDING    "{\"posted\":\"PAID\"}"
#define order_row(order_no, status)                                                                \
        fake_row("1", order_no, "12880", "CNY", status, NULL, NULL, NULL, "0", "0", NULL)
#define paid_row(order_no, status, txn)                                                            \
        fake_row("1", order_no, "12880", "CNY", status, "SQB", txn, "12880", "0", "0", NULL)
#define KEY(txn) "SQB:" txn ":PAYMENT_RECEIVED"
#define claimed(txn, id)                                                                           \
        fake_row("1", KEY(txn), id, "2", FINGERPRINT_A, "1", NULL, NULL, NULL, NULL, NULL, NULL,   \
                 NULL)
#define settled(txn, id, verdict, result, offset)                                                  \
        fake_row("1", KEY(txn), id, "2", FINGERPRINT_A, "1", verdict, result, FINGERPRINT_A, "1",  \
                 "callbacks", "0", offset)

/* One payment of a pending order, claim 1000, delivered at callbacks/0 100. */
static struct posting *one_payment(void)
{
        fake_rows("FOR UPDATE");
        order_row("A", "PENDING_PAY");
        return payment(0, "T1", "A");
}

START_TEST(a_payment_is_posted_in_the_order_of_the_contract)
{
        start();
        struct posting *posting = one_payment();
        posts(1);
        is(posting, VERDICT_POSTED, PENDING);
        fake_saw(
                "BEGIN",
                "SELECT tenant_id, order_no, amount, currency, status, paid_channel, paid_txn,"
                " paid_amount, refunded, refund_reserved, status_before_refund FROM payment_order"
                " FORCE INDEX (PRIMARY) WHERE (tenant_id = 1 AND order_no IN ('A'))"
                " ORDER BY tenant_id, order_no FOR UPDATE",
                "INSERT INTO outcome (claim_id, verdict, result_json, payload_hash, hash_version,"
                " source_topic, source_partition, source_offset, turn, effective_at, reverses,"
                " settled_at) VALUES (1000,'POSTED','{\\\"posted\\\":\\\"PAID\\\"}'," FINGERPRINT_A_UNHEX
                ",1,'callbacks',0,100,0,NULL,NULL,UTC_TIMESTAMP(6))",
                FAKE_MOVE ", paid_txn, paid_amount, refunded, refund_reserved,"
                          " status_before_refund, moved_at) VALUES (1,'A',1,'XXX','PAID','SQB',"
                          "'T1',12880,0,0,NULL,UTC_TIMESTAMP(6))",
                "INSERT INTO entry (claim_id, line, account_id, amount, currency) VALUES"
                " (1000,0,11,12880,'CNY'),(1000,1,10,-12880,'CNY')",
                "INSERT INTO outbox",
                "INSERT INTO balance (account_id, slot, amount) VALUES (10,0,-12880),(11,0,12880)",
                ANY_PARKED, "COMMIT");
        unit_assert_in(fake_statement("INSERT INTO outbox"), "'order','1:A','ORDER_PAID',");
        unit_assert_in(fake_statement("INSERT INTO outbox"), "\\\"status\\\":\\\"PAID\\\"");
        ck_assert(fake_was_in_transaction("INSERT INTO balance"));
        /* What proves something is inserted, and refused where it is there already. */
        unit_assert_not_in(fake_statement("INSERT INTO outcome"), "ON DUPLICATE");
        unit_assert_not_in(fake_statement("INSERT INTO entry"), "ON DUPLICATE");
        unit_assert_not_in(fake_statement("INSERT INTO outbox"), "ON DUPLICATE");
}
END_TEST

START_TEST(what_is_not_ours_sends_nothing)
{
        start();
        payment(0, "T1", "A")->verdict = VERDICT_DUPLICATE;
        payment(1, "T2", "A")->verdict = VERDICT_CONFLICT;
        payment(2, "T3", "A")->leader = &postings[0];
        posts(3);
        posts(0);
        fake_saw_nothing();
        is(&postings[2], VERDICT_NONE, "");
}
END_TEST

START_TEST(orders_are_locked_sorted_and_each_once)
{
        start();
        payment(0, "T1", "C");
        payment(1, "T2", "A");
        payment(2, "T3", "C");
        payment(3, "T4", "B");
        notifications[3].tenant_id = -5;
        fixture_posting(4, rules_find(rules, "FEE_CHARGED"), "T5", "NOT-LOCKED")->verdict =
                VERDICT_DUPLICATE;
        fake_fail("FOR UPDATE", PO_TRANSIENT, 1205);
        ck_assert_int_eq(run(5), PO_TRANSIENT);
        unit_assert_in(fake_statement(LOCK), "FORCE INDEX (PRIMARY) WHERE"
                                             " (tenant_id = -5 AND order_no IN ('B')) OR"
                                             " (tenant_id = 1 AND order_no IN ('A','C'))"
                                             " ORDER BY");
}
END_TEST

START_TEST(outcomes_are_asked_for_only_where_others_saw_the_claim)
{
        start();
        payment(0, "T1", "A")->deliveries = 2;
        payment(1, "T2", "B");
        payment(2, "T3", "C")->deliveries = 3;
        fake_rows("FOR UPDATE");
        order_row("A", "PENDING_PAY");
        order_row("B", "PENDING_PAY");
        order_row("C", "PENDING_PAY");
        posts(3);
        fake_saw("BEGIN", LOCK,
                 "SELECT claim_id FROM outcome WHERE claim_id IN (1000,1002) LIMIT 1", OUTCOME,
                 FAKE_MOVE, "INSERT INTO entry", "INSERT INTO outbox", "INSERT INTO balance",
                 UNPARK "(1000,1002)", ANY_PARKED, "COMMIT");
}
END_TEST

START_TEST(outcomes_are_inserted_in_the_order_of_their_claims)
{
        start();
        payment(0, "T1", "A")->claim_id = 30;
        payment(1, "T2", "B")->claim_id = 10;
        payment(2, "T3", "C")->claim_id = 20;
        fake_rows("FOR UPDATE");
        order_row("A", "PENDING_PAY");
        order_row("B", "PENDING_PAY");
        order_row("C", "PENDING_PAY");
        posts(3);
        const char *text = fake_statement(OUTCOME);
        const char *ten = strstr(text, "(10,"), *twenty = strstr(text, "(20,"),
                   *thirty = strstr(text, "(30,");
        ck_assert(ten != NULL && twenty != NULL && thirty != NULL);
        ck_assert(ten < twenty && twenty < thirty);
        unit_assert_in(text, "(30,'POSTED','{\\\"posted\\\":\\\"PAID\\\"}'," FINGERPRINT_A_UNHEX
                             ",1,'callbacks',0,100,0,"); /* its turn stays its own */
        unit_assert_in(fake_statement("INSERT INTO entry"), "VALUES (10,0,11,12880,'CNY')");
        for (size_t i = 0; i < 3; i++)
                ck_assert_ptr_eq(open_postings[i], &postings[i]);
}
END_TEST

START_TEST(notifications_of_one_order_are_judged_in_the_order_of_arrival)
{
        start();
        /* Offered the other way round: the turns count. */
        shipment(0, "S1", "A")->turn = 2;
        payment(1, "T1", "A")->turn = 1;
        fake_rows("FOR UPDATE");
        order_row("A", "PENDING_PAY");
        posts(2);
        is(&postings[1], VERDICT_POSTED, PENDING);
        is(&postings[0], VERDICT_POSTED, "{\"posted\":\"SHIPPED\"}");
        unit_assert_in(fake_statement(FAKE_MOVE), " VALUES (1,'A',1,'XXX','SHIPPED',");
        unit_assert_in(fake_statement(FAKE_MOVE), "status = 'PENDING_PAY'");
        unit_assert_not_in(fake_statement(FAKE_MOVE), "),(");
        unit_assert_in(fake_statement("INSERT INTO outbox"), "'SHIPPED','{");
}
END_TEST

START_TEST(a_second_payment_of_an_order_stands_in_suspense_beside_the_first)
{
        start();
        one_payment();
        payment(1, "T2", "A");
        posts(2);
        is(&postings[0], VERDICT_POSTED, PENDING);
        is(&postings[1], VERDICT_SUSPENSE, "{\"suspense\":\"PAID\"}");
        unit_assert_in(fake_statement(OUTCOME), "(1001,'SUSPENSE',");
        unit_assert_in(fake_statement("INSERT INTO entry"),
                       "(1001,0,11,12880,'CNY'),(1001,1,12,-12880,'CNY')");
        unit_assert_in(fake_statement("INSERT INTO review"), "(1,1001,'SECOND_PAYMENT',");
        unit_assert_not_in(fake_statement("INSERT INTO outbox"), KEY("T2"));
}
END_TEST

START_TEST(a_skipped_one_has_an_outcome_and_nothing_else)
{
        start();
        payment(0, "T1", "A");
        fake_rows("FOR UPDATE");
        paid_row("A", "SHIPPED", "T1");
        posts(1);
        is(&postings[0], VERDICT_SKIPPED, "{\"skipped\":\"SHIPPED\"}");
        fake_saw("BEGIN", LOCK, OUTCOME, "COMMIT");
        unit_assert_in(fake_statement(OUTCOME),
                       "(1000,'SKIPPED','{\\\"skipped\\\":\\\"SHIPPED\\\"}',");
}
END_TEST

START_TEST(where_no_payment_was_recorded_a_review_stands_in_the_same_transaction)
{
        start();
        payment(0, "T1", "A");
        payment(1, "T2", "B");
        fake_rows("FOR UPDATE");
        order_row("A", "SHIPPED");
        order_row("B", "PENDING_PAY");
        posts(2);
        is(&postings[0], VERDICT_SKIPPED, "{\"skipped\":\"SHIPPED\"}");
        ck_assert(postings[0].review);
        ck_assert(!postings[1].review);
        fake_saw("BEGIN", LOCK, OUTCOME, FAKE_MOVE, FAKE_MOVE, "INSERT INTO entry",
                 "INSERT INTO outbox", "INSERT INTO review", "INSERT INTO balance", ANY_PARKED,
                 "COMMIT");
        ck_assert(fake_was_in_transaction("INSERT INTO review"));
        unit_assert_in(fake_statement(FAKE_MOVE
                                      ", paid_txn, paid_amount, refunded, refund_reserved,"
                                      " status_before_refund, moved_at) VALUES (1,'A'"),
                       "'SHIPPED','SQB','T1',");
        unit_assert_in(fake_statement("INSERT INTO review"), "(1,1000,'NO_POSTING_RECORDED',");
        unit_assert_in(fake_statement("INSERT INTO review"), ",NULL,'OPEN',"); /* without body */
        unit_assert_not_in(fake_statement("INSERT INTO review"), "1001");
}
END_TEST

START_TEST(what_must_wait_writes_nothing)
{
        start();
        payment(0, "T1", "A");
        payment(1, "T2", "B");
        payment(2, "T3", "");
        fake_rows("FOR UPDATE");
        order_row("B", "DRAFT");
        posts(3);
        is_for_a_reason(&postings[0], VERDICT_PARKED, "ORDER_UNKNOWN");
        is_for_a_reason(&postings[1], VERDICT_PARKED, "TOO_EARLY");
        is_for_a_reason(&postings[2], VERDICT_PARKED, "ORDER_UNKNOWN");
        for (size_t i = 0; i < 3; i++)
                ck_assert(!postings[i].unblocked);
        fake_saw("BEGIN", LOCK, "ROLLBACK");
        unit_assert_in(fake_statement(LOCK), "order_no IN ('A','B'))");
}
END_TEST

START_TEST(a_rejected_one_leaves_the_others_posted)
{
        start();
        one_payment();
        payment(1, "T2", "A");
        notifications[1].amount_kind = PO_AMOUNT_NONE;
        posts(2);
        is(&postings[0], VERDICT_POSTED, PENDING);
        is_for_a_reason(&postings[1], VERDICT_REJECTED, "AMOUNT_MISSING");
        unit_assert_not_in(fake_statement(OUTCOME), "(1001,");
}
END_TEST

START_TEST(a_rule_without_order_locks_none)
{
        start();
        fixture_posting(0, rules_find(rules, "FEE_CHARGED"), "T1", "A");
        fake_rows("FROM account");
        fake_row("13", "1", "fees", "CNY");
        posts(1);
        is(&postings[0], VERDICT_POSTED, "{\"posted\":\"FEE_CHARGED\"}");
        fake_saw("INSERT INTO account", "SELECT id", "BEGIN", OUTCOME, "INSERT INTO entry",
                 "INSERT INTO balance", ANY_PARKED, "COMMIT");
}
END_TEST

#define CREATING_RULE                                                                              \
        "ORDER_PLACED:\n"                                                                          \
        "  order: { from: [PENDING_PAY], to: PLACED, create: PENDING_PAY }\n"

START_TEST(orders_that_a_rule_makes_are_there_before_the_transaction)
{
        start_with(CREATING_RULE);
        fixture_posting(0, rules_at(rules, 0), "T1", "B");
        fixture_posting(1, rules_at(rules, 0), "T2", "A");
        fixture_posting(2, rules_at(rules, 0), "T3", "");
        fixture_posting(3, rules_at(rules, 0), "T4", "C");
        notifications[3].amount_kind = PO_AMOUNT_NONE;
        fake_rows("FOR UPDATE");
        order_row("A", "PENDING_PAY");
        order_row("B", "PENDING_PAY");
        posts(4);
        fake_saw("INSERT INTO payment_order (tenant_id, order_no, amount, currency, status) VALUES"
                 " (1,'A',12880,'CNY','PENDING_PAY'),(1,'B',12880,'CNY','PENDING_PAY')"
                 " ON DUPLICATE KEY",
                 "BEGIN", LOCK, OUTCOME, FAKE_MOVE, ANY_PARKED, "COMMIT");
        ck_assert(!fake_was_in_transaction(
                "INSERT INTO payment_order (tenant_id, order_no, amount, currency, status)"));
        is(&postings[0], VERDICT_POSTED, "{\"posted\":\"PLACED\"}");
        is_for_a_reason(&postings[3], VERDICT_PARKED, "ORDER_UNKNOWN");
}
END_TEST

START_TEST(what_waits_for_an_order_that_moved_is_made_due_in_the_same_transaction)
{
        start();
        one_payment();
        payment(1, "T2", "B");
        fake_row("1", "B", "12880", "CNY", "PAID", "SQB", "T2", "12880", "0", "0", NULL);
        fake_rows(ANY_PARKED);
        fake_row("1");
        posts(2);
        is(&postings[1], VERDICT_SKIPPED, "{\"skipped\":\"PAID\"}");
        fake_saw("BEGIN", LOCK, OUTCOME, FAKE_MOVE, "INSERT INTO entry", "INSERT INTO outbox",
                 "INSERT INTO balance", ANY_PARKED,
                 "UPDATE parked FORCE INDEX (parked_order) SET due_at = UTC_TIMESTAMP(6)"
                 " WHERE reason <> 'PAUSED' AND ((tenant_id = 1 AND order_no IN ('A')))",
                 "UPDATE parked FORCE INDEX (parked_awaits) SET due_at = UTC_TIMESTAMP(6)"
                 " WHERE reason <> 'PAUSED' AND ((tenant_id = 1 AND awaits = '" KEY("T1") "'))",
                 "COMMIT");
        ck_assert(fake_was_in_transaction("UPDATE parked"));
}
END_TEST

START_TEST(a_reversal_that_awaits_a_posting_without_order_is_made_due_by_it)
{
        start();
        fixture_posting(0, rules_find(rules, "FEE_CHARGED"), "T1", "");
        fake_rows("FROM account");
        fake_row("13", "1", "fees", "CNY");
        fake_rows(ANY_PARKED);
        fake_row("1");
        posts(1);
        is(&postings[0], VERDICT_POSTED, "{\"posted\":\"FEE_CHARGED\"}");
        unit_assert_in(fake_statement("UPDATE parked"),
                       "(parked_awaits) SET due_at = UTC_TIMESTAMP(6) WHERE reason <> 'PAUSED'"
                       " AND ((tenant_id = 1 AND awaits = 'SQB:T1:FEE_CHARGED'))");
}
END_TEST

START_TEST(what_comes_out_of_parked_is_asked_for_and_its_row_goes_with_its_outcome)
{
        start();
        one_payment()->unparks = true;
        posts(1);
        is(&postings[0], VERDICT_POSTED, PENDING);
        fake_saw("BEGIN", LOCK, "SELECT claim_id FROM outcome WHERE claim_id IN (1000) LIMIT 1",
                 OUTCOME, FAKE_MOVE, "INSERT INTO entry", "INSERT INTO outbox",
                 "INSERT INTO balance", UNPARK "(1000)", ANY_PARKED, "COMMIT");
        ck_assert(fake_was_in_transaction("DELETE p FROM parked"));
}
END_TEST

START_TEST(one_that_must_wait_on_keeps_its_row)
{
        start();
        payment(0, "T1", "A")->unparks = true;
        posts(1);
        is_for_a_reason(&postings[0], VERDICT_PARKED, "ORDER_UNKNOWN");
        fake_saw("BEGIN", LOCK, "SELECT claim_id FROM outcome", "ROLLBACK");
}
END_TEST

START_TEST(one_with_money_that_gave_up_stands_in_suspense_with_a_review)
{
        start();
        struct posting *posting = payment(0, "T1", "A");
        posting->unparks = posting->gave_up = true;
        posts(1);
        is(posting, VERDICT_SUSPENSE, "{\"suspense\":\"UNKNOWN\"}");
        fake_saw("BEGIN", LOCK, "SELECT claim_id FROM outcome", OUTCOME,
                 "INSERT INTO entry (claim_id, line, account_id, amount, currency) VALUES"
                 " (1000,0,11,12880,'CNY'),(1000,1,12,-12880,'CNY')",
                 "INSERT INTO review",
                 "INSERT INTO balance (account_id, slot, amount) VALUES (11,0,12880),(12,0,-12880)",
                 UNPARK "(1000)", ANY_PARKED, "COMMIT");
        unit_assert_in(fake_statement(OUTCOME),
                       "(1000,'SUSPENSE','{\\\"suspense\\\":\\\"UNKNOWN\\\"}',");
        unit_assert_in(fake_statement("INSERT INTO review"), "(1,1000,'PARK_GAVE_UP',");
        ck_assert(fake_was_in_transaction("INSERT INTO review"));
}
END_TEST

START_TEST(one_that_gave_up_is_posted_where_it_can_be)
{
        start();
        one_payment()->gave_up = true;
        posts(1);
        is(&postings[0], VERDICT_POSTED, PENDING);
        unit_assert_in(fake_statement("INSERT INTO entry"), "(1000,1,10,-12880,'CNY')");
        ck_assert_uint_eq(fake_count("INSERT INTO review"), 0);
}
END_TEST

#define PACK_RULE                                                                                  \
        "ORDER_PACKED:\n"                                                                          \
        "  order: { from: [PAID], to: PACKED, wait: [PENDING_PAY] }\n"

START_TEST(one_without_money_that_gave_up_is_rejected_and_writes_nothing)
{
        start_with(PAYMENT_RULE PACK_RULE);
        struct posting *posting = fixture_posting(0, rules_find(rules, "ORDER_PACKED"), "T1", "A");
        notifications[0].amount_kind = PO_AMOUNT_NONE;
        posting->unparks = posting->gave_up = true;
        fake_rows("FOR UPDATE");
        order_row("A", "PENDING_PAY");
        posts(1);
        is_for_a_reason(posting, VERDICT_REJECTED, "PARK_GAVE_UP");
        fake_saw("BEGIN", LOCK, "SELECT claim_id FROM outcome", "ROLLBACK");
}
END_TEST

#define REFUND_RULES                                                                               \
        "REFUND_SUCCEEDED:\n"                                                                      \
        "  refund: { from: [REGISTERED], to: SUCCEEDED }\n"                                        \
        "  order: { from: [PAID], to: refunded_total }\n"                                          \
        "  post: [ { debit: 'merchant:{tenant}:payable',"                                          \
        " credit: 'channel:{channel}:clearing', amount: amount } ]\n"                              \
        "REFUND_FAILED:\n"                                                                         \
        "  refund: { from: [REGISTERED], reverse: [SUCCEEDED], to: FAILED }\n"

/* What it would take from suspense is not in the database yet. */
START_TEST(a_failure_behind_its_success_that_goes_to_suspense_waits_for_the_next_batch)
{
        start_with(PAYMENT_RULE REFUND_RULES);
        fixture_posting(0, rules_find(rules, "REFUND_SUCCEEDED"), "F1", "A");
        fixture_posting(1, rules_find(rules, "REFUND_FAILED"), "F1", "A");
        fake_rows("FROM claim");
        fake_row("1", "SQB:F1:REFUND_SUCCEEDED", "1000", "A", "12880", "CNY");
        fake_rows("FROM account");
        fake_row("11", "1", "channel:SQB:clearing", "CNY");
        fake_row("10", "1", "merchant:1:payable", "CNY");
        fake_row("12", "1", "suspense:SQB", "CNY");
        fake_rows("FOR UPDATE");
        order_row("A", "CLOSED");
        posts(2);
        is(&postings[0], VERDICT_SUSPENSE, "{\"suspense\":\"CLOSED\"}");
        is_for_a_reason(&postings[1], VERDICT_PARKED, "TOO_EARLY");
        ck_assert(postings[1].unblocked);
}
END_TEST

START_TEST(one_whose_order_moves_behind_it_in_the_batch_is_unblocked)
{
        start_with(PAYMENT_RULE PACK_RULE);
        for (size_t i = 0; i < 2; i++) {
                fixture_posting(i, rules_find(rules, "ORDER_PACKED"), i == 0 ? "P1" : "P2",
                                i == 0 ? "A" : "B");
                notifications[i].amount_kind = PO_AMOUNT_NONE;
        }
        payment(2, "T1", "A");
        fake_rows("FROM account");
        fake_row("11", "1", "channel:SQB:clearing", "CNY");
        fake_row("10", "1", "merchant:1:payable", "CNY");
        fake_row("12", "1", "suspense:SQB", "CNY");
        fake_rows("FOR UPDATE");
        order_row("A", "PENDING_PAY");
        order_row("B", "PENDING_PAY");
        posts(3);
        is_for_a_reason(&postings[0], VERDICT_PARKED, "TOO_EARLY");
        is_for_a_reason(&postings[1], VERDICT_PARKED, "TOO_EARLY");
        is(&postings[2], VERDICT_POSTED, PENDING);
        ck_assert(postings[0].unblocked);
        ck_assert(!postings[1].unblocked && !postings[2].unblocked);
}
END_TEST

START_TEST(an_account_name_too_long_begins_no_transaction)
{
        start();
        struct posting *posting = payment(0, "T1", "A");
        struct event_rule rule = *posting->rule;
        memset(rule.lines[0].credit, 'a', ACCOUNT_CODE_BYTES - 1);
        snprintf(rule.lines[0].credit + 119, 10, "{channel}");
        memset(notifications[0].channel, 'C', PO_CHANNEL_BYTES - 1);
        posting->rule = &rule;
        ck_assert_int_eq(run(1), PO_RECORD);
        ck_assert_str_eq(error.reason, "ACCOUNT_TOO_LONG");
        is_ours_again(1);
        fake_saw_nothing();
}
END_TEST

/* Each step of the transaction in turn, as one that fails. */
static const char *const steps[] = { "BEGIN",
                                     "FOR UPDATE",
                                     "FROM outcome",
                                     "INSERT INTO outcome",
                                     FAKE_MOVE,
                                     "INSERT INTO entry",
                                     "INSERT INTO outbox",
                                     "INSERT INTO review",
                                     "INSERT INTO balance",
                                     "DELETE p FROM parked",
                                     ANY_PARKED,
                                     "UPDATE parked",
                                     "COMMIT" };
enum { STEPS = sizeof steps / sizeof steps[0] };

/* A payment and one that needs a review; both claims were seen by others. */
static void whole_transaction(size_t failing)
{
        start();
        payment(0, "T1", "A")->deliveries = 2;
        payment(1, "T2", "B")->deliveries = 2;
        if (failing > 1) {
                fake_rows("FOR UPDATE");
                order_row("A", "PENDING_PAY");
                order_row("B", "SHIPPED");
        }
        if (strcmp(steps[failing], ANY_PARKED) != 0) {
                fake_rows(ANY_PARKED);
                fake_row("1");
        }
}

START_TEST(whatever_fails_leaves_nothing_behind)
{
        static const enum po_class classes[] = { PO_TRANSIENT, PO_SYSTEMIC, PO_RECORD, PO_BUG };
        for (size_t i = 0; i < STEPS; i++)
                for (size_t j = 0; j < sizeof classes / sizeof classes[0]; j++) {
                        whole_transaction(i);
                        fake_fail(steps[i], classes[j], 4711);
                        ck_assert_msg(run(2) == classes[j], "%s: %s", steps[i], error.text);
                        ck_assert_int_eq(error.code, 4711);
                        is_ours_again(2);
                        bool begun = i > 0, ended = i == STEPS - 1;
                        ck_assert_uint_eq(fake_count("ROLLBACK"), 1 + (begun && !ended));
                        ck_assert_uint_eq(fake_count("COMMIT"), ended);
                }
}
END_TEST

START_TEST(the_same_set_posts_after_a_failure)
{
        start();
        one_payment();
        fake_fail("INSERT INTO balance", PO_TRANSIENT, 1213);
        ck_assert_int_eq(run(1), PO_TRANSIENT);
        is_ours_again(1);
        one_payment();
        posts(1);
        is(&postings[0], VERDICT_POSTED, PENDING);
        unit_assert_in(fake_statement("INSERT INTO balance"), "(10,0,-12880),(11,0,12880)");
}
END_TEST

START_TEST(another_number_of_orders_than_were_judged_is_a_bug)
{
        start();
        one_payment();
        fake_affect(FAKE_MOVE, 0);
        ck_assert_int_eq(run(1), PO_BUG);
        unit_assert_in(error.text, "1 were judged in state PENDING_PAY, the server counts 0");
        is_ours_again(1);
        fake_saw("BEGIN", LOCK, OUTCOME, FAKE_MOVE, "ROLLBACK");
}
END_TEST

START_TEST(an_account_at_its_border_is_named_after_the_rollback)
{
        start();
        one_payment();
        fake_fail("INSERT INTO balance", PO_SYSTEMIC, 1690);
        fake_rows("FROM balance");
        fake_row("1", "merchant:1:payable", "CNY", "-9223372036854775800");
        ck_assert_int_eq(run(1), PO_SYSTEMIC);
        unit_assert_in(error.text, "balance of account merchant:1:payable CNY");
        is_ours_again(1);
        fake_saw("BEGIN", LOCK, OUTCOME, FAKE_MOVE, "INSERT INTO entry", "INSERT INTO outbox",
                 "INSERT INTO balance", "ROLLBACK", "SELECT a.tenant_id");
}
END_TEST

START_TEST(a_unique_key_behind_the_fence_is_a_bug)
{
        static const char *const pieces[] = { "INSERT INTO entry", "INSERT INTO outbox" };
        for (size_t i = 0; i < 2; i++) {
                start();
                one_payment();
                fake_fail(pieces[i], PO_EXISTS, 1062);
                ck_assert_int_eq(run(1), PO_BUG);
                ck_assert_int_eq(error.kind, PO_BUG);
                ck_assert_int_eq(error.code, 1062);
                is_ours_again(1);
                ck_assert_uint_eq(fake_count(CLAIMS), 0);
        }
}
END_TEST

START_TEST(what_another_settled_behind_the_fence_is_its_duplicate)
{
        start();
        one_payment();
        fake_fail(OUTCOME, PO_EXISTS, 1062);
        fake_rows("FROM claim");
        settled("T1", "1000", "POSTED", PENDING, "55");
        posts(1);
        is(&postings[0], VERDICT_DUPLICATE, PENDING);
        fake_saw("BEGIN", LOCK, OUTCOME, "ROLLBACK", CLAIMS);
        ck_assert(!fake_was_in_transaction(CLAIMS));
}
END_TEST

START_TEST(what_another_settled_before_the_lock_leaves_the_set_and_the_rest_posts)
{
        start();
        payment(0, "T1", "A")->deliveries = 2;
        payment(1, "T2", "B");
        fake_rows("FOR UPDATE");
        paid_row("A", "PAID", "T1");
        order_row("B", "PENDING_PAY");
        fake_rows("FROM outcome");
        fake_row("1000");
        fake_rows("FROM claim");
        settled("T1", "1000", "POSTED", PENDING, "55");
        claimed("T2", "1001");
        fake_rows("FOR UPDATE");
        order_row("B", "PENDING_PAY");
        posts(2);
        is(&postings[0], VERDICT_DUPLICATE, PENDING);
        is(&postings[1], VERDICT_POSTED, PENDING);
        fake_saw("BEGIN", LOCK, "SELECT claim_id FROM outcome", "ROLLBACK", CLAIMS, "BEGIN",
                 "SELECT tenant_id, order_no, amount, currency, status, paid_channel, paid_txn,"
                 " paid_amount, refunded, refund_reserved, status_before_refund FROM payment_order"
                 " FORCE INDEX (PRIMARY) WHERE (tenant_id = 1 AND order_no IN ('B'))",
                 "SELECT claim_id FROM outcome WHERE claim_id IN (1001)", OUTCOME, FAKE_MOVE,
                 "INSERT INTO entry", "INSERT INTO outbox", "INSERT INTO balance", UNPARK "(1001)",
                 ANY_PARKED, "COMMIT");
}
END_TEST

START_TEST(what_was_accepted_meanwhile_with_another_fingerprint_is_a_conflict)
{
        start();
        one_payment();
        fake_fail(OUTCOME, PO_EXISTS, 1062);
        fake_rows("FROM claim");
        fake_row("1", KEY("T1"), "1000", "2", FINGERPRINT_A, "1", "POSTED", PENDING, FINGERPRINT_B,
                 "1", "callbacks", "0", "55");
        posts(1);
        is(&postings[0], VERDICT_CONFLICT, "");
}
END_TEST

START_TEST(a_fence_that_no_outcome_explains_is_a_bug_and_no_loop)
{
        start();
        one_payment();
        fake_fail(OUTCOME, PO_EXISTS, 1062);
        fake_rows("FROM claim");
        claimed("T1", "1000");
        ck_assert_int_eq(run(1), PO_BUG);
        unit_assert_in(error.text, "an outcome that is not there");
        is_ours_again(1);
        fake_saw("BEGIN", LOCK, OUTCOME, "ROLLBACK", CLAIMS);
}
END_TEST

START_TEST(a_fence_that_cannot_be_read_after_is_that_readings_error)
{
        start();
        one_payment();
        fake_fail(OUTCOME, PO_EXISTS, 1062);
        fake_fail("FROM claim", PO_TRANSIENT, 2013);
        ck_assert_int_eq(run(1), PO_TRANSIENT);
        is_ours_again(1);
}
END_TEST

START_TEST(a_lost_answer_to_a_commit_that_took_place_is_posted_now)
{
        start();
        one_payment();
        fake_fail("COMMIT", PO_UNCERTAIN, 2013);
        fake_rows("FROM claim");
        settled("T1", "1000", "POSTED", PENDING, "100");
        posts(1);
        is(&postings[0], VERDICT_POSTED, PENDING); /* and not again: it was not counted yet */
        fake_saw("BEGIN", LOCK, OUTCOME, FAKE_MOVE, "INSERT INTO entry", "INSERT INTO outbox",
                 "INSERT INTO balance", ANY_PARKED, "COMMIT", CLAIMS);
}
END_TEST

#define AWAIT   "SELECT claim_id FROM outcome WHERE claim_id IN (1000) LOCK IN SHARE MODE"
#define FOREIGN "made by another."
#define left_over(txn, id)                                                                         \
        fake_row("1", KEY(txn), id, "1", FINGERPRINT_A, "1", NULL, NULL, NULL, NULL, NULL, NULL,   \
                 NULL, FOREIGN, "0", "0")

static void start_strict(void)
{
        start();
        ck_assert_int_eq(claims_be_strict(ledger_claims(ledger), &error), PO_OK);
}

START_TEST(strictly_a_commit_whose_answer_is_lost_is_not_sent_again)
{
        start_strict();
        one_payment();
        fake_fail("COMMIT", PO_UNCERTAIN, 2013);
        fake_rows("LOCK IN SHARE MODE");
        fake_rows("FROM claim");
        left_over("T1", "1000");
        posts(1);
        is(&postings[0], VERDICT_ORPHANED, "");
        fake_saw("BEGIN", LOCK, OUTCOME, FAKE_MOVE, "INSERT INTO entry", "INSERT INTO outbox",
                 "INSERT INTO balance", ANY_PARKED, "COMMIT", AWAIT, CLAIMS);
        ck_assert(!fake_was_in_transaction("SELECT claim_id FROM outcome"));
}
END_TEST

START_TEST(strictly_a_commit_that_took_place_without_an_answer_is_posted)
{
        start_strict();
        one_payment();
        fake_fail("COMMIT", PO_UNCERTAIN, 2013);
        fake_rows("FROM claim");
        fake_row("1", KEY("T1"), "1000", "1", FINGERPRINT_A, "1", "POSTED", PENDING, FINGERPRINT_A,
                 "1", "callbacks", "0", "100", FOREIGN, "0", "0");
        posts(1);
        is(&postings[0], VERDICT_POSTED, PENDING);
}
END_TEST

START_TEST(strictly_a_commit_that_goes_on_for_long_leaves_its_answer_open)
{
        start_strict();
        one_payment();
        fake_fail("COMMIT", PO_UNCERTAIN, 2013);
        fake_fail("LOCK IN SHARE MODE", PO_TRANSIENT, 1205);
        ck_assert_int_eq(run(1), PO_UNCERTAIN);
        is_ours_again(1);
        ck_assert(postings[0].begun);
        ck_assert_uint_eq(fake_count(CLAIMS), 0);
}
END_TEST

START_TEST(what_begins_is_told_from_what_does_not)
{
        start();
        one_payment();
        fake_fail("BEGIN", PO_TRANSIENT, 2006);
        ck_assert_int_eq(run(1), PO_TRANSIENT);
        ck_assert(!postings[0].begun);

        one_payment();
        fake_fail(OUTCOME, PO_TRANSIENT, 1213);
        ck_assert_int_eq(run(1), PO_TRANSIENT);
        ck_assert(postings[0].begun);

        start();
        payment(0, "T1", "A"); /* no such order */
        posts(1);
        is_for_a_reason(&postings[0], VERDICT_PARKED, "ORDER_UNKNOWN");
        ck_assert(!postings[0].begun);
}
END_TEST

START_TEST(strictly_a_parked_row_is_marked_before_its_posting_begins)
{
        for (int strict = 0; strict < 2; strict++) {
                start();
                if (strict)
                        start_strict();
                one_payment()->unparks = true;
                posts(1);
                is(&postings[0], VERDICT_POSTED, PENDING);
                ck_assert_uint_eq(fake_count("UPDATE parked FORCE INDEX (PRIMARY) SET begun_at ="
                                             " UTC_TIMESTAMP(6) WHERE claim_id IN (1000)"),
                                  (size_t)strict);
                if (strict)
                        ck_assert(!fake_was_in_transaction("UPDATE parked"));
        }
}
END_TEST

START_TEST(a_lost_answer_to_a_commit_that_did_not_take_place_is_posted_once_more)
{
        start();
        one_payment();
        fake_fail("COMMIT", PO_UNCERTAIN, 2013);
        fake_rows("FROM claim");
        claimed("T1", "1000");
        one_payment();
        posts(1);
        is(&postings[0], VERDICT_POSTED, PENDING);
        fake_saw("BEGIN", LOCK, OUTCOME, FAKE_MOVE, "INSERT INTO entry", "INSERT INTO outbox",
                 "INSERT INTO balance", ANY_PARKED, "COMMIT", CLAIMS, "BEGIN", LOCK,
                 "SELECT claim_id FROM outcome", OUTCOME, FAKE_MOVE, "INSERT INTO entry",
                 "INSERT INTO outbox", "INSERT INTO balance", UNPARK "(1000)", ANY_PARKED,
                 "COMMIT");
}
END_TEST

START_TEST(a_commit_that_takes_place_late_is_met_at_the_fence)
{
        start();
        one_payment();
        fake_affect(OUTCOME, 1);
        fake_fail("COMMIT", PO_UNCERTAIN, 2013);
        fake_rows("FROM claim"); /* not there yet */
        claimed("T1", "1000");
        fake_rows("FOR UPDATE"); /* the lock waited for it */
        paid_row("A", "PAID", "T1");
        fake_fail(OUTCOME, PO_EXISTS, 1062);
        fake_rows("FROM claim");
        settled("T1", "1000", "POSTED", PENDING, "100");
        posts(1);
        is(&postings[0], VERDICT_POSTED, PENDING);
}
END_TEST

START_TEST(what_another_settled_while_the_answer_was_lost_is_its_duplicate)
{
        start();
        one_payment();
        fake_fail("COMMIT", PO_UNCERTAIN, 2013);
        fake_rows("FROM claim");
        settled("T1", "1000", "POSTED", PENDING, "55");
        posts(1);
        is(&postings[0], VERDICT_DUPLICATE, PENDING);
}
END_TEST

START_TEST(an_answer_lost_where_nothing_can_be_read_stays_uncertain)
{
        start();
        one_payment();
        fake_fail("COMMIT", PO_UNCERTAIN, 2013);
        fake_fail("FROM claim", PO_TRANSIENT, 2002);
        ck_assert_int_eq(run(1), PO_UNCERTAIN);
        ck_assert_int_eq(error.code, 2013);
        is_ours_again(1);
}
END_TEST

START_TEST(answers_lost_again_and_again_end_the_call)
{
        start();
        for (int i = 0; i < 8; i++) {
                one_payment();
                fake_fail("COMMIT", PO_UNCERTAIN, 2013);
                fake_rows("FROM claim");
                claimed("T1", "1000");
        }
        ck_assert_int_eq(run(1), PO_UNCERTAIN);
        is_ours_again(1);
        ck_assert_uint_eq(fake_count("COMMIT"), 4);
}
END_TEST

START_TEST(the_ledger_tells_whether_its_connection_lives)
{
        start();
        ck_assert(ledger_is_connected(ledger));
        fake_fail("BEGIN", PO_TRANSIENT, 2006);
        payment(0, "T1", "A");
        ck_assert_int_eq(run(1), PO_TRANSIENT);
        ck_assert(!ledger_is_connected(ledger));
        ledger_keep_alive(ledger);
        ck_assert_ptr_nonnull(ledger_claims(ledger));
        ledger_close(NULL);
}
END_TEST

UNIT_MAIN("posting", a_reversal_that_awaits_a_posting_without_order_is_made_due_by_it,
          a_payment_is_posted_in_the_order_of_the_contract, what_is_not_ours_sends_nothing,
          orders_are_locked_sorted_and_each_once,
          outcomes_are_asked_for_only_where_others_saw_the_claim,
          outcomes_are_inserted_in_the_order_of_their_claims,
          notifications_of_one_order_are_judged_in_the_order_of_arrival,
          a_second_payment_of_an_order_stands_in_suspense_beside_the_first,
          a_skipped_one_has_an_outcome_and_nothing_else,
          where_no_payment_was_recorded_a_review_stands_in_the_same_transaction,
          what_must_wait_writes_nothing, a_rejected_one_leaves_the_others_posted,
          a_rule_without_order_locks_none,
          orders_that_a_rule_makes_are_there_before_the_transaction,
          what_waits_for_an_order_that_moved_is_made_due_in_the_same_transaction,
          what_comes_out_of_parked_is_asked_for_and_its_row_goes_with_its_outcome,
          one_that_must_wait_on_keeps_its_row,
          one_with_money_that_gave_up_stands_in_suspense_with_a_review,
          one_that_gave_up_is_posted_where_it_can_be,
          one_without_money_that_gave_up_is_rejected_and_writes_nothing,
          one_whose_order_moves_behind_it_in_the_batch_is_unblocked,
          a_failure_behind_its_success_that_goes_to_suspense_waits_for_the_next_batch,
          an_account_name_too_long_begins_no_transaction, whatever_fails_leaves_nothing_behind,
          the_same_set_posts_after_a_failure, another_number_of_orders_than_were_judged_is_a_bug,
          an_account_at_its_border_is_named_after_the_rollback,
          a_unique_key_behind_the_fence_is_a_bug,
          what_another_settled_behind_the_fence_is_its_duplicate,
          what_another_settled_before_the_lock_leaves_the_set_and_the_rest_posts,
          what_was_accepted_meanwhile_with_another_fingerprint_is_a_conflict,
          a_fence_that_no_outcome_explains_is_a_bug_and_no_loop,
          a_fence_that_cannot_be_read_after_is_that_readings_error,
          a_lost_answer_to_a_commit_that_took_place_is_posted_now,
          strictly_a_commit_whose_answer_is_lost_is_not_sent_again,
          strictly_a_commit_that_took_place_without_an_answer_is_posted,
          strictly_a_commit_that_goes_on_for_long_leaves_its_answer_open,
          what_begins_is_told_from_what_does_not,
          strictly_a_parked_row_is_marked_before_its_posting_begins,
          a_lost_answer_to_a_commit_that_did_not_take_place_is_posted_once_more,
          a_commit_that_takes_place_late_is_met_at_the_fence,
          what_another_settled_while_the_answer_was_lost_is_its_duplicate,
          an_answer_lost_where_nothing_can_be_read_stays_uncertain,
          answers_lost_again_and_again_end_the_call, the_ledger_tells_whether_its_connection_lives)
