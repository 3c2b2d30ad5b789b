#include "unit.h"

#include "channel/header_tree.h"

static struct json_object *tree;
static struct po_error error;

static const char *header(const struct record_header *headers, size_t count, const char *name)
{
        const struct record record = { .headers = headers, .headers_count = count };
        struct json_object *value;
        ck_assert_int_eq(header_tree(&record, &tree, &error), PO_OK);
        return json_object_object_get_ex(tree, name, &value) ? json_object_get_string(value) : NULL;
}

START_TEST(headers_become_texts)
{
        const struct record_header headers[] = { { "a", "one", 3 }, { "b", "", 0 } };
        ck_assert_str_eq(header(headers, 2, "a"), "one");
        ck_assert_str_eq(header(headers, 2, "b"), "");
        ck_assert_ptr_null(header(headers, 2, "A"));
        ck_assert_ptr_null(header(NULL, 0, "a"));
}
END_TEST

START_TEST(the_last_of_headers_with_one_name_counts)
{
        const struct record_header texts[] = { { "a", "one", 3 }, { "a", "two", 3 } };
        const struct record_header bare[] = { { "a", "one", 3 }, { "a", NULL, 0 } };
        ck_assert_str_eq(header(texts, 2, "a"), "two");
        ck_assert_ptr_null(header(bare, 2, "a"));
}
END_TEST

START_TEST(a_header_that_is_no_text_is_left_out)
{
        const struct record_header headers[] = { { "a", "\xFF", 1 }, { "b", "x\0y", 3 } };
        ck_assert_ptr_null(header(headers, 2, "a"));
        ck_assert_ptr_null(header(headers, 2, "b"));
}
END_TEST

UNIT_MAIN("header_tree", headers_become_texts, the_last_of_headers_with_one_name_counts,
          a_header_that_is_no_text_is_left_out)
