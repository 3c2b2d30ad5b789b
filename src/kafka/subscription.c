#include <assert.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "kafka/client.h"
#include "kafka/source_internal.h"

enum po_class subscription_open(struct source *source, const struct source_options *options,
                                struct po_error *error)
{
        if (options->topics_count == 0)
                return po_fail(error, PO_SYSTEMIC, 0, "kafka: no topic to take from");
        source->topics = calloc(options->topics_count, sizeof *source->topics);
        if (source->topics == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "no memory for topics");
        for (size_t i = 0; i < options->topics_count; i++) {
                const char *name = options->topics[i];
                if (name[0] == '\0' || strlen(name) >= TOPIC_BYTES)
                        return po_fail(error, PO_SYSTEMIC, 0, "kafka: \"%s\" is no topic's name",
                                       name);
                source->topics[i] = strdup(name);
                if (source->topics[i] == NULL)
                        return po_fail(error, PO_SYSTEMIC, 0, "no memory for topics");
                source->topics_count++;
                source->by_pattern |= topic_is_pattern(name);
        }
        if (options->excluded != NULL) {
                assert(strlen(options->excluded) < TOPIC_BYTES);
                source->excluded = strdup(options->excluded);
                if (source->excluded == NULL)
                        return po_fail(error, PO_SYSTEMIC, 0, "no memory for topics");
        }
        return topic_match_open(&source->match, (const char *const *)source->topics,
                                source->topics_count, error);
}

void subscription_close(struct source *source)
{
        topic_match_close(source->match);
        for (size_t i = 0; i < source->topics_count; i++)
                free(source->topics[i]);
        free(source->topics);
        free(source->excluded);
}

/* librdkafka has no patterns that exclude, but a list of topics that it takes for not there. */
enum po_class subscription_exclude(const struct source *source, rd_kafka_conf_t *conf,
                                   struct po_error *error)
{
        if (!source->by_pattern || source->excluded == NULL)
                return PO_OK;
        char pattern[2 * TOPIC_BYTES + 2] = "^";
        size_t used = 1;
        for (const char *from = source->excluded; *from != '\0'; from++) {
                if (*from == '.')
                        pattern[used++] = '\\';
                pattern[used++] = *from;
        }
        pattern[used++] = '$';
        pattern[used] = '\0';
        return property_set(conf, "topic.blacklist", pattern, error);
}

enum po_class subscription_begin(struct source *source, struct po_error *error)
{
        CLEANUP(client_list_free)
        rd_kafka_topic_partition_list_t *list =
                rd_kafka_topic_partition_list_new((int)source->topics_count);
        for (size_t i = 0; i < source->topics_count; i++)
                rd_kafka_topic_partition_list_add(list, source->topics[i], RD_KAFKA_PARTITION_UA);
        rd_kafka_resp_err_t code = rd_kafka_subscribe(source->client, list);
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
                return PO_OK;
        return po_fail(error, PO_SYSTEMIC, code, "kafka: subscribe: %s", rd_kafka_err2str(code));
}

/* Adds the topic's partitions; its own error, or none. */
static rd_kafka_resp_err_t topic_add(const rd_kafka_metadata_topic_t *topic,
                                     rd_kafka_topic_partition_list_t *list)
{
        for (int i = 0; i < topic->partition_cnt; i++)
                rd_kafka_topic_partition_list_add(list, topic->topic, topic->partitions[i].id);
        return topic->err;
}

static rd_kafka_resp_err_t name_read(struct source *source, const char *name,
                                     rd_kafka_topic_partition_list_t *list, int timeout_ms)
{
        rd_kafka_topic_t *topic = rd_kafka_topic_new(source->client, name, NULL);
        if (topic == NULL)
                return rd_kafka_last_error();
        const struct rd_kafka_metadata *metadata = NULL;
        rd_kafka_resp_err_t code =
                rd_kafka_metadata(source->client, 0, topic, &metadata, timeout_ms);
        rd_kafka_topic_destroy(topic);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
                return code;
        code = metadata->topic_cnt == 1 ? topic_add(&metadata->topics[0], list)
                                        : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
        rd_kafka_metadata_destroy(metadata);
        return code;
}

/* All that patterns match; a topic with a name of its own in the subscription is left to that. */
static rd_kafka_resp_err_t patterns_read(struct source *source,
                                         rd_kafka_topic_partition_list_t *list, int timeout_ms)
{
        const struct rd_kafka_metadata *metadata = NULL;
        rd_kafka_resp_err_t code =
                rd_kafka_metadata(source->client, 1, NULL, &metadata, timeout_ms);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
                return code;
        for (int i = 0; i < metadata->topic_cnt && code == RD_KAFKA_RESP_ERR_NO_ERROR; i++) {
                const rd_kafka_metadata_topic_t *topic = &metadata->topics[i];
                size_t place = topic_match_find(source->match, topic->topic);
                if (place == source->topics_count || !topic_is_pattern(source->topics[place]) ||
                    (source->excluded != NULL && strcmp(source->excluded, topic->topic) == 0))
                        continue;
                code = topic_add(topic, list);
        }
        rd_kafka_metadata_destroy(metadata);
        return code;
}

rd_kafka_resp_err_t subscription_read(struct source *source, rd_kafka_topic_partition_list_t *list,
                                      int timeout_ms, const char **culprit_out)
{
        rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
        *culprit_out = "topics";
        if (source->by_pattern)
                code = patterns_read(source, list, timeout_ms);
        for (size_t i = 0; i < source->topics_count && code == RD_KAFKA_RESP_ERR_NO_ERROR; i++) {
                if (topic_is_pattern(source->topics[i]))
                        continue;
                *culprit_out = source->topics[i];
                code = name_read(source, source->topics[i], list, timeout_ms);
        }
        return code;
}
