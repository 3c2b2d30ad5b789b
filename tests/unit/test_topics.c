#include "unit.h"

#include "kafka/dev_broker.h"
#include "kafka/topics.h"

START_TEST(topics_that_are_there_and_not_there_are_told_apart)
{
        struct po_error error;
        struct dev_broker *broker;
        const struct dev_broker_topic topic = { "callbacks", 3 };
        ck_assert_int_eq(dev_broker_open(&broker, &topic, 1, &error), PO_OK);

        const struct kafka_property property = { "bootstrap.servers", dev_broker_address(broker) };
        struct topic_facts facts[] = { { .name = "callbacks" }, { .name = "no-such-topic" } };
        ck_assert_msg(topics_read(&property, 1, facts, 2, &error) == PO_OK, "%s", error.text);
        ck_assert(facts[0].exists);
        ck_assert_int_eq(facts[0].partitions, 3);
        ck_assert(!facts[1].exists);
        ck_assert_int_eq(facts[1].partitions, 0);
        dev_broker_close(broker);
}
END_TEST

START_TEST(asking_for_a_topic_does_not_make_it)
{
        struct po_error error;
        struct dev_broker *broker;
        const struct dev_broker_topic topic = { "callbacks", 1 };
        ck_assert_int_eq(dev_broker_open(&broker, &topic, 1, &error), PO_OK);

        const struct kafka_property property = { "bootstrap.servers", dev_broker_address(broker) };
        for (int i = 0; i < 2; i++) {
                struct topic_facts facts = { .name = "no-such-topic" };
                ck_assert_int_eq(topics_read(&property, 1, &facts, 1, &error), PO_OK);
                ck_assert(!facts.exists);
        }
        dev_broker_close(broker);
}
END_TEST

static void note_topic(void *context, const char *topic, int partitions, size_t which)
{
        char *told = context;
        size_t used = strlen(told);
        snprintf(told + used, 128 - used, "%s:%d:%zu ", topic, partitions, which);
}

START_TEST(each_topic_is_told_once_and_its_own_name_goes_before_a_pattern)
{
        struct po_error error;
        struct dev_broker *broker;
        const struct dev_broker_topic topics[] = { { "callbacks", 3 }, { "callbacks.DLT", 1 } };
        ck_assert_int_eq(dev_broker_open(&broker, topics, 2, &error), PO_OK);
        const struct kafka_property property = { "bootstrap.servers", dev_broker_address(broker) };
        struct topic_facts facts[] = { { .name = "^call" }, { .name = "callbacks" } };
        char told[128] = "";
        ck_assert_int_eq(
                topics_each(&property, 1, "callbacks.DLT", facts, 2, note_topic, told, &error),
                PO_OK);
        ck_assert_str_eq(told, "callbacks:3:1 ");
        told[0] = '\0';
        ck_assert_int_eq(
                topics_each(&property, 1, "callbacks.DLT", facts, 1, note_topic, told, &error),
                PO_OK);
        ck_assert_str_eq(told, "callbacks:3:0 ");
        dev_broker_close(broker);
}
END_TEST

START_TEST(a_broker_that_is_away_is_transient)
{
        struct po_error error;
        const struct kafka_property property = { "bootstrap.servers", "127.0.0.1:1" };
        struct topic_facts facts = { .name = "callbacks" };
        ck_assert_int_eq(topics_read(&property, 1, &facts, 1, &error), PO_TRANSIENT);
}
END_TEST

START_TEST(a_pattern_means_all_topics_that_match_but_the_excluded_one)
{
        struct po_error error;
        struct dev_broker *broker;
        const struct dev_broker_topic topics[] = {
                { "callbacks-a", 3 }, { "callbacks-b", 2 }, { "callbacks-DLT", 1 }, { "other", 1 }
        };
        ck_assert_int_eq(dev_broker_open(&broker, topics, 4, &error), PO_OK);
        const struct kafka_property property = { "bootstrap.servers", dev_broker_address(broker) };
        struct topic_facts facts[] = { { .name = "^callbacks-" }, { .name = "^none" } };
        ck_assert_int_eq(topics_read(&property, 1, facts, 2, &error), PO_OK);
        ck_assert(facts[0].exists);
        ck_assert_int_eq(facts[0].partitions, 6);
        ck_assert(!facts[1].exists);
        ck_assert_int_eq(topics_describe(&property, 1, "callbacks-DLT", facts, 2, &error), PO_OK);
        ck_assert_int_eq(facts[0].partitions, 5);
        dev_broker_close(broker);
}
END_TEST

/* librdkafka's mock knows nothing of configurations, as a broker that refuses to tell. */
START_TEST(what_brokers_do_not_tell_is_no_error)
{
        struct po_error error;
        struct dev_broker *broker;
        const struct dev_broker_topic topic = { "callbacks", 3 };
        ck_assert_int_eq(dev_broker_open(&broker, &topic, 1, &error), PO_OK);
        const struct kafka_property property = { "bootstrap.servers", dev_broker_address(broker) };
        struct topic_facts facts = { .name = "callbacks" };
        ck_assert_int_eq(topics_describe(&property, 1, NULL, &facts, 1, &error), PO_OK);
        ck_assert(facts.exists);
        ck_assert(!facts.configured);
        dev_broker_close(broker);
}
END_TEST

UNIT_MAIN("topics", topics_that_are_there_and_not_there_are_told_apart,
          asking_for_a_topic_does_not_make_it,
          a_pattern_means_all_topics_that_match_but_the_excluded_one,
          what_brokers_do_not_tell_is_no_error, a_broker_that_is_away_is_transient,
          each_topic_is_told_once_and_its_own_name_goes_before_a_pattern)
