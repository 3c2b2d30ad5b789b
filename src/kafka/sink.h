/*
 * The producer: sends and waits until every broker replica that must have it has it.
 * acks=all and idempotence are set here and cannot be configured away.
 */
#ifndef KAFKA_SINK_H
#define KAFKA_SINK_H

#include "base/record.h"
#include "kafka/source.h"
#include "postonce/error.h"

struct sink;

/* Takes the consumer's properties and drops those that only a consumer has. Connects lazily. */
PO_MUST_USE enum po_class sink_open(struct sink **sink_out, const struct kafka_property *properties,
                                    size_t count, struct po_error *error);
void sink_close(struct sink *sink); /* takes NULL; waits for nothing */

struct sink_message {
        const char *topic;
        const void *key; /* NULL stays null */
        size_t key_bytes;
        const void *value; /* NULL stays null, empty stays empty */
        size_t value_bytes;
        const struct record_header *headers;
        size_t headers_count;
        int64_t timestamp_ms;        /* -1: now */
        const int32_t *to_partition; /* NULL: the partitioner's choice, by key */
        /* filled by sink_send: */
        enum po_class
                result; /* OK: acknowledged. RECORD: too large (reason DEAD_LETTER_TOO_LARGE) */
        int32_t partition;
        int64_t offset;
};

/*
 * Sends all and waits for every acknowledgement: at most 30 s, less where max.poll.interval.ms asks
 * for it (three eighths of it). Each message gets its own result.
 * OK when all are acknowledged, else the class of the first that is not: a message without an
 * acknowledgement may still arrive later.
 */
PO_MUST_USE enum po_class sink_send(struct sink *sink, struct sink_message *messages, size_t count,
                                    struct po_error *error);

#endif
