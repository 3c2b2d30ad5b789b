/* Double entry: which rows a posting writes, and what they add up to. */
#include "fake_db.h"
#include "posting_fixture.h"

#include "ledger/entry.h"

static struct db *db;
static struct sql sql;
static struct accounts *accounts;
static struct entries *entries;
static struct rules *rules;

#define TWO_CREDITS "SPLIT:\n" TWO_CREDITS_POST
#define TWO_CREDITS_POST                                                                           \
        "  post:\n"                                                                                \
        "    - { debit: 'channel:{channel}:clearing', credit: fees, amount: amount }\n"            \
        "    - { debit: 'channel:{channel}:clearing', amount: amount }\n"                          \
        "    - { credit: 'merchant:{tenant}:payable', amount: amount }\n"

static void start(const char *events)
{
        db = fake_db_open();
        entries_close(entries);
        accounts_close(accounts);
        rules_free(rules);
        rules = fixture_rules(ORDERS_WITH_OTHERS, events);
        ck_assert_int_eq(accounts_open(&accounts, db, &error), PO_OK);
        ck_assert_int_eq(entries_open(&entries, db, accounts, FIXTURE_MAX, &error), PO_OK);
}

static struct posting *posted(size_t i, const char *txn)
{
        struct posting *posting = fixture_posting(i, rules_at(rules, 0), txn, "R8-1");
        posting->verdict = VERDICT_POSTED;
        ck_assert_int_eq(entries_want_accounts(entries, posting, &error), PO_OK);
        return posting;
}

/* Account ids against the order of their codes, so that sorting by id shows. */
static void make_accounts(void)
{
        fake_rows("FROM account");
        fake_row("3", "1", "channel:SQB:clearing", "CNY");
        fake_row("2", "1", "fees", "CNY");
        fake_row("1", "1", "merchant:1:payable", "CNY");
        ck_assert_int_eq(accounts_make(accounts, &sql, &error), PO_OK);
        fake_saw("INSERT INTO account", "SELECT id");
}

static enum po_class insert(size_t count)
{
        return entries_insert(entries, db, &sql, open_postings, count, &error);
}

START_TEST(a_line_of_two_sides_is_two_entries_that_sum_to_zero)
{
        start(PAYMENT_RULE);
        posted(0, "T1");
        make_accounts();
        ck_assert_int_eq(insert(1), PO_OK);
        fake_saw("INSERT INTO entry (claim_id, line, account_id, amount, currency) VALUES"
                 " (1000,0,3,12880,'CNY'),(1000,1,1,-12880,'CNY')");
}
END_TEST

START_TEST(the_lines_of_a_claim_are_numbered)
{
        start(TWO_CREDITS);
        posted(0, "T1");
        make_accounts();
        ck_assert_int_eq(insert(1), PO_OK);
        fake_saw("INSERT INTO entry (claim_id, line, account_id, amount, currency) VALUES"
                 " (1000,0,3,12880,'CNY'),(1000,1,2,-12880,'CNY'),(1000,2,3,12880,'CNY'),"
                 "(1000,3,1,-12880,'CNY')");
}
END_TEST

START_TEST(only_what_is_posted_has_entries)
{
        start(PAYMENT_RULE);
        posted(0, "T1")->verdict = VERDICT_SKIPPED;
        posted(1, "T2")->verdict = VERDICT_HELD;
        make_accounts();
        ck_assert_int_eq(insert(2), PO_OK);
        ck_assert_int_eq(entries_move_balances(entries, db, &sql, &error), PO_OK);
        fake_saw_nothing();
}
END_TEST

START_TEST(balances_move_once_an_account_in_the_order_of_their_ids)
{
        start(PAYMENT_RULE);
        posted(0, "T1");
        posted(1, "T2");
        make_accounts();
        ck_assert_int_eq(insert(2), PO_OK);
        ck_assert_int_eq(entries_move_balances(entries, db, &sql, &error), PO_OK);
        fake_saw("INSERT INTO entry",
                 "INSERT INTO balance (account_id, slot, amount) VALUES (1,0,-25760),(3,0,25760)"
                 " ON DUPLICATE KEY UPDATE amount = amount + VALUES(amount)");
}
END_TEST

START_TEST(the_next_unit_starts_from_nothing)
{
        start(PAYMENT_RULE);
        posted(0, "T1");
        make_accounts();
        ck_assert_int_eq(insert(1), PO_OK);
        ck_assert_int_eq(insert(1), PO_OK);
        ck_assert_int_eq(entries_move_balances(entries, db, &sql, &error), PO_OK);
        unit_assert_in(fake_statement("INSERT INTO balance"), "(1,0,-12880),(3,0,12880)");
}
END_TEST

START_TEST(one_sided_lines_are_a_bug)
{
        start(PAYMENT_RULE);
        struct posting *posting = posted(0, "T1");
        make_accounts();
        struct event_rule broken = *posting->rule;
        broken.lines[0].credit[0] = '\0';
        posting->rule = &broken;
        ck_assert_int_eq(insert(1), PO_BUG);
        unit_assert_in(error.text, "do not sum to zero");
        fake_saw_nothing();
}
END_TEST

START_TEST(an_account_that_was_not_made_is_a_bug)
{
        start(PAYMENT_RULE);
        posted(0, "T1");
        ck_assert_int_eq(insert(1), PO_BUG);
        unit_assert_in(error.text, "account channel:SQB:clearing was not made");
        fake_saw_nothing();
}
END_TEST

START_TEST(more_than_64_bits_on_one_account_are_refused)
{
        start(PAYMENT_RULE);
        posted(0, "T1");
        posted(1, "T2");
        postings[0].amount_minor = INT64_MAX;
        make_accounts();
        ck_assert_int_eq(insert(2), PO_OK);
        ck_assert_int_eq(entries_move_balances(entries, db, &sql, &error), PO_RECORD);
        ck_assert_str_eq(error.reason, "AMOUNT_OUT_OF_RANGE");
        fake_saw("INSERT INTO entry");
}
END_TEST

START_TEST(a_balance_at_its_border_stops_intake_and_names_the_account)
{
        static const int codes[] = { 1690, 1264 };
        for (size_t i = 0; i < 2; i++) {
                start(PAYMENT_RULE);
                posted(0, "T1");
                make_accounts();
                ck_assert_int_eq(insert(1), PO_OK);
                fake_fail("INSERT INTO balance", i == 0 ? PO_SYSTEMIC : PO_RECORD, codes[i]);
                fake_rows("FROM balance");
                fake_row("1", "merchant:1:payable", "CNY", "-9223372036854775800");
                ck_assert_int_eq(entries_move_balances(entries, db, &sql, &error), PO_SYSTEMIC);
                entries_explain(entries, db, &sql, &error);
                ck_assert_int_eq(error.kind, PO_SYSTEMIC);
                ck_assert_int_eq(error.code, codes[i]);
                unit_assert_in(error.text, "balance of account merchant:1:payable CNY of tenant 1"
                                           " would leave 64 bits (is -9223372036854775800)");
                unit_assert_in(fake_statement("SELECT a.tenant_id"), "b.account_id IN (1,3)");
        }
}
END_TEST

START_TEST(the_owner_of_the_transaction_ends_it_before_it_asks_for_the_account)
{
        start(PAYMENT_RULE);
        posted(0, "T1");
        make_accounts();
        ck_assert_int_eq(db_begin(db, &error), PO_OK);
        ck_assert_int_eq(insert(1), PO_OK);
        fake_fail("INSERT INTO balance", PO_SYSTEMIC, 1690);
        fake_rows("FROM balance");
        fake_row("1", "merchant:1:payable", "CNY", "-9223372036854775800");
        ck_assert_int_eq(entries_move_balances(entries, db, &sql, &error), PO_SYSTEMIC);
        ck_assert_uint_eq(fake_count("ROLLBACK"), 0);
        ck_assert_int_eq(db_end(db, error.kind, &error), PO_SYSTEMIC);
        entries_explain(entries, db, &sql, &error);
        unit_assert_in(error.text, "merchant:1:payable");
        ck_assert(!fake_was_in_transaction("SELECT a.tenant_id"));
}
END_TEST

START_TEST(another_error_of_the_balances_travels_up)
{
        start(PAYMENT_RULE);
        posted(0, "T1");
        make_accounts();
        ck_assert_int_eq(insert(1), PO_OK);
        fake_fail("INSERT INTO balance", PO_TRANSIENT, 1213);
        ck_assert_int_eq(entries_move_balances(entries, db, &sql, &error), PO_TRANSIENT);
        unit_assert_in(error.text, "move 2 balances: ");
        entries_explain(entries, db, &sql, &error);
        ck_assert_uint_eq(fake_count("SELECT a."), 0);
        fake_fail("INSERT INTO entry", PO_EXISTS, 1062);
        ck_assert_int_eq(insert(1), PO_EXISTS);
        unit_assert_in(error.text, "write 2 entries: ");
}
END_TEST

START_TEST(what_has_no_amount_of_its_own_wants_no_account)
{
        start(PAYMENT_RULE);
        fixture_posting(0, rules_at(rules, 0), "T1", "R8-1");
        notifications[0].amount_kind = PO_AMOUNT_NONE;
        notifications[0].currency[0] = '\0';
        ck_assert_int_eq(entries_want_accounts(entries, &postings[0], &error), PO_OK);
        ck_assert_int_eq(accounts_make(accounts, &sql, &error), PO_OK);
        fake_saw_nothing();
}
END_TEST

START_TEST(an_account_name_too_long_is_refused_before_anything_is_written)
{
        start(PAYMENT_RULE);
        struct posting *posting = fixture_posting(0, rules_at(rules, 0), "T1", "R8-1");
        struct event_rule rule = *posting->rule;
        memset(rule.lines[0].credit, 'a', ACCOUNT_CODE_BYTES - 1);
        snprintf(rule.lines[0].credit + 119, 10, "{channel}");
        memset(notifications[0].channel, 'C', PO_CHANNEL_BYTES - 1);
        posting->rule = &rule;
        ck_assert_int_eq(entries_want_accounts(entries, posting, &error), PO_RECORD);
        ck_assert_str_eq(error.reason, "ACCOUNT_TOO_LONG");
        fake_saw_nothing();
}
END_TEST

START_TEST(no_entries_are_closed_like_any)
{
        entries_close(NULL);
}
END_TEST

START_TEST(money_in_suspense_is_debited_as_ever_and_credited_there)
{
        start("SPLIT:\n  order: { from: [PENDING_PAY], to: PAID }\n" TWO_CREDITS_POST);
        struct posting *posting = fixture_posting(0, rules_at(rules, 0), "T1", "R8-1");
        posting->verdict = VERDICT_SUSPENSE;
        ck_assert_int_eq(entries_want_accounts(entries, posting, &error), PO_OK);
        fake_rows("FROM account");
        fake_row("3", "1", "channel:SQB:clearing", "CNY");
        fake_row("4", "1", "suspense:SQB", "CNY");
        ck_assert_int_eq(accounts_make(accounts, &sql, &error), PO_OK);
        /* Which it will be is judged later, on the locked order: both sets of accounts are made. */
        unit_assert_in(fake_statement("INSERT INTO account"), "'merchant:1:payable'");
        unit_assert_in(fake_statement("INSERT INTO account"), "'suspense:SQB'");
        fake_saw("INSERT INTO account", "SELECT id");
        ck_assert_int_eq(insert(1), PO_OK);
        ck_assert_int_eq(entries_move_balances(entries, db, &sql, &error), PO_OK);
        fake_saw("INSERT INTO entry (claim_id, line, account_id, amount, currency) VALUES"
                 " (1000,0,3,12880,'CNY'),(1000,1,4,-12880,'CNY'),(1000,2,3,12880,'CNY'),"
                 "(1000,3,4,-12880,'CNY')",
                 "INSERT INTO balance (account_id, slot, amount) VALUES (3,0,25760),(4,0,-25760)");
}
END_TEST

START_TEST(what_nothing_can_stand_in_the_way_of_asks_for_no_suspense_account)
{
        start(FEE_RULE);
        posted(0, "T1");
        make_accounts();
        unit_assert_not_in(fake_statement("INSERT INTO account"), "suspense");
}
END_TEST

UNIT_MAIN("entry", a_line_of_two_sides_is_two_entries_that_sum_to_zero,
          the_lines_of_a_claim_are_numbered, only_what_is_posted_has_entries,
          balances_move_once_an_account_in_the_order_of_their_ids,
          the_next_unit_starts_from_nothing, one_sided_lines_are_a_bug,
          an_account_that_was_not_made_is_a_bug, more_than_64_bits_on_one_account_are_refused,
          a_balance_at_its_border_stops_intake_and_names_the_account,
          the_owner_of_the_transaction_ends_it_before_it_asks_for_the_account,
          another_error_of_the_balances_travels_up, what_has_no_amount_of_its_own_wants_no_account,
          an_account_name_too_long_is_refused_before_anything_is_written,
          no_entries_are_closed_like_any, money_in_suspense_is_debited_as_ever_and_credited_there,
          what_nothing_can_stand_in_the_way_of_asks_for_no_suspense_account)
