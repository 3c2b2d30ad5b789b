/* Opening balances: which can be, and the key that makes each one possible once. */
#include "fake_db.h"

#include "ledger/opening.h"

static struct po_error error;

static struct opening opening(const char *account, int64_t amount_minor)
{
        return (struct opening){ .tenant_id = 1,
                                 .account = account,
                                 .currency = "CNY",
                                 .amount_minor = amount_minor,
                                 .effective_at_us = PO_TIME_UNKNOWN,
                                 .line = 2 };
}

static void refuses(const char *account, int64_t amount_minor, const char *reason)
{
        struct opening made = opening(account, amount_minor);
        ck_assert_msg(opening_check(&made, &error) == PO_RECORD, "accepted: %s", account);
        ck_assert_str_eq(error.reason, reason);
}

START_TEST(an_account_that_cannot_be_is_refused)
{
        char longer[200];
        struct opening good = opening("merchant:7:payable", -5);
        ck_assert_int_eq(opening_check(&good, &error), PO_OK);
        refuses("", 1, "ACCOUNT_MALFORMED");
        refuses(" a", 1, "ACCOUNT_MALFORMED");
        refuses("merchant:{tenant}", 1, "ACCOUNT_MALFORMED");
        refuses("a\tb", 1, "ACCOUNT_MALFORMED");
        refuses("a", 0, "AMOUNT_NOT_POSITIVE");
        snprintf(longer, sizeof longer, "%0129d", 1);
        refuses(longer, 1, "ACCOUNT_MALFORMED");
        snprintf(longer, sizeof longer, "%s%s%s", "支付支付支付支付支付", "支付支付支付支付支付",
                 "x");
        refuses(longer, 1, "KEY_TOO_LONG");
}
END_TEST

START_TEST(it_is_claimed_under_its_accounts_key_before_it_is_posted)
{
        struct db *db = fake_db_open();
        struct ledger *ledger;
        struct opening made = opening("a:b", -5);
        ck_assert_int_eq(ledger_open(&ledger, db, NULL, OPENING_ROWS_MAX, &error), PO_OK);
        fake_fail("INSERT INTO claim", PO_SYSTEMIC, 1142);
        ck_assert_int_eq(openings_post(ledger, "equity:opening", &made, 1, &error), PO_SYSTEMIC);
        fake_saw("INSERT INTO claim");
        unit_assert_in(fake_statement("INSERT INTO claim"),
                       "(1,'POSTONCE:opening-a%3Ab/CNY:OPENING_BALANCE','POSTONCE',"
                       "'OPENING_BALANCE','',5,'CNY',");
        ck_assert_int_eq(openings_post(ledger, "{x}", &made, 1, &error), PO_RECORD);
        ledger_close(ledger);
}
END_TEST

UNIT_MAIN("opening", an_account_that_cannot_be_is_refused,
          it_is_claimed_under_its_accounts_key_before_it_is_posted)
