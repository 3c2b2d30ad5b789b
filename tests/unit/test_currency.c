#include "unit.h"

#include "channel/currency.h"

static int exponent(const char *code)
{
        int found = -1;
        return currency_find(code, &found) ? found : -1;
}

START_TEST(common_currencies_have_the_decimals_of_iso_4217)
{
        ck_assert_int_eq(exponent("CNY"), 2);
        ck_assert_int_eq(exponent("USD"), 2);
        ck_assert_int_eq(exponent("JPY"), 0);
        ck_assert_int_eq(exponent("KRW"), 0);
        ck_assert_int_eq(exponent("ISK"), 0);
        ck_assert_int_eq(exponent("KWD"), 3);
        ck_assert_int_eq(exponent("CLF"), 4);
        ck_assert_int_eq(exponent("UYW"), 4);
}
END_TEST

START_TEST(the_first_and_the_last_code_of_the_table_are_found)
{
        ck_assert_int_eq(exponent("AED"), 2);
        ck_assert_int_eq(exponent("ZWG"), 2);
}
END_TEST

START_TEST(the_table_is_sorted_so_that_every_code_in_it_is_found)
{
        int known = 0, with_none = 0, with_three = 0;
        char code[4] = "";
        for (code[0] = 'A'; code[0] <= 'Z'; code[0]++)
                for (code[1] = 'A'; code[1] <= 'Z'; code[1]++)
                        for (code[2] = 'A'; code[2] <= 'Z'; code[2]++) {
                                int found = exponent(code);
                                known += found >= 0;
                                with_none += found == 0;
                                with_three += found == 3;
                        }
        ck_assert_int_eq(known, 167);
        ck_assert_int_eq(with_none, 17);
        ck_assert_int_eq(with_three, 7);
}
END_TEST

START_TEST(what_is_no_code_of_a_currency_is_not_found)
{
        static const char *const wrong[] = { "",    "C",   "CN",  "CNYX", "cny",
                                             "RMB", "156", "XAU", "XXX" };
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
                ck_assert_msg(exponent(wrong[i]) == -1, "%s is found", wrong[i]);
}
END_TEST

UNIT_MAIN("currency", common_currencies_have_the_decimals_of_iso_4217,
          the_first_and_the_last_code_of_the_table_are_found,
          the_table_is_sorted_so_that_every_code_in_it_is_found,
          what_is_no_code_of_a_currency_is_not_found)
