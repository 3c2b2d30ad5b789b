#include "fake_db.h"

#include "ledger/audit.h"

static struct db *db;
static struct sql sql;
static struct po_error error;

static enum po_class insert(const char *who, const char *what, const char *why)
{
        return audit_insert(db, &sql, who, "order set", what, why, &error);
}

START_TEST(a_line_says_who_did_what_and_why)
{
        db = fake_db_open();
        ck_assert_int_eq(insert("ann", "1/R8-1 PAID -> CLOSED", "a customer's wish"), PO_OK);
        fake_saw("INSERT INTO audit (at, who, verb, what, why) VALUES (UTC_TIMESTAMP(6), 'ann',"
                 "'order set','1/R8-1 PAID -> CLOSED','a customer\\'s wish')");
}
END_TEST

START_TEST(text_longer_than_its_column_is_cut)
{
        char who[80], why[400], expected[512];
        memset(who, 'w', sizeof who);
        memset(why, 'y', sizeof why);
        who[sizeof who - 1] = why[sizeof why - 1] = '\0';
        db = fake_db_open();
        ck_assert_int_eq(insert(who, "x", why), PO_OK);
        snprintf(expected, sizeof expected,
                 "INSERT INTO audit (at, who, verb, what, why) VALUES (UTC_TIMESTAMP(6), '%.64s',"
                 "'order set','x','%.255s')",
                 who, why);
        ck_assert_str_eq(fake_statement("INSERT INTO audit"), expected);
}
END_TEST

START_TEST(a_character_is_kept_whole_or_left_out)
{
        /* 63 bytes and a character of three: it would end at the 66th. */
        char who[80], expected[96];
        memset(who, 'w', sizeof who);
        snprintf(who + 63, sizeof who - 63, "单");
        db = fake_db_open();
        ck_assert_int_eq(insert(who, "x", "y"), PO_OK);
        snprintf(expected, sizeof expected, "'%.63s',", who);
        unit_assert_in(fake_statement("INSERT INTO audit"), expected);
        /* Ending at the 64th it stays. */
        snprintf(who + 61, sizeof who - 61, "单x");
        ck_assert_int_eq(insert(who, "x", "y"), PO_OK);
        snprintf(expected, sizeof expected, "'%.64s',", who);
        unit_assert_in(fake_statement("INSERT INTO audit"), expected);
}
END_TEST

START_TEST(a_line_inside_a_transaction_stays_inside)
{
        db = fake_db_open();
        ck_assert_int_eq(db_begin(db, &error), PO_OK);
        ck_assert_int_eq(insert("ann", "x", "y"), PO_OK);
        fake_saw("BEGIN", "INSERT INTO audit");
        ck_assert(db_is_in_transaction(db));
}
END_TEST

START_TEST(an_error_travels_up_with_its_class)
{
        db = fake_db_open();
        fake_fail("INSERT INTO audit", PO_TRANSIENT, 1213);
        ck_assert_int_eq(insert("ann", "x", "y"), PO_TRANSIENT);
        ck_assert_int_eq(error.code, 1213);
        unit_assert_in(error.text, "write audit: ");
}
END_TEST

UNIT_MAIN("audit", a_line_says_who_did_what_and_why, text_longer_than_its_column_is_cut,
          a_character_is_kept_whole_or_left_out, a_line_inside_a_transaction_stays_inside,
          an_error_travels_up_with_its_class)
