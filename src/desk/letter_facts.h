/*
 * What a dead letter says of itself: where its record came from, why it failed, how often it was
 * sent back. Understands our own letters, Spring Kafka's and Kafka Connect's. Pure.
 *
 * Whoever may write to the topics may also write these headers: they name where a letter is from,
 * and replay.c decides whether it may go there.
 */
#ifndef DESK_LETTER_FACTS_H
#define DESK_LETTER_FACTS_H

#include <stdbool.h>

#include "base/limits.h"
#include "base/record.h"
#include "kafka/dead_letter.h"

#define LETTER_OUR_PREFIX "postonce."

enum {
        LETTER_REASON_BYTES = 192,
        LETTER_REPLAYS_MOST = 99, /* two digits for ever, so that a letter does not grow */
};

struct letter_facts {
        enum letter_kind {
                LETTER_UNKNOWN, /* no origin that could be understood */
                LETTER_OURS,
                LETTER_OF_SPRING,
                LETTER_OF_CONNECT,
        } kind;
        /*
         * Of ours as it says; of the others made from the origin and the content, so that the same
         * letter sent twice has one id. "": unknown.
         */
        char id[LETTER_ID_BYTES];
        char topic[TOPIC_BYTES];          /* the origin; "" unknown */
        int32_t partition;                /* -1 unknown */
        int64_t offset;                   /* -1 unknown */
        int64_t timestamp_ms;             /* of the original record; -1 unknown */
        char reason[LETTER_REASON_BYTES]; /* a word of ours, or a Java class; "UNKNOWN" */
        unsigned replays;                 /* 0…LETTER_REPLAYS_MOST; malformed: 0 */
        char body_id[LETTER_ID_BYTES]; /* the row that keeps the whole record; "": this letter is it
                                        */
};

void letter_facts_read(const struct record *letter, struct letter_facts *facts_out);

/* The first header of that name, or NULL (record_header() gives the last). */
const struct record_header *letter_header_first(const struct record *letter, const char *name);
/* A header's text into buffer, false when there is none, it is empty, too long or has a NUL. */
bool letter_text(const struct record_header *header, char *buffer, size_t capacity);
/* A header's decimal number ≥ 0; false when it is none. */
bool letter_number(const struct record_header *header, int64_t *number_out);

#endif
