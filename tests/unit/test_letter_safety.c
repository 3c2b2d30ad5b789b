/* What makes a dead-letter topic unsafe, each alone. */
#include "unit.h"

#include "kafka/letter_safety.h"

static struct {
        int unsafe, unseen;
        char text[4096];
} told;

static void note(void *context, bool unsafe, const char *finding, const char *mend)
{
        ck_assert_ptr_eq(context, &told);
        ck_assert_str_ne(mend, "");
        told.unsafe += unsafe;
        told.unseen += !unsafe;
        size_t used = strlen(told.text);
        snprintf(told.text + used, sizeof told.text - used, "%s; %s\n", finding, mend);
}

static struct topic_facts topic_of(const char *name)
{
        return (struct topic_facts){ .name = name,
                                     .exists = true,
                                     .partitions = 3,
                                     .configured = true,
                                     .message_bytes_max = 1048588,
                                     .retention_ms = 604800000 };
}

static bool judge(const struct topic_facts *letters, const struct topic_facts *sources,
                  size_t count)
{
        memset(&told, 0, sizeof told);
        return letter_safety_judge(letters, sources, count, note, &told);
}

static void refused(const struct topic_facts *letters, const struct topic_facts *source,
                    const char *why)
{
        ck_assert(!judge(letters, source, 1));
        ck_assert_int_eq(told.unsafe, 1);
        ck_assert_int_eq(told.unseen, 0);
        unit_assert_in(told.text, why);
}

START_TEST(a_topic_like_its_sources_is_safe)
{
        struct topic_facts letters = topic_of("callbacks.DLT");
        struct topic_facts sources[] = { topic_of("callbacks"), topic_of("^more-") };
        ck_assert(judge(&letters, sources, 2));
        ck_assert_int_eq(told.unsafe + told.unseen, 0);
        letters.retention_ms = -1;
        letters.message_bytes_max++;
        sources[1].exists = false;
        sources[0].retention_ms = -1;
        ck_assert(judge(&letters, sources, 2));
        ck_assert(judge(&letters, NULL, 0));
}
END_TEST

START_TEST(a_missing_topic_is_unsafe)
{
        struct topic_facts letters = { .name = "callbacks.DLT" }, source = topic_of("callbacks");
        refused(&letters, &source, "callbacks.DLT does not exist, or this login may not see it");
}
END_TEST

START_TEST(a_compacted_topic_is_unsafe)
{
        struct topic_facts letters = topic_of("callbacks.DLT"), source = topic_of("callbacks");
        letters.compacted = true;
        refused(&letters, &source, "compacted");
        source.compacted = true; /* a source may be */
        refused(&letters, &source, "compacted");
}
END_TEST

START_TEST(a_topic_for_smaller_messages_is_unsafe)
{
        struct topic_facts letters = topic_of("callbacks.DLT"), source = topic_of("callbacks");
        source.message_bytes_max++;
        refused(&letters, &source,
                "callbacks.DLT takes 1048588 bytes a message, callbacks takes 1048589");
}
END_TEST

START_TEST(a_topic_that_forgets_before_its_source_is_unsafe)
{
        struct topic_facts letters = topic_of("callbacks.DLT"), source = topic_of("callbacks");
        source.retention_ms++;
        refused(&letters, &source,
                "callbacks.DLT keeps 604800000 ms, callbacks keeps 604800001 ms");
        source.retention_ms = -1;
        refused(&letters, &source, "callbacks keeps for ever");
}
END_TEST

START_TEST(a_topic_that_is_its_own_source_is_unsafe)
{
        struct topic_facts letters = topic_of("callbacks");
        refused(&letters, &letters, "subscribed to as a source");
}
END_TEST

START_TEST(every_finding_is_told)
{
        struct topic_facts letters = topic_of("callbacks.DLT");
        struct topic_facts sources[] = { topic_of("a"), topic_of("b") };
        letters.compacted = true;
        letters.retention_ms = 1;
        letters.message_bytes_max = 1;
        ck_assert(!judge(&letters, sources, 2));
        ck_assert_int_eq(told.unsafe, 5);
}
END_TEST

START_TEST(letters_that_are_deleted_by_the_age_of_their_records_are_told_but_not_refused)
{
        struct topic_facts letters = topic_of("callbacks.DLT"), source = topic_of("callbacks");
        letters.ages_by_record = true;
        ck_assert(judge(&letters, &source, 1));
        ck_assert_int_eq(told.unseen, 1);
        unit_assert_in(told.text, "callbacks.DLT deletes a letter 604800000 ms after the time of");
        unit_assert_in(told.text, "message.timestamp.type to LogAppendTime");
        letters.retention_ms = -1;
        ck_assert(judge(&letters, &source, 1));
        ck_assert_int_eq(told.unseen, 0);
}
END_TEST

START_TEST(what_the_brokers_do_not_tell_is_no_refusal)
{
        struct topic_facts letters = topic_of("callbacks.DLT"), source = topic_of("callbacks");
        source.message_bytes_max++;
        letters.configured = false;
        ck_assert(judge(&letters, &source, 1));
        ck_assert_int_eq(told.unseen, 1);
        unit_assert_in(told.text, "callbacks.DLT");
        letters.configured = true;
        source.configured = false;
        ck_assert(judge(&letters, &source, 1));
        ck_assert_int_eq(told.unseen, 0);
}
END_TEST

UNIT_MAIN("letter_safety", a_topic_like_its_sources_is_safe, a_missing_topic_is_unsafe,
          a_compacted_topic_is_unsafe, a_topic_for_smaller_messages_is_unsafe,
          a_topic_that_forgets_before_its_source_is_unsafe,
          a_topic_that_is_its_own_source_is_unsafe, every_finding_is_told,
          letters_that_are_deleted_by_the_age_of_their_records_are_told_but_not_refused,
          what_the_brokers_do_not_tell_is_no_refusal)
