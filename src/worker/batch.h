/*
 * A batch: records taken together, the notifications in them, and how far each has come.
 * Sized once; its pointers live until the next batch_fill().
 */
#ifndef WORKER_BATCH_H
#define WORKER_BATCH_H

#include <stdbool.h>

#include "base/record.h"
#include "channel/decode.h"
#include "ledger/posting.h"
#include "ledger/rules.h"

/* One record of the batch and what became of it. */
struct parcel {
        const struct record *record;
        size_t first, count;   /* its postings */
        enum verdict verdict;  /* of the record as a whole, see batch_conclude() */
        bool may_change;       /* REJECTED, but another try may succeed: failures are counted */
        struct po_error error; /* why, for REJECTED and HELD */
};

struct batch {
        size_t capacity; /* of postings */
        size_t parcels_count, postings_count;
        struct parcel *parcels;
        struct po_notification *notifications;
        struct posting *postings;
        struct posting **open; /* scratch: the postings of one step */
};

struct topic_channel {
        const char *topic;
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

/*
 * Claims and posts everything, halving to isolate a record at fault. OK: every posting has a
 * verdict. Another class (TRANSIENT, UNCERTAIN, SYSTEMIC): what has no verdict yet must come again.
 */
PO_MUST_USE enum po_class batch_settle(struct batch *batch, struct ledger *ledger,
                                       struct po_error *error);

/*
 * Resolves followers (DUPLICATE of a settled leader) and gives every parcel the verdict that
 * decides its offset: HELD if anything in it must come again (failure: why), else REJECTED, else
 * CONFLICT, else that of its last notification; SKIPPED for a record without any.
 */
void batch_conclude(struct batch *batch, const struct po_error *failure);

#endif
