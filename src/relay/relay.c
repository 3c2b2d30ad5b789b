#include "relay/relay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "base/outage.h"
#include "kafka/courier.h"
#include "ops/heartbeat.h"
#include "ops/metrics.h"
#include "relay/route.h"

enum {
        ROWS_MAX = 500,  /* of one transaction */
        LOCK_WAIT_S = 1, /* how long one request for the lock may wait; a stop waits for it */
        IDLE_MS = 200,   /* between two looks at an empty outbox */
        WAIT_SLICE_MS = 50,
        COUNT_EVERY_MS = 5000,
        HEADERS = 2,
        ID_BYTES = 64,
};

/* Where a row goes; the message leads here and into the row. */
struct envelope {
        char topic[TOPIC_BYTES];
        struct record_header headers[HEADERS];
};

struct relay {
        const struct relay_options *options;
        struct sql sql;
        struct unpublished unpublished;
        struct envelope *envelopes;    /* one a row */
        struct sink_message *messages; /* one a row */
        struct courier *courier;       /* NULL: standing by */
        size_t limit;  /* rows of the next transaction: brokers refuse whole batches */
        bool unmarked; /* the rows in hand are published, and not marked yet */
        struct outage outage;
        int64_t count_next_ms;
        struct heartbeat heartbeat;
};

static bool is_stopping(const struct relay *relay)
{
        return *relay->options->stop != 0;
}

static void wait_out(struct relay *relay, int64_t wait_ms)
{
        const struct timespec slice = { 0, WAIT_SLICE_MS * 1000000L };
        for (int64_t end_ms = clock_ms() + wait_ms; clock_ms() < end_ms && !is_stopping(relay);) {
                nanosleep(&slice, NULL);
                heartbeat_beat(&relay->heartbeat);
        }
}

/* Whoever is next may begin at once. */
static void step_back(struct relay *relay)
{
        if (relay->courier != NULL)
                log_info("relay_steps_back", "%s", "state=standby");
        courier_close(relay->courier);
        relay->courier = NULL;
        relay_unlock(relay->options->db, &relay->sql);
        metric_set(METRIC_RELAY_ACTIVE, 0);
}

/* The lock first, so that nobody is shut out who is at work; then the brokers' word. */
static enum po_class take_over(struct relay *relay, struct po_error *error)
{
        const struct relay_options *options = relay->options;
        char uuid[RELAY_UUID_BYTES], id[ID_BYTES];
        bool got;
        if (relay_lock(options->db, &relay->sql, LOCK_WAIT_S, &got, error) != PO_OK)
                return error->kind;
        if (!got)
                return PO_OK;
        if (PO_FAILPOINT("relay.locked") != PO_OK ||
            relay_uuid(options->db, &relay->sql, uuid, error) != PO_OK)
                return error->kind;
        snprintf(id, sizeof id, "postonce-relay-%s", uuid);
        if (courier_open(&relay->courier, id, options->properties, options->properties_count,
                         error) != PO_OK)
                return error->kind;
        relay->count_next_ms = 0;
        metric_set(METRIC_RELAY_ACTIVE, 1);
        log_info("relay_active", "transactional_id=%s", id);
        return PO_OK;
}

static bool is_fenced(const struct po_error *error)
{
        return error->reason != NULL && strcmp(error->reason, COURIER_FENCED) == 0;
}

/*
 * Shut out by a successor we stand by as if nothing were. With the lock still ours it was no
 * successor: a copy of this database has relays of the same name, or we took longer than a
 * transaction may.
 */
static enum po_class judge_fence(struct relay *relay, struct po_error *error)
{
        bool has = false;
        struct po_error asking;
        log_failure(LOG_LEVEL_WARN, "fenced", error);
        if (relay_has_lock(relay->options->db, &relay->sql, &has, &asking) != PO_OK || !has)
                return PO_OK;
        log_alarm("RELAY_FENCED", NULL, "%s", "lock=ours");
        return error->kind = PO_TRANSIENT;
}

static enum po_class refuse(struct relay *relay, size_t i, const char *reason,
                            struct po_error *error)
{
        const struct unpublished_row *row = &relay->unpublished.rows[i];
        log_alarm("OUTBOX_REFUSED", NULL, "id=%s seq=%lld type=%s reason=%s", row->id,
                  (long long)row->seq, row->type, reason);
        relay->count_next_ms = 0;
        return unpublished_refuse(row, reason, relay->options->db, &relay->sql, error);
}

/*
 * Fewer at once the next time: what stands before the batch that was refused, else half; the one
 * that is refused alone is the one at fault. The courier is spent.
 */
static enum po_class narrow(struct relay *relay, struct po_error *error)
{
        size_t count = relay->unpublished.count, before = 0;
        courier_close(relay->courier);
        relay->courier = NULL;
        if (count == 1)
                return refuse(relay, 0, "TOO_LARGE", error);
        while (before < count && relay->messages[before].result != PO_RECORD)
                before++;
        relay->limit = before > 0 && before < count ? before : count / 2;
        return PO_OK;
}

static bool fill(struct relay *relay, size_t i)
{
        const struct unpublished_row *row = &relay->unpublished.rows[i];
        struct envelope *envelope = &relay->envelopes[i];
        envelope->headers[0] = (struct record_header){ "id", row->id, strlen(row->id) };
        envelope->headers[1] = (struct record_header){ "type", row->type, strlen(row->type) };
        relay->messages[i] = (struct sink_message){
                .topic = envelope->topic,
                .key = row->aggregateid,
                .key_bytes = strlen(row->aggregateid),
                .value = row->payload,
                .value_bytes = row->payload_bytes,
                .headers = envelope->headers,
                .headers_count = HEADERS,
                .timestamp_ms = -1,
        };
        return route_topic(relay->options->topic, row->aggregatetype, envelope->topic);
}

static enum po_class mark(struct relay *relay, struct po_error *error)
{
        if (unpublished_mark(&relay->unpublished, relay->options->db, &relay->sql, error) != PO_OK)
                return error->kind;
        relay->unmarked = false;
        return PO_FAILPOINT("relay.marked");
}

static enum po_class publish(struct relay *relay, struct po_error *error)
{
        size_t count = relay->unpublished.count;
        for (size_t i = 0; i < count; i++)
                if (!fill(relay, i))
                        return refuse(relay, i, "NO_TOPIC_NAME", error);
        enum po_class kind = courier_deliver(relay->courier, relay->messages, count, error);
        if (kind == PO_RECORD)
                return narrow(relay, error);
        if (kind != PO_OK)
                return is_fenced(error) ? kind : po_within(error, "publish %zu messages", count);
        relay->unmarked = true;
        metric_add(METRIC_OUTBOX_PUBLISHED, (int64_t)count);
        relay->limit += relay->limit / 4 + 1;
        if (relay->limit > ROWS_MAX)
                relay->limit = ROWS_MAX;
        if (PO_FAILPOINT("relay.committed") != PO_OK)
                return error->kind;
        return mark(relay, error);
}

static enum po_class count_refused(struct relay *relay, struct po_error *error)
{
        int64_t refused;
        if (clock_ms() < relay->count_next_ms)
                return PO_OK;
        if (refused_count(relay->options->db, &relay->sql, &refused, error) != PO_OK)
                return error->kind;
        metric_set(METRIC_OUTBOX_REFUSED, refused);
        relay->count_next_ms = clock_ms() + COUNT_EVERY_MS;
        return PO_OK;
}

/* One look at the outbox, and what is in it published. */
static enum po_class work(struct relay *relay, bool *idle_out, struct po_error *error)
{
        struct db *db = relay->options->db;
        bool has;
        *idle_out = false;
        if (relay_has_lock(db, &relay->sql, &has, error) != PO_OK)
                return error->kind;
        if (!has) {
                step_back(relay);
                return PO_OK;
        }
        if (unpublished_read(&relay->unpublished, db, &relay->sql, relay->limit, error) != PO_OK)
                return error->kind;
        metric_set(METRIC_OUTBOX_AGE, relay->unpublished.age_s);
        *idle_out = relay->unpublished.count == 0;
        if (PO_FAILPOINT("relay.read") != PO_OK)
                return error->kind;
        if (!*idle_out && publish(relay, error) != PO_OK)
                return error->kind;
        return count_refused(relay, error);
}

/* What one turn does: what is left of the last one, then what its part is. */
static enum po_class act(struct relay *relay, bool *idle_out, struct po_error *error)
{
        enum po_class kind = PO_OK;
        *idle_out = false;
        if (relay->unmarked)
                kind = mark(relay, error);
        if (kind == PO_OK && relay->courier == NULL)
                kind = take_over(relay, error);
        if (kind == PO_OK && relay->courier != NULL)
                kind = work(relay, idle_out, error);
        return kind;
}

/* With until_end: whether there is nothing left for anybody, or nothing that we may publish. */
static enum po_class is_at_end(struct relay *relay, bool idle, bool *at_end_out,
                               enum relay_end *end_out, struct po_error *error)
{
        bool any;
        *at_end_out = false;
        if (unpublished_any(relay->options->db, &relay->sql, &any, error) != PO_OK)
                return error->kind;
        *end_out = any ? RELAY_LEFT : RELAY_DRAINED;
        *at_end_out = !any || (idle && relay->courier != NULL);
        return PO_OK;
}

static void meet(struct relay *relay, struct po_error *why)
{
        enum po_class kind = is_fenced(why) ? judge_fence(relay, why) : why->kind;
        step_back(relay);
        if (kind == PO_OK)
                return;
        outage_note(&relay->outage, why);
        readiness_set(outage_reason(&relay->outage));
        wait_out(relay, backoff_ms(&relay->options->backoff, relay->outage.tries));
}

/* One turn of the loop. True when an end was reached. */
static bool turn(struct relay *relay, enum relay_end *end_out)
{
        struct po_error error;
        bool idle, at_end = false;
        heartbeat_beat(&relay->heartbeat);
        readiness_set(outage_reason(&relay->outage));
        enum po_class kind = act(relay, &idle, &error);
        if (kind == PO_OK && relay->options->until_end && (idle || relay->courier == NULL))
                kind = is_at_end(relay, idle, &at_end, end_out, &error);
        if (kind != PO_OK) {
                meet(relay, &error);
                return false;
        }
        outage_over(&relay->outage);
        if (at_end)
                return true;
        if (idle)
                wait_out(relay, IDLE_MS);
        return false;
}

static enum po_class open_parts(struct relay *relay, struct po_error *error)
{
        relay->envelopes = calloc(ROWS_MAX, sizeof *relay->envelopes);
        relay->messages = calloc(ROWS_MAX, sizeof *relay->messages);
        if (relay->envelopes == NULL || relay->messages == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "no memory for %d messages", ROWS_MAX);
        return unpublished_open(&relay->unpublished, ROWS_MAX, error);
}

enum po_class relay_run(const struct relay_options *options, enum relay_end *end_out,
                        struct po_error *error)
{
        struct relay relay = { .options = options,
                               .limit = ROWS_MAX,
                               .heartbeat = heartbeat_start() };
        enum relay_end end = RELAY_STOPPED;
        *end_out = RELAY_STOPPED;
        enum po_class kind = open_parts(&relay, error);
        if (kind == PO_OK)
                while (!is_stopping(&relay))
                        if (turn(&relay, &end)) {
                                *end_out = end;
                                break;
                        }
        step_back(&relay);
        unpublished_free(&relay.unpublished);
        sql_free(&relay.sql);
        free(relay.envelopes);
        free(relay.messages);
        return kind;
}
