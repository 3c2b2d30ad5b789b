/*
 * Outcome rows: how each claim was settled. Their primary key is the fence: it lets one transaction
 * settle a claim, whoever else is at it. Inserted, never changed.
 */
#ifndef LEDGER_OUTCOME_H
#define LEDGER_OUTCOME_H

#include "ledger/claim.h"
#include "mysql/bulk.h"
#include "mysql/db.h"
#include "postonce/error.h"

/*
 * Claims that others also saw (deliveries > 1, or out of `parked`) may be settled by now; judging
 * those again would judge an order that already holds their effect. EXISTS: one of them is; read
 * the claims again.
 */
PO_MUST_USE enum po_class outcomes_refuse(struct db *db, struct sql *sql,
                                          struct posting *const *postings, size_t count,
                                          struct po_error *error);

/*
 * Waits until no transaction that settles one of these is under way, outside of any: its COMMIT or
 * its end. TRANSIENT (1205): one goes on for longer.
 */
PO_MUST_USE enum po_class outcomes_await(struct db *db, struct sql *sql,
                                         struct posting *const *postings, size_t count,
                                         struct po_error *error);

enum { OUTCOME_TIME_BYTES = 32 };

/*
 * The statements that insert them. All outcomes of one call have one settled_at, also where they
 * are several statements: settled_at and turn are the order in which they were judged, and rows go
 * by their claims.
 */
struct outcomes {
        struct db *db;
        struct bulk *few, *many;
};
PO_MUST_USE enum po_class outcomes_open(struct outcomes *outcomes, struct db *db,
                                        struct po_error *error);
void outcomes_close(struct outcomes *outcomes); /* of a zeroed struct: nothing */

/* One row a posting (POSTED or SKIPPED, ascending by claim). EXISTS: one is settled already. */
PO_MUST_USE enum po_class outcomes_insert(struct outcomes *outcomes,
                                          struct posting *const *postings, size_t count,
                                          struct po_error *error);

#endif
