#include "worker/worker.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/failpoint.h"
#include "base/limits.h"
#include "base/log.h"
#include "ops/metrics.h"
#include "ops/notify.h"
#include "worker/conflict.h"
#include "worker/outage.h"
#include "worker/reject.h"

enum { TAKE_WAIT_MS = 200 }; /* how long one poll waits for a first record */

/* What follows from a verdict; the only place that says it. */
struct settlement {
        bool passes; /* the offset may pass the record */
        enum log_level level;
        enum metric metric;
};

static const struct settlement settlements[VERDICT_COUNT] = {
        [VERDICT_POSTED] = { true, LOG_LEVEL_DEBUG, METRIC_POSTED },
        [VERDICT_SKIPPED] = { true, LOG_LEVEL_INFO, METRIC_SKIPPED },
        [VERDICT_DUPLICATE] = { true, LOG_LEVEL_INFO, METRIC_DUPLICATE },
        [VERDICT_CONFLICT] = { true, LOG_LEVEL_ERROR, METRIC_CONFLICT },
        [VERDICT_REJECTED] = { true, LOG_LEVEL_WARN, METRIC_REJECTED },
        [VERDICT_HELD] = { false, LOG_LEVEL_INFO, METRIC_HELD },
};
_Static_assert(VERDICT_COUNT == 7, "a new verdict needs its settlement");

struct worker {
        const struct worker_options *options;
        struct batch batch;
        struct ledger *ledger;
        struct rejecter *rejecter;
        struct sql sql;

        struct outage outage;
        int64_t watchdog_every_ms, watchdog_next_ms; /* 0: nobody waits for it */
};

static bool is_stopping(const struct worker *worker)
{
        return *worker->options->stop != 0;
}

/* The loop goes round: /healthz and the service manager want to know. */
static void beat(struct worker *worker)
{
        liveness_beat();
        int64_t now_ms = clock_ms();
        if (worker->watchdog_every_ms == 0 || now_ms < worker->watchdog_next_ms)
                return;
        worker->watchdog_next_ms = now_ms + worker->watchdog_every_ms;
        notify_watchdog();
}

static void log_posting(const struct posting *posting, const struct parcel *parcel)
{
        const struct settlement *settlement = &settlements[posting->verdict];
        const char *reason = posting->reason != NULL ? posting->reason : parcel->error.reason;
        bool settled = settlement->passes && posting->verdict != VERDICT_REJECTED;
        if (posting->result[0] != '\0')
                log_event(settlement->level, "notification", "verdict=%s result=%s%s",
                          verdict_name(posting->verdict), posting->result,
                          posting->again ? " again=true" : "");
        else
                log_event(settlement->level, "notification", "verdict=%s reason=%s",
                          verdict_name(posting->verdict),
                          !settled && reason != NULL ? reason : "none");
}

static void report_parcel(const struct worker *worker, const struct parcel *parcel)
{
        const struct record *record = parcel->record;
        for (size_t i = parcel->first; i < parcel->first + parcel->count; i++) {
                const struct posting *posting = &worker->batch.postings[i];
                if (!posting->again)
                        metric_add(settlements[posting->verdict].metric, 1);
                if (!log_is_on(settlements[posting->verdict].level))
                        continue;
                log_set_record(record->topic, record->partition, record->offset,
                               posting->notification->key);
                log_posting(posting, parcel);
        }
        log_set_record(record->topic, record->partition, record->offset, NULL);
        if (parcel->verdict == VERDICT_REJECTED)
                log_failure(LOG_LEVEL_WARN, "rejected", &parcel->error);
        if (parcel->verdict == VERDICT_REJECTED && parcel->count == 0)
                metric_add(METRIC_REJECTED, 1);
        if (parcel->verdict == VERDICT_HELD)
                log_failure(LOG_LEVEL_INFO, "held", &parcel->error);
        log_clear_record();
}

/*
 * The last step: offsets pass up to the first record of a partition that must come again; there the
 * partition is held. What stands behind it in this batch may be settled, its offset is not stored.
 */
static enum po_class settle(struct worker *worker, struct po_error *error)
{
        struct source *source = worker->options->source;
        if (PO_FAILPOINT("settle.begun") != PO_OK)
                return error->kind;
        for (size_t i = 0; i < worker->batch.parcels_count; i++) {
                const struct parcel *parcel = &worker->batch.parcels[i];
                report_parcel(worker, parcel);
                if (source_is_held(source, parcel->record))
                        continue;
                if (settlements[parcel->verdict].passes)
                        source_store(source, parcel->record);
                else
                        source_hold(source, parcel->record,
                                    backoff_ms(&worker->options->backoff,
                                               source_hold_tries(source, parcel->record)));
        }
        return PO_FAILPOINT("settle.stored");
}

/* A failpoint's error in the last step: everything comes again. */
static void hold_all(struct worker *worker)
{
        struct source *source = worker->options->source;
        for (size_t i = 0; i < worker->batch.parcels_count; i++)
                if (!source_is_held(source, worker->batch.parcels[i].record))
                        source_hold(source, worker->batch.parcels[i].record,
                                    backoff_ms(&worker->options->backoff, 0));
}

/* The batch in hand, from claim to offset. The first outage of its steps, or OK. */
static enum po_class round_trip(struct worker *worker, struct po_error *error)
{
        struct batch *batch = &worker->batch;
        struct po_error later;
        enum po_class kind = PO_FAILPOINT("batch.taken");
        if (kind == PO_OK)
                kind = batch_settle(batch, worker->ledger, error);
        batch_conclude(batch, kind == PO_OK ? NULL : error);
        if (kind == PO_OK)
                metric_add(METRIC_BATCHES, 1);

        if (conflicts_keep(batch, worker->options->db, &worker->sql, &later) != PO_OK &&
            kind == PO_OK) {
                *error = later;
                kind = error->kind;
        }
        if (reject_all(worker->rejecter, batch, &later) != PO_OK && kind == PO_OK) {
                *error = later;
                kind = error->kind;
        }
        if (settle(worker, &later) != PO_OK)
                hold_all(worker);
        return kind;
}

static void work(struct worker *worker, const struct record *records, size_t count)
{
        const struct worker_options *options = worker->options;
        metric_add(METRIC_RECORDS, (int64_t)count);
        for (size_t done = 0; done < count;) {
                struct po_error error;
                done += batch_fill(&worker->batch, records + done, count - done, options->decoder,
                                   options->rules, options->topics, options->topics_count);
                if (round_trip(worker, &error) == PO_OK)
                        outage_over(&worker->outage);
                else
                        outage_note(&worker->outage, &error, OUTAGE_OF_DATABASE);
                beat(worker);
        }
}

/* Intake stays stopped for a back-off, the group membership lives on. */
static void wait_out_systemic(struct worker *worker)
{
        struct po_error error;
        int wait_ms = backoff_ms(&worker->options->backoff, worker->outage.tries);
        for (int64_t end_ms = clock_ms() + wait_ms; clock_ms() < end_ms && !is_stopping(worker);) {
                if (source_idle(worker->options->source, TAKE_WAIT_MS, &error) != PO_OK)
                        log_failure(LOG_LEVEL_DEBUG, "idle", &error);
                beat(worker);
        }
}

/*
 * Nothing came. The brokers answer, so an outage of theirs is over; one of the database is over
 * when it answers and nothing of ours waits to be tried on it again.
 */
static void rest(struct worker *worker)
{
        ledger_keep_alive(worker->ledger);
        if (worker->outage.kind == PO_OK)
                return;
        if (worker->outage.side == OUTAGE_OF_BROKER) {
                outage_over(&worker->outage);
                return;
        }
        struct source_figures figures;
        struct po_error error;
        source_figures(worker->options->source, &figures);
        if (figures.partitions_held == 0 && ledger_connect(worker->ledger, &error) == PO_OK)
                outage_over(&worker->outage);
}

static void show_figures(const struct worker *worker)
{
        struct source_figures figures;
        source_figures(worker->options->source, &figures);
        metric_set(METRIC_PARTITIONS, figures.partitions_assigned);
        metric_set(METRIC_PARTITIONS_HELD, figures.partitions_held);
        metric_set(METRIC_LAG, figures.lag);
        metric_set(METRIC_REBALANCES, figures.rebalances);
        if (worker->outage.kind == PO_OK)
                readiness_set(figures.joined ? NULL : "not joined its consumer group yet");
}

/* One turn of the loop. True when an end was reached. */
static bool turn(struct worker *worker, enum worker_end *end_out)
{
        const struct worker_options *options = worker->options;
        const struct record *records;
        size_t count;
        struct po_error error;
        beat(worker);
        if (worker->outage.kind == PO_SYSTEMIC)
                wait_out_systemic(worker);
        enum po_class kind = source_take(options->source, TAKE_WAIT_MS, &records, &count, &error);
        show_figures(worker);
        if (kind != PO_OK) {
                outage_note(&worker->outage, &error, OUTAGE_OF_BROKER);
                return false;
        }
        if (count > 0) {
                work(worker, records, count);
                return false;
        }
        rest(worker);
        if (!options->until_end)
                return false;
        enum source_end end;
        if (source_end(options->source, &end, &error) != PO_OK) {
                outage_note(&worker->outage, &error, OUTAGE_OF_BROKER);
                return false;
        }
        *end_out = end == SOURCE_AT_END ? WORKER_AT_END : WORKER_AT_HOLD;
        return end != SOURCE_GOING;
}

static enum po_class open_parts(struct worker *worker, struct po_error *error)
{
        const struct worker_options *options = worker->options;
        size_t capacity = options->records_max + NOTIFICATIONS_PER_RECORD_MAX;
        struct rejecter_options rejecter = {
                .db = options->db,
                .sink = options->sink,
                .topic = options->dead_letter_topic,
                .attempts = options->dead_letter_attempts,
                .records_max = options->records_max,
        };
        if (batch_open(&worker->batch, options->records_max, error) != PO_OK ||
            ledger_open(&worker->ledger, options->db, options->rules, capacity, error) != PO_OK ||
            rejecter_open(&worker->rejecter, &rejecter, error) != PO_OK)
                return error->kind;
        return PO_OK;
}

enum po_class worker_run(const struct worker_options *options, enum worker_end *end_out,
                         struct po_error *error)
{
        struct worker worker = { .options = options,
                                 .watchdog_every_ms = notify_watchdog_interval_ms() };
        *end_out = WORKER_STOPPED;
        enum po_class kind = open_parts(&worker, error);
        if (kind == PO_OK)
                while (!is_stopping(&worker) && !turn(&worker, end_out))
                        ;
        batch_close(&worker.batch);
        ledger_close(worker.ledger);
        rejecter_close(worker.rejecter);
        sql_free(&worker.sql);
        return kind;
}
