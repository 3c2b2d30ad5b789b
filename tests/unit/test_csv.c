/* A CSV file row by row, and where each complaint points. */
#include "unit.h"

#include "base/csv.h"

static const char *const names[] = { "a", "b", "c", NULL };
static struct po_error error;
static struct csv *csv;
static char path[] = "/tmp/postonce-csv-XXXXXX";

/* The file is gone once it is open. */
static enum po_class opens(const char *text, size_t required)
{
        memcpy(path + strlen(path) - 6, "XXXXXX", 6);
        int fd = mkstemp(path);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
        close(fd);
        csv_close(csv);
        enum po_class kind = csv_open(&csv, path, names, required, &error);
        unlink(path);
        return kind;
}

static bool next(void)
{
        bool row;
        ck_assert_msg(csv_next(csv, &row, &error) == PO_OK, "%s", error.text);
        return row;
}

START_TEST(fields_are_found_by_their_columns_name)
{
        ck_assert_int_eq(opens("c,a\n3,1\n\n\"x,\"\"y\"\"\",\n", 1), PO_OK);
        ck_assert(csv_has(csv, 0) && !csv_has(csv, 1) && csv_has(csv, 2));
        ck_assert(next());
        ck_assert_str_eq(csv_field(csv, 0), "1");
        ck_assert_ptr_null(csv_field(csv, 1));
        ck_assert_str_eq(csv_field(csv, 2), "3");
        ck_assert_uint_eq(csv_line(csv), 2);
        ck_assert(next());
        ck_assert_str_eq(csv_field(csv, 0), "");
        ck_assert_str_eq(csv_field(csv, 2), "x,\"y\"");
        ck_assert_uint_eq(csv_line(csv), 4);
        ck_assert_int_eq(csv_bytes_done(csv), csv_bytes_all(csv));
        ck_assert(!next());
}
END_TEST

START_TEST(only_required_columns_must_be_there)
{
        ck_assert_int_eq(opens("b\n", 0), PO_OK);
        ck_assert(!next());
        ck_assert_int_eq(opens("b\n", 1), PO_RECORD);
        unit_assert_in(error.text, ":1: the header has no column a");
        ck_assert_ptr_null(csv);
        ck_assert_int_eq(opens("a,d\n", 1), PO_RECORD);
        unit_assert_in(error.text, ":1: column 2 must be one of a, b, c, each once");
        ck_assert_int_eq(opens("", 0), PO_RECORD);
        unit_assert_in(error.text, "the file is empty");
}
END_TEST

START_TEST(a_row_of_another_width_is_refused_with_its_line)
{
        bool row;
        ck_assert_int_eq(opens("a,b\n1,2\n1\n", 1), PO_OK);
        ck_assert(next());
        ck_assert_int_eq(csv_next(csv, &row, &error), PO_RECORD);
        unit_assert_in(error.text, ":3: expected 2 fields");
}
END_TEST

START_TEST(the_rows_own_error_gets_the_place)
{
        ck_assert_int_eq(opens("a\n1\n", 1), PO_OK);
        ck_assert(next());
        po_refuse(&error, "X", "wrong");
        ck_assert_int_eq(csv_within(csv, &error), PO_RECORD);
        unit_assert_in(error.text, ":2: wrong");
}
END_TEST

START_TEST(a_file_that_is_not_there_is_named)
{
        struct csv *none;
        ck_assert_int_eq(csv_open(&none, "/nowhere.csv", names, 0, &error), PO_SYSTEMIC);
        unit_assert_in(error.text, "/nowhere.csv: No such file");
        ck_assert_ptr_null(none);
}
END_TEST

UNIT_MAIN("csv", fields_are_found_by_their_columns_name, only_required_columns_must_be_there,
          a_row_of_another_width_is_refused_with_its_line, the_rows_own_error_gets_the_place,
          a_file_that_is_not_there_is_named)
