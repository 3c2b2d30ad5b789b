/* Which letters are meant: every condition that is given must hold. Pure. */
#ifndef DESK_LETTER_FILTER_H
#define DESK_LETTER_FILTER_H

#include "channel/decode.h"
#include "desk/letter_facts.h"

struct letter_words {
        const char *const *items;
        size_t count; /* 0: no condition; else one of them must fit */
};

struct letter_filter {
        struct letter_words reasons;  /* the whole word; of a Java class also its last part */
        struct letter_words channels; /* labels */
        struct letter_words
                keys; /* a pattern (* ? […]) for the whole key, or what it starts with */
        int64_t from_ms, to_ms; /* the record's time: from ≤ t < to; a letter without one does not
                                   fit; INT64_MIN and INT64_MAX: no condition */
        int64_t from_offset, to_offset; /* of the letter, both included; 0 and INT64_MAX: none */
        int32_t partition;              /* -1: any */
};

#define LETTER_FILTER_NONE                                                                         \
        (struct letter_filter)                                                                     \
        {                                                                                          \
                .from_ms = INT64_MIN, .to_ms = INT64_MAX, .to_offset = INT64_MAX, .partition = -1  \
        }

/* Whether it has any condition. */
bool letter_filter_is_set(const struct letter_filter *filter);

/* What a letter's record is about, as far as the configuration of now can read it. */
struct letter_subject {
        char channel[PO_CHANNEL_BYTES]; /* "" unknown */
        size_t count;
        struct po_notification notifications[NOTIFICATIONS_PER_RECORD_MAX];
};

/* topic_channel: what configuration fixes for the topic of origin, or NULL. */
void letter_subject_read(struct decoder *decoder, const struct record *record,
                         const char *topic_channel, struct letter_subject *subject_out);

/* The conditions that need no look into the record, and those that do. */
bool letter_filter_fits(const struct letter_filter *filter, const struct record *letter,
                        const struct letter_facts *facts);
bool letter_filter_fits_subject(const struct letter_filter *filter,
                                const struct letter_subject *subject);

#endif
