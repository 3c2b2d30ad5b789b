#include "kafka/topics.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/topic_match.h"
#include "kafka/client.h"
#include "kafka/codes.h"

enum { ASK_WAIT_MS = 10000, EVENT_WAIT_MS = ASK_WAIT_MS + 1000, DECIMAL = 10 };

/* One question to the brokers. */
struct inquiry {
        rd_kafka_t *client;
        const rd_kafka_metadata_t *metadata;
        int refused; /* the first SYSTEMIC error of the client, or 0 */
        struct topic_facts *topics;
        size_t count;
        const char *excluded; /* no pattern means it; or NULL */
};

static void inquiry_end(struct inquiry *inquiry)
{
        if (inquiry->metadata != NULL)
                rd_kafka_metadata_destroy(inquiry->metadata);
        if (inquiry->client != NULL)
                rd_kafka_destroy(inquiry->client);
}

/* Why no broker answered: the first refusal (login, TLS) says more than the time-out after it. */
static void hear(rd_kafka_t *client, int code, const char *reason, void *opaque)
{
        (void)client;
        (void)reason;
        struct inquiry *inquiry = opaque;
        if (inquiry->refused == 0 && kafka_class(code) == PO_SYSTEMIC)
                inquiry->refused = code;
}

static bool is_meant(const struct inquiry *inquiry, const struct topic_facts *facts,
                     const char *topic)
{
        if (!topic_is_pattern(facts->name))
                return strcmp(facts->name, topic) == 0;
        if (inquiry->excluded != NULL && strcmp(inquiry->excluded, topic) == 0)
                return false;
        return topic_pattern_matches(facts->name, topic);
}

static void note_topic(struct inquiry *inquiry, const rd_kafka_metadata_topic_t *topic)
{
        if (topic->err != RD_KAFKA_RESP_ERR_NO_ERROR || topic->partition_cnt <= 0)
                return;
        for (size_t i = 0; i < inquiry->count; i++)
                if (is_meant(inquiry, &inquiry->topics[i], topic->topic)) {
                        inquiry->topics[i].exists = true;
                        inquiry->topics[i].partitions += topic->partition_cnt;
                }
}

static enum po_class ask_topics(struct inquiry *inquiry, const struct kafka_property *properties,
                                size_t properties_count, struct po_error *error)
{
        for (size_t i = 0; i < inquiry->count; i++)
                inquiry->topics[i] = (struct topic_facts){ .name = inquiry->topics[i].name };
        CLEANUP(client_conf_free) rd_kafka_conf_t *conf = client_conf_new(inquiry);
        if (properties_apply(conf, PROPERTY_OF_PRODUCER, properties, properties_count, error) !=
            PO_OK)
                return error->kind;
        rd_kafka_conf_set_error_cb(conf, hear);
        if (client_new(&inquiry->client, RD_KAFKA_PRODUCER, &conf, error) != PO_OK)
                return error->kind;

        /* All topics: asking for one by name could make it where brokers create on demand. */
        rd_kafka_resp_err_t code =
                rd_kafka_metadata(inquiry->client, 1, NULL, &inquiry->metadata, ASK_WAIT_MS);
        rd_kafka_poll(inquiry->client, 0);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
                return kafka_fail(error, inquiry->refused != 0 ? inquiry->refused : (int)code,
                                  "ask for topics");
        for (int i = 0; i < inquiry->metadata->topic_cnt; i++)
                note_topic(inquiry, &inquiry->metadata->topics[i]);
        return PO_OK;
}

enum po_class topics_read(const struct kafka_property *properties, size_t properties_count,
                          struct topic_facts *topics, size_t count, struct po_error *error)
{
        CLEANUP(inquiry_end) struct inquiry inquiry = { .topics = topics, .count = count };
        return ask_topics(&inquiry, properties, properties_count, error);
}

/* A name before a pattern; count: none means it. */
static size_t which_means(const struct inquiry *inquiry, const char *topic)
{
        size_t pattern = inquiry->count;
        for (size_t i = inquiry->count; i-- > 0;)
                if (is_meant(inquiry, &inquiry->topics[i], topic)) {
                        if (!topic_is_pattern(inquiry->topics[i].name))
                                return i;
                        pattern = i;
                }
        return pattern;
}

enum po_class topics_each(const struct kafka_property *properties, size_t properties_count,
                          const char *excluded, struct topic_facts *topics, size_t count,
                          void (*each)(void *context, const char *topic, int partitions,
                                       size_t which),
                          void *context, struct po_error *error)
{
        CLEANUP(inquiry_end)
        struct inquiry inquiry = { .topics = topics, .count = count, .excluded = excluded };
        if (ask_topics(&inquiry, properties, properties_count, error) != PO_OK)
                return error->kind;
        for (int i = 0; i < inquiry.metadata->topic_cnt; i++) {
                const rd_kafka_metadata_topic_t *topic = &inquiry.metadata->topics[i];
                size_t which = which_means(&inquiry, topic->topic);
                if (which < count && topic->partition_cnt > 0)
                        each(context, topic->topic, topic->partition_cnt, which);
        }
        return PO_OK;
}

/* What the brokers say of one topic's configuration. */
struct answer {
        const char *policy;                      /* NULL: not told */
        const char *timestamp_type;              /* NULL: not told */
        int64_t message_bytes_max, retention_ms; /* UNTOLD, too */
};

enum { UNTOLD = -2 };

static int64_t number_read(const char *text)
{
        char *end;
        int64_t number = strtoll(text, &end, DECIMAL);
        return end == text || *end != '\0' ? UNTOLD : number;
}

static void answer_read(const rd_kafka_ConfigResource_t *resource, struct answer *answer_out)
{
        *answer_out = (struct answer){ .message_bytes_max = UNTOLD, .retention_ms = UNTOLD };
        size_t count = 0;
        const rd_kafka_ConfigEntry_t **entries = rd_kafka_ConfigResource_configs(resource, &count);
        for (size_t i = 0; i < count; i++) {
                const char *name = rd_kafka_ConfigEntry_name(entries[i]);
                const char *value = rd_kafka_ConfigEntry_value(entries[i]);
                if (value == NULL)
                        continue;
                if (strcmp(name, "cleanup.policy") == 0)
                        answer_out->policy = value;
                else if (strcmp(name, "message.timestamp.type") == 0)
                        answer_out->timestamp_type = value;
                else if (strcmp(name, "max.message.bytes") == 0)
                        answer_out->message_bytes_max = number_read(value);
                else if (strcmp(name, "retention.ms") == 0)
                        answer_out->retention_ms = number_read(value);
        }
}

/* Of a pattern's topics the most demanding counts, and one that is not told makes all untold. */
static void note_answer(struct topic_facts *facts, const struct answer *answer)
{
        bool told = answer->policy != NULL && answer->message_bytes_max >= 0 &&
                    answer->retention_ms != UNTOLD;
        bool first = facts->message_bytes_max == 0;
        if (!told) {
                facts->configured = false;
                facts->message_bytes_max = INT64_MAX;
                return;
        }
        int64_t retention_ms = strstr(answer->policy, "delete") == NULL ? -1 : answer->retention_ms;
        facts->configured = first || facts->configured;
        facts->compacted |= strstr(answer->policy, "compact") != NULL;
        facts->ages_by_record |=
                answer->timestamp_type != NULL && strcmp(answer->timestamp_type, "CreateTime") == 0;
        if (answer->message_bytes_max > facts->message_bytes_max)
                facts->message_bytes_max = answer->message_bytes_max;
        if (first ||
            (facts->retention_ms >= 0 && (retention_ms < 0 || retention_ms > facts->retention_ms)))
                facts->retention_ms = retention_ms;
}

static void note_answers(struct inquiry *inquiry, rd_kafka_event_t *event)
{
        const rd_kafka_DescribeConfigs_result_t *result =
                rd_kafka_event_DescribeConfigs_result(event);
        size_t count = 0;
        const rd_kafka_ConfigResource_t **resources =
                rd_kafka_DescribeConfigs_result_resources(result, &count);
        for (size_t r = 0; r < count; r++) {
                struct answer answer = { .message_bytes_max = UNTOLD, .retention_ms = UNTOLD };
                if (rd_kafka_ConfigResource_error(resources[r]) == RD_KAFKA_RESP_ERR_NO_ERROR)
                        answer_read(resources[r], &answer);
                for (size_t i = 0; i < inquiry->count; i++)
                        if (is_meant(inquiry, &inquiry->topics[i],
                                     rd_kafka_ConfigResource_name(resources[r])))
                                note_answer(&inquiry->topics[i], &answer);
        }
}

/* The resources of all topics that are meant, each once. */
static size_t resources_make(const struct inquiry *inquiry, rd_kafka_ConfigResource_t **resources)
{
        size_t made = 0;
        for (int t = 0; t < inquiry->metadata->topic_cnt; t++) {
                const char *topic = inquiry->metadata->topics[t].topic;
                bool meant = false;
                for (size_t i = 0; i < inquiry->count && !meant; i++)
                        meant = inquiry->topics[i].exists &&
                                is_meant(inquiry, &inquiry->topics[i], topic);
                if (meant)
                        resources[made++] =
                                rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic);
        }
        return made;
}

static void ask_configurations(struct inquiry *inquiry, rd_kafka_ConfigResource_t **resources,
                               size_t count)
{
        char reason[PO_ERROR_TEXT_BYTES];
        rd_kafka_queue_t *queue = rd_kafka_queue_new(inquiry->client);
        rd_kafka_AdminOptions_t *options =
                rd_kafka_AdminOptions_new(inquiry->client, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
        rd_kafka_AdminOptions_set_request_timeout(options, ASK_WAIT_MS, reason, sizeof reason);
        rd_kafka_DescribeConfigs(inquiry->client, resources, count, options, queue);
        rd_kafka_event_t *event = rd_kafka_queue_poll(queue, EVENT_WAIT_MS);
        if (event != NULL && rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR_NO_ERROR)
                note_answers(inquiry, event);
        rd_kafka_event_destroy(event);
        rd_kafka_AdminOptions_destroy(options);
        rd_kafka_queue_destroy(queue);
}

enum po_class topics_describe(const struct kafka_property *properties, size_t properties_count,
                              const char *excluded, struct topic_facts *topics, size_t count,
                              struct po_error *error)
{
        CLEANUP(inquiry_end)
        struct inquiry inquiry = { .topics = topics, .count = count, .excluded = excluded };
        if (ask_topics(&inquiry, properties, properties_count, error) != PO_OK)
                return error->kind;
        CLEANUP(cleanup_free)
        rd_kafka_ConfigResource_t **resources =
                calloc((size_t)inquiry.metadata->topic_cnt + 1, sizeof *resources);
        if (resources == NULL)
                return po_fail(error, PO_TRANSIENT, 0, "no memory to ask for topics");
        size_t made = resources_make(&inquiry, resources);
        if (made > 0)
                ask_configurations(&inquiry, resources, made);
        for (size_t i = 0; i < made; i++)
                rd_kafka_ConfigResource_destroy(resources[i]);
        return PO_OK;
}
