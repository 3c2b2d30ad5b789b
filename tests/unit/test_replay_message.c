#include "letter_fixture.h"

#include "desk/replay_message.h"

static struct record_header headers[64];
static struct replay_texts texts;
static struct sink_message message;
static struct letter_facts facts;
static size_t bare;

static void fill(const struct record *letter, const struct record *record)
{
        letter_facts_read(letter, &facts);
        bare = replay_message_fill(letter, record, &facts, &texts, headers, &message);
}

static void header_is(size_t place, const char *name, const char *text)
{
        ck_assert_uint_lt(place, message.headers_count);
        ck_assert_str_eq(headers[place].name, name);
        ck_assert_uint_eq(headers[place].value_bytes, strlen(text));
        ck_assert_mem_eq(headers[place].value, text, strlen(text));
}

START_TEST(a_letter_of_ours_becomes_its_record_with_origin_and_count)
{
        const struct record_header given[] = { { "h", TEXT("1") },
                                               { "postonce.letter_id", TEXT(LETTER_ID) },
                                               { "h", TEXT("2") },
                                               { "postonce.text", TEXT("long") },
                                               { "postonce.replays", TEXT("01") },
                                               { "postonce.topic", TEXT("callbacks") } };
        struct record letter = letter_with(given, 6);
        letter.value = NULL;
        letter.value_bytes = 0;
        fill(&letter, &letter);
        ck_assert_ptr_null(message.value);
        ck_assert_ptr_eq(message.key, letter.key);
        ck_assert_int_eq(message.timestamp_ms, letter.timestamp_ms);
        ck_assert_uint_eq(message.headers_count, 5);
        ck_assert_uint_eq(bare, 2);
        header_is(0, "h", "1");
        header_is(1, "h", "2");
        header_is(2, "postonce.letter_id", LETTER_ID);
        header_is(3, "postonce.topic", "callbacks");
        header_is(4, "postonce.replays", "02");
}
END_TEST

START_TEST(a_pointer_becomes_the_record_that_is_kept)
{
        const struct record_header given[] = { { "postonce.letter_id", TEXT(LETTER_ID) },
                                               { "postonce.pointer",
                                                 TEXT("dead_letter:" LETTER_ID) },
                                               { "postonce.offset", TEXT("41") } };
        const struct record_header kept[] = { { "big", TEXT("1") },
                                              { "postonce.offset", TEXT("99") } };
        struct record letter = letter_with(given, 3), record = letter_with(kept, 2);
        letter.value = "";
        letter.value_bytes = 0;
        record.value = "whole";
        record.value_bytes = 5;
        record.timestamp_ms = 7;
        fill(&letter, &record);
        ck_assert_ptr_eq(message.value, record.value);
        ck_assert_int_eq(message.timestamp_ms, 7);
        ck_assert_uint_eq(message.headers_count, 4);
        header_is(0, "big", "1");
        header_is(1, "postonce.letter_id", LETTER_ID);
        header_is(2, "postonce.offset", "41");
        header_is(3, "postonce.replays", "01");
}
END_TEST

START_TEST(a_letter_of_another_system_gets_our_origin)
{
        const struct record_header given[] = { { "__connect.errors.topic", TEXT("callbacks") },
                                               { "__connect.errors.partition", TEXT("3") },
                                               { "__connect.errors.offset", TEXT("41") } };
        struct record letter = letter_with(given, 3);
        fill(&letter, &letter);
        ck_assert_uint_eq(message.headers_count, 8);
        header_is(3, "postonce.topic", "callbacks");
        header_is(4, "postonce.partition", "3");
        header_is(5, "postonce.offset", "41");
        header_is(7, "postonce.replays", "01");
}
END_TEST

START_TEST(the_count_is_as_long_at_the_last_replay_as_at_the_first)
{
        struct record_header given[] = { { "postonce.letter_id", TEXT(LETTER_ID) },
                                         { "postonce.replays", TEXT("98") } };
        struct record letter = letter_with(given, 2);
        fill(&letter, &letter);
        header_is(1, "postonce.replays", "99");
        given[1].value = "99";
        fill(&letter, &letter);
        header_is(1, "postonce.replays", "99");
}
END_TEST

UNIT_MAIN("replay_message", a_letter_of_ours_becomes_its_record_with_origin_and_count,
          a_pointer_becomes_the_record_that_is_kept, a_letter_of_another_system_gets_our_origin,
          the_count_is_as_long_at_the_last_replay_as_at_the_first)
