/*
 * Durable places of what is not posted now: reviews for a person (CONFLICT, ORPHANED), `parked` for
 * its time. Each is written, in its own commit, before the offset passes.
 */
#ifndef WORKER_KEEP_H
#define WORKER_KEEP_H

#include "worker/batch.h"

/*
 * Writes the review item of every CONFLICT and ORPHANED notification, with an alarm where it was
 * not there yet, then the rows of what is PARKED. One that the database refuses (larger than
 * max_allowed_packet) becomes REJECTED: its dead letter carries it. After any other error their
 * records are HELD.
 */
PO_MUST_USE enum po_class batch_keep(struct batch *batch, struct db *db, struct sql *sql,
                                     struct po_error *error);

#endif
