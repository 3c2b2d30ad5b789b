#include "worker/batch.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/failpoint.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/topic_match.h"
#include "kafka/dead_letter.h"
#include "ledger/parked.h"
#include "ops/metrics.h"

/* A deadlock or a short lock wait is tried again at once a few times before the records are given
 * back; not what takes long: nothing is polled meanwhile. */
enum { QUICK_TRIES = 3, QUICK_WAIT_MS = 20, QUICK_MOST_MS = 1000 };

enum po_class batch_open(struct batch *batch, size_t records_max, struct po_error *error)
{
        memset(batch, 0, sizeof *batch);
        batch->capacity = records_max + NOTIFICATIONS_PER_RECORD_MAX;
        batch->parcels = calloc(records_max, sizeof *batch->parcels);
        batch->errors = calloc(records_max, sizeof *batch->errors);
        batch->notifications = calloc(batch->capacity, sizeof *batch->notifications);
        batch->postings = calloc(batch->capacity, sizeof *batch->postings);
        batch->open = calloc(batch->capacity, sizeof(struct posting *));
        if (batch->parcels == NULL || batch->errors == NULL || batch->notifications == NULL ||
            batch->postings == NULL || batch->open == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for a batch of %zu",
                               records_max);
        return PO_OK;
}

void batch_close(struct batch *batch)
{
        free(batch->parcels);
        free(batch->errors);
        free(batch->notifications);
        free(batch->postings);
        free(batch->open);
        memset(batch, 0, sizeof *batch);
}

/* Its own name's, else that of the first pattern that means it. */
static const char *find_channel(const char *topic, const struct topic_channel *topics, size_t count)
{
        for (size_t i = 0; i < count; i++)
                if (strcmp(topics[i].topic, topic) == 0)
                        return topics[i].channel;
        for (size_t i = 0; i < count; i++)
                if (topic_is_pattern(topics[i].topic) &&
                    topic_pattern_matches(topics[i].topic, topic))
                        return topics[i].channel;
        return NULL;
}

static const char *channel_of_topic(struct batch *batch, const char *topic,
                                    const struct topic_channel *topics, size_t count)
{
        if (strcmp(batch->topic, topic) == 0)
                return batch->topic_channel;
        batch->topic_channel = find_channel(topic, topics, count);
        snprintf(batch->topic, sizeof batch->topic, "%s", topic);
        return batch->topic_channel;
}

static void reject(struct parcel *parcel, bool may_change)
{
        parcel->verdict = VERDICT_REJECTED;
        parcel->may_change = may_change;
}

static void add_postings(struct batch *batch, struct parcel *parcel, const struct rules *rules)
{
        for (size_t i = 0; i < parcel->count; i++) {
                struct posting *posting = &batch->postings[batch->postings_count];
                memset(posting, 0, sizeof *posting);
                posting->notification = &batch->notifications[batch->postings_count];
                posting->record = parcel->record;
                posting->turn = (uint32_t)batch->postings_count;
                posting->rule = rules_find(rules, posting->notification->event);
                batch->postings_count++;
                if (posting->rule != NULL)
                        continue;
                posting->verdict = VERDICT_REJECTED;
                posting->reason = "NO_EVENT_RULE";
                reject(parcel, false);
                po_refuse(parcel->error, posting->reason, "event %s of %s has no rule",
                          posting->notification->event, posting->notification->key);
        }
}

struct parcel *batch_begin_parcel(struct batch *batch, const struct record *record)
{
        struct parcel *parcel = &batch->parcels[batch->parcels_count];
        struct po_error *error = &batch->errors[batch->parcels_count++];
        if (error->kind != PO_OK)
                memset(error, 0, sizeof *error);
        *parcel = (struct parcel){ .record = record,
                                   .first = batch->postings_count,
                                   .error = error };
        return parcel;
}

size_t batch_fill(struct batch *batch, const struct record *records, size_t count,
                  struct decoder *decoder, const struct rules *rules,
                  const struct topic_channel *topics, size_t topics_count)
{
        batch->parcels_count = 0;
        batch->postings_count = 0;
        while (batch->parcels_count < count &&
               batch->capacity - batch->postings_count >= NOTIFICATIONS_PER_RECORD_MAX) {
                struct parcel *parcel =
                        batch_begin_parcel(batch, &records[batch->parcels_count]);
                if (decode_record(
                            decoder, parcel->record,
                            channel_of_topic(batch, parcel->record->topic, topics, topics_count),
                            batch->notifications + parcel->first, batch->capacity - parcel->first,
                            &parcel->count, parcel->error) == PO_OK) {
                        add_postings(batch, parcel, rules);
                        continue;
                }
                parcel->count = 0;
                reject(parcel, false);
        }
        return batch->parcels_count;
}

struct parcel *batch_parcel(const struct batch *batch, const struct posting *posting)
{
        size_t low = 0, high = batch->parcels_count;
        while (high - low > 1) {
                size_t middle = low + (high - low) / 2;
                if (batch->parcels[middle].first <= posting->turn)
                        low = middle;
                else
                        high = middle;
        }
        return &batch->parcels[low];
}

/* The culprit stands alone. What a BUG is, only the rest of the batch can tell. */
static void isolate(struct batch *batch, struct posting *posting, const struct po_error *error)
{
        struct parcel *parcel = batch_parcel(batch, posting);
        posting->verdict = VERDICT_REJECTED;
        reject(parcel, true);
        *parcel->error = *error;
}

static bool is_worth_a_quick_try(enum po_class kind, const struct ledger *ledger, unsigned tries)
{
        return kind == PO_TRANSIENT && tries < QUICK_TRIES && ledger_is_connected(ledger);
}

static void wait_briefly(void)
{
        struct timespec wait = { 0, (long)(1 + clock_jitter(QUICK_WAIT_MS)) * 1000000L };
        nanosleep(&wait, NULL);
}

typedef enum po_class (*batch_step)(struct ledger *ledger, struct posting **postings, size_t count,
                                    struct po_error *error);

static enum po_class claim_step(struct ledger *ledger, struct posting **postings, size_t count,
                                struct po_error *error)
{
        if (PO_FAILPOINT("claim.begun") != PO_OK ||
            claims_acquire(ledger_claims(ledger), postings, count, error) != PO_OK)
                return error->kind;
        return PO_FAILPOINT("claim.committed");
}

/*
 * With strict.unfinished nobody retries a posting that was begun. (Halves of a set that the
 * database refused are no retry: its transaction is known not to have taken place, and this is
 * still the attempt that claimed them.)
 */
static bool may_repeat(const struct batch *batch, batch_step step)
{
        return step == claim_step || batch->policy == NULL || !batch->policy->reconcile;
}

static enum po_class try_step(const struct batch *batch, batch_step step, struct ledger *ledger,
                              struct posting **postings, size_t count, struct po_error *error)
{
        int64_t end_ms = clock_ms() + QUICK_MOST_MS;
        for (unsigned tries = 0;; tries++) {
                enum po_class kind = step(ledger, postings, count, error);
                if (!may_repeat(batch, step) || !is_worth_a_quick_try(kind, ledger, tries) ||
                    clock_ms() >= end_ms)
                        return kind;
                metric_add(METRIC_RETRIES, 1);
                wait_briefly();
        }
}

/*
 * Runs a step over a set; when its data is at fault, over its halves, until the culprit stands
 * alone and the rest has passed. Depth: log2 of the batch.
 */
static enum po_class halve(struct batch *batch, batch_step step, struct ledger *ledger,
                           struct posting **postings, size_t count, bool *halved_out,
                           struct po_error *error)
{
        if (count == 0)
                return PO_OK;
        enum po_class kind = try_step(batch, step, ledger, postings, count, error);
        if (kind != PO_RECORD && kind != PO_BUG)
                return kind;
        *halved_out = true;
        if (count == 1) {
                isolate(batch, postings[0], error);
                return PO_OK;
        }
        kind = halve(batch, step, ledger, postings, count / 2, halved_out, error);
        if (kind != PO_OK)
                return kind;
        return halve(batch, step, ledger, postings + count / 2, count - count / 2, halved_out,
                     error);
}

/* Collects into `open`: everything not rejected, or only what is ours to post. */
static size_t collect(struct batch *batch, bool ours_only)
{
        size_t count = 0;
        for (size_t i = 0; i < batch->postings_count; i++) {
                struct posting *posting = &batch->postings[i];
                if (posting->verdict == VERDICT_REJECTED)
                        continue;
                if (ours_only && (posting->verdict != VERDICT_NONE || posting->leader != NULL))
                        continue;
                batch->open[count++] = posting;
        }
        return count;
}

/* What was isolated in the parcel must come again instead. */
static void give_back(struct batch *batch, struct parcel *parcel)
{
        parcel->verdict = VERDICT_NONE;
        for (size_t i = parcel->first; i < parcel->first + parcel->count; i++) {
                struct posting *posting = &batch->postings[i];
                if (posting->verdict == VERDICT_REJECTED && posting->rule != NULL)
                        posting->verdict = VERDICT_NONE;
        }
}

/*
 * It was found to be the record's own fault before, beside others that posted then. When it comes
 * again the same others are settled already, and nothing fresh would ever acquit the database.
 */
static enum po_class failed_before(const struct batch *batch, struct ledger *ledger,
                                   const struct parcel *parcel, bool *before_out,
                                   struct po_error *error)
{
        const struct posting *posting = &batch->postings[parcel->first];
        char id[LETTER_ID_BYTES];
        unsigned failures;
        letter_id_of_key(parcel->record, posting->unparks ? posting->notification->key : NULL, id);
        if (ledger_failures(ledger, id, &failures, error) != PO_OK)
                return error->kind;
        *before_out = failures > 0;
        return PO_OK;
}

/* A BUG that reproduces alone is the record's fault only if another record posts; else all of them
 * met something systemic. may_ask: the database answers. */
static enum po_class judge_bugs(struct batch *batch, struct ledger *ledger, bool may_ask,
                                struct po_error *error)
{
        bool posted = false;
        for (size_t i = 0; i < batch->postings_count; i++)
                posted |=
                        verdict_is_outcome(batch->postings[i].verdict) && !batch->postings[i].again;
        if (posted)
                return PO_OK;
        enum po_class kind = PO_OK;
        for (size_t i = 0; i < batch->parcels_count; i++) {
                struct parcel *parcel = &batch->parcels[i];
                struct po_error asking;
                bool before = false;
                if (parcel->verdict != VERDICT_REJECTED || parcel->error->kind != PO_BUG)
                        continue;
                if (may_ask && failed_before(batch, ledger, parcel, &before, &asking) != PO_OK)
                        log_failure(LOG_LEVEL_WARN, "failures_unread", &asking);
                if (before)
                        continue;
                give_back(batch, parcel);
                if (kind != PO_OK)
                        continue;
                *error = *parcel->error;
                kind = error->kind = PO_SYSTEMIC;
        }
        return kind;
}

static enum po_class claim(struct batch *batch, struct ledger *ledger, struct po_error *error)
{
        bool halved = false;
        size_t count = collect(batch, false);
        claims_begin(ledger_claims(ledger));
        enum po_class kind = halve(batch, claim_step, ledger, batch->open, count, &halved, error);
        if (kind != PO_OK || !halved)
                return kind;
        /* Claimed in parts: leaders and followers are found again over all of them. */
        count = collect(batch, false);
        return claims_read(ledger_claims(ledger), batch->open, count, error);
}

/* A paused channel's notifications are claimed and wait. */
static void park_paused(struct batch *batch)
{
        size_t count = collect(batch, true);
        for (size_t i = 0; i < count && batch->pauses != NULL; i++) {
                if (!pauses_have(batch->pauses, batch->open[i]->notification->channel))
                        continue;
                batch->open[i]->verdict = VERDICT_PARKED;
                batch->open[i]->reason = PARKED_PAUSED;
        }
}

static enum po_class post(struct batch *batch, struct ledger *ledger, struct po_error *error)
{
        bool halved = false;
        park_paused(batch);
        size_t count = collect(batch, true);
        return halve(batch, posting_run, ledger, batch->open, count, &halved, error);
}

static enum po_class settle(struct batch *batch, struct ledger *ledger, bool claimed,
                            struct po_error *error)
{
        struct po_error bug;
        enum po_class kind;
        if (claimed) {
                size_t count = collect(batch, false);
                kind = claims_read(ledger_claims(ledger), batch->open, count, error);
        } else {
                kind = claim(batch, ledger, error);
        }
        if (kind == PO_OK)
                kind = post(batch, ledger, error);
        if (judge_bugs(batch, ledger, kind == PO_OK, &bug) == PO_OK || kind != PO_OK)
                return kind;
        *error = bug;
        return error->kind;
}

enum po_class batch_settle(struct batch *batch, struct ledger *ledger, struct po_error *error)
{
        return settle(batch, ledger, false, error);
}

enum po_class batch_repost(struct batch *batch, struct ledger *ledger, struct po_error *error)
{
        return settle(batch, ledger, true, error);
}

static void follow(struct posting *posting)
{
        const struct posting *leader = posting->leader;
        if (posting->verdict != VERDICT_NONE || leader == NULL)
                return;
        if (leader->verdict == VERDICT_PARKED || leader->verdict == VERDICT_ORPHANED) {
                posting->verdict = leader->verdict;
                posting->reason = leader->reason;
                return;
        }
        if (!verdict_is_outcome(leader->verdict) && leader->verdict != VERDICT_DUPLICATE)
                return;
        posting->verdict = VERDICT_DUPLICATE;
        memcpy(posting->result, leader->result, sizeof posting->result);
}

static void hold(struct parcel *parcel, const struct posting *posting,
                 const struct po_error *failure)
{
        parcel->verdict = VERDICT_HELD;
        if (posting->reason != NULL)
                po_refuse(parcel->error, posting->reason, "%s waits: %s",
                          posting->notification->key, posting->reason);
        else if (failure != NULL)
                *parcel->error = *failure;
        else
                po_refuse(parcel->error, "WAITS_FOR_FIRST", "%s waits for its first delivery",
                          posting->notification->key);
}

/* How much a verdict weighs in its record: the heaviest one is the record's. */
static int weight(enum verdict verdict)
{
        static const int weights[VERDICT_COUNT] = { [VERDICT_PARKED] = 1,
                                                    [VERDICT_ORPHANED] = 2,
                                                    [VERDICT_CONFLICT] = 3,
                                                    [VERDICT_REJECTED] = 4 };
        return weights[verdict];
}

static bool is_handed_over(enum verdict verdict)
{
        return verdict == VERDICT_PARKED || verdict == VERDICT_CONFLICT ||
               verdict == VERDICT_REJECTED;
}

/* strict.hand_over: false is the literal rule: only what is settled in the ledger passes. */
static void hold_handed_over(const struct batch *batch, struct parcel *parcel)
{
        if (batch->policy == NULL || batch->policy->hand_over || !is_handed_over(parcel->verdict))
                return;
        if (parcel->verdict != VERDICT_REJECTED)
                po_refuse(parcel->error, verdict_name(parcel->verdict),
                          "it is %s, and strict.hand_over is false", verdict_name(parcel->verdict));
        parcel->verdict = VERDICT_HELD;
}

static void conclude(struct batch *batch, struct parcel *parcel, const struct po_error *failure)
{
        bool rejected = parcel->verdict == VERDICT_REJECTED;
        const struct posting *held = NULL;
        enum verdict last = rejected ? VERDICT_REJECTED : VERDICT_SKIPPED;
        for (size_t i = parcel->first; i < parcel->first + parcel->count; i++) {
                struct posting *posting = &batch->postings[i];
                follow(posting);
                if (posting->verdict == VERDICT_NONE)
                        posting->verdict = VERDICT_HELD;
                if (posting->verdict == VERDICT_HELD && held == NULL)
                        held = posting;
                if (posting->verdict == VERDICT_REJECTED && !rejected) {
                        rejected = true;
                        parcel->may_change = !posting->gave_up;
                        po_refuse(parcel->error, posting->reason, "%s: %s",
                                  posting->notification->key, posting->reason);
                }
                if (weight(posting->verdict) >= weight(last))
                        last = posting->verdict;
        }
        if (held != NULL)
                hold(parcel, held, failure);
        else
                parcel->verdict = last;
        hold_handed_over(batch, parcel);
}

void batch_conclude(struct batch *batch, const struct po_error *failure)
{
        for (size_t i = 0; i < batch->parcels_count; i++)
                conclude(batch, &batch->parcels[i], failure);
}

void batch_end(struct batch *batch, struct ledger *ledger)
{
        for (size_t i = 0; i < batch->postings_count; i++) {
                const struct posting *posting = &batch->postings[i];
                claims_end(ledger_claims(ledger), posting,
                           batch_parcel(batch, posting)->verdict == VERDICT_HELD);
        }
}
