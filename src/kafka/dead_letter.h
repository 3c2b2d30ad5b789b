/*
 * What a dead letter carries: the record unchanged, plus headers postonce.* that say whence and
 * why.
 */
#ifndef KAFKA_DEAD_LETTER_H
#define KAFKA_DEAD_LETTER_H

#include <stdbool.h>

#include "base/record.h"
#include "kafka/sink.h"
#include "postonce/error.h"

enum { LETTER_ID_BYTES = 37 }; /* a UUID as text */

/* UUIDv5 of topic, partition, offset, timestamp and SHA-256 of key and value (length-prefixed). */
void letter_id(const struct record *record, char id_out[LETTER_ID_BYTES]);

/*
 * UUIDv5 of that id and the key, for one notification of a record that was parked: the record may
 * have a letter already, for another one of its notifications. key NULL: letter_id().
 */
void letter_id_of_key(const struct record *record, const char *key, char id_out[LETTER_ID_BYTES]);

/* Headers that replay understands. */
#define LETTER_TRIMMED_HEADER "postonce.trimmed" /* "12 headers": so many were left out */
#define LETTER_POINTER_HEADER "postonce.pointer" /* "dead_letter:<letter id>": its body */
#define LETTER_REPLAYS_HEADER "postonce.replays" /* a number: set by replay, kept by a letter */
#define LETTER_POINTER_PREFIX "dead_letter:"
enum { LETTER_POINTER_PREFIX_BYTES = sizeof LETTER_POINTER_PREFIX - 1 };

/* Reason of a letter that no form of it was small enough for. */
#define LETTER_TOO_LARGE "DEAD_LETTER_TOO_LARGE"

struct letter {
        const struct record *record;
        const char *id;     /* letter_id() */
        const char *reason; /* stable upper-case word */
        const char *text;   /* one line for a person */
        unsigned attempts;  /* how often it was tried, 1 and up */
        bool may_keep;      /* dead_letter.body can take the whole record, packed */
        /* filled by letters_send: */
        enum po_class result;
        int32_t partition;
        int64_t offset;
        bool keep;       /* the letter is not the whole record: its row must keep that */
        size_t left_out; /* headers of the record that are not in the letter */
};

/*
 * Sends letters to topic through sink and waits for the acknowledgements. Key, value (null stays
 * null, empty stays empty), headers in order with their duplicates and the timestamp are the
 * record's; its own postonce.* headers are replaced, never appended. Ours, all text: letter_id,
 * reason, text (cut at 1,000 bytes), attempts, version, and the origin: topic, partition, offset,
 * timestamp (ms). A replayed record that carries a whole, well-formed origin keeps that of its
 * first failure, and its count of replays.
 *
 * Too large for the topic: text is cut at 200 bytes and headers beyond 4 KiB are left out
 * (`trimmed` says how many); still too large: `pointer`, with an empty value (a null one stays
 * null), no header of the record and only a small key. Where something is left out, `keep` is set,
 * and the caller writes record_pack() to the letter's row before the offset passes; a letter
 * without may_keep is never sent so.
 *
 * Same results as sink_send(). RECORD, reason LETTER_TOO_LARGE: no form of it is small enough.
 */
PO_MUST_USE enum po_class letters_send(struct sink *sink, const char *topic, struct letter *letters,
                                       size_t count, struct po_error *error);

#endif
