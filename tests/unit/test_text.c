/* Bounded text: what does not fit is cut, remembered, and never written. */
#include "unit.h"

#include "base/text.h"

static char buffer[8];
static struct text text;

static void start(size_t capacity)
{
        memset(buffer, '#', sizeof buffer);
        text_init(&text, buffer, capacity);
}

static void is(const char *expected, bool cut)
{
        ck_assert_str_eq(buffer, expected);
        ck_assert_uint_eq(text.length, strlen(expected));
        ck_assert(text.cut == cut);
}

START_TEST(a_new_text_is_empty)
{
        start(8);
        is("", false);
}
END_TEST

START_TEST(pieces_are_put_one_after_the_other)
{
        start(8);
        text_put(&text, "ab");
        text_put(&text, "");
        text_format(&text, "%d%s", 1, "c");
        text_put(&text, "d");
        is("ab1cd", false);
}
END_TEST

START_TEST(what_fits_to_the_last_byte_is_not_cut)
{
        start(8);
        text_put(&text, "1234567");
        is("1234567", false);
        start(8);
        text_format(&text, "%s", "1234567");
        is("1234567", false);
        text_put(&text, "");
        text_format(&text, "%s", "");
        is("1234567", false);
}
END_TEST

START_TEST(a_piece_too_long_is_cut_and_remembered)
{
        start(5);
        text_put(&text, "12345");
        is("1234", true);
        ck_assert_int_eq(buffer[5], '#');
        start(5);
        text_put(&text, "12");
        text_format(&text, "%s", "345");
        is("1234", true);
        ck_assert_int_eq(buffer[5], '#');
}
END_TEST

START_TEST(a_text_once_cut_stays_cut)
{
        start(3);
        text_put(&text, "123");
        text_put(&text, "");
        text_put(&text, "4");
        text_format(&text, "%d", 5);
        is("12", true);
}
END_TEST

START_TEST(room_for_nothing_but_the_end_holds_nothing)
{
        start(1);
        text_put(&text, "a");
        text_format(&text, "b");
        text_put_json(&text, "c");
        is("", true);
        ck_assert_int_eq(buffer[1], '#');
}
END_TEST

static void is_json(const char *piece, const char *expected)
{
        char large[64];
        struct text json;
        text_init(&json, large, sizeof large);
        text_put_json(&json, piece);
        ck_assert_str_eq(large, expected);
        ck_assert(!json.cut);
}

START_TEST(a_json_string_has_its_quotes_and_escapes)
{
        is_json("", "\"\"");
        is_json("abc", "\"abc\"");
        is_json("a\"b\\c", "\"a\\\"b\\\\c\"");
        is_json("\n\t\x01\x1f", "\"\\u000a\\u0009\\u0001\\u001f\"");
        is_json("/\x7f", "\"/\x7f\"");
        is_json("订单", "\"订单\"");
}
END_TEST

START_TEST(a_json_string_too_long_is_cut_and_remembered)
{
        start(5);
        text_put_json(&text, "abc");
        is("\"abc", true);
        start(6);
        text_put_json(&text, "abc");
        is("\"abc\"", false);
}
END_TEST

START_TEST(a_copy_is_cut_at_its_capacity_and_ends_in_nul)
{
        memset(buffer, '#', sizeof buffer);
        text_copy(buffer, 4, "abc");
        ck_assert_str_eq(buffer, "abc");
        text_copy(buffer, 4, "defg");
        ck_assert_str_eq(buffer, "def");
        ck_assert_int_eq(buffer[4], '#');
        text_copy(buffer, 4, "");
        ck_assert_str_eq(buffer, "");
        text_copy(buffer + 1, 1, "x");
        ck_assert_int_eq(buffer[1], '\0');
}
END_TEST

START_TEST(an_integer_is_put_and_cut_like_any_piece)
{
        start(8);
        text_put_integer(&text, -42);
        text_put_integer(&text, 0);
        is("-420", false);
        text_put_integer(&text, INT64_MIN);
        is("-420-92", true);
}
END_TEST

START_TEST(a_time_is_written_to_the_microsecond_in_utc)
{
        char moment[64];
        struct text time;
        text_init(&time, moment, sizeof moment);
        text_put_time(&time, 0);
        ck_assert_str_eq(moment, "1970-01-01T00:00:00.000000Z");
        text_init(&time, moment, sizeof moment);
        text_put_time(&time, INT64_C(1709164800000001)); /* a leap year's last day of February */
        ck_assert_str_eq(moment, "2024-02-29T00:00:00.000001Z");
}
END_TEST

UNIT_MAIN("text", a_new_text_is_empty, pieces_are_put_one_after_the_other,
          what_fits_to_the_last_byte_is_not_cut, a_piece_too_long_is_cut_and_remembered,
          a_text_once_cut_stays_cut, room_for_nothing_but_the_end_holds_nothing,
          a_json_string_has_its_quotes_and_escapes, a_json_string_too_long_is_cut_and_remembered,
          a_copy_is_cut_at_its_capacity_and_ends_in_nul, an_integer_is_put_and_cut_like_any_piece,
          a_time_is_written_to_the_microsecond_in_utc)
