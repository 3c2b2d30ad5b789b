/*
 * A batch: records taken together, the notifications in them, and how far each has come.
 * Sized once; its pointers live until the next batch_fill().
 */
#ifndef WORKER_BATCH_H
#define WORKER_BATCH_H

#include <stdbool.h>

#include "base/limits.h"
#include "base/record.h"
#include "channel/decode.h"
#include "ledger/pause.h"
#include "ledger/posting.h"
#include "ledger/rules.h"
#include "worker/policy.h"

/* One record of the batch and what became of it. */
struct parcel {
        const struct record *record;
        size_t first, count;   /* its postings */
        enum verdict verdict;  /* of the record as a whole, see batch_conclude() */
        bool may_change;        /* REJECTED, but another try may succeed: failures are counted */
        struct po_error *error; /* why, for REJECTED and HELD */
};

struct batch {
        size_t capacity; /* of postings */
        size_t parcels_count, postings_count;
        struct parcel *parcels;
        struct po_error *errors; /* of the parcels, apart from them: few are ever written */
        struct po_notification *notifications;
        struct posting *postings;
        struct posting **open; /* scratch: the postings of one step */
        /* The latest topic and its channel: records come in runs. */
        char topic[TOPIC_BYTES];
        const char *topic_channel;
        /* Set by the owner, may be NULL: nothing is paused, everything is handed over. */
        const struct pauses *pauses; /* postings of these channels are PARKED */
        const struct policy *policy;
};

struct topic_channel {
        const char *topic;   /* a name, or a pattern that starts with ^ */
        const char *channel; /* NULL: not fixed by the topic */
};

PO_MUST_USE enum po_class batch_open(struct batch *batch, size_t records_max,
                                     struct po_error *error);
void batch_close(struct batch *batch); /* of a zeroed struct: nothing */

/*
 * Decodes records into the batch until one more might not fit; returns how many it took (≥ 1).
 * A record that cannot be decoded, or whose event has no rule, is REJECTED.
 */
size_t batch_fill(struct batch *batch, const struct record *records, size_t count,
                  struct decoder *decoder, const struct rules *rules,
                  const struct topic_channel *topics, size_t topics_count);

/* The next parcel, whose notifications are the next postings. */
struct parcel *batch_begin_parcel(struct batch *batch, const struct record *record);

/* The parcel that a posting came in. */
struct parcel *batch_parcel(const struct batch *batch, const struct posting *posting);

/*
 * Claims and posts everything, halving to isolate a record at fault. OK: every posting has a
 * verdict. Another class (TRANSIENT, UNCERTAIN, SYSTEMIC): what has no verdict yet must come again.
 */
PO_MUST_USE enum po_class batch_settle(struct batch *batch, struct ledger *ledger,
                                       struct po_error *error);

/* The same for notifications that are claimed already: reads their claims instead. */
PO_MUST_USE enum po_class batch_repost(struct batch *batch, struct ledger *ledger,
                                       struct po_error *error);

/*
 * Resolves followers (DUPLICATE of a settled leader, PARKED with a parked one) and gives every
 * parcel the verdict that decides its offset: HELD if anything in it must come again (failure:
 * why), else REJECTED, else CONFLICT, ORPHANED or PARKED, else that of its last notification;
 * SKIPPED for a record without any. Without policy.hand_over, REJECTED, CONFLICT and PARKED become
 * HELD.
 */
void batch_conclude(struct batch *batch, const struct po_error *failure);

/* Every parcel has its last verdict: the attempt is over, for strict.unfinished. */
void batch_end(struct batch *batch, struct ledger *ledger);

#endif
