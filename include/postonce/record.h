/*
 * A record: the raw bytes that a channel sent, and where they came from. Everything in it is the
 * caller's, and need only live until the call that it is given to returns.
 */
#ifndef POSTONCE_RECORD_H
#define POSTONCE_RECORD_H

#include <stddef.h>
#include <stdint.h>

struct po_header {
        const char *name;
        const void *value; /* NULL: the header has no value */
        size_t value_bytes;
};

struct po_record {
        /*
         * Where it came from, for people and reports: its coordinates in Kafka. A program that
         * received it otherwise gives a word of its own (ASCII, 1 to 249 bytes), partition -1, and
         * what number it likes as offset.
         */
        const char *topic;
        int32_t partition;
        int64_t offset;
        const void *value; /* the body; NULL: there is none, which is not the same as 0 bytes */
        size_t value_bytes;
        const struct po_header *headers; /* in their order; NULL with 0 */
        size_t headers_count;
};

#endif
