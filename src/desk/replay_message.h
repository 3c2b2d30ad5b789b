/*
 * The record that a letter becomes again: key, value, headers and timestamp of the original. Pure.
 *
 * Of our own headers the origin, the letter's id and its reason stay, so that a next letter keeps
 * the first origin; text, pointer and trimmed go, since they would only make the record larger.
 * postonce.replays counts. A letter of another system gets our origin headers in addition.
 */
#ifndef DESK_REPLAY_MESSAGE_H
#define DESK_REPLAY_MESSAGE_H

#include "desk/letter_facts.h"
#include "kafka/sink.h"

enum {
        REPLAY_NUMBER_BYTES = 24,
        REPLAY_HEADERS_MORE =
                5, /* what a message may have beyond the headers of letter and record */
};

/* The texts that a message's headers point to. */
struct replay_texts {
        char replays[REPLAY_NUMBER_BYTES];
        char partition[REPLAY_NUMBER_BYTES];
        char offset[REPLAY_NUMBER_BYTES];
        char timestamp[REPLAY_NUMBER_BYTES];
};

/*
 * Our headers stand last; the result is how many stand before them: a message that is too large
 * with ours is the bare record with that count.
 *
 * record: the letter itself, or the whole record that is kept for it. headers: room for those of
 * both and REPLAY_HEADERS_MORE. The message leads into all of the arguments. Topic and partition
 * are the caller's.
 */
size_t replay_message_fill(const struct record *letter, const struct record *record,
                           const struct letter_facts *facts, struct replay_texts *texts,
                           struct record_header *headers, struct sink_message *message_out);

#endif
