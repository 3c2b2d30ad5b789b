/*
 * What becomes of a record that cannot be posted: counted, then a dead letter, then its row, then
 * its offset. Until the letter's row is committed the record is held.
 */
#ifndef WORKER_REJECT_H
#define WORKER_REJECT_H

#include "kafka/dead_letter.h"
#include "kafka/sink.h"
#include "ledger/letter.h"
#include "worker/batch.h"

struct rejecter;

struct rejecter_options {
        struct db *db;
        struct sink *sink;       /* NULL without topic */
        const char *topic;       /* NULL: nothing can be rejected, such records are held */
        int64_t attempts;        /* failures that may change are counted up to this */
        int64_t most_per_minute; /* letters of all workers together, see flood.h; 0: any */
        size_t records_max;
};

PO_MUST_USE enum po_class rejecter_open(struct rejecter **rejecter_out,
                                        const struct rejecter_options *options,
                                        struct po_error *error);
void rejecter_close(struct rejecter *rejecter); /* takes NULL */

/*
 * Every REJECTED parcel either stays so (its letter is acknowledged and recorded) or becomes HELD.
 * Not OK: those that are not through yet are HELD; the class says whether it is the database's or
 * the broker's outage, or SYSTEMIC because there were too many (flood.h).
 */
PO_MUST_USE enum po_class reject_all(struct rejecter *rejecter, struct batch *batch,
                                     struct po_error *error);

#endif
