#include "unit.h"

#include "desk/letter_set.h"

static struct po_error error;

static const char *id_of(unsigned number)
{
        static char id[40];
        /* Spread over the bytes, as digests are; some share the first eight. */
        snprintf(id, sizeof id, "%08x-0000-5000-8000-%012x", number / 2 * 2654435761U, number);
        return id;
}

START_TEST(an_id_is_new_once)
{
        struct letter_set *set;
        ck_assert_int_eq(letter_set_open(&set, &error), PO_OK);
        for (unsigned i = 1; i < 1000; i++)
                ck_assert(letter_set_add(set, id_of(i)));
        for (unsigned i = 1; i < 1000; i++)
                ck_assert(!letter_set_add(set, id_of(i)));
        letter_set_close(set);
}
END_TEST

START_TEST(a_letter_without_id_is_always_new)
{
        struct letter_set *set;
        ck_assert_int_eq(letter_set_open(&set, &error), PO_OK);
        for (int i = 0; i < 3; i++) {
                ck_assert(letter_set_add(set, ""));
                ck_assert(letter_set_add(set, "no uuid"));
                ck_assert(letter_set_add(set, "00000000-0000-0000-0000-000000000000"));
        }
        letter_set_close(set);
        letter_set_close(NULL);
}
END_TEST

START_TEST(a_full_set_forgets_the_oldest_only)
{
        struct letter_set *set;
        const unsigned count = 5 * LETTER_SET_IDS / 2;
        ck_assert_int_eq(letter_set_open(&set, &error), PO_OK);
        for (unsigned i = 1; i <= count; i++)
                ck_assert(letter_set_add(set, id_of(i)));
        for (unsigned i = count - LETTER_SET_IDS + 1; i <= count; i++)
                ck_assert_msg(!letter_set_add(set, id_of(i)), "%u of %u is forgotten", i, count);
        ck_assert(letter_set_add(set, id_of(1)));
        letter_set_close(set);
}
END_TEST

UNIT_MAIN("letter_set", an_id_is_new_once, a_letter_without_id_is_always_new,
          a_full_set_forgets_the_oldest_only)
