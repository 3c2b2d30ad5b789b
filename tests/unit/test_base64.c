#include "unit.h"

#include "channel/base64.h"

static unsigned char buffer[64];
static size_t length;

static bool decode(const char *text)
{
        ck_assert_uint_le(base64_room(strlen(text)), sizeof buffer);
        return base64_decode(text, strlen(text), buffer, &length);
}

START_TEST(the_test_vectors_of_rfc_4648_are_decoded)
{
        static const char *const vectors[][2] = {
                { "", "" },
                { "Zg==", "f" },
                { "Zm8=", "fo" },
                { "Zm9v", "foo" },
                { "Zm9vYg==", "foob" },
                { "Zm9vYmE=", "fooba" },
                { "Zm9vYmFy", "foobar" },
        };
        for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
                ck_assert(decode(vectors[i][0]));
                ck_assert_uint_eq(length, strlen(vectors[i][1]));
                ck_assert_mem_eq(buffer, vectors[i][1], length);
        }
        ck_assert(decode("+/8A"));
        ck_assert_mem_eq(buffer, "\xFB\xFF\x00", 3);
}
END_TEST

START_TEST(anything_else_is_refused)
{
        static const char *const wrong[] = { "Z",    "Zg",   "Zg=",      "Zg==\n", "Zm9v Zm9v",
                                             "Zm9_", "====", "Zg==Zg==", "Z===",   "=m9v",
                                             "Zm=v", "Zh==", "Zm9=" };
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
                ck_assert_msg(!decode(wrong[i]), "\"%s\" is taken", wrong[i]);
}
END_TEST

UNIT_MAIN("base64", the_test_vectors_of_rfc_4648_are_decoded, anything_else_is_refused)
