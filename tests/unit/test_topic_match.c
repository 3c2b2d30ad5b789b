#include "unit.h"

#include "base/topic_match.h"

static struct po_error error;
static const char *const names[] = { "^callbacks-.*", "callbacks", "^callbacks-sqb$",
                                     "callbacks-wechat", "^pay[._]" };
enum { NAMES = sizeof names / sizeof names[0] };

static struct topic_match *match_of(const char *const *all, size_t count)
{
        struct topic_match *match = NULL;
        ck_assert_msg(topic_match_open(&match, all, count, &error) == PO_OK, "%s", error.text);
        return match;
}

START_TEST(a_name_is_found_before_a_pattern_and_the_first_pattern_before_others)
{
        struct topic_match *match = match_of(names, NAMES);
        ck_assert_uint_eq(topic_match_find(match, "callbacks"), 1);
        ck_assert_uint_eq(topic_match_find(match, "callbacks-wechat"), 3);
        ck_assert_uint_eq(topic_match_find(match, "callbacks-sqb"), 0);
        ck_assert_uint_eq(topic_match_find(match, "callbacks-"), 0);
        topic_match_close(match);
}
END_TEST

START_TEST(a_pattern_need_not_reach_the_end_and_its_dot_is_any_letter)
{
        struct topic_match *match = match_of(names, NAMES);
        ck_assert_uint_eq(topic_match_find(match, "pay.in.eu"), 4);
        ck_assert_uint_eq(topic_match_find(match, "pay_in"), 4);
        ck_assert_uint_eq(topic_match_find(match, "payin"), NAMES);
        topic_match_close(match);
        static const char *const dotted[] = { "^a.c$" };
        match = match_of(dotted, 1);
        ck_assert_uint_eq(topic_match_find(match, "abc"), 0);
        ck_assert_uint_eq(topic_match_find(match, "abcd"), 1);
        topic_match_close(match);
}
END_TEST

START_TEST(what_matches_nothing_is_nothing_however_often_it_is_asked)
{
        struct topic_match *match = match_of(names, NAMES);
        for (int i = 0; i < 3; i++) {
                ck_assert_uint_eq(topic_match_find(match, "callback"), NAMES);
                ck_assert_uint_eq(topic_match_find(match, "callbacks"), 1);
                ck_assert_uint_eq(topic_match_find(match, "callbacks"), 1);
                ck_assert_uint_eq(topic_match_find(match, ""), NAMES);
        }
        topic_match_close(match);
        match = match_of(names, 0);
        ck_assert_uint_eq(topic_match_find(match, "callbacks"), 0);
        topic_match_close(match);
        topic_match_close(NULL);
}
END_TEST

START_TEST(a_topic_of_any_length_is_answered)
{
        struct topic_match *match = match_of(names, NAMES);
        char longest[400] = "callbacks-";
        memset(longest + 10, 'x', sizeof longest - 11);
        ck_assert_uint_eq(topic_match_find(match, longest), 0);
        ck_assert_uint_eq(topic_match_find(match, "callbacks"), 1);
        topic_match_close(match);
}
END_TEST

START_TEST(what_is_no_expression_is_refused_with_its_name)
{
        static const char *const broken[] = { "callbacks", "^callbacks-(" };
        struct topic_match *match = NULL;
        ck_assert_int_eq(topic_match_open(&match, broken, 2, &error), PO_SYSTEMIC);
        ck_assert_ptr_null(match);
        unit_assert_in(error.text, "\"^callbacks-(\" is no pattern: ");
}
END_TEST

START_TEST(a_single_pattern_can_be_asked)
{
        ck_assert(topic_is_pattern("^a"));
        ck_assert(!topic_is_pattern("a^"));
        ck_assert(topic_pattern_matches("^callbacks.*", "callbacks.DLT"));
        ck_assert(!topic_pattern_matches("^callbacks-", "callbacks.DLT"));
        ck_assert(!topic_pattern_matches("^(", "("));
        ck_assert(!topic_pattern_matches("callbacks", "callbacks"));
}
END_TEST

UNIT_MAIN("topic_match", a_name_is_found_before_a_pattern_and_the_first_pattern_before_others,
          a_pattern_need_not_reach_the_end_and_its_dot_is_any_letter,
          what_matches_nothing_is_nothing_however_often_it_is_asked,
          a_topic_of_any_length_is_answered, what_is_no_expression_is_refused_with_its_name,
          a_single_pattern_can_be_asked)
