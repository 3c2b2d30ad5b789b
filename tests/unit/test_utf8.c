#include "unit.h"

#include "channel/utf8.h"

START_TEST(well_formed_text_is_utf_8_to_its_end)
{
        static const char *const good[] = { "",
                                            "abc",
                                            "\xC2\x80",
                                            "\xE5\xA0\x82",
                                            "\xF0\x9F\x8D\x9C",
                                            "\xED\x9F\xBF",
                                            "\xF4\x8F\xBF\xBF" };
        for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
                ck_assert_uint_eq(utf8_check(good[i], strlen(good[i])), strlen(good[i]));
        ck_assert_uint_eq(utf8_check("a\0b", 3), 3);
}
END_TEST

START_TEST(the_first_byte_that_is_no_utf_8_is_found)
{
        static const char *const bad[] = { "ab\x80",         "ab\xC0\x80",     "ab\xC2",
                                           "ab\xE0\x9F\xBF", "ab\xED\xA0\x80", "ab\xF4\x90\x80\x80",
                                           "ab\xE5\xA0",     "ab\xFF" };
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
                ck_assert_uint_eq(utf8_check(bad[i], strlen(bad[i])), 2);
}
END_TEST

START_TEST(a_sequence_has_two_to_four_bytes_or_none)
{
        ck_assert_uint_eq(utf8_length((const unsigned char *)"\xC2\x80", 2), 2);
        ck_assert_uint_eq(utf8_length((const unsigned char *)"\xE5\xA0\x82", 3), 3);
        ck_assert_uint_eq(utf8_length((const unsigned char *)"\xF0\x9F\x8D\x9C", 4), 4);
        ck_assert_uint_eq(utf8_length((const unsigned char *)"\xF0\x9F\x8D\x9C", 3), 0);
        ck_assert_uint_eq(utf8_length((const unsigned char *)"\x80", 1), 0);
}
END_TEST

UNIT_MAIN("utf8", well_formed_text_is_utf_8_to_its_end, the_first_byte_that_is_no_utf_8_is_found,
          a_sequence_has_two_to_four_bytes_or_none)
