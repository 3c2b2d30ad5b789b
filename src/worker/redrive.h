/*
 * Parked notifications that are due, tried again: once a second, by any worker, also one without
 * partitions. The lease in their row keeps other workers off; the fence keeps them right.
 */
#ifndef WORKER_REDRIVE_H
#define WORKER_REDRIVE_H

#include "ledger/pause.h"
#include "ledger/rules.h"
#include "worker/batch.h"
#include "worker/policy.h"

struct redrive;
PO_MUST_USE enum po_class redrive_open(struct redrive **redrive_out, struct db *db,
                                       const struct policy *policy, const struct rules *rules,
                                       struct po_error *error);
void redrive_close(struct redrive *redrive); /* takes NULL */
/* Rows stay until redrive_finish(), also of what is posted: it must be told before they are gone.
 */
void redrive_keep_rows(struct redrive *redrive);

/*
 * Takes what is due into the re-drive's own batch: *batch_out is NULL when nothing is. The caller
 * settles it like any batch (batch_repost, batch_conclude, batch_keep, reject_all), then calls
 * redrive_finish(). A row that cannot be read is alarmed (PARKED_UNREADABLE) and waits on.
 */
PO_MUST_USE enum po_class redrive_take(struct redrive *redrive, const struct pauses *pauses,
                                       struct batch **batch_out, struct po_error *error);
/*
 * Rows of what is settled elsewhere, or has its dead letter or review, are deleted; the others wait
 * for their next time. What was posted is gone already.
 */
PO_MUST_USE enum po_class redrive_finish(struct redrive *redrive, struct po_error *error);

#endif
