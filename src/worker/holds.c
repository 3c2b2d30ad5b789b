#include "worker/holds.h"

#include <string.h>

#include "base/log.h"
#include "ledger/discard.h"

enum { NOTED_FROM = 3 };

void holds_free(struct holds *holds)
{
        sql_free(&holds->sql);
}

static enum po_class look_at(struct holds *holds, struct source *source, struct hold *hold,
                             struct po_error *error)
{
        int64_t next;
        if (!source_settled(source, hold->topic, hold->partition, &next))
                return PO_OK;
        if (next > hold->offset)
                return hold_delete(holds->db, &holds->sql, hold, error);
        if (hold->decision == HOLD_UNDECIDED)
                return PO_OK;
        source_release(source, hold->topic, hold->partition);
        return hold->decision == HOLD_RELEASE ? hold_done(holds->db, &holds->sql, hold, error)
                                              : PO_OK;
}

enum po_class holds_look(struct holds *holds, struct source *source, struct po_error *error)
{
        if (holds_read(holds->db, &holds->sql, holds->rows, HOLDS_MAX, &holds->count, error) !=
            PO_OK)
                return error->kind;
        for (size_t i = 0; i < holds->count; i++)
                if (look_at(holds, source, &holds->rows[i], error) != PO_OK)
                        return error->kind;
        return PO_OK;
}

void holds_note(struct holds *holds, const struct parcel *parcel, unsigned tries)
{
        struct po_error error;
        if (tries < NOTED_FROM)
                return;
        const char *reason = parcel->error.reason != NULL ? parcel->error.reason
                                                          : po_class_name(parcel->error.kind);
        if (tries == NOTED_FROM) {
                const struct record *record = parcel->record;
                log_alarm("PARTITION_HELD", NULL, "topic=%s partition=%d offset=%lld reason=%s",
                          record->topic, (int)record->partition, (long long)record->offset, reason);
        }
        if (hold_note(holds->db, &holds->sql, parcel->record, reason, tries, &error) != PO_OK)
                log_failure(LOG_LEVEL_DEBUG, "hold_not_noted", &error);
}

static bool is_to_be_skipped(const struct holds *holds, const struct record *record)
{
        for (size_t i = 0; i < holds->count; i++) {
                const struct hold *hold = &holds->rows[i];
                if (hold->decision == HOLD_SKIP && hold->offset == record->offset &&
                    hold->partition == record->partition && strcmp(hold->topic, record->topic) == 0)
                        return true;
        }
        return false;
}

/* Nothing keeps it once its record passed: a held record's are neither parked nor dead letters. */
static bool is_unfinished(enum verdict verdict)
{
        return verdict == VERDICT_HELD || verdict == VERDICT_NONE || verdict == VERDICT_PARKED ||
               verdict == VERDICT_REJECTED;
}

bool holds_skip(struct holds *holds, struct batch *batch, struct parcel *parcel)
{
        struct po_error error;
        if (!is_to_be_skipped(holds, parcel->record))
                return false;
        for (size_t i = parcel->first; i < parcel->first + parcel->count; i++) {
                struct posting *posting = &batch->postings[i];
                if (!is_unfinished(posting->verdict))
                        continue;
                if (posting->claim_id == 0 && posting->verdict != VERDICT_REJECTED)
                        return false; /* not claimed this time: an earlier claim would stay open */
                if (posting->claim_id != 0 &&
                    claim_settle_discarded(holds->db, &holds->sql, posting->claim_id,
                                           posting->notification->key, &error) != PO_OK &&
                    error.kind != PO_RECORD) { /* settled already is as good */
                        log_failure(LOG_LEVEL_WARN, "not_skipped", &error);
                        return false;
                }
                posting->verdict = VERDICT_DISCARDED;
        }
        parcel->verdict = VERDICT_DISCARDED;
        return true;
}
