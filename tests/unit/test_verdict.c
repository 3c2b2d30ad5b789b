#include "unit.h"

#include "ledger/verdict.h"

START_TEST(every_verdict_has_a_name_that_reads_back)
{
        ck_assert_str_eq(verdict_name(VERDICT_NONE), "NONE");
        for (int verdict = VERDICT_POSTED; verdict < VERDICT_COUNT; verdict++) {
                ck_assert_ptr_nonnull(verdict_name((enum verdict)verdict));
                ck_assert_int_eq(verdict_parse(verdict_name((enum verdict)verdict)), verdict);
        }
}
END_TEST

START_TEST(the_names_are_the_contracts_words)
{
        ck_assert_str_eq(verdict_name(VERDICT_POSTED), "POSTED");
        ck_assert_str_eq(verdict_name(VERDICT_SKIPPED), "SKIPPED");
        ck_assert_str_eq(verdict_name(VERDICT_SUSPENSE), "SUSPENSE");
        ck_assert_str_eq(verdict_name(VERDICT_DISCARDED), "DISCARDED");
        ck_assert_str_eq(verdict_name(VERDICT_PARKED), "PARKED");
        ck_assert_str_eq(verdict_name(VERDICT_ORPHANED), "ORPHANED");
        ck_assert_str_eq(verdict_name(VERDICT_DUPLICATE), "DUPLICATE");
        ck_assert_str_eq(verdict_name(VERDICT_CONFLICT), "CONFLICT");
        ck_assert_str_eq(verdict_name(VERDICT_REJECTED), "REJECTED");
        ck_assert_str_eq(verdict_name(VERDICT_HELD), "HELD");
}
END_TEST

START_TEST(what_stands_in_an_outcome_is_an_outcome_and_nothing_else_is)
{
        for (int verdict = VERDICT_NONE; verdict < VERDICT_COUNT; verdict++)
                ck_assert_int_eq(verdict_is_outcome((enum verdict)verdict),
                                 verdict == VERDICT_POSTED || verdict == VERDICT_SKIPPED ||
                                         verdict == VERDICT_SUSPENSE ||
                                         verdict == VERDICT_DISCARDED);
}
END_TEST

START_TEST(a_word_of_a_newer_program_is_none)
{
        ck_assert_int_eq(verdict_parse("REVERSED"), VERDICT_NONE);
        ck_assert_int_eq(verdict_parse("NONE"), VERDICT_NONE);
        ck_assert_int_eq(verdict_parse("posted"), VERDICT_NONE);
        ck_assert_int_eq(verdict_parse(""), VERDICT_NONE);
}
END_TEST

UNIT_MAIN("verdict", every_verdict_has_a_name_that_reads_back, the_names_are_the_contracts_words,
          what_stands_in_an_outcome_is_an_outcome_and_nothing_else_is,
          a_word_of_a_newer_program_is_none)
