#include "letter_fixture.h"

#define FQCN "org.springframework.kafka.listener.ListenerExecutionFailedException"

START_TEST(spring_s_binary_integers_are_read)
{
        struct letter_facts facts =
                facts_of(HEADERS({ "kafka_dlt-original-topic", TEXT("callbacks") },
                                 { "kafka_dlt-original-partition", "\0\0\0\x03", 4 },
                                 { "kafka_dlt-original-offset", "\0\0\0\0\0\x01\x02\x03", 8 },
                                 { "kafka_dlt-original-timestamp", "\0\0\0\0\0\0\x01\0", 8 },
                                 { "kafka_dlt-exception-fqcn", TEXT(FQCN) }));
        ck_assert_int_eq(facts.kind, LETTER_OF_SPRING);
        ck_assert_str_eq(facts.topic, "callbacks");
        ck_assert_int_eq(facts.partition, 3);
        ck_assert_int_eq(facts.offset, 0x010203);
        ck_assert_int_eq(facts.timestamp_ms, 256);
        ck_assert_str_eq(facts.reason, FQCN);
        ck_assert_uint_eq(strlen(facts.id), 36);
}
END_TEST

START_TEST(integers_of_another_size_or_below_zero_are_unknown)
{
        struct letter_facts facts =
                facts_of(HEADERS({ "kafka_dlt-original-topic", TEXT("callbacks") },
                                 { "kafka_dlt-original-partition", "\xff\xff\xff\xff", 4 },
                                 { "kafka_dlt-original-offset", TEXT("7") }));
        ck_assert_int_eq(facts.kind, LETTER_OF_SPRING);
        ck_assert_int_eq(facts.partition, -1);
        ck_assert_int_eq(facts.offset, -1);
        ck_assert_int_eq(facts.timestamp_ms, -1);
        ck_assert_str_eq(facts.id, "");
        ck_assert_str_eq(facts.reason, "UNKNOWN");
}
END_TEST

START_TEST(of_headers_that_were_appended_the_first_names_the_origin)
{
        struct letter_facts facts =
                facts_of(HEADERS({ "kafka_original-topic", TEXT("callbacks") },
                                 { "kafka_original-partition", "\0\0\0\x01", 4 },
                                 { "kafka_exception-fqcn", TEXT("a.First") },
                                 { "kafka_original-topic", TEXT("callbacks-retry-0") },
                                 { "kafka_original-partition", "\0\0\0\x02", 4 },
                                 { "kafka_exception-fqcn", TEXT("a.Last") }));
        ck_assert_str_eq(facts.topic, "callbacks");
        ck_assert_int_eq(facts.partition, 1);
        ck_assert_str_eq(facts.reason, "a.Last");
}
END_TEST

START_TEST(connect_s_texts_are_read)
{
        struct letter_facts facts =
                facts_of(HEADERS({ "__connect.errors.topic", TEXT("callbacks") },
                                 { "__connect.errors.partition", TEXT("3") },
                                 { "__connect.errors.offset", TEXT("41") },
                                 { "__connect.errors.exception.class.name", TEXT("a.b.C") }));
        ck_assert_int_eq(facts.kind, LETTER_OF_CONNECT);
        ck_assert_str_eq(facts.topic, "callbacks");
        ck_assert_int_eq(facts.partition, 3);
        ck_assert_int_eq(facts.offset, 41);
        ck_assert_str_eq(facts.reason, "a.b.C");
}
END_TEST

START_TEST(the_same_letter_twice_has_one_id_and_another_one_another)
{
        const struct record_header headers[] = { { "__connect.errors.topic", TEXT("callbacks") },
                                                 { "__connect.errors.partition", TEXT("3") },
                                                 { "__connect.errors.offset", TEXT("41") } };
        struct record letter = letter_with(headers, 3), copy = letter, other = letter;
        struct letter_facts first, second, third;
        copy.offset = 99;
        other.value = "w";
        letter_facts_read(&letter, &first);
        letter_facts_read(&copy, &second);
        letter_facts_read(&other, &third);
        ck_assert_str_eq(first.id, second.id);
        ck_assert_str_ne(first.id, third.id);
}
END_TEST

UNIT_MAIN("foreign_letter", spring_s_binary_integers_are_read,
          integers_of_another_size_or_below_zero_are_unknown,
          of_headers_that_were_appended_the_first_names_the_origin, connect_s_texts_are_read,
          the_same_letter_twice_has_one_id_and_another_one_another)
