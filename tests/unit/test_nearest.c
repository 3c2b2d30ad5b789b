/* What a complaint says about a word that is not known. */
#include "config/nearest.h"

#include <check.h>
#include <string.h>

static const char *const known[] = { "host", "port", "password_file", "tls", NULL };

static void assert_hint(const char *word, const char *expected)
{
        char hint[128];
        nearest_hint(hint, sizeof hint, word, known);
        ck_assert_str_eq(hint, expected);
}

START_TEST(a_word_two_letters_off_is_suggested)
{
        assert_hint("prot", "did you mean \"port\"?");
        assert_hint("passwordfile", "did you mean \"password_file\"?");
        assert_hint("pasword-file", "did you mean \"password_file\"?");
}
END_TEST

START_TEST(case_does_not_count)
{
        assert_hint("PORT", "did you mean \"port\"?");
}
END_TEST

START_TEST(the_nearest_word_is_suggested)
{
        assert_hint("hort", "did you mean \"host\"?");
        assert_hint("ort", "did you mean \"port\"?");
}
END_TEST

START_TEST(a_short_word_that_shares_little_is_another_word)
{
        assert_hint("ssl", "known: host, port, password_file, tls");
        assert_hint("", "known: host, port, password_file, tls");
}
END_TEST

START_TEST(a_far_word_gets_the_list)
{
        assert_hint("database", "known: host, port, password_file, tls");
}
END_TEST

START_TEST(a_word_of_any_length_is_borne)
{
        char word[5000], hint[16];
        memset(word, 'p', sizeof word - 1);
        word[sizeof word - 1] = '\0';
        nearest_hint(hint, sizeof hint, word, known);
        ck_assert_str_eq(hint, "known: host, po");
}
END_TEST

START_TEST(no_known_word_at_all_is_said)
{
        static const char *const none[] = { NULL };
        char hint[32];
        nearest_hint(hint, sizeof hint, "port", none);
        ck_assert_str_eq(hint, "none is known");
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("nearest");
        TCase *tcase = tcase_create("nearest");
        tcase_add_test(tcase, a_word_two_letters_off_is_suggested);
        tcase_add_test(tcase, case_does_not_count);
        tcase_add_test(tcase, the_nearest_word_is_suggested);
        tcase_add_test(tcase, a_short_word_that_shares_little_is_another_word);
        tcase_add_test(tcase, a_far_word_gets_the_list);
        tcase_add_test(tcase, a_word_of_any_length_is_borne);
        tcase_add_test(tcase, no_known_word_at_all_is_said);
        suite_add_tcase(suite, tcase);
        SRunner *runner = srunner_create(suite);
        srunner_run_all(runner, CK_ENV);
        int failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed != 0;
}
