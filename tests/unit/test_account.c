/* Account templates, and the table of accounts against a database of the test's own. */
#include "fake_db.h"
#include "posting_fixture.h"

#include "ledger/account.h"

static struct db *db;
static struct sql sql;
static struct accounts *accounts;

static void start(void)
{
        db = fake_db_open();
        accounts_close(accounts);
        ck_assert_int_eq(accounts_open(&accounts, db, &error), PO_OK);
}

static void wants(int64_t tenant_id, const char *code, const char *currency)
{
        ck_assert_int_eq(accounts_want(accounts, tenant_id, code, currency, &error), PO_OK);
}

static enum po_class make(void)
{
        return accounts_make(accounts, &sql, &error);
}

/* One account, made under that id. */
static void made(const char *code, const char *id)
{
        wants(1, code, "CNY");
        fake_rows("FROM account");
        fake_row(id, "1", code, "CNY");
        ck_assert_int_eq(make(), PO_OK);
        fake_saw("INSERT INTO account", "SELECT id");
}

START_TEST(a_template_names_only_known_variables)
{
        const char *bad = NULL;
        ck_assert(account_template_ok("fees", &bad));
        ck_assert(account_template_ok("{channel}{tenant}:{currency}", &bad));
        ck_assert(!account_template_ok("x:{Channel}", &bad));
        ck_assert_str_eq(bad, "{Channel}");
        ck_assert(!account_template_ok("{channel", &bad));
        ck_assert_str_eq(bad, "{channel");
        ck_assert(!account_template_ok("a}b", &bad));
        ck_assert_str_eq(bad, "}b");
        ck_assert(!account_template_ok("{{channel}}", &bad));
}
END_TEST

static void expands(const char *template, const char *expected)
{
        char code[ACCOUNT_CODE_BYTES];
        ck_assert_int_eq(account_expand(template, &notifications[0], code, &error), PO_OK);
        ck_assert_str_eq(code, expected);
}

START_TEST(variables_are_replaced_by_the_notifications_own)
{
        fixture_posting(0, NULL, "T1", "R8-1");
        expands("fees", "fees");
        expands("channel:{channel}:clearing", "channel:SQB:clearing");
        expands("{tenant}{tenant}-{currency}", "11-CNY");
        notifications[0].tenant_id = INT64_MIN;
        expands("{tenant}", "-9223372036854775808");
}
END_TEST

/* So many letters before {channel}, which is SQB. */
static enum po_class expand_after(int letters, char code_out[ACCOUNT_CODE_BYTES])
{
        char template[256];
        memset(template, 'a', sizeof template);
        snprintf(template + letters, sizeof template - (size_t)letters, "{channel}");
        return account_expand(template, &notifications[0], code_out, &error);
}

START_TEST(an_account_that_does_not_fit_is_refused_and_never_cut)
{
        char code[ACCOUNT_CODE_BYTES];
        fixture_posting(0, NULL, "T1", "R8-1");
        ck_assert_int_eq(expand_after(125, code), PO_OK);
        ck_assert_uint_eq(strlen(code), 128);
        ck_assert_str_eq(code + 125, "SQB");
        ck_assert_int_eq(expand_after(126, code), PO_RECORD);
        ck_assert_str_eq(error.reason, "ACCOUNT_TOO_LONG");
}
END_TEST

START_TEST(nothing_wanted_asks_nothing)
{
        start();
        ck_assert_int_eq(make(), PO_OK);
        fake_saw_nothing();
}
END_TEST

START_TEST(wanted_accounts_are_made_sorted_in_one_statement_before_they_are_read)
{
        start();
        wants(2, "a", "CNY");
        wants(1, "b", "CNY");
        wants(1, "a", "USD");
        wants(1, "a", "CNY");
        fake_rows("FROM account");
        fake_row("4", "2", "a", "CNY");
        fake_row("3", "1", "b", "CNY");
        fake_row("2", "1", "a", "USD");
        fake_row("1", "1", "a", "CNY");
        ck_assert_int_eq(make(), PO_OK);
        fake_saw("INSERT INTO account (tenant_id, code, currency, created_at) VALUES"
                 " (1,'a','CNY',UTC_TIMESTAMP(6)),(1,'a','USD',UTC_TIMESTAMP(6)),"
                 "(1,'b','CNY',UTC_TIMESTAMP(6)),(2,'a','CNY',UTC_TIMESTAMP(6))"
                 " ON DUPLICATE KEY UPDATE account.created_at = account.created_at",
                 "SELECT id, tenant_id, code, currency FROM account WHERE"
                 " (tenant_id = 1 AND code = 'a' AND currency = 'CNY') OR"
                 " (tenant_id = 1 AND code = 'a' AND currency = 'USD') OR"
                 " (tenant_id = 1 AND code = 'b' AND currency = 'CNY') OR"
                 " (tenant_id = 2 AND code = 'a' AND currency = 'CNY')");
        ck_assert(!fake_was_in_transaction("INSERT INTO account"));
        ck_assert_int_eq(accounts_id(accounts, 1, "a", "CNY"), 1);
        ck_assert_int_eq(accounts_id(accounts, 1, "a", "USD"), 2);
        ck_assert_int_eq(accounts_id(accounts, 1, "b", "CNY"), 3);
        ck_assert_int_eq(accounts_id(accounts, 2, "a", "CNY"), 4);
        ck_assert_int_eq(accounts_id(accounts, 2, "b", "CNY"), 0);
}
END_TEST

START_TEST(a_known_account_is_not_asked_for_again)
{
        start();
        made("a", "7");
        accounts_trim(accounts);
        wants(1, "a", "CNY");
        ck_assert_int_eq(make(), PO_OK);
        fake_saw_nothing();
        ck_assert_int_eq(accounts_id(accounts, 1, "a", "CNY"), 7);
        wants(1, "a", "USD");
        ck_assert_int_eq(make(), PO_OK);
        fake_saw("INSERT INTO account (tenant_id, code, currency, created_at) VALUES"
                 " (1,'a','USD',UTC_TIMESTAMP(6)) ON",
                 "SELECT id");
}
END_TEST

START_TEST(after_an_error_the_same_accounts_are_made_again)
{
        static const char *const pieces[] = { "INSERT INTO account", "FROM account" };
        for (size_t i = 0; i < 2; i++) {
                start();
                wants(1, "a", "CNY");
                fake_fail(pieces[i], PO_TRANSIENT, 1213);
                ck_assert_int_eq(make(), PO_TRANSIENT);
                unit_assert_in(error.text, "make accounts: ");
                ck_assert_int_eq(accounts_id(accounts, 1, "a", "CNY"), 0);
                accounts_trim(accounts);
                wants(1, "a", "CNY");
                fake_rows("FROM account");
                fake_row("7", "1", "a", "CNY");
                ck_assert_int_eq(make(), PO_OK);
                ck_assert_int_eq(accounts_id(accounts, 1, "a", "CNY"), 7);
        }
}
END_TEST

START_TEST(an_account_that_was_wanted_by_a_unit_that_failed_is_made_by_the_next)
{
        start();
        wants(1, "a", "CNY");
        /* The unit ends here: another of its accounts was refused. It is halved. */
        accounts_trim(accounts);
        wants(1, "a", "CNY");
        fake_rows("FROM account");
        fake_row("7", "1", "a", "CNY");
        ck_assert_int_eq(make(), PO_OK);
        fake_saw("INSERT INTO account", "SELECT id");
        ck_assert_int_eq(accounts_id(accounts, 1, "a", "CNY"), 7);
}
END_TEST

START_TEST(after_forgetting_an_account_is_read_anew)
{
        start();
        made("a", "7");
        accounts_forget(accounts);
        ck_assert_int_eq(accounts_id(accounts, 1, "a", "CNY"), 0);
        made("a", "8");
        ck_assert_int_eq(accounts_id(accounts, 1, "a", "CNY"), 8);
}
END_TEST

enum { TABLE_FULL = 8192 };

/* Wants accounts n0, n1, … until one is refused; returns how many were taken. */
static int want_many(int most)
{
        for (int i = 0; i < most; i++) {
                char code[16];
                snprintf(code, sizeof code, "n%d", i);
                if (accounts_want(accounts, 1, code, "CNY", &error) != PO_OK)
                        return i;
        }
        return most;
}

START_TEST(one_unit_that_needs_more_accounts_than_the_table_holds_is_refused)
{
        start();
        ck_assert_int_eq(want_many(TABLE_FULL + 1), TABLE_FULL);
        ck_assert_int_eq(error.kind, PO_RECORD);
        ck_assert_str_eq(error.reason, "TOO_MANY_ACCOUNTS");
        wants(1, "n1", "CNY"); /* those that it has are still there */
        accounts_trim(accounts);
        ck_assert_int_eq(want_many(TABLE_FULL), TABLE_FULL);
}
END_TEST

START_TEST(a_table_half_full_stays_and_a_fuller_one_is_emptied)
{
        start();
        made("a", "7");
        ck_assert_int_eq(want_many(TABLE_FULL / 2 - 1), TABLE_FULL / 2 - 1);
        ck_assert_int_eq(make(), PO_OK);
        accounts_trim(accounts);
        ck_assert_int_eq(accounts_id(accounts, 1, "a", "CNY"), 7);
        wants(1, "one-more", "CNY");
        ck_assert_int_eq(make(), PO_OK);
        accounts_trim(accounts);
        ck_assert_int_eq(accounts_id(accounts, 1, "a", "CNY"), 0);
}
END_TEST

START_TEST(no_accounts_are_closed_like_any)
{
        accounts_close(NULL);
}
END_TEST

UNIT_MAIN("account", a_template_names_only_known_variables,
          variables_are_replaced_by_the_notifications_own,
          an_account_that_does_not_fit_is_refused_and_never_cut, nothing_wanted_asks_nothing,
          wanted_accounts_are_made_sorted_in_one_statement_before_they_are_read,
          a_known_account_is_not_asked_for_again, after_an_error_the_same_accounts_are_made_again,
          an_account_that_was_wanted_by_a_unit_that_failed_is_made_by_the_next,
          after_forgetting_an_account_is_read_anew,
          one_unit_that_needs_more_accounts_than_the_table_holds_is_refused,
          a_table_half_full_stays_and_a_fuller_one_is_emptied, no_accounts_are_closed_like_any)
