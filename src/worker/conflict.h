/*
 * CONFLICT: the same key with another fingerprint. It is never posted; the review queue is the
 * durable place of the second body, written before the offset passes.
 */
#ifndef WORKER_CONFLICT_H
#define WORKER_CONFLICT_H

#include "worker/batch.h"

/*
 * Alarms every CONFLICT of the batch and writes its review item, in its own commit. One that the
 * database refuses (its body is larger than max_allowed_packet) becomes REJECTED. After any other
 * error their records are HELD.
 */
PO_MUST_USE enum po_class conflicts_keep(struct batch *batch, struct db *db, struct sql *sql,
                                         struct po_error *error);

#endif
