#include "unit.h"

#include <json-c/json.h>
#include <locale.h>

#include "commands/table.h"

static const struct table_column columns[] = {
        { "order_no", TABLE_TEXT },
        { "amount", TABLE_NUMBER },
        { "posted", TABLE_FLAG },
        { NULL, TABLE_TEXT },
};

static char *printed(struct table *table, enum table_format format)
{
        char *text = NULL;
        size_t bytes = 0;
        struct po_error error;
        FILE *stream = open_memstream(&text, &bytes);
        ck_assert_msg(table_print(table, stream, format, &error) == PO_OK, "%s", error.text);
        fclose(stream);
        return text;
}

static struct json_object *rows_of(const char *text, struct json_object **root_out)
{
        *root_out = json_tokener_parse(text);
        ck_assert_msg(*root_out != NULL, "%s", text);
        struct json_object *rows = json_object_object_get(*root_out, "orders");
        ck_assert_ptr_nonnull(rows);
        return rows;
}

START_TEST(a_table_has_a_head_in_capitals_and_aligned_columns)
{
        struct table *table = table_open("orders", columns);
        table_row(table, "A-1", "5", "yes");
        table_row(table, "A-200", "12345", "no");
        ck_assert_uint_eq(table_rows(table), 2);
        char *text = printed(table, TABLE_FORMAT_TABLE);
        ck_assert_str_eq(text, "ORDER_NO AMOUNT POSTED\n"
                               "A-1           5 yes\n"
                               "A-200     12345 no\n");
        free(text);
        table_close(table);
}
END_TEST

START_TEST(json_has_names_in_lower_case_and_real_types)
{
        struct table *table = table_open("orders", columns);
        table_row(table, "A-1", "9223372036854775807", "yes");
        table_row(table, "A-2", "-5", "no");
        char *text = printed(table, TABLE_FORMAT_JSON);
        struct json_object *root, *rows = rows_of(text, &root);
        ck_assert_uint_eq(json_object_array_length(rows), 2);
        struct json_object *row = json_object_array_get_idx(rows, 0);
        ck_assert_str_eq(json_object_get_string(json_object_object_get(row, "order_no")), "A-1");
        ck_assert(json_object_is_type(json_object_object_get(row, "amount"), json_type_int));
        ck_assert(json_object_get_int64(json_object_object_get(row, "amount")) == INT64_MAX);
        ck_assert(json_object_get_boolean(json_object_object_get(row, "posted")));
        row = json_object_array_get_idx(rows, 1);
        ck_assert_int_eq(json_object_get_int64(json_object_object_get(row, "amount")), -5);
        ck_assert(json_object_is_type(json_object_object_get(row, "posted"), json_type_boolean));
        ck_assert(!json_object_get_boolean(json_object_object_get(row, "posted")));
        json_object_put(root);
        free(text);
        table_close(table);
}
END_TEST

START_TEST(an_empty_cell_is_null_in_json)
{
        struct table *table = table_open("orders", columns);
        table_row(table, NULL, NULL, "no");
        char *text = printed(table, TABLE_FORMAT_JSON);
        struct json_object *root, *rows = rows_of(text, &root);
        struct json_object *row = json_object_array_get_idx(rows, 0), *cell;
        ck_assert(json_object_object_get_ex(row, "order_no", &cell));
        ck_assert_ptr_null(cell);
        ck_assert(json_object_object_get_ex(row, "amount", &cell));
        ck_assert_ptr_null(cell);
        json_object_put(root);
        free(text);
        table_close(table);
}
END_TEST

START_TEST(an_empty_table_prints_nothing_and_an_empty_list)
{
        struct table *table = table_open("orders", columns);
        char *text = printed(table, TABLE_FORMAT_TABLE);
        ck_assert_str_eq(text, "");
        free(text);
        text = printed(table, TABLE_FORMAT_JSON);
        struct json_object *root, *rows = rows_of(text, &root);
        ck_assert_uint_eq(json_object_array_length(rows), 0);
        json_object_put(root);
        free(text);
        table_close(table);
}
END_TEST

START_TEST(texts_survive_json_byte_for_byte)
{
        static const char odd[] = "\"中文\" \\ \n\t\x01\x1b[31m";
        struct table *table = table_open("orders", columns);
        table_row(table, odd, "1", "no");
        char *text = printed(table, TABLE_FORMAT_JSON);
        struct json_object *root, *rows = rows_of(text, &root);
        struct json_object *row = json_object_array_get_idx(rows, 0);
        ck_assert_str_eq(json_object_get_string(json_object_object_get(row, "order_no")), odd);
        json_object_put(root);
        free(text);
        table_close(table);
}
END_TEST

START_TEST(a_control_character_does_not_reach_the_terminal)
{
        setlocale(LC_CTYPE, "C.UTF-8");
        struct table *table = table_open("orders", columns);
        table_row(table, "中文 a\nb \x1b[31m", "1", "no");
        char *text = printed(table, TABLE_FORMAT_TABLE);
        unit_assert_in(text, "中文 a\\x0ab \\x1b[31m ");
        free(text);
        table_close(table);
}
END_TEST

START_TEST(a_table_can_be_printed_in_both_forms)
{
        struct table *table = table_open("orders", columns);
        table_row(table, "A-1", "5", "yes");
        char *json = printed(table, TABLE_FORMAT_JSON);
        char *text = printed(table, TABLE_FORMAT_TABLE);
        char *again = printed(table, TABLE_FORMAT_JSON);
        ck_assert_str_eq(json, again);
        unit_assert_in(text, "ORDER_NO");
        free(json);
        free(text);
        free(again);
        table_close(table);
}
END_TEST

START_TEST(no_table_is_reported_when_it_is_printed)
{
        struct po_error error;
        table_row(NULL, "a", "1", "no");
        ck_assert_uint_eq(table_rows(NULL), 0);
        ck_assert_int_eq(table_print(NULL, stdout, TABLE_FORMAT_TABLE, &error), PO_SYSTEMIC);
        table_close(NULL);
}
END_TEST

UNIT_MAIN("table", a_table_has_a_head_in_capitals_and_aligned_columns,
          json_has_names_in_lower_case_and_real_types, an_empty_cell_is_null_in_json,
          an_empty_table_prints_nothing_and_an_empty_list, texts_survive_json_byte_for_byte,
          a_control_character_does_not_reach_the_terminal, a_table_can_be_printed_in_both_forms,
          no_table_is_reported_when_it_is_printed)
