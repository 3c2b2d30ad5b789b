#include "letter_fixture.h"

START_TEST(a_letter_of_ours_says_whence_and_why)
{
        struct letter_facts facts = facts_of(HEADERS(
                { "h", TEXT("1") }, //
                { "postonce.letter_id", TEXT(LETTER_ID) }, { "postonce.reason", TEXT("NO_RULE") },
                { "postonce.topic", TEXT("callbacks") }, { "postonce.partition", TEXT("3") },
                { "postonce.offset", TEXT("41") }, { "postonce.timestamp", TEXT("17") },
                { "postonce.replays", TEXT("02") }));
        ck_assert_int_eq(facts.kind, LETTER_OURS);
        ck_assert_str_eq(facts.id, LETTER_ID);
        ck_assert_str_eq(facts.reason, "NO_RULE");
        ck_assert_str_eq(facts.topic, "callbacks");
        ck_assert_int_eq(facts.partition, 3);
        ck_assert_int_eq(facts.offset, 41);
        ck_assert_int_eq(facts.timestamp_ms, 17);
        ck_assert_uint_eq(facts.replays, 2);
        ck_assert_str_eq(facts.body_id, "");
}
END_TEST

START_TEST(a_record_without_such_headers_has_no_origin)
{
        struct letter_facts facts = facts_of(NULL, 0);
        ck_assert_int_eq(facts.kind, LETTER_UNKNOWN);
        ck_assert_str_eq(facts.topic, "");
        ck_assert_str_eq(facts.id, "");
        ck_assert_str_eq(facts.reason, "UNKNOWN");
        ck_assert_int_eq(facts.partition, -1);
}
END_TEST

START_TEST(hostile_headers_are_taken_for_none)
{
        static const struct record_header hostile[][4] = {
                { { "postonce.letter_id", TEXT(LETTER_ID) },
                  { "postonce.topic", TEXT("a\0b") },
                  { "postonce.partition", TEXT("-1") },
                  { "postonce.replays", TEXT("-1") } },
                { { "postonce.letter_id", TEXT(LETTER_ID) },
                  { "postonce.topic", TEXT("../etc") },
                  { "postonce.partition", TEXT("2147483648") },
                  { "postonce.replays", TEXT("2147483648") } },
                { { "postonce.letter_id", TEXT(LETTER_ID) },
                  { "postonce.topic", NULL, 0 },
                  { "postonce.partition", TEXT("") },
                  { "postonce.replays", TEXT("1x") } },
        };
        for (size_t i = 0; i < 3; i++) {
                struct letter_facts facts = facts_of(hostile[i], 4);
                ck_assert_str_eq(facts.topic, "");
                ck_assert_int_eq(facts.partition, -1);
                ck_assert_uint_eq(facts.replays, 0);
        }
        ck_assert_int_eq(facts_of(HEADERS({ "postonce.letter_id", TEXT("no uuid") })).kind,
                         LETTER_UNKNOWN);
}
END_TEST

START_TEST(the_last_of_several_headers_counts)
{
        struct letter_facts facts = facts_of(HEADERS({ "postonce.letter_id", TEXT(LETTER_ID) },
                                                     { "postonce.topic", TEXT("first") },
                                                     { "postonce.topic", TEXT("last") }));
        ck_assert_str_eq(facts.topic, "last");
}
END_TEST

START_TEST(a_pointer_names_the_row_that_keeps_its_record)
{
        struct letter_facts facts = facts_of(HEADERS(
                { "postonce.letter_id", TEXT(LETTER_ID) },
                { "postonce.pointer", TEXT("dead_letter:00000000-0000-5000-8000-000000000001") }));
        ck_assert_str_eq(facts.body_id, "00000000-0000-5000-8000-000000000001");
        facts = facts_of(HEADERS({ "postonce.letter_id", TEXT(LETTER_ID) },
                                 { "postonce.pointer", TEXT("somewhere:else") }));
        ck_assert_str_eq(facts.body_id, "");
}
END_TEST

START_TEST(a_trimmed_letter_is_kept_whole_in_its_own_row)
{
        struct letter_facts facts = facts_of(HEADERS({ "postonce.letter_id", TEXT(LETTER_ID) },
                                                     { "postonce.trimmed", TEXT("12 headers") }));
        ck_assert_str_eq(facts.body_id, LETTER_ID);
}
END_TEST

UNIT_MAIN("letter_facts", a_letter_of_ours_says_whence_and_why,
          a_record_without_such_headers_has_no_origin, hostile_headers_are_taken_for_none,
          the_last_of_several_headers_counts, a_pointer_names_the_row_that_keeps_its_record,
          a_trimmed_letter_is_kept_whole_in_its_own_row)
