#include "unit.h"

#include "postonce/error.h"

START_TEST(a_failure_keeps_class_code_and_text)
{
        struct po_error error;
        ck_assert_int_eq(po_fail(&error, PO_TRANSIENT, 1213, "deadlock on %s", "entry"),
                         PO_TRANSIENT);
        ck_assert_int_eq(error.kind, PO_TRANSIENT);
        ck_assert_int_eq(error.code, 1213);
        ck_assert_ptr_null(error.reason);
        ck_assert_str_eq(error.text, "deadlock on entry");
}
END_TEST

START_TEST(a_refusal_is_of_class_record_with_its_reason)
{
        struct po_error error;
        ck_assert_int_eq(po_refuse(&error, "NO_RULE", "no rule for %s", "X"), PO_RECORD);
        ck_assert_str_eq(error.reason, "NO_RULE");
        ck_assert_int_eq(error.code, 0);
        ck_assert_int_eq(error.place, -1);
}
END_TEST

START_TEST(a_refusal_at_a_byte_keeps_the_byte_whatever_stands_in_front)
{
        struct po_error error;
        ck_assert_int_eq(po_refuse_at(&error, "NO_UTF8", 12, "bad at byte %d", 12), PO_RECORD);
        po_within(&error, "item 3");
        ck_assert_int_eq(error.place, 12);
        ck_assert_str_eq(error.reason, "NO_UTF8");
}
END_TEST

START_TEST(a_failure_after_a_refusal_has_no_reason_left)
{
        struct po_error error;
        po_refuse(&error, "NO_RULE", "first");
        po_fail(&error, PO_BUG, 0, "second");
        ck_assert_ptr_null(error.reason);
}
END_TEST

START_TEST(each_level_stands_in_front_and_keeps_the_class)
{
        struct po_error error;
        po_fail(&error, PO_SYSTEMIC, 1146, "no such table");
        ck_assert_int_eq(po_within(&error, "execute"), PO_SYSTEMIC);
        ck_assert_int_eq(po_within(&error, "claim %d notifications", 500), PO_SYSTEMIC);
        ck_assert_str_eq(error.text, "claim 500 notifications: execute: no such table");
        ck_assert_int_eq(error.code, 1146);
}
END_TEST

START_TEST(a_text_over_its_bound_is_cut_and_still_ends)
{
        struct po_error error;
        char longer[2 * PO_ERROR_TEXT_BYTES];
        memset(longer, 'x', sizeof longer - 1);
        longer[sizeof longer - 1] = '\0';
        po_fail(&error, PO_BUG, 0, "%s", longer);
        ck_assert_uint_eq(strlen(error.text), PO_ERROR_TEXT_BYTES - 1);
        po_within(&error, "context");
        ck_assert_uint_eq(strlen(error.text), PO_ERROR_TEXT_BYTES - 1);
        ck_assert_int_eq(strncmp(error.text, "context: xxx", 12), 0);
        po_within(&error, "%s", longer);
        ck_assert_uint_eq(strlen(error.text), PO_ERROR_TEXT_BYTES - 1);
}
END_TEST

START_TEST(every_class_has_a_name_of_its_own)
{
        for (int kind = PO_OK; kind <= PO_BUG; kind++) {
                ck_assert_str_ne(po_class_name((enum po_class)kind), "UNKNOWN");
                for (int other = PO_OK; other < kind; other++)
                        ck_assert_str_ne(po_class_name((enum po_class)kind),
                                         po_class_name((enum po_class)other));
        }
        ck_assert_str_eq(po_class_name((enum po_class)(PO_BUG + 1)), "UNKNOWN");
}
END_TEST

UNIT_MAIN("error", a_failure_keeps_class_code_and_text,
          a_refusal_is_of_class_record_with_its_reason,
          a_refusal_at_a_byte_keeps_the_byte_whatever_stands_in_front,
          a_failure_after_a_refusal_has_no_reason_left,
          each_level_stands_in_front_and_keeps_the_class,
          a_text_over_its_bound_is_cut_and_still_ends, every_class_has_a_name_of_its_own)
