#include "letter_fixture.h"

#include "desk/letter_filter.h"

#define WORDS(...)                                                                                 \
        (struct letter_words)                                                                      \
        {                                                                                          \
                (const char *const[]){ __VA_ARGS__ },                                              \
                        sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *)        \
        }

static struct letter_facts facts_with(const char *reason)
{
        struct letter_facts facts = { .partition = -1 };
        snprintf(facts.reason, sizeof facts.reason, "%s", reason);
        return facts;
}

static bool fits(const struct letter_filter *filter, const char *reason)
{
        struct record letter = letter_with(NULL, 0);
        struct letter_facts facts = facts_with(reason);
        return letter_filter_fits(filter, &letter, &facts);
}

START_TEST(without_a_condition_every_letter_fits)
{
        struct letter_filter filter = LETTER_FILTER_NONE;
        struct letter_subject nothing = { .channel = "" };
        struct record letter = letter_with(NULL, 0);
        struct letter_facts facts = facts_with("UNKNOWN");
        letter.timestamp_ms = -1;
        ck_assert(!letter_filter_is_set(&filter));
        ck_assert(letter_filter_fits(&filter, &letter, &facts));
        ck_assert(letter_filter_fits_subject(&filter, &nothing));
}
END_TEST

START_TEST(one_of_the_reasons_must_be_the_whole_word)
{
        struct letter_filter filter = LETTER_FILTER_NONE;
        filter.reasons = WORDS("NO_RULE", "EMPTY_VALUE");
        ck_assert(letter_filter_is_set(&filter));
        ck_assert(fits(&filter, "NO_RULE"));
        ck_assert(fits(&filter, "EMPTY_VALUE"));
        ck_assert(!fits(&filter, "NO_RULES"));
        ck_assert(!fits(&filter, "no_rule"));
}
END_TEST

START_TEST(a_java_class_fits_with_and_without_its_package)
{
        struct letter_filter filter = LETTER_FILTER_NONE;
        filter.reasons = WORDS("DataException");
        ck_assert(fits(&filter, "org.apache.kafka.connect.errors.DataException"));
        ck_assert(!fits(&filter, "org.apache.DataException.Other"));
        filter.reasons = WORDS("org.apache.kafka.connect.errors.DataException");
        ck_assert(fits(&filter, "org.apache.kafka.connect.errors.DataException"));
}
END_TEST

START_TEST(a_time_includes_its_beginning_and_not_its_end)
{
        struct letter_filter filter = LETTER_FILTER_NONE;
        struct letter_facts facts = facts_with("R");
        struct record letter = letter_with(NULL, 0);
        filter.from_ms = 1000;
        filter.to_ms = 2000;
        ck_assert(letter_filter_is_set(&filter));
        const struct {
                int64_t ms;
                bool fits;
        } times[] = { { -1, false },  { 0, false },    { 999, false }, { 1000, true },
                      { 1999, true }, { 2000, false }, { 9999, false } };
        for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
                letter.timestamp_ms = times[i].ms;
                ck_assert_int_eq(letter_filter_fits(&filter, &letter, &facts), times[i].fits);
        }
}
END_TEST

START_TEST(offsets_include_both_ends_of_their_partition)
{
        struct letter_filter filter = LETTER_FILTER_NONE;
        struct letter_facts facts = facts_with("R");
        struct record letter = letter_with(NULL, 0);
        filter.partition = 0;
        filter.from_offset = 4;
        filter.to_offset = 5;
        for (letter.offset = 0; letter.offset < 10; letter.offset++)
                ck_assert_int_eq(letter_filter_fits(&filter, &letter, &facts),
                                 letter.offset == 4 || letter.offset == 5);
        letter.offset = 4;
        letter.partition = 1;
        ck_assert(!letter_filter_fits(&filter, &letter, &facts));
}
END_TEST

START_TEST(a_key_fits_a_pattern_or_a_beginning)
{
        struct letter_filter filter = LETTER_FILTER_NONE;
        static struct letter_subject subject = { .channel = "WECHAT", .count = 2 };
        snprintf(subject.notifications[0].key, PO_KEY_BYTES, "WECHAT:T1:PAYMENT_RECEIVED");
        snprintf(subject.notifications[1].key, PO_KEY_BYTES, "WECHAT:A/B:PAYMENT_RECEIVED");
        const struct {
                const char *pattern;
                bool fits;
        } patterns[] = { { "WECHAT:T1", true }, { "WECHAT:A/B:", true }, { "ECHAT", false },
                         { "*:T1:*", true },    { "*:T?:*", true },      { "*:T[2-9]:*", false },
                         { "WECHAT:*", true },  { "*:T1", false },       { "*:A?B:*", true },
                         { "wechat:T1", false } };
        for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
                filter.keys = WORDS(patterns[i].pattern);
                ck_assert_msg(letter_filter_fits_subject(&filter, &subject) == patterns[i].fits,
                              "%s", patterns[i].pattern);
        }
        subject.count = 0;
        filter.keys = WORDS("*");
        ck_assert(!letter_filter_fits_subject(&filter, &subject));
}
END_TEST

START_TEST(every_kind_of_condition_must_hold)
{
        struct letter_filter filter = LETTER_FILTER_NONE;
        static struct letter_subject subject = { .channel = "SQB", .count = 1 };
        snprintf(subject.notifications[0].key, PO_KEY_BYTES, "SQB:T1:X");
        filter.channels = WORDS("SQB", "WECHAT");
        filter.keys = WORDS("SQB:T1:");
        ck_assert(letter_filter_fits_subject(&filter, &subject));
        filter.channels = WORDS("WECHAT");
        ck_assert(!letter_filter_fits_subject(&filter, &subject));
}
END_TEST

static void channel_is(const struct record *record, const char *topic_channel, const char *expected)
{
        static struct letter_subject subject;
        struct decoder *decoder;
        struct po_error error;
        char directory[512];
        snprintf(directory, sizeof directory, "%s/tests/data", getenv("POSTONCE_SOURCE"));
        ck_assert_int_eq(decoder_open(&decoder, directory,
                                      (const char *const[]){ "wechat-envelope.yaml" }, 1, &error),
                         PO_OK);
        letter_subject_read(decoder, record, topic_channel, &subject);
        ck_assert_str_eq(subject.channel, expected);
        decoder_close(decoder);
}

START_TEST(the_channel_is_what_decodes_the_record_else_what_names_it)
{
        struct record record = letter_with(NULL, 0);
        channel_is(&record, NULL, "");
        channel_is(&record, "SQB", "SQB");
        const struct record_header named[] = { { "channel", TEXT("SQB") } };
        const struct record_header odd[] = { { "channel", TEXT("no label\n") } };
        record = letter_with(named, 1);
        channel_is(&record, NULL, "SQB");
        record = letter_with(odd, 1);
        channel_is(&record, NULL, "");
        static const char envelope[] =
                "{\"channel\":\"WECHAT\",\"tenant_id\":1,\"txn\":\"T1\",\"event\":\"X\",\"order_"
                "no\":\"R1\",\"amount_minor\":1,\"currency\":\"CNY\",\"occurred_at\":\"2026-11-11T"
                "12:00:00+08:00\"}";
        record = letter_with(NULL, 0);
        record.value = envelope;
        record.value_bytes = sizeof envelope - 1;
        channel_is(&record, NULL, "WECHAT");
}
END_TEST

UNIT_MAIN("letter_filter", without_a_condition_every_letter_fits,
          one_of_the_reasons_must_be_the_whole_word, a_java_class_fits_with_and_without_its_package,
          a_time_includes_its_beginning_and_not_its_end,
          offsets_include_both_ends_of_their_partition, a_key_fits_a_pattern_or_a_beginning,
          every_kind_of_condition_must_hold,
          the_channel_is_what_decodes_the_record_else_what_names_it)
