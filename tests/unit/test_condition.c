#include "unit.h"

#include <json-c/json_tokener.h>

#include "channel/condition_load.h"

static struct condition_list list;
static struct po_error error;

/* Everything made here lives as long as the case's process. */
static void load(const char *text)
{
        static const struct field field = { .name = "when" };
        struct document *document;
        memset(&list, 0, sizeof list);
        ck_assert_int_eq(document_parse(&document, "t.yaml", text, strlen(text), &error), PO_OK);
        ck_assert_int_eq(read_conditions(document_root(document), &field, &list, &error), PO_OK);
}

START_TEST(the_first_condition_that_does_not_hold_is_named)
{
        const struct scope scope = {
                .root = json_tokener_parse("{\"a\":1}"),
                .item = json_tokener_parse("{\"b\":2}"),
                .headers = json_tokener_parse("{\"c\":\"3\"}"),
        };
        load("[[/a, eq, 1], [\"@/b\", eq, 2], [\"#/c\", eq, 3]]");
        ck_assert_ptr_null(conditions_fail(&list, &scope));
        load("[[/a, eq, 1], [\"@/b\", eq, 3], [\"#/c\", eq, 4]]");
        ck_assert_str_eq(conditions_fail(&list, &scope)->at.source, "@/b");
        load("[]");
        ck_assert_ptr_null(conditions_fail(&list, &scope));
}
END_TEST

START_TEST(where_conditions_start_is_known)
{
        load("[[/a, exists], [\"/b|#/c\", absent]]");
        ck_assert(conditions_start_at(&list, '/'));
        ck_assert(conditions_start_at(&list, '#'));
        ck_assert(!conditions_start_at(&list, '@'));
}
END_TEST

UNIT_MAIN("condition", the_first_condition_that_does_not_hold_is_named,
          where_conditions_start_is_known)
