/*
 * Holds that last, told to people through table `hold`, and what they decide: release (try now) or
 * skip (the record passes; what it claimed is DISCARDED).
 */
#ifndef WORKER_HOLDS_H
#define WORKER_HOLDS_H

#include <stdbool.h>

#include "kafka/source.h"
#include "ledger/hold.h"
#include "worker/batch.h"

enum { HOLDS_PAGE = 64 }; /* rows that one query reads */

struct holds {
        struct db *db;
        const char *group; /* ours: another group's holds are not looked at */
        struct sql sql;
        struct hold page[HOLDS_PAGE];
};

void holds_free(struct holds *holds);

/*
 * Once a second: carries out what was decided about partitions of ours, deletes what passed, and
 * notes partitions that are stuck without a record of theirs being at fault (source_stuck()): those
 * wait for a person at once.
 */
PO_MUST_USE enum po_class holds_look(struct holds *holds, struct source *source,
                                     struct po_error *error);

/*
 * A record stays held: noted from its third try on, for a person's eyes (review) when it lasts.
 * Failing to note it is no failure of its own.
 */
void holds_note(struct holds *holds, const struct parcel *parcel, unsigned tries);

/*
 * A HELD record that a person decided to skip: what it claimed is settled as DISCARDED, and it
 * passes. False: nobody decided so, or it could not be read or written; it is held on.
 */
bool holds_skip(struct holds *holds, struct batch *batch, struct parcel *parcel);

#endif
