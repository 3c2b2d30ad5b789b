/*
 * What a dead letter carries: the record unchanged, plus headers postonce.* that say whence and
 * why.
 */
#ifndef KAFKA_DEAD_LETTER_H
#define KAFKA_DEAD_LETTER_H

#include "base/record.h"
#include "kafka/sink.h"
#include "postonce/error.h"

enum { LETTER_ID_BYTES = 37 }; /* a UUID as text */

/* UUIDv5 of topic, partition, offset, timestamp and SHA-256 of key and value (length-prefixed). */
void letter_id(const struct record *record, char id_out[LETTER_ID_BYTES]);

struct letter {
        const struct record *record;
        const char *id;     /* letter_id() */
        const char *reason; /* stable upper-case word */
        const char *text;   /* one line for a person */
        unsigned attempts;  /* how often it was tried, 1 and up */
        /* filled by letters_send: */
        enum po_class result;
        int32_t partition;
        int64_t offset;
};

/*
 * Sends letters to topic through sink and waits for the acknowledgements. Key, value (null stays
 * null, empty stays empty), headers in order with their duplicates and the timestamp are the
 * record's; its own postonce.* headers are replaced, never appended. Ours, all text: letter_id,
 * reason, text (cut at 1,000 bytes), attempts, version, and the origin: topic, partition, offset,
 * timestamp (ms). A replayed record that carries a whole, well-formed origin keeps that of its
 * first failure. Same results as sink_send().
 */
PO_MUST_USE enum po_class letters_send(struct sink *sink, const char *topic, struct letter *letters,
                                       size_t count, struct po_error *error);

#endif
