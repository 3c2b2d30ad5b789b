#include "unit.h"

#include "channel/charset.h"

static struct charset_converter *converter;
static struct po_error error;
static char buffer[64];
static size_t length;

static enum po_class convert(const char *bytes, size_t bytes_length)
{
        if (converter == NULL)
                ck_assert_int_eq(charset_open(&converter, &error), PO_OK);
        ck_assert_uint_le(charset_room(bytes_length), sizeof buffer);
        return charset_convert(converter, bytes, bytes_length, buffer, &length, &error);
}

START_TEST(the_names_of_the_charsets_are_known_in_any_case)
{
        enum charset charset;
        ck_assert(charset_find("UTF-8", &charset) && charset == CHARSET_UTF8);
        ck_assert(charset_find("utf8", &charset) && charset == CHARSET_UTF8);
        ck_assert(charset_find("GBK", &charset) && charset == CHARSET_GB18030);
        ck_assert(charset_find("gb2312", &charset) && charset == CHARSET_GB18030);
        ck_assert(charset_find("Gb18030", &charset) && charset == CHARSET_GB18030);
        ck_assert(!charset_find("latin1", &charset));
        ck_assert(!charset_find("", &charset));
        ck_assert(!charset_find("UTF-8//IGNORE", &charset));
}
END_TEST

START_TEST(gb18030_becomes_utf_8)
{
        ck_assert_int_eq(convert("\xCC\xC3\xCA\xB3 A", 6), PO_OK);
        ck_assert_uint_eq(length, 8);
        ck_assert_mem_eq(buffer, "\xE5\xA0\x82\xE9\xA3\x9F A", 8);
        ck_assert_int_eq(convert("\x94\x39\xDA\x33", 4), PO_OK); /* U+1F4A9, four bytes */
        ck_assert_mem_eq(buffer, "\xF0\x9F\x92\xA9", 4);
        ck_assert_int_eq(convert("", 0), PO_OK);
        ck_assert_uint_eq(length, 0);
}
END_TEST

START_TEST(several_texts_with_a_nul_behind_each_are_converted_together)
{
        ck_assert_int_eq(convert("a\0\xCC\xC3\0", 5), PO_OK);
        ck_assert_uint_eq(length, 6);
        ck_assert_mem_eq(buffer, "a\0\xE5\xA0\x82\0", 6);
}
END_TEST

START_TEST(a_cut_or_wrong_character_is_refused_and_leaves_no_trace_in_the_next)
{
        ck_assert_int_eq(convert("ab\xCC", 3), PO_RECORD);
        ck_assert_str_eq(error.reason, "INVALID_GB18030");
        unit_assert_in(error.text, "byte 2");
        ck_assert_int_eq(convert("\xCC\0x", 3), PO_RECORD);
        ck_assert_int_eq(convert("\xFF\xFF", 2), PO_RECORD);
        ck_assert_int_eq(convert("\xC3", 1), PO_RECORD);
        ck_assert_int_eq(convert("ok", 2), PO_OK);
        ck_assert_mem_eq(buffer, "ok", 2);
}
END_TEST

UNIT_MAIN("charset", the_names_of_the_charsets_are_known_in_any_case, gb18030_becomes_utf_8,
          several_texts_with_a_nul_behind_each_are_converted_together,
          a_cut_or_wrong_character_is_refused_and_leaves_no_trace_in_the_next)
