#include "fake_db.h"

#include "ledger/replayed.h"

static struct db *db;
static struct sql sql;
static struct po_error error;

START_TEST(letters_that_were_sent_back_are_found)
{
        struct replayed_letter letters[] = { { "a", true }, { "b", false }, { "c", true } };
        db = fake_db_open();
        fake_rows("SELECT letter_id");
        fake_row("b");
        ck_assert_int_eq(replayed_find(db, &sql, letters, 3, &error), PO_OK);
        ck_assert(!letters[0].before && letters[1].before && !letters[2].before);
        fake_saw("SELECT letter_id FROM dead_letter WHERE replayed_at IS NOT NULL AND letter_id IN "
                 "('a','b','c')");
        ck_assert_int_eq(replayed_find(db, &sql, letters, 0, &error), PO_OK);
        fake_saw_nothing();
}
END_TEST

START_TEST(letters_are_noted_in_one_statement)
{
        const struct replayed_letter letters[] = { { "a", false }, { "b'", false } };
        db = fake_db_open();
        ck_assert_int_eq(replayed_mark(db, &sql, letters, 2, &error), PO_OK);
        fake_saw("UPDATE dead_letter SET replayed_at = UTC_TIMESTAMP(6) WHERE letter_id IN "
                 "('a','b\\'')");
        ck_assert_int_eq(replayed_mark(db, &sql, letters, 0, &error), PO_OK);
        fake_saw_nothing();
        fake_fail("UPDATE dead_letter", PO_TRANSIENT, 2013);
        ck_assert_int_eq(replayed_mark(db, &sql, letters, 2, &error), PO_TRANSIENT);
        unit_assert_in(error.text, "note 2 replayed letters");
}
END_TEST

START_TEST(a_body_is_there_or_not)
{
        unsigned char *body;
        size_t bytes;
        db = fake_db_open();
        fake_rows("SELECT body");
        fake_row("POR1");
        ck_assert_int_eq(replayed_body(db, &sql, "a", &body, &bytes, &error), PO_OK);
        ck_assert_uint_eq(bytes, 4);
        ck_assert_mem_eq(body, "POR1", 4);
        free(body);
        ck_assert_int_eq(replayed_body(db, &sql, "a", &body, &bytes, &error), PO_OK);
        ck_assert_ptr_null(body);
        ck_assert_uint_eq(bytes, 0);
}
END_TEST

UNIT_MAIN("replayed", letters_that_were_sent_back_are_found, letters_are_noted_in_one_statement,
          a_body_is_there_or_not)
