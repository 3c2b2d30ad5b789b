/*
 * Messages handed to a producer together, and what became of each: enqueued, then waited for.
 * Internal to this folder: the sink's and the courier's common part.
 */
#ifndef KAFKA_DELIVERY_H
#define KAFKA_DELIVERY_H

#include <stdint.h>

#include <librdkafka/rdkafka.h>

#include "kafka/sink.h"

struct delivery {
        /* The code that a failure really means, by what else the owner heard; may be NULL. */
        int (*explain)(void *owner, int code);
        void *owner;
        /* The delivery under way: */
        uint32_t number;
        struct sink_message *messages; /* NULL: none */
        size_t count, pending;
        size_t failed; /* the lowest index that failed; count: none */
        int failed_code;
};

/*
 * Enqueues all and polls the client, at most wait_ms, until each has its report. Each message gets
 * its result; failed and pending tell about all.
 */
void delivery_run(struct delivery *delivery, rd_kafka_t *client, struct sink_message *messages,
                  size_t count, int64_t wait_ms);

/* To be called by the client's delivery report callback. One that comes late is passed over. */
void delivery_report(struct delivery *delivery, const rd_kafka_message_t *message);

/* OK when every message is acknowledged, else the class of the first that is not. */
PO_MUST_USE enum po_class delivery_result(const struct delivery *delivery,
                                          const struct sink_message *messages,
                                          struct po_error *error);

#endif
