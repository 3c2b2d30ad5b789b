/* What became of the letters of a replay, counted by reason and channel. Pure. */
#ifndef DESK_REPLAY_REPORT_H
#define DESK_REPLAY_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "desk/letter_facts.h"
#include "postonce/notification.h"

enum replay_fate {
        REPLAY_SENT,          /* acknowledged; of a dry run: would be sent */
        REPLAY_COPY,          /* its letter id was met before in this run */
        REPLAY_BEFORE,        /* its row says that it was sent back already */
        REPLAY_LOOP_LIMIT,    /* was sent back as often as allowed */
        REPLAY_NO_ORIGIN,     /* says no topic of origin */
        REPLAY_NOT_OUR_TOPIC, /* its topic of origin is none that the configuration takes from */
        REPLAY_NO_TOPIC,      /* its topic of origin does not exist */
        REPLAY_BODY_GONE,     /* the record that it points to is not there any more, or no record */
        REPLAY_FAILED,        /* the broker refused it */
        REPLAY_FATES
};

/* "LOOP_LIMIT", … */
const char *replay_fate_word(enum replay_fate fate);
/* One sentence without a full stop: what it means, or what to do. */
const char *replay_fate_meaning(enum replay_fate fate);
/* Whether a letter with this fate was left in the topic for a person to look at. */
bool replay_fate_is_left(enum replay_fate fate);

enum { REPLAY_ROWS_MAX = 200 };

struct replay_row {
        char reason[LETTER_REASON_BYTES];
        char channel[PO_CHANNEL_BYTES]; /* "" unknown */
        int64_t counts[REPLAY_FATES];
};

struct replay_report {
        size_t rows_count;
        struct replay_row
                rows[REPLAY_ROWS_MAX + 1]; /* the last is "(other)", for what has no room */
        int64_t totals[REPLAY_FATES];
        int64_t read, unmatched;
};

void replay_report_add(struct replay_report *report, const char *reason, const char *channel,
                       enum replay_fate fate);
int64_t replay_report_left(const struct replay_report *report);
int64_t replay_row_left(const struct replay_row *row);

#endif
