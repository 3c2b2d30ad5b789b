/* What is asked for the books, and that a reader may stop. */
#include "fake_db.h"

#include "ledger/book.h"

static struct db *db;
static struct sql sql;
static struct po_error error;
static size_t seen;
static struct book_balance balance;
static struct book_entry entry;

static enum po_class take_balance(void *context, const struct book_balance *row,
                                  struct po_error *failing)
{
        balance = *row;
        seen++;
        return context == NULL ? PO_OK : po_fail(failing, PO_SYSTEMIC, 0, "enough");
}

static enum po_class take_entry(void *context, const struct book_entry *row,
                                struct po_error *failing)
{
        (void)context;
        (void)failing;
        entry = *row;
        seen++;
        return PO_OK;
}

START_TEST(balances_are_those_of_the_table)
{
        db = fake_db_open();
        fake_rows("balance");
        fake_row("7", "a", "CNY", "-12");
        ck_assert_int_eq(book_balances(db, &sql, 7, PO_TIME_UNKNOWN, take_balance, NULL, &error),
                         PO_OK);
        ck_assert_uint_eq(seen, 1);
        ck_assert_int_eq(balance.amount_minor, -12);
        ck_assert_int_eq(balance.account.tenant_id, 7);
        unit_assert_in(sql.text, "JOIN balance b ON b.account_id = a.id WHERE a.tenant_id = 7");
}
END_TEST

START_TEST(earlier_ones_are_summed_up_from_the_entries)
{
        db = fake_db_open();
        ck_assert_int_eq(book_balances(db, &sql, 0, 0, take_balance, NULL, &error), PO_OK);
        unit_assert_in(sql.text, "WHERE o.settled_at < '1970-01-01 00:00:00.000000' GROUP BY");
        unit_assert_not_in(sql.text, "balance");
        ck_assert_int_eq(book_balances(db, &sql, 3, 0, take_balance, NULL, &error), PO_OK);
        unit_assert_in(sql.text, "000' AND a.tenant_id = 3 GROUP BY");
}
END_TEST

START_TEST(a_reader_that_fails_ends_the_reading)
{
        db = fake_db_open();
        fake_rows("balance");
        fake_row("7", "a", "CNY", "1");
        fake_row("7", "b", "CNY", "2");
        ck_assert_int_eq(book_balances(db, &sql, 0, PO_TIME_UNKNOWN, take_balance, &db, &error),
                         PO_SYSTEMIC);
        ck_assert_str_eq(error.text, "enough");
        ck_assert_uint_eq(seen, 1);
        fake_fail("balance", PO_TRANSIENT, 2013);
        ck_assert_int_eq(book_balances(db, &sql, 0, PO_TIME_UNKNOWN, take_balance, NULL, &error),
                         PO_TRANSIENT);
}
END_TEST

START_TEST(entries_come_with_what_brought_them)
{
        db = fake_db_open();
        const struct book_account account = { .id = 5 };
        fake_rows("entry");
        fake_row("17", "1", "7", "a", "CNY", "9", "POSTED", "SQB:T:X", "X", "R1", NULL,
                 "2026-01-15 00:00:01.000000");
        ck_assert_int_eq(book_statement(db, &sql, &account, take_entry, NULL, &error), PO_OK);
        ck_assert_int_eq(entry.claim_id, 17);
        ck_assert_str_eq(entry.effective_at, "");
        ck_assert_str_eq(entry.settled_at, "2026-01-15 00:00:01.000000");
        unit_assert_in(sql.text, "WHERE e.account_id = 5 ORDER BY o.settled_at, o.turn");
        ck_assert_int_eq(book_entries(db, &sql, 2, take_entry, NULL, &error), PO_OK);
        unit_assert_in(sql.text, "WHERE a.tenant_id = 2 ORDER BY e.claim_id, e.line");
}
END_TEST

UNIT_MAIN("book", balances_are_those_of_the_table, earlier_ones_are_summed_up_from_the_entries,
          a_reader_that_fails_ends_the_reading, entries_come_with_what_brought_them)
