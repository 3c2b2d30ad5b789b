/*
 * DISCARDED: a person said that a claimed notification is not to be posted. An outcome without
 * entries, through the same fence as a posting, audited in the same transaction; later deliveries
 * are duplicates of it.
 */
#ifndef LEDGER_DISCARD_H
#define LEDGER_DISCARD_H

#include <stdbool.h>
#include <stdint.h>

#include "mysql/db.h"
#include "postonce/error.h"

/* The claim of a key; *found_out tells whether there is one. */
PO_MUST_USE enum po_class claim_find(struct db *db, struct sql *sql, int64_t tenant_id,
                                     const char *key, int64_t *claim_id_out, bool *found_out,
                                     struct po_error *error);

/* The outcome alone, in its own commit: for what a person decided, audited, before. RECORD
 * (SETTLED_ALREADY): it has an outcome. */
PO_MUST_USE enum po_class claim_settle_discarded(struct db *db, struct sql *sql, int64_t claim_id,
                                                 const char *key, struct po_error *error);

/*
 * Settles a parked claim so and deletes its row. RECORD (SETTLED_ALREADY, NOT_PARKED): it has an
 * outcome, or no row. verb: for the audit ("park discard").
 */
PO_MUST_USE enum po_class claim_discard(struct db *db, struct sql *sql, int64_t claim_id,
                                        const char *key, const char *verb, const char *who,
                                        const char *why, struct po_error *error);

#endif
