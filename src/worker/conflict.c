#include "worker/conflict.h"

#include "base/failpoint.h"
#include "base/log.h"
#include "ledger/review.h"

static void alarm_conflict(const struct posting *posting)
{
        const struct record *record = posting->record;
        log_set_record(record->topic, record->partition, record->offset, NULL);
        log_alarm("PAYLOAD_CONFLICT", posting->notification->key, "claim=%lld",
                  (long long)posting->claim_id);
        log_clear_record();
}

static enum po_class keep(struct batch *batch, struct db *db, struct sql *sql,
                          struct po_error *error)
{
        size_t count = 0;
        for (size_t i = 0; i < batch->postings_count; i++) {
                if (batch->postings[i].verdict != VERDICT_CONFLICT)
                        continue;
                alarm_conflict(&batch->postings[i]);
                batch->open[count++] = &batch->postings[i];
        }
        if (count == 0)
                return PO_OK;
        if (reviews_insert(db, sql, REVIEW_PAYLOAD_CONFLICT, batch->open, count, true, error) !=
            PO_OK)
                return error->kind;
        return PO_FAILPOINT("review.recorded");
}

enum po_class conflicts_keep(struct batch *batch, struct db *db, struct sql *sql,
                             struct po_error *error)
{
        if (keep(batch, db, sql, error) == PO_OK)
                return PO_OK;
        for (size_t i = 0; i < batch->parcels_count; i++) {
                struct parcel *parcel = &batch->parcels[i];
                bool conflicts = false;
                for (size_t j = parcel->first; j < parcel->first + parcel->count; j++)
                        conflicts |= batch->postings[j].verdict == VERDICT_CONFLICT;
                if (!conflicts)
                        continue;
                parcel->verdict = VERDICT_HELD;
                parcel->error = *error;
        }
        return error->kind;
}
