/*
 * Cut-over: rows of an older idempotency table become settled claims, so that a late re-push of
 * what the old system booked is a duplicate here and posts nothing.
 *
 * Each becomes a claim and an outcome SKIPPED {"skipped":"IMPORTED"} in one transaction: a claim
 * alone would be an unfinished one, and whoever met it would post it. So, unlike a worker's, these
 * claim rows stay locked until the commit, a few milliseconds; they are sorted as the worker's are,
 * and a worker that waits for one holds nothing that this transaction needs.
 */
#ifndef LEDGER_IMPORTED_H
#define LEDGER_IMPORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mysql/db.h"
#include "postonce/error.h"
#include "postonce/notification.h"

enum imported_fate {
        IMPORTED_TAKEN,   /* claim and outcome are new */
        IMPORTED_SETTLED, /* the claim was there, unfinished: settled through the fence, since its
                             money was booked elsewhere; what had been parked is dropped */
        IMPORTED_THERE,   /* settled before, without money: an earlier import, say */
        IMPORTED_BOOKED,  /* posted here before: booked in both systems, a person must look */
};

struct imported_claim {
        /* Filled by the caller: sealed; the fingerprint counts if has_fingerprint, else anything
         * that comes under this key later matches. */
        struct po_notification notification;
        bool has_fingerprint;
        int64_t created_at_us; /* PO_TIME_UNKNOWN: now */
        int64_t line;          /* where it stands in its file: the claim's source_offset */

        /* Filled by imported_settle(). */
        enum imported_fate fate;
        int64_t claim_id;
};

/* The claims' source_topic; their source_partition is -1, which no record has. */
#define IMPORTED_TOPIC "postonce.import"

/*
 * Takes count rows over, all or none. rows: sorted here, by tenant and key; a key that stands there
 * twice counts once (the later ones are IMPORTED_THERE). dry: tells the fates and rolls back.
 * Settled by a worker meanwhile, deadlock: tried again here. After any class but OK nothing of it
 * is there (UNCERTAIN: all or nothing of it); the same again is safe.
 */
PO_MUST_USE enum po_class imported_settle(struct db *db, struct sql *sql,
                                          struct imported_claim **rows, size_t count, bool dry,
                                          struct po_error *error);

#endif
