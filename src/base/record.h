/*
 * A record: one Kafka message as the worker sees it. Pointers lead into memory of the source and
 * live until the next source_take(). NULL value and empty value are different things.
 */
#ifndef BASE_RECORD_H
#define BASE_RECORD_H

#include <stddef.h>
#include <stdint.h>

struct record_header {
        const char *name;
        const void *value; /* NULL: the header has no value */
        size_t value_bytes;
};

struct record {
        const char *topic;
        int32_t partition;
        int64_t offset;
        int64_t timestamp_ms; /* -1: none */
        const void *key;      /* NULL: none */
        size_t key_bytes;
        const void *value; /* NULL: a tombstone */
        size_t value_bytes;
        const struct record_header *headers; /* in the record's order, duplicates kept */
        size_t headers_count;
        size_t slot;    /* the source's place for this partition */
        unsigned epoch; /* the assignment it came under: stale after a revocation */
};

/* The last header of that name (Kafka's rule for duplicates), or NULL. */
const struct record_header *record_header(const struct record *record, const char *name);

#endif
