#include "unit.h"

#include "channel/condition_load.h"

static struct po_error error;

static enum po_class load(const char *text, field_reader reader, void *target)
{
        static const struct field field = { .name = "it" };
        struct document *document;
        ck_assert_int_eq(document_parse(&document, "t.yaml", text, strlen(text), &error), PO_OK);
        return reader(document_root(document), &field, target, &error);
}

START_TEST(one_pointer_is_a_list_of_one)
{
        struct pointer_list list = { 0 };
        ck_assert_int_eq(load("/a", read_pointers, &list), PO_OK);
        ck_assert_uint_eq(list.count, 1);
        list = (struct pointer_list){ 0 };
        ck_assert_int_eq(load("[/a, \"@/b\"]", read_pointers, &list), PO_OK);
        ck_assert_uint_eq(list.count, 2);
        ck_assert_str_eq(list.items[1].source, "@/b");
}
END_TEST

START_TEST(a_wrong_pointer_is_refused_where_it_stands)
{
        struct pointer pointer;
        ck_assert_int_eq(load("a/b", read_pointer, &pointer), PO_SYSTEMIC);
        unit_assert_in(error.text, "t.yaml:1:1: a pointer starts with");
        ck_assert_int_eq(load("[/a]", read_pointer, &pointer), PO_SYSTEMIC);
}
END_TEST

START_TEST(conditions_are_read_in_order)
{
        static struct condition_list list;
        ck_assert_int_eq(load("[[/a, eq, x], [/b, in, [y, z]], [/c, gt0]]", read_conditions, &list),
                         PO_OK);
        ck_assert_uint_eq(list.count, 3);
        ck_assert_int_eq(list.items[1].test, CONDITION_IN);
        ck_assert_str_eq(list.items[1].words[1], "z");
        ck_assert_int_eq(list.items[2].test, CONDITION_GT0);
}
END_TEST

UNIT_MAIN("condition_load", one_pointer_is_a_list_of_one,
          a_wrong_pointer_is_refused_where_it_stands, conditions_are_read_in_order)
