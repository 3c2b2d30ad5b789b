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

/* A review that the database refuses goes the way of any record at fault: its letter carries the
 * body. */
static void refuse(struct batch *batch, struct posting *posting, const struct po_error *error)
{
        posting->verdict = VERDICT_REJECTED;
        for (size_t i = 0; i < batch->parcels_count; i++) {
                struct parcel *parcel = &batch->parcels[i];
                if (parcel->record != posting->record || parcel->verdict == VERDICT_HELD)
                        continue;
                parcel->verdict = VERDICT_REJECTED;
                parcel->may_change = true;
                parcel->error = *error;
        }
}

/* Bodies are as large as they like: what does not fit one statement is halved until it does. */
static enum po_class write_reviews(struct batch *batch, struct db *db, struct sql *sql,
                                   struct posting **postings, size_t count, struct po_error *error)
{
        enum po_class kind =
                reviews_insert(db, sql, REVIEW_PAYLOAD_CONFLICT, postings, count, true, error);
        if (kind != PO_RECORD)
                return kind;
        if (count == 1) {
                refuse(batch, postings[0], error);
                return PO_OK;
        }
        size_t half = count / 2;
        kind = write_reviews(batch, db, sql, postings, half, error);
        if (kind != PO_OK)
                return kind;
        return write_reviews(batch, db, sql, postings + half, count - half, error);
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
        if (write_reviews(batch, db, sql, batch->open, count, error) != PO_OK)
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
