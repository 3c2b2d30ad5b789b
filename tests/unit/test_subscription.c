/* Topics by name and by pattern, and the dead letters' that no pattern means. */
#include "kafka/source.h"

#include "../support/mock_kafka.h"
#include "unit.h"

static struct po_error error;

static const struct dev_broker_topic there[] = {
        { "callbacks-a", 1 },   { "callbacks-b", 2 }, { "callbacks.DLT", 1 },
        { "callbacksxDLT", 1 }, { "other", 1 },       { "exact", 1 },
};
enum { THERE = sizeof there / sizeof there[0], SEEN_MAX = 32 };

struct town {
        struct dev_broker *broker;
        rd_kafka_t *producer;
};

static void put_name(rd_kafka_t *producer, const char *topic)
{
        rd_kafka_vu_t arguments[] = {
                { .vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = topic },
                { .vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY },
                { .vtype = RD_KAFKA_VTYPE_VALUE,
                  .u.mem = { (void *)(uintptr_t)topic, strlen(topic) } },
        };
        ck_assert_ptr_null(rd_kafka_produceva(producer, arguments, 3));
}

static struct town town_open(void)
{
        struct town town = { 0 };
        char text[256];
        log_set_level(LOG_LEVEL_ERROR);
        ck_assert_int_eq(dev_broker_open(&town.broker, there, THERE, &error), PO_OK);
        rd_kafka_conf_t *conf = rd_kafka_conf_new();
        rd_kafka_conf_set(conf, "bootstrap.servers", dev_broker_address(town.broker), text,
                          sizeof text);
        town.producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
        ck_assert_ptr_nonnull(town.producer);
        /* Each topic has one record: its own name. */
        for (size_t i = 0; i < THERE; i++)
                put_name(town.producer, there[i].name);
        ck_assert_int_eq(rd_kafka_flush(town.producer, WORLD_WAIT_MS), 0);
        return town;
}

static void town_close(struct town *town)
{
        rd_kafka_destroy(town->producer);
        dev_broker_close(town->broker);
}

static enum po_class town_source(const struct town *town, struct source **source_out,
                                 const char *const *topics, size_t count, const char *excluded)
{
        const struct kafka_property properties[] = {
                { "bootstrap.servers", dev_broker_address(town->broker) },
                { "group.id", "postonce-test" },
                { "fetch.wait.max.ms", "50" },
        };
        const struct source_options options = { .properties = properties,
                                                .properties_count = 3,
                                                .topics = topics,
                                                .topics_count = count,
                                                .batch_records_max = 10,
                                                .excluded = excluded };
        return source_open(source_out, &options, &error);
}

/* Takes and settles all until the group's end; asserts that the topics seen are these, sorted. */
static void sees(const struct town *town, const char *const *topics, size_t count,
                 const char *excluded, const char *expected)
{
        struct source *source = NULL;
        bool seen[THERE] = { false };
        ck_assert_msg(town_source(town, &source, topics, count, excluded) == PO_OK, "%s",
                      error.text);
        enum source_end end = SOURCE_GOING;
        for (int64_t end_ms = clock_ms() + WORLD_WAIT_MS;
             end != SOURCE_AT_END && clock_ms() < end_ms;) {
                const struct record *records;
                size_t taken;
                ck_assert_msg(source_take(source, 50, &records, &taken, &error) == PO_OK, "%s",
                              error.text);
                for (size_t i = 0; i < taken; i++) {
                        for (size_t t = 0; t < THERE; t++)
                                seen[t] |= strcmp(records[i].topic, there[t].name) == 0;
                        source_store(source, &records[i]);
                }
                ck_assert_msg(source_end(source, &end, &error) == PO_OK, "%s", error.text);
        }
        ck_assert_int_eq(end, SOURCE_AT_END);
        char text[256] = "";
        for (size_t t = 0; t < THERE; t++)
                if (seen[t])
                        snprintf(text + strlen(text), sizeof text - strlen(text), "%s ",
                                 there[t].name);
        ck_assert_str_eq(text, expected);
        ck_assert_int_eq(source_close(source, WORLD_WAIT_MS, &error), PO_OK);
}

START_TEST(a_pattern_takes_from_all_topics_that_match_up_to_their_ends)
{
        struct town town = town_open();
        static const char *const topics[] = { "^callbacks-" };
        sees(&town, topics, 1, NULL, "callbacks-a callbacks-b ");
        town_close(&town);
}
END_TEST

/* B-21 */
START_TEST(no_pattern_means_the_dead_letters)
{
        struct town town = town_open();
        static const char *const topics[] = { "^callbacks" };
        /* The dot of its name is a dot: another topic is not left out with it. */
        sees(&town, topics, 1, "callbacks.DLT", "callbacks-a callbacks-b callbacksxDLT ");
        town_close(&town);
}
END_TEST

START_TEST(names_and_patterns_go_together)
{
        struct town town = town_open();
        static const char *const topics[] = { "exact", "^callbacks-a", "callbacks-a" };
        sees(&town, topics, 3, "callbacks.DLT", "callbacks-a exact ");
        town_close(&town);
}
END_TEST

START_TEST(a_pattern_that_matches_nothing_is_at_its_end)
{
        struct town town = town_open();
        static const char *const topics[] = { "^nothing-" };
        sees(&town, topics, 1, "callbacks.DLT", "");
        town_close(&town);
}
END_TEST

START_TEST(what_cannot_be_subscribed_to_is_refused)
{
        struct town town = town_open();
        struct source *source = NULL;
        static const char *const broken[] = { "^callbacks-(" };
        ck_assert_int_eq(town_source(&town, &source, broken, 1, NULL), PO_SYSTEMIC);
        unit_assert_in(error.text, "is no pattern");
        ck_assert_int_eq(town_source(&town, &source, broken, 0, NULL), PO_SYSTEMIC);
        static const char *const empty[] = { "" };
        ck_assert_int_eq(town_source(&town, &source, empty, 1, NULL), PO_SYSTEMIC);
        ck_assert_ptr_null(source);
        town_close(&town);
}
END_TEST

UNIT_MAIN("subscription", a_pattern_takes_from_all_topics_that_match_up_to_their_ends,
          no_pattern_means_the_dead_letters, names_and_patterns_go_together,
          a_pattern_that_matches_nothing_is_at_its_end, what_cannot_be_subscribed_to_is_refused)
