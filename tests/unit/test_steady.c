/* Columns that have one value in row after row. */
#include "unit.h"

#include "mysql/steady.h"

/* Two columns that may be steady, and one between them that is not asked. */
enum { COLUMNS = 3, FIRST = 0, MIDDLE = 1, LAST = 2, CHUNK = 256 };

static struct steady *steady;
static struct db_value rows[CHUNK * COLUMNS];
static struct po_error error;

static void start(void)
{
        steady_close(steady);
        ck_assert_int_eq(steady_open(&steady, "IiT", &error), PO_OK);
}

static struct db_value integer(int64_t value)
{
        return (struct db_value){ .type = DB_INTEGER, .integer = value };
}

static struct db_value text(const char *value)
{
        return (struct db_value){ .type = DB_TEXT, .bytes = value, .count = strlen(value) };
}

static void fill(int64_t first, const char *last)
{
        for (size_t row = 0; row < CHUNK; row++) {
                rows[row * COLUMNS + FIRST] = integer(first);
                rows[row * COLUMNS + MIDDLE] = integer(7);
                rows[row * COLUMNS + LAST] = text(last);
        }
}

/* Sees so many rows of what was filled; whether something changed with the last of them. */
static bool see(size_t count)
{
        bool changed = false;
        for (size_t seen = 0; seen < count; seen += CHUNK)
                changed = steady_see(steady, rows, CHUNK);
        return changed;
}

/* The first rows say what the value is, the others that it stays. */
static void become_steady(void)
{
        start();
        fill(1, "CNY");
        ck_assert(!see(STEADY_ROWS));
        ck_assert(see(CHUNK));
}

START_TEST(a_column_is_steady_after_many_rows_with_one_value)
{
        become_steady();
        ck_assert_int_eq(steady_value(steady, FIRST)->integer, 1);
        ck_assert_uint_eq(steady_value(steady, LAST)->count, 3);
        ck_assert_int_eq(memcmp(steady_value(steady, LAST)->bytes, "CNY", 3), 0);
        ck_assert_ptr_null(steady_value(steady, MIDDLE));
        ck_assert(!see(10 * STEADY_ROWS));
}
END_TEST

START_TEST(its_value_is_a_copy)
{
        char currency[] = "CNY";
        start();
        fill(1, currency);
        see(STEADY_ROWS + CHUNK);
        memcpy(currency, "EUR", sizeof currency);
        ck_assert_int_eq(memcmp(steady_value(steady, LAST)->bytes, "CNY", 3), 0);
}
END_TEST

START_TEST(one_other_value_ends_it)
{
        become_steady();
        rows[100 * COLUMNS + LAST] = text("EUR");
        ck_assert(see(CHUNK));
        ck_assert_ptr_null(steady_value(steady, LAST));
        ck_assert_int_eq(steady_value(steady, FIRST)->integer, 1);
        ck_assert(!see(CHUNK)); /* and it stays so for a while */
        fill(1, "EUR");
        see(STEADY_ROWS + CHUNK);
        ck_assert_int_eq(memcmp(steady_value(steady, LAST)->bytes, "EUR", 3), 0);
}
END_TEST

START_TEST(null_is_a_value_like_any_other)
{
        start();
        fill(1, "CNY");
        for (size_t row = 0; row < CHUNK; row++)
                rows[row * COLUMNS + LAST].is_null = true;
        see(STEADY_ROWS + CHUNK);
        ck_assert(steady_value(steady, LAST)->is_null);
        rows[(CHUNK - 1) * COLUMNS + LAST] = text("");
        ck_assert(see(CHUNK));
        ck_assert_ptr_null(steady_value(steady, LAST));
}
END_TEST

START_TEST(texts_differ_by_their_end_and_long_ones_never_are_steady)
{
        static char text_of_257[STEADY_BYTES + 2];
        become_steady();
        fill(1, "CN");
        ck_assert(see(CHUNK));
        memset(text_of_257, 'x', STEADY_BYTES + 1);
        fill(1, text_of_257);
        ck_assert(!see(2 * STEADY_ROWS));
        ck_assert_ptr_null(steady_value(steady, LAST));
        text_of_257[STEADY_BYTES] = '\0';
        fill(1, text_of_257);
        ck_assert(see(STEADY_ROWS + CHUNK));
        ck_assert_uint_eq(steady_value(steady, LAST)->count, STEADY_BYTES);
}
END_TEST

START_TEST(what_is_not_steady_is_picked_without_gaps)
{
        become_steady();
        for (size_t row = 0; row < CHUNK; row++)
                rows[row * COLUMNS + MIDDLE] = integer((int64_t)row);
        ck_assert_uint_eq(steady_pick(steady, rows, CHUNK), CHUNK);
        for (size_t row = 0; row < CHUNK; row++)
                ck_assert_int_eq(rows[row].integer, (int64_t)row);
        start();
        fill(1, "CNY");
        ck_assert_uint_eq(steady_pick(steady, rows, CHUNK), CHUNK * COLUMNS);
}
END_TEST

UNIT_MAIN("steady", a_column_is_steady_after_many_rows_with_one_value, its_value_is_a_copy,
          one_other_value_ends_it, null_is_a_value_like_any_other,
          texts_differ_by_their_end_and_long_ones_never_are_steady,
          what_is_not_steady_is_picked_without_gaps)
