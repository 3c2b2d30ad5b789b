/* INSERT of many rows as text: how they are cut into statements and written. */
#include "fake_db.h"

#include "mysql/bulk.h"

static struct db *db;
static struct bulk *bulk;
static struct po_error error;

static const struct bulk_form FORM = { .insert = "INSERT INTO t (a, b, c, at) VALUES ",
                                       .row = "(?,?,UNHEX(?),NOW())",
                                       .types = "ith",
                                       .ending = "" };

static void start(const struct bulk_form *form)
{
        db = fake_db_open();
        bulk_close(bulk);
        ck_assert_int_eq(bulk_open(&bulk, db, form, &error), PO_OK);
        bulk_begin(bulk, form->ending[0] != '\0' ? "it's" : NULL);
}

static void add(int64_t a, const char *b)
{
        bulk_integer(bulk, a);
        bulk_text(bulk, b);
        bulk_binary(bulk, "\x0a\xff", 2);
}

START_TEST(no_rows_send_nothing)
{
        start(&FORM);
        ck_assert_int_eq(bulk_end(bulk, &error), PO_OK);
        ck_assert_uint_eq(bulk_affected(bulk), 0);
        fake_saw_nothing();
}
END_TEST

START_TEST(values_are_written_as_literals_of_their_type)
{
        start(&FORM);
        add(-1, "it's");
        bulk_null(bulk);
        bulk_text(bulk, NULL);
        bulk_binary(bulk, NULL, 0);
        ck_assert_uint_eq(bulk_rows(bulk), 2);
        ck_assert_int_eq(bulk_end(bulk, &error), PO_OK);
        fake_saw("INSERT INTO t (a, b, c, at) VALUES (-1,'it\\'s',UNHEX('0AFF'),NOW()),"
                 "(NULL,NULL,UNHEX(NULL),NOW())");
}
END_TEST

START_TEST(a_time_is_a_text_without_its_quotes)
{
        static const struct bulk_form times = {
                .insert = "INSERT INTO t (at) VALUES ", .row = "(?)", .types = "t", .ending = ""
        };
        start(&times);
        bulk_time(bulk, 0);
        bulk_time(bulk, INT64_MIN);
        ck_assert_int_eq(bulk_end(bulk, &error), PO_OK);
        fake_saw("INSERT INTO t (at) VALUES ('1970-01-01 00:00:00.000000'),(NULL)");
}
END_TEST

START_TEST(the_ending_says_its_one_text_wherever_it_asks)
{
        static const struct bulk_form ending = { .insert = "INSERT INTO t (a) VALUES ",
                                                 .row = "(?)",
                                                 .types = "i",
                                                 .ending = " ODKU a = IF(s = ?, 1, 2), s = ?" };
        start(&ending);
        bulk_integer(bulk, 7);
        ck_assert_int_eq(bulk_end(bulk, &error), PO_OK);
        fake_saw("INSERT INTO t (a) VALUES (7) ODKU a = IF(s = 'it\\'s', 1, 2), s = 'it\\'s'");
}
END_TEST

START_TEST(rows_are_cut_into_the_widths_and_a_rest)
{
        static const struct {
                size_t rows, statements;
        } cuts[] = { { 0, 0 },   { 1, 1 },   { 63, 1 },  { 64, 1 },  { 65, 2 },
                     { 255, 4 }, { 256, 1 }, { 475, 5 }, { 500, 5 }, { 512, 2 } };
        for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
                start(&FORM);
                for (size_t row = 0; row < cuts[i].rows; row++)
                        add((int64_t)row, "x");
                ck_assert_int_eq(bulk_end(bulk, &error), PO_OK);
                ck_assert_uint_eq(fake_count("INSERT INTO t"), cuts[i].statements);
                ck_assert_uint_eq(bulk_statements(cuts[i].rows), cuts[i].statements);
                size_t sent_count, rows = 0;
                const struct bulk_sent *sent = bulk_sent(bulk, &sent_count);
                for (size_t one = 0; one < sent_count; one++)
                        rows += sent[one].rows;
                ck_assert_uint_eq(rows, cuts[i].rows);
        }
}
END_TEST

START_TEST(the_first_failure_is_the_last_statement)
{
        start(&FORM);
        for (int64_t row = 0; row < 2 * BULK_SOME; row++)
                add(row, row == 3 ? "bad" : "x");
        fake_fail("bad", PO_RECORD, 1406);
        ck_assert_int_eq(bulk_end(bulk, &error), PO_RECORD);
        fake_saw("INSERT INTO t");
        bulk_begin(bulk, NULL);
        add(1, "x");
        ck_assert_int_eq(bulk_end(bulk, &error), PO_OK);
        unit_assert_not_in(fake_statement("INSERT INTO t"), "bad");
}
END_TEST

/* Memory holds BULK_MANY rows, whatever a batch has. */
START_TEST(full_rows_are_sent_while_more_are_added)
{
        start(&FORM);
        for (int64_t row = 0; row < 2 * BULK_MANY; row++)
                add(row, "x");
        ck_assert_uint_eq(fake_count("INSERT INTO t"), 1);
        ck_assert_uint_eq(bulk_rows(bulk), 2 * BULK_MANY);
        ck_assert_int_eq(bulk_end(bulk, &error), PO_OK);
        ck_assert_uint_eq(fake_count("INSERT INTO t"), 2);
        ck_assert_uint_eq(bulk_rows(bulk), 2 * BULK_MANY);
}
END_TEST

START_TEST(a_failure_on_the_way_is_answered_at_the_end)
{
        start(&FORM);
        fake_fail("first", PO_RECORD, 1406);
        for (int64_t row = 0; row < 3 * BULK_MANY; row++)
                add(row, row == 0 ? "first" : "x");
        ck_assert_int_eq(bulk_end(bulk, &error), PO_RECORD);
        ck_assert_int_eq(error.code, 1406);
        fake_saw("INSERT INTO t");
        ck_assert_uint_eq(bulk_rows(bulk), 3 * BULK_MANY);
}
END_TEST

UNIT_MAIN("bulk", no_rows_send_nothing, values_are_written_as_literals_of_their_type,
          a_time_is_a_text_without_its_quotes, the_ending_says_its_one_text_wherever_it_asks,
          rows_are_cut_into_the_widths_and_a_rest, the_first_failure_is_the_last_statement,
          full_rows_are_sent_while_more_are_added, a_failure_on_the_way_is_answered_at_the_end)
