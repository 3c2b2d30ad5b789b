#include "kafka/topics.h"

#include <string.h>

#include "base/cleanup.h"
#include "kafka/client.h"
#include "kafka/codes.h"

enum { ASK_WAIT_MS = 10000 };

static void client_close(rd_kafka_t **client)
{
        if (*client != NULL)
                rd_kafka_destroy(*client);
}

static void metadata_free(const rd_kafka_metadata_t **metadata)
{
        if (*metadata != NULL)
                rd_kafka_metadata_destroy(*metadata);
}

/* Why no broker answered: the first refusal (login, TLS) says more than the time-out after it. */
static void hear(rd_kafka_t *client, int code, const char *reason, void *opaque)
{
        (void)client;
        (void)reason;
        int *refused = opaque;
        if (*refused == 0 && kafka_class(code) == PO_SYSTEMIC)
                *refused = code;
}

static void note_topic(struct topic_facts *topics, size_t count,
                       const rd_kafka_metadata_topic_t *topic)
{
        for (size_t i = 0; i < count; i++)
                if (strcmp(topics[i].name, topic->topic) == 0 &&
                    topic->err == RD_KAFKA_RESP_ERR_NO_ERROR && topic->partition_cnt > 0) {
                        topics[i].exists = true;
                        topics[i].partitions = topic->partition_cnt;
                }
}

enum po_class topics_read(const struct kafka_property *properties, size_t properties_count,
                          struct topic_facts *topics, size_t count, struct po_error *error)
{
        int refused = 0;
        for (size_t i = 0; i < count; i++)
                topics[i] = (struct topic_facts){ .name = topics[i].name };
        CLEANUP(client_conf_free) rd_kafka_conf_t *conf = client_conf_new(&refused);
        if (properties_apply(conf, PROPERTY_OF_PRODUCER, properties, properties_count, error) !=
            PO_OK)
                return error->kind;
        rd_kafka_conf_set_error_cb(conf, hear);
        CLEANUP(client_close) rd_kafka_t *client = NULL;
        if (client_new(&client, RD_KAFKA_PRODUCER, &conf, error) != PO_OK)
                return error->kind;

        /* All topics: asking for one by name could make it where brokers create on demand. */
        CLEANUP(metadata_free) const rd_kafka_metadata_t *metadata = NULL;
        rd_kafka_resp_err_t code = rd_kafka_metadata(client, 1, NULL, &metadata, ASK_WAIT_MS);
        rd_kafka_poll(client, 0);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
                return kafka_fail(error, refused != 0 ? refused : (int)code, "ask for topics");
        for (int i = 0; i < metadata->topic_cnt; i++)
                note_topic(topics, count, &metadata->topics[i]);
        return PO_OK;
}
