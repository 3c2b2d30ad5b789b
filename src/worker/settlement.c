#include "worker/settlement.h"

#include "base/log.h"
#include "ops/metrics.h"

/* What follows from a verdict; the only place that says it. */
struct settlement {
        bool passes; /* the offset may pass the record */
        enum log_level level;
        enum metric metric;
};

static const struct settlement settlements[VERDICT_COUNT] = {
        [VERDICT_POSTED] = { true, LOG_LEVEL_DEBUG, METRIC_POSTED },
        [VERDICT_SKIPPED] = { true, LOG_LEVEL_INFO, METRIC_SKIPPED },
        [VERDICT_SUSPENSE] = { true, LOG_LEVEL_WARN, METRIC_SUSPENSE },
        [VERDICT_DISCARDED] = { true, LOG_LEVEL_INFO, METRIC_DISCARDED },
        [VERDICT_PARKED] = { true, LOG_LEVEL_INFO, METRIC_PARKED },
        [VERDICT_ORPHANED] = { true, LOG_LEVEL_ERROR, METRIC_ORPHANED },
        [VERDICT_DUPLICATE] = { true, LOG_LEVEL_INFO, METRIC_DUPLICATE },
        [VERDICT_CONFLICT] = { true, LOG_LEVEL_ERROR, METRIC_CONFLICT },
        [VERDICT_REJECTED] = { true, LOG_LEVEL_WARN, METRIC_REJECTED },
        [VERDICT_HELD] = { false, LOG_LEVEL_INFO, METRIC_HELD },
};
_Static_assert(VERDICT_COUNT == 11, "a new verdict needs its settlement");

bool settlement_passes(enum verdict verdict)
{
        return settlements[verdict].passes;
}

static void log_posting(const struct posting *posting, const struct parcel *parcel)
{
        const struct settlement *settlement = &settlements[posting->verdict];
        const char *reason = posting->reason != NULL ? posting->reason : parcel->error->reason;
        bool settled = settlement->passes && posting->verdict != VERDICT_REJECTED &&
                       posting->verdict != VERDICT_PARKED;
        if (posting->result[0] != '\0')
                log_event(settlement->level, "notification", "verdict=%s result=%s%s",
                          verdict_name(posting->verdict), posting->result,
                          posting->again ? " again=true" : "");
        else
                log_event(settlement->level, "notification", "verdict=%s reason=%s",
                          verdict_name(posting->verdict),
                          !settled && reason != NULL ? reason : "none");
}

/* Behind a hold all but what was settled just now is told when it comes again: counted once. */
static bool is_told_later(const struct posting *posting, bool comes_again)
{
        return comes_again && (posting->again || !verdict_is_outcome(posting->verdict));
}

static void report_record(const struct parcel *parcel)
{
        const struct record *record = parcel->record;
        if (parcel->verdict != VERDICT_REJECTED && parcel->verdict != VERDICT_HELD)
                return;
        log_set_record(record->topic, record->partition, record->offset, NULL);
        if (parcel->verdict == VERDICT_REJECTED)
                log_failure(LOG_LEVEL_WARN, "rejected", parcel->error);
        if (parcel->verdict == VERDICT_REJECTED && parcel->count == 0)
                metric_add(METRIC_REJECTED, 1);
        if (parcel->verdict == VERDICT_HELD)
                log_failure(LOG_LEVEL_INFO, "held", parcel->error);
}

void settlement_report(const struct batch *batch, const struct parcel *parcel, bool comes_again)
{
        const struct record *record = parcel->record;
        for (size_t i = parcel->first; i < parcel->first + parcel->count; i++) {
                const struct posting *posting = &batch->postings[i];
                if (is_told_later(posting, comes_again))
                        continue;
                if (!posting->again)
                        metric_add(settlements[posting->verdict].metric, 1);
                if (!log_is_on(settlements[posting->verdict].level))
                        continue;
                log_set_record(record->topic, record->partition, record->offset,
                               posting->notification->key);
                log_posting(posting, parcel);
        }
        if (!comes_again)
                report_record(parcel);
        log_clear_record();
}
