#include "worker/worker.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/failpoint.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/outage.h"
#include "ledger/review.h"
#include "ops/heartbeat.h"
#include "ops/metrics.h"
#include "worker/holds.h"
#include "worker/keep.h"
#include "worker/redrive.h"
#include "worker/reject.h"
#include "worker/results.h"
#include "worker/settlement.h"

enum {
        TAKE_WAIT_MS = 200, /* how long one poll waits for a first record */
        TICK_MS = 1000,
        COUNT_MS = 10000,     /* how often what waits for a person is counted */
        REDRIVES_A_TICK = 10, /* so that parked ones do not keep the records waiting */
};

struct worker {
        const struct worker_options *options;
        struct batch batch;
        struct ledger *ledger;
        struct rejecter *rejecter;
        struct redrive *redrive;
        struct results *results; /* NULL: nobody is told */
        struct sql sql;

        struct outage broker, database;
        int64_t connect_next_ms; /* when a database that is away is asked again */
        struct pauses pauses;
        struct holds holds;
        int64_t tick_next_ms, count_next_ms;
        struct heartbeat heartbeat;
};

static bool is_stopping(const struct worker *worker)
{
        return *worker->options->stop != 0;
}

/* An outage is no matter of this record: only what stands alone is told to people. */
static void hold(struct worker *worker, const struct parcel *parcel, bool may_note)
{
        struct source *source = worker->options->source;
        unsigned tries = source_hold_tries(source, parcel->record);
        source_hold(source, parcel->record, backoff_ms(&worker->options->backoff, tries));
        if (may_note)
                holds_note(&worker->holds, parcel, tries);
}

/*
 * The last step: offsets pass up to the first record of a partition that must come again; there the
 * partition is held. What stands behind it in this batch may be settled, its offset is not stored.
 */
static enum po_class settle(struct worker *worker, bool may_note, struct po_error *error)
{
        struct source *source = worker->options->source;
        if (PO_FAILPOINT("settle.begun") != PO_OK)
                return error->kind;
        for (size_t i = 0; i < worker->batch.parcels_count; i++) {
                struct parcel *parcel = &worker->batch.parcels[i];
                bool comes_again = source_is_held(source, parcel->record);
                settlement_report(&worker->batch, parcel, comes_again);
                if (comes_again)
                        continue;
                if (settlement_passes(parcel->verdict))
                        source_store(source, parcel->record);
                else
                        hold(worker, parcel, may_note);
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

static enum po_class first_outage(enum po_class so_far, const struct po_error *later,
                                  struct po_error *error)
{
        if (so_far != PO_OK)
                return so_far;
        *error = *later;
        return error->kind;
}

/* What was settled is told apart; the rest goes to its durable place, or comes again. */
static enum po_class conclude(struct worker *worker, struct batch *batch, enum po_class kind,
                              struct po_error *error)
{
        struct po_error later;
        batch_conclude(batch, kind == PO_OK ? NULL : error);
        if (batch_keep(batch, worker->options->db, &worker->sql, &later) != PO_OK)
                kind = first_outage(kind, &later, error);
        if (reject_all(worker->rejecter, batch, &later) != PO_OK)
                kind = first_outage(kind, &later, error);
        batch_end(batch, worker->ledger);
        return kind;
}

/* Whether its partition is held before it, also by this batch: then it comes again. */
static bool is_behind_a_hold(const struct worker *worker, size_t i)
{
        const struct parcel *parcels = worker->batch.parcels;
        const struct record *record = parcels[i].record;
        if (source_is_held(worker->options->source, record))
                return true;
        for (size_t before = 0; before < i; before++)
                if (parcels[before].verdict == VERDICT_HELD &&
                    parcels[before].record->slot == record->slot)
                        return true;
        return false;
}

static bool passes_now(void *context, size_t parcel)
{
        return !is_behind_a_hold(context, parcel);
}

/* What a person decided to pass is settled, too, and told like the rest. */
static void skip_held(struct worker *worker)
{
        if (!ledger_is_connected(worker->ledger))
                return;
        for (size_t i = 0; i < worker->batch.parcels_count; i++)
                if (worker->batch.parcels[i].verdict == VERDICT_HELD &&
                    !is_behind_a_hold(worker, i))
                        holds_skip(&worker->holds, &worker->batch, &worker->batch.parcels[i]);
}

/* The batch in hand, from claim to offset. The first outage of its steps, or OK. */
static enum po_class round_trip(struct worker *worker, struct po_error *error)
{
        struct batch *batch = &worker->batch;
        struct po_error later;
        enum po_class kind = PO_FAILPOINT("batch.taken");
        if (kind == PO_OK)
                kind = batch_settle(batch, worker->ledger, error);
        if (kind == PO_OK)
                metric_add(METRIC_BATCHES, 1);
        kind = conclude(worker, batch, kind, error);
        skip_held(worker);
        results_tell(worker->results, batch, passes_now, worker);
        if (settle(worker, kind == PO_OK, &later) != PO_OK)
                hold_all(worker);
        return kind;
}

/* In an outage the rest of the hand is not tried: each would wait for its own time-out, unpolled.
 */
static void give_back(struct worker *worker, const struct record *records, size_t count)
{
        struct source *source = worker->options->source;
        for (size_t i = 0; i < count; i++)
                if (!source_is_held(source, &records[i]))
                        source_hold(source, &records[i],
                                    backoff_ms(&worker->options->backoff,
                                               source_hold_tries(source, &records[i])));
}

static void work(struct worker *worker, const struct record *records, size_t count)
{
        const struct worker_options *options = worker->options;
        metric_add(METRIC_RECORDS, (int64_t)count);
        for (size_t done = 0; done < count;) {
                struct po_error error;
                done += batch_fill(&worker->batch, records + done, count - done, options->decoder,
                                   options->rules, options->topics, options->topics_count);
                enum po_class kind = round_trip(worker, &error);
                heartbeat_beat(&worker->heartbeat);
                if (kind == PO_OK) {
                        outage_over(&worker->database);
                        continue;
                }
                outage_note(&worker->database, &error);
                give_back(worker, records + done, count - done);
                return;
        }
}

/* Intake stays stopped for a back-off, the group membership lives on. */
static void wait_out_systemic(struct worker *worker)
{
        struct po_error error;
        const struct outage *outage =
                worker->database.kind == PO_SYSTEMIC ? &worker->database : &worker->broker;
        int wait_ms = backoff_ms(&worker->options->backoff, outage->tries);
        for (int64_t end_ms = clock_ms() + wait_ms; clock_ms() < end_ms && !is_stopping(worker);) {
                if (source_idle(worker->options->source, TAKE_WAIT_MS, &error) != PO_OK)
                        log_failure(LOG_LEVEL_DEBUG, "idle", &error);
                heartbeat_beat(&worker->heartbeat);
        }
}

/*
 * Nothing came. The brokers answer, so an outage of theirs is over; one of the database is over
 * when it is connected again and nothing of ours waits to be tried on it.
 */
static void rest(struct worker *worker)
{
        struct source_figures figures;
        outage_over(&worker->broker);
        ledger_keep_alive(worker->ledger);
        source_figures(worker->options->source, &figures);
        if (figures.partitions_waiting == figures.partitions_stopped &&
            ledger_is_connected(worker->ledger))
                outage_over(&worker->database);
}

static bool waits_no_longer(void *context, size_t parcel)
{
        const struct batch *batch = context;
        return batch->parcels[parcel].verdict != VERDICT_PARKED;
}

/* Parked notifications that are due; what waits on is told of no more. */
static enum po_class redrive(struct worker *worker, bool *more_out, struct po_error *error)
{
        struct batch *batch;
        struct po_error later;
        *more_out = false;
        enum po_class kind = redrive_take(worker->redrive, &worker->pauses, &batch, error);
        if (kind != PO_OK || batch == NULL)
                return kind;
        kind = PO_FAILPOINT("redrive.taken");
        if (kind == PO_OK)
                kind = batch_repost(batch, worker->ledger, error);
        kind = conclude(worker, batch, kind, error);
        results_tell(worker->results, batch, waits_no_longer, batch);
        for (size_t i = 0; i < batch->parcels_count; i++)
                settlement_report(batch, &batch->parcels[i],
                                  batch->parcels[i].verdict == VERDICT_PARKED);
        if (redrive_finish(worker->redrive, &later) != PO_OK)
                kind = first_outage(kind, &later, error);
        *more_out = kind == PO_OK; /* also a batch bounded by its bytes may leave some */
        return kind;
}

static enum po_class redrive_all(struct worker *worker, struct po_error *error)
{
        bool more = true;
        enum po_class kind = PO_OK;
        for (int i = 0; i < REDRIVES_A_TICK && more && kind == PO_OK; i++)
                kind = redrive(worker, &more, error);
        return kind;
}

/* For people's eyes only. */
static enum po_class count_reviews(struct worker *worker, struct po_error *error)
{
        int64_t open;
        if (clock_ms() < worker->count_next_ms)
                return PO_OK;
        if (reviews_count_open(worker->options->db, &worker->sql, &open, error) != PO_OK)
                return error->kind;
        metric_set(METRIC_REVIEWS, open);
        worker->count_next_ms = clock_ms() + COUNT_MS;
        return PO_OK;
}

/* What operators decided: seen by every worker within a second or two. */
static enum po_class look(struct worker *worker, struct po_error *error)
{
        if (pauses_read(worker->options->db, &worker->sql, &worker->pauses, error) != PO_OK)
                return error->kind;
        metric_set(METRIC_PAUSED, worker->pauses.all);
        if (count_reviews(worker, error) != PO_OK)
                return error->kind;
        return holds_look(&worker->holds, worker->options->source, error);
}

/* A database that is away is asked again at the pace of the back-off, whatever is held. */
static bool is_time_to_look(struct worker *worker, int64_t now_ms)
{
        if (now_ms < worker->tick_next_ms)
                return false;
        if (worker->database.kind == PO_OK || ledger_is_connected(worker->ledger))
                return true;
        if (now_ms < worker->connect_next_ms)
                return false;
        worker->connect_next_ms =
                now_ms + backoff_ms(&worker->options->backoff, worker->database.tries);
        return true;
}

/*
 * Once a second: what operators decided, and what waits for its time. Through an outage only what
 * they decided: the flood guard's stop ends with their word.
 */
static void tick(struct worker *worker)
{
        int64_t now_ms = clock_ms();
        struct po_error error;
        if (!is_time_to_look(worker, now_ms))
                return;
        worker->tick_next_ms = now_ms + TICK_MS;
        enum po_class kind = look(worker, &error);
        if (kind == PO_OK && worker->database.kind == PO_OK && !worker->pauses.all)
                kind = redrive_all(worker, &error);
        if (kind != PO_OK)
                outage_note(&worker->database, &error);
}

static const char *why_not_ready(const struct worker *worker, bool joined)
{
        const char *reason = outage_reason(&worker->database);
        if (reason == NULL)
                reason = outage_reason(&worker->broker);
        if (reason == NULL && worker->pauses.all)
                reason = "paused: see `postonce resume`";
        if (reason == NULL && !joined)
                reason = "not joined its consumer group yet";
        return reason;
}

static void show_figures(const struct worker *worker)
{
        struct source_figures figures;
        source_figures(worker->options->source, &figures);
        metric_set(METRIC_PARTITIONS, figures.partitions_assigned);
        metric_set(METRIC_PARTITIONS_HELD, figures.partitions_held);
        metric_set(METRIC_LAG, figures.lag);
        metric_set(METRIC_REBALANCES, figures.rebalances);
        readiness_set(why_not_ready(worker, figures.joined));
}

static enum po_class take(struct worker *worker, const struct record **records_out,
                          size_t *count_out, struct po_error *error)
{
        struct source *source = worker->options->source;
        *count_out = 0;
        if (worker->pauses.all)
                return source_idle(source, TAKE_WAIT_MS, error);
        return source_take(source, TAKE_WAIT_MS, records_out, count_out, error);
}

/* One turn of the loop. True when an end was reached. */
static bool turn(struct worker *worker, enum worker_end *end_out)
{
        const struct worker_options *options = worker->options;
        const struct record *records;
        size_t count;
        struct po_error error;
        heartbeat_beat(&worker->heartbeat);
        if (worker->database.kind == PO_SYSTEMIC || worker->broker.kind == PO_SYSTEMIC) {
                show_figures(worker);
                wait_out_systemic(worker);
                worker->tick_next_ms = 0; /* no probe before a look: the guard may have paused us */
        }
        tick(worker);
        enum po_class kind = take(worker, &records, &count, &error);
        show_figures(worker);
        if (kind != PO_OK) {
                outage_note(&worker->broker, &error);
                return false;
        }
        if (count > 0) {
                outage_over(&worker->broker);
                work(worker, records, count);
                return false;
        }
        rest(worker);
        if (!options->until_end)
                return false;
        if (worker->pauses.all) {
                *end_out = WORKER_AT_HOLD;
                return true;
        }
        enum source_end end;
        if (source_end(options->source, &end, &error) != PO_OK) {
                outage_note(&worker->broker, &error);
                return false;
        }
        *end_out = end == SOURCE_AT_END ? WORKER_AT_END : WORKER_AT_HOLD;
        return end != SOURCE_GOING;
}

static enum po_class open_parts(struct worker *worker, struct po_error *error)
{
        const struct worker_options *options = worker->options;
        size_t records_max =
                options->records_max > REDRIVE_ROWS_MAX ? options->records_max : REDRIVE_ROWS_MAX;
        size_t capacity = records_max + NOTIFICATIONS_PER_RECORD_MAX;
        struct rejecter_options rejecter = {
                .db = options->db,
                .sink = options->sink,
                .topic = options->dead_letter_topic,
                .attempts = options->dead_letter_attempts,
                .most_per_minute = options->policy.letters_per_minute,
                .records_max = records_max,
        };
        if (batch_open(&worker->batch, options->records_max, error) != PO_OK ||
            ledger_open(&worker->ledger, options->db, options->rules, capacity, error) != PO_OK ||
            rejecter_open(&worker->rejecter, &rejecter, error) != PO_OK ||
            redrive_open(&worker->redrive, options->db, &options->policy, options->rules, error) !=
                    PO_OK)
                return error->kind;
        struct results_options results = {
                .sink = options->sink,
                .topic = options->results_topic,
                .correlation_header = options->correlation_header,
                .records_max = records_max,
        };
        if (options->results_topic != NULL &&
            results_open(&worker->results, &results, error) != PO_OK)
                return error->kind;
        if (worker->results != NULL)
                redrive_keep_rows(worker->redrive);
        worker->holds.db = options->db;
        worker->holds.group = options->group;
        worker->batch.pauses = &worker->pauses;
        worker->batch.policy = &options->policy;
        return options->policy.reconcile ? claims_be_strict(ledger_claims(worker->ledger), error)
                                         : PO_OK;
}

/* Something that was taken was given back and has not come again. */
static bool is_undrained(const struct worker *worker)
{
        struct source_figures figures;
        if (worker->options->source == NULL)
                return false;
        source_figures(worker->options->source, &figures);
        return figures.partitions_waiting > 0;
}

enum po_class worker_run(const struct worker_options *options, enum worker_end *end_out,
                         struct po_error *error)
{
        struct worker worker = { .options = options, .heartbeat = heartbeat_start() };
        *end_out = WORKER_STOPPED;
        enum po_class kind = open_parts(&worker, error);
        if (kind == PO_OK)
                while (!is_stopping(&worker) && !turn(&worker, end_out))
                        ;
        if (kind == PO_OK && *end_out == WORKER_STOPPED && is_undrained(&worker))
                *end_out = WORKER_UNDRAINED;
        batch_close(&worker.batch);
        ledger_close(worker.ledger);
        rejecter_close(worker.rejecter);
        redrive_close(worker.redrive);
        results_close(worker.results);
        holds_free(&worker.holds);
        sql_free(&worker.sql);
        return kind;
}
