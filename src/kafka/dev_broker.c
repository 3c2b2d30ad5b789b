#include "kafka/dev_broker.h"

#include <assert.h>

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include "base/cleanup.h"
#include "kafka/client.h"
#include "kafka/properties.h"

enum { BROKERS = 1, REPLICAS = 1, TOPIC_PARTITIONS_MAX = 64 };

struct dev_broker {
        rd_kafka_t *host; /* the mock lives in a client's threads; this one talks to nobody */
        rd_kafka_mock_cluster_t *cluster;
};

static void dev_broker_drop(struct dev_broker **broker)
{
        dev_broker_close(*broker);
}

static enum po_class host_open(struct dev_broker *broker, struct po_error *error)
{
        CLEANUP(client_conf_free) rd_kafka_conf_t *conf = client_conf_new(broker);
        /* It would log that it has nobody to connect to. */
        if (property_set(conf, "log_level", "3", error) != PO_OK)
                return error->kind;
        return client_new(&broker->host, RD_KAFKA_PRODUCER, &conf, error);
}

static enum po_class topic_create(struct dev_broker *broker, const struct dev_broker_topic *topic,
                                  struct po_error *error)
{
        assert(topic->partitions >= 1 && topic->partitions <= TOPIC_PARTITIONS_MAX);
        rd_kafka_resp_err_t code = rd_kafka_mock_topic_create(broker->cluster, topic->name,
                                                              topic->partitions, REPLICAS);
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
                return PO_OK;
        return po_fail(error, PO_SYSTEMIC, code, "dev-broker: topic %s: %s", topic->name,
                       rd_kafka_err2str(code));
}

enum po_class dev_broker_open(struct dev_broker **broker_out, const struct dev_broker_topic *topics,
                              size_t count, struct po_error *error)
{
        CLEANUP(dev_broker_drop) struct dev_broker *broker = calloc(1, sizeof *broker);
        if (broker == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "no memory for the dev-broker");
        if (host_open(broker, error) != PO_OK)
                return error->kind;
        broker->cluster = rd_kafka_mock_cluster_new(broker->host, BROKERS);
        if (broker->cluster == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "dev-broker: no port to listen on");
        for (size_t i = 0; i < count; i++) {
                if (topic_create(broker, &topics[i], error) != PO_OK)
                        return error->kind;
        }
        *broker_out = MOVE(broker);
        return PO_OK;
}

void dev_broker_close(struct dev_broker *broker)
{
        if (broker == NULL)
                return;
        if (broker->cluster != NULL)
                rd_kafka_mock_cluster_destroy(broker->cluster);
        if (broker->host != NULL)
                rd_kafka_destroy(broker->host);
        free(broker);
}

const char *dev_broker_address(const struct dev_broker *broker)
{
        return rd_kafka_mock_cluster_bootstraps(broker->cluster);
}

struct rd_kafka_mock_cluster_s *dev_broker_cluster(const struct dev_broker *broker)
{
        return broker->cluster;
}
