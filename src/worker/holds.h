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

enum { HOLDS_MAX = 64 };

struct holds {
        struct db *db;
        struct sql sql;
        size_t count;
        struct hold rows[HOLDS_MAX]; /* as they stood at the last look */
};

void holds_free(struct holds *holds);

/* Once a second: looks, carries out releases, deletes what passed. */
PO_MUST_USE enum po_class holds_look(struct holds *holds, struct source *source,
                                     struct po_error *error);

/* A record stays held: noted from its third try on. Failing to note it is no failure of its own. */
void holds_note(struct holds *holds, const struct parcel *parcel, unsigned tries);

/*
 * A HELD record that a person decided to skip: what it claimed is settled as DISCARDED, and it
 * passes. False: nobody decided so, or it could not be written; it is held on.
 */
bool holds_skip(struct holds *holds, struct batch *batch, struct parcel *parcel);

#endif
