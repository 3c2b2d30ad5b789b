#include "worker/holds.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "ledger/discard.h"

/* A hold that lasts longer than this waits for a person: what mends itself has done so by then. */
enum { NOTED_FROM = 3, FOR_PERSON_AFTER_MS = 60000 };

void holds_free(struct holds *holds)
{
        sql_free(&holds->sql);
}

/* One out of range flows again once its offset is another one, or was passed. */
static bool is_over(const struct source *source, const struct hold *hold, int64_t next)
{
        if (!hold->out_of_range)
                return next > hold->offset;
        return next != hold->offset && !source_is_stuck(source, hold->topic, hold->partition);
}

static enum po_class look_at(struct holds *holds, struct source *source, struct hold *hold,
                             struct po_error *error)
{
        int64_t next;
        if (!source_settled(source, hold->topic, hold->partition, &next))
                return PO_OK;
        if (is_over(source, hold, next))
                return hold_delete(holds->db, &holds->sql, hold, error);
        if (hold->decision == HOLD_UNDECIDED)
                return PO_OK;
        source_release(source, hold->topic, hold->partition);
        return hold->decision == HOLD_RELEASE ? hold_done(holds->db, &holds->sql, hold, error)
                                              : PO_OK;
}

/* Nothing of them comes in hand, so nobody else would note them. */
static enum po_class note_stuck(struct holds *holds, struct source *source, struct po_error *error)
{
        struct source_stuck stuck;
        for (size_t place = 0; source_next_stuck(source, &place, &stuck);) {
                struct hold hold = { .group = holds->group,
                                     .partition = stuck.partition,
                                     .offset = stuck.offset };
                snprintf(hold.topic, sizeof hold.topic, "%s", stuck.topic);
                if (hold_note(holds->db, &holds->sql, &hold, stuck.reason, stuck.tries, 0, error) !=
                    PO_OK)
                        return error->kind;
        }
        return PO_OK;
}

/* Page by page: a hold is found however many of other workers' stand before it. */
enum po_class holds_look(struct holds *holds, struct source *source, struct po_error *error)
{
        const struct hold *after = NULL;
        size_t count = HOLDS_PAGE;
        while (count == HOLDS_PAGE) {
                if (holds_read(holds->db, &holds->sql, holds->group, after, holds->page, HOLDS_PAGE,
                               &count, error) != PO_OK)
                        return error->kind;
                for (size_t i = 0; i < count; i++)
                        if (look_at(holds, source, &holds->page[i], error) != PO_OK)
                                return error->kind;
                after = &holds->page[HOLDS_PAGE - 1];
        }
        return note_stuck(holds, source, error);
}

static struct hold hold_of(const struct holds *holds, const struct record *record)
{
        struct hold hold = { .group = holds->group,
                             .partition = record->partition,
                             .offset = record->offset };
        snprintf(hold.topic, sizeof hold.topic, "%s", record->topic);
        return hold;
}

void holds_note(struct holds *holds, const struct parcel *parcel, unsigned tries)
{
        struct po_error error;
        if (tries < NOTED_FROM)
                return;
        const char *reason = parcel->error->reason != NULL ? parcel->error->reason
                                                          : po_class_name(parcel->error->kind);
        const struct hold hold = hold_of(holds, parcel->record);
        if (tries == NOTED_FROM)
                log_alarm("PARTITION_HELD", NULL, "topic=%s partition=%d offset=%lld reason=%s",
                          hold.topic, (int)hold.partition, (long long)hold.offset, reason);
        if (hold_note(holds->db, &holds->sql, &hold, reason, tries, FOR_PERSON_AFTER_MS, &error) !=
            PO_OK)
                log_failure(LOG_LEVEL_DEBUG, "hold_not_noted", &error);
}

static bool is_to_be_skipped(struct holds *holds, const struct record *record)
{
        struct po_error error;
        enum hold_decision decision = HOLD_UNDECIDED;
        const struct hold hold = hold_of(holds, record);
        if (hold_read_decision(holds->db, &holds->sql, &hold, &decision, &error) != PO_OK)
                log_failure(LOG_LEVEL_DEBUG, "decision_unread", &error);
        return decision == HOLD_SKIP;
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
                                           posting->notification->key, &error) != PO_OK) {
                        /* SETTLED_ALREADY: by another; the next try finds that and passes. */
                        log_failure(LOG_LEVEL_WARN, "not_skipped", &error);
                        return false;
                }
                posting->verdict = VERDICT_DISCARDED;
        }
        parcel->verdict = VERDICT_DISCARDED;
        return true;
}
