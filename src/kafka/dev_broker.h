/* An in-process Kafka for trying things: librdkafka's mock cluster on loopback. Not for proof. */
#ifndef KAFKA_DEV_BROKER_H
#define KAFKA_DEV_BROKER_H

#include <stddef.h>
#include <stdint.h>

#include "postonce/error.h"

struct dev_broker;

struct dev_broker_topic {
        const char *name;
        int partitions; /* 1…64; each keeps about 5 MB */
};

PO_MUST_USE enum po_class dev_broker_open(struct dev_broker **broker_out,
                                          const struct dev_broker_topic *topics, size_t count,
                                          struct po_error *error);
void dev_broker_close(struct dev_broker *broker); /* takes NULL */
/* "127.0.0.1:PORT"; lives as long as the broker. */
const char *dev_broker_address(const struct dev_broker *broker);
/* librdkafka's mock cluster behind it (rdkafka_mock.h), for tests that inject errors. */
struct rd_kafka_mock_cluster_s *dev_broker_cluster(const struct dev_broker *broker);

#endif
