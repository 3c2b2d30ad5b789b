/*
 * The loop and its policy, on a source, a batch and a ledger of the test's own: what is stored,
 * what is held, in which order the steps stand, and what an outage does.
 */
#include "posting_fixture.h"

#include "ledger/missed.h"
#include "ledger/parked.h"
#include "ledger/review.h"
#include "ops/metrics.h"
#include "worker/holds.h"
#include "worker/redrive.h"
#include "worker/reject.h"
#include "worker/worker.h"

enum { TURNS_MAX = 8, TRAIL_BYTES = 2048 };

/* What happened, in order: "fill2 settle conclude reject store:100 hold:101 ". */
static char trail[TRAIL_BYTES];
static size_t trail_length;

static void note(const char *step, long long number)
{
        size_t room = sizeof trail - trail_length;
        trail_length += (size_t)(number < 0 ? snprintf(trail + trail_length, room, "%s ", step)
                                            : snprintf(trail + trail_length, room, "%s:%lld ", step,
                                                       number));
        ck_assert_uint_lt(trail_length, sizeof trail);
}

/* One turn of the loop: what the source gives, and what becomes of it. */
struct turn {
        size_t count; /* the next records; 0: none came */
        enum po_class take, settle, review, reject;
};
static struct turn turns[TURNS_MAX];
static size_t turn_count, turn_now, records_given;
static enum verdict verdicts[FIXTURE_MAX];
static enum verdict
        ended_as[FIXTURE_MAX]; /* the record's last verdict, when its attempt was over */
static size_t fill_most;
static enum source_end end_answer;
static volatile sig_atomic_t stop;
static struct record given[FIXTURE_MAX];
static bool held[4];        /* by partition */
static unsigned idles_most; /* then the worker is stopped; 0: never */

/* What stands in the database besides: pauses, parked notifications, a decision on a hold. */
static unsigned looks, paused_looks, redrives, redrive_looks;
static bool look_fails, redrive_fails, connected;
static enum verdict redriven_as;
static int64_t skipped_offset;
static struct batch parked_batch;

static const struct turn *turn(void)
{
        return &turns[turn_now - 1];
}

enum po_class source_take(struct source *source, int wait_ms, const struct record **records_out,
                          size_t *count_out, struct po_error *why)
{
        (void)source;
        (void)wait_ms;
        *count_out = 0;
        if (turn_now == turn_count) {
                stop = 1;
                return PO_OK;
        }
        note("take", -1);
        memset(held, 0, sizeof held);
        const struct turn *now = &turns[turn_now++];
        if (now->take != PO_OK)
                return po_fail(why, now->take, 0, "the source fails");
        *records_out = &given[records_given];
        *count_out = now->count;
        records_given += now->count;
        return PO_OK;
}

void source_store(struct source *source, const struct record *record)
{
        (void)source;
        ck_assert(!held[record->partition]);
        note("store", record->offset);
}

void source_hold(struct source *source, const struct record *record, int delay_ms)
{
        (void)source;
        ck_assert_int_ge(delay_ms, 1);
        held[record->partition] = true;
        note("hold", record->offset);
}

bool source_is_held(const struct source *source, const struct record *record)
{
        (void)source;
        return held[record->partition];
}

unsigned source_hold_tries(const struct source *source, const struct record *record)
{
        (void)source;
        (void)record;
        return 0;
}

enum po_class source_idle(struct source *source, int wait_ms, struct po_error *why)
{
        (void)source;
        (void)wait_ms;
        (void)why;
        if (strstr(trail, "idle") == NULL)
                note("idle", -1);
        if (idles_most > 0 && --idles_most == 0)
                stop = 1;
        return PO_OK;
}

enum po_class source_end(struct source *source, enum source_end *end_out, struct po_error *why)
{
        (void)source;
        (void)why;
        *end_out = end_answer;
        return PO_OK;
}

void source_figures(const struct source *source, struct source_figures *figures_out)
{
        (void)source;
        *figures_out = (struct source_figures){ .joined = true };
        for (size_t i = 0; i < sizeof held / sizeof held[0]; i++)
                figures_out->partitions_held += held[i];
}

/* The batch: a record's verdict stands in verdicts[] at its offset less 100. */
enum po_class batch_open(struct batch *batch, size_t records_max, struct po_error *why)
{
        (void)records_max;
        (void)why;
        static struct parcel parcels[FIXTURE_MAX];
        static struct po_error errors[FIXTURE_MAX];
        *batch = (struct batch){
                .parcels = parcels, .errors = errors, .postings = postings, .open = open_postings
        };
        return PO_OK;
}

void batch_close(struct batch *batch)
{
        (void)batch;
}

size_t batch_fill(struct batch *batch, const struct record *records_in, size_t count,
                  struct decoder *decoder, const struct rules *rules,
                  const struct topic_channel *topics, size_t topics_count)
{
        (void)decoder;
        (void)rules;
        (void)topics;
        (void)topics_count;
        count = count < fill_most ? count : fill_most;
        batch->parcels_count = batch->postings_count = count;
        for (size_t i = 0; i < count; i++) {
                char txn[8];
                snprintf(txn, sizeof txn, "T%lld", (long long)records_in[i].offset);
                fixture_posting(i, NULL, txn, "R8-1")->record = &records_in[i];
                batch->parcels[i] = (struct parcel){
                        .record = &records_in[i], .first = i, .count = 1, .error = &batch->errors[i]
                };
        }
        note("fill", (long long)count);
        return count;
}

struct parcel *batch_parcel(const struct batch *batch, const struct posting *posting)
{
        return &batch->parcels[posting->turn];
}

enum po_class batch_settle(struct batch *batch, struct ledger *ledger, struct po_error *why)
{
        (void)batch;
        (void)ledger;
        note("settle", -1);
        if (turn()->settle == PO_OK)
                return PO_OK;
        return po_fail(why, turn()->settle, 4711, "the database fails");
}

void batch_conclude(struct batch *batch, const struct po_error *failure)
{
        note("conclude", -1);
        if (batch == &parked_batch)
                return;
        for (size_t i = 0; i < batch->parcels_count; i++) {
                struct parcel *parcel = &batch->parcels[i];
                size_t place = (size_t)(parcel->record->offset - 100);
                parcel->verdict = batch->postings[i].verdict = verdicts[place];
                if (failure != NULL)
                        *parcel->error = *failure;
        }
}

/* The last verdicts stand: nothing may change them afterwards. */
void batch_end(struct batch *batch, struct ledger *ledger)
{
        (void)ledger;
        for (size_t i = 0; i < batch->parcels_count && batch != &parked_batch; i++)
                ended_as[batch->parcels[i].record->offset - 100] = batch->parcels[i].verdict;
}

/* The ledger. */
enum po_class ledger_open(struct ledger **ledger_out, struct db *db, const struct rules *rules,
                          size_t capacity, struct po_error *why)
{
        (void)db;
        (void)rules;
        (void)capacity;
        (void)why;
        *ledger_out = NULL;
        return PO_OK;
}

void ledger_close(struct ledger *ledger)
{
        (void)ledger;
}

void ledger_keep_alive(struct ledger *ledger)
{
        (void)ledger;
}

enum po_class ledger_connect(struct ledger *ledger, struct po_error *why)
{
        (void)ledger;
        (void)why;
        return PO_OK;
}

enum po_class reviews_count_open(struct db *db, struct sql *sql, int64_t *count_out,
                                 struct po_error *why)
{
        (void)db;
        (void)sql;
        (void)why;
        *count_out = 0;
        return PO_OK;
}

enum po_class review_insert(struct db *db, struct sql *sql, const char *reason,
                            const struct posting *posting, bool with_body, bool *fresh_out,
                            struct po_error *why)
{
        struct posting *one = (struct posting *)(uintptr_t)posting;
        *fresh_out = true;
        return reviews_insert(db, sql, reason, &one, 1, with_body, why);
}

enum po_class reviews_insert(struct db *db, struct sql *sql, const char *reason,
                             struct posting *const *set, size_t count, bool with_body,
                             struct po_error *why)
{
        (void)db;
        (void)sql;
        ck_assert_str_eq(reason, set[0]->verdict == VERDICT_ORPHANED ? REVIEW_ORPHAN
                                                                     : REVIEW_PAYLOAD_CONFLICT);
        ck_assert(with_body);
        for (size_t i = 0; i < count; i++)
                note("review", set[i]->record->offset);
        return turn()->review == PO_OK ? PO_OK
                                       : po_fail(why, turn()->review, 4711, "no review is kept");
}

enum po_class parked_insert(struct db *db, struct sql *sql, struct posting *const *set,
                            size_t count, int64_t delay_ms, struct po_error *why)
{
        (void)db;
        (void)sql;
        (void)why;
        ck_assert_int_eq(delay_ms, 7);
        for (size_t i = 0; i < count; i++)
                note("park", set[i]->record->offset);
        return PO_OK;
}

enum po_class missed_make_due(struct db *db, struct sql *sql, struct posting *const *set,
                              size_t count, struct po_error *why)
{
        (void)db;
        (void)sql;
        (void)set;
        (void)count;
        (void)why;
        return PO_OK;
}

struct claims *ledger_claims(struct ledger *ledger)
{
        (void)ledger;
        return NULL;
}

bool ledger_is_connected(const struct ledger *ledger)
{
        (void)ledger;
        return connected;
}

enum po_class claims_be_strict(struct claims *claims, struct po_error *why)
{
        (void)claims;
        (void)why;
        note("strict", -1);
        return PO_OK;
}

/* What operators decided: all is paused for so many looks. */
enum po_class pauses_read(struct db *db, struct sql *sql, struct pauses *pauses_out,
                          struct po_error *why)
{
        (void)db;
        (void)sql;
        looks++;
        if (look_fails)
                return po_fail(why, PO_TRANSIENT, 4711, "the pauses cannot be read");
        *pauses_out = (struct pauses){ .all = paused_looks > 0 };
        paused_looks -= paused_looks > 0;
        return PO_OK;
}

enum po_class holds_look(struct holds *holds, struct source *source, struct po_error *why)
{
        (void)holds;
        (void)source;
        (void)why;
        return PO_OK;
}

void holds_note(struct holds *holds, const struct parcel *parcel, unsigned tries)
{
        (void)holds;
        (void)parcel;
        (void)tries;
}

bool holds_skip(struct holds *holds, struct batch *batch, struct parcel *parcel)
{
        (void)holds;
        (void)batch;
        if (parcel->record->offset != skipped_offset)
                return false;
        note("skip", parcel->record->offset);
        parcel->verdict = VERDICT_DISCARDED;
        return true;
}

void holds_free(struct holds *holds)
{
        (void)holds;
}

/* The re-drive: so many full batches of parked notifications, POSTED, offset 500 of a topic. */
enum po_class redrive_open(struct redrive **redrive_out, struct db *db, const struct policy *policy,
                           const struct rules *rules, struct po_error *why)
{
        (void)db;
        (void)policy;
        (void)rules;
        (void)why;
        *redrive_out = NULL;
        return PO_OK;
}

void redrive_keep_rows(struct redrive *redrive)
{
        (void)redrive;
}

void redrive_close(struct redrive *redrive)
{
        (void)redrive;
}

enum po_class redrive_take(struct redrive *redrive, const struct pauses *pauses,
                           struct batch **batch_out, struct po_error *why)
{
        (void)redrive;
        *batch_out = NULL;
        ck_assert(!pauses->all);
        redrive_looks++;
        if (redrives == 0)
                return PO_OK;
        if (redrive_fails)
                return po_fail(why, PO_TRANSIENT, 4711, "nothing can be taken");
        redrives--;
        static struct record record = { .topic = "callbacks", .offset = 500 };
        static struct parcel parcels[REDRIVE_ROWS_MAX];
        static struct po_error errors[REDRIVE_ROWS_MAX];
        static struct posting set[REDRIVE_ROWS_MAX], *open_set[REDRIVE_ROWS_MAX];
        fixture_posting(0, NULL, "T0", "R8-1");
        for (uint32_t i = 0; i < REDRIVE_ROWS_MAX; i++) {
                set[i] = (struct posting){ .notification = &notifications[0],
                                           .record = &record,
                                           .turn = i,
                                           .unparks = true,
                                           .verdict = redriven_as };
                parcels[i] = (struct parcel){
                        .record = &record,
                        .first = i,
                        .count = 1,
                        .verdict = redriven_as,
                        .error = &errors[i]
                };
        }
        parked_batch = (struct batch){ .parcels_count = REDRIVE_ROWS_MAX,
                                       .postings_count = REDRIVE_ROWS_MAX,
                                       .parcels = parcels,
                                       .postings = set,
                                       .open = open_set };
        *batch_out = &parked_batch;
        note("taken", -1);
        return PO_OK;
}

enum po_class batch_repost(struct batch *batch, struct ledger *ledger, struct po_error *why)
{
        (void)ledger;
        (void)why;
        ck_assert_ptr_eq(batch, &parked_batch);
        note("repost", -1);
        return PO_OK;
}

enum po_class redrive_finish(struct redrive *redrive, struct po_error *why)
{
        (void)redrive;
        (void)why;
        note("finish", -1);
        return PO_OK;
}

/* The rejecter: what it cannot send it holds. */
enum po_class rejecter_open(struct rejecter **rejecter_out, const struct rejecter_options *options,
                            struct po_error *why)
{
        (void)options;
        (void)why;
        *rejecter_out = NULL;
        return PO_OK;
}

void rejecter_close(struct rejecter *rejecter)
{
        (void)rejecter;
}

enum po_class reject_all(struct rejecter *rejecter, struct batch *batch, struct po_error *why)
{
        (void)rejecter;
        note("reject", -1);
        if (batch == &parked_batch || turn()->reject == PO_OK)
                return PO_OK;
        for (size_t i = 0; i < batch->parcels_count; i++)
                if (batch->parcels[i].verdict == VERDICT_REJECTED)
                        batch->parcels[i].verdict = VERDICT_HELD;
        return po_fail(why, turn()->reject, 4711, "no letter is kept");
}

static struct worker_options options;
static struct unit_capture capture;
static enum worker_end ended;

static void start(void)
{
        memset(turns, 0, sizeof turns);
        memset(trail, 0, sizeof trail);
        turn_count = turn_now = records_given = trail_length = 0;
        idles_most = looks = paused_looks = redrives = redrive_looks = 0;
        look_fails = redrive_fails = false;
        redriven_as = VERDICT_POSTED;
        connected = true;
        skipped_offset = -1;
        fill_most = FIXTURE_MAX;
        end_answer = SOURCE_GOING;
        stop = 0;
        for (size_t i = 0; i < FIXTURE_MAX; i++) {
                verdicts[i] = VERDICT_POSTED;
                given[i] = (struct record){ .topic = "callbacks",
                                            .offset = 100 + (int64_t)i,
                                            .value = "SECRET-BODY",
                                            .value_bytes = 11 };
        }
        options = (struct worker_options){
                .records_max = FIXTURE_MAX,
                .backoff = { 1, 2 },
                .policy = { .park_delays_count = 1, .park_delays_ms = { 7 }, .hand_over = true },
                .stop = &stop
        };
}

static struct turn *takes(size_t count)
{
        ck_assert_uint_lt(turn_count, TURNS_MAX);
        turns[turn_count].count = count;
        return &turns[turn_count++];
}

static void run(void)
{
        unit_capture_begin(&capture, STDERR_FILENO);
        enum po_class kind = worker_run(&options, &ended, &error);
        unit_capture_end(&capture);
        ck_assert_int_eq(kind, PO_OK);
        unit_assert_not_in(capture.text, "SECRET-BODY");
}

START_TEST(each_verdict_passes_or_holds_as_the_contract_says)
{
        static const bool passes[VERDICT_COUNT] = {
                [VERDICT_POSTED] = true,   [VERDICT_SKIPPED] = true,  [VERDICT_DUPLICATE] = true,
                [VERDICT_CONFLICT] = true, [VERDICT_REJECTED] = true, [VERDICT_HELD] = false,
                [VERDICT_SUSPENSE] = true, [VERDICT_PARKED] = true,   [VERDICT_DISCARDED] = true,
                [VERDICT_ORPHANED] = true,
        };
        for (int verdict = VERDICT_POSTED; verdict < VERDICT_COUNT; verdict++) {
                start();
                takes(1);
                verdicts[0] = (enum verdict)verdict;
                run();
                ck_assert_msg((strstr(trail, "store:100") != NULL) == passes[verdict], "%s: %s",
                              verdict_name((enum verdict)verdict), trail);
                ck_assert_msg((strstr(trail, "hold:100") != NULL) == !passes[verdict], "%s: %s",
                              verdict_name((enum verdict)verdict), trail);
        }
}
END_TEST

START_TEST(the_steps_stand_in_order_and_the_offset_is_the_last)
{
        start();
        takes(5);
        verdicts[1] = VERDICT_CONFLICT;
        verdicts[2] = VERDICT_REJECTED;
        verdicts[3] = VERDICT_PARKED;
        verdicts[4] = VERDICT_ORPHANED;
        int64_t records_before = metric_get(METRIC_RECORDS);
        run();
        ck_assert_int_eq(metric_get(METRIC_RECORDS) - records_before, 5);
        ck_assert_str_eq(trail, "take fill:5 settle conclude review:101 review:104 park:103 reject"
                                " store:100 store:101 store:102 store:103 store:104 ");
        ck_assert_int_eq(ended, WORKER_STOPPED);
}
END_TEST

START_TEST(behind_a_hold_nothing_of_its_partition_is_stored)
{
        start();
        takes(5);
        given[3].partition = 1;
        verdicts[1] = VERDICT_HELD;
        verdicts[4] = VERDICT_HELD;
        run();
        ck_assert_str_eq(trail, "take fill:5 settle conclude reject store:100 hold:101 store:103 ");
}
END_TEST

START_TEST(behind_a_hold_only_what_was_settled_now_is_counted)
{
        start();
        takes(4);
        verdicts[0] = VERDICT_HELD;
        verdicts[2] = VERDICT_DUPLICATE;
        verdicts[3] = VERDICT_HELD;
        int64_t posted = metric_get(METRIC_POSTED), duplicates = metric_get(METRIC_DUPLICATE);
        int64_t held_before = metric_get(METRIC_HELD);
        run();
        ck_assert_int_eq(metric_get(METRIC_POSTED) - posted, 1);
        ck_assert_int_eq(metric_get(METRIC_DUPLICATE) - duplicates, 0);
        ck_assert_int_eq(metric_get(METRIC_HELD) - held_before, 1);
}
END_TEST

START_TEST(a_conflict_that_cannot_be_kept_is_held)
{
        start();
        takes(3)->review = PO_TRANSIENT;
        verdicts[1] = VERDICT_CONFLICT;
        given[2].partition = 1;
        run();
        unit_assert_in(trail, "store:100 hold:101 store:102 ");
        unit_assert_not_in(capture.text, "alarm=PAYLOAD_CONFLICT"); /* it is when it is kept */
        unit_assert_in(capture.text, "key=SQB:T101:PAYMENT_RECEIVED");
        unit_assert_in(capture.text, "no review is kept");
        ck_assert_int_eq(ended_as[0], VERDICT_POSTED);
        ck_assert_int_eq(ended_as[1], VERDICT_HELD);
}
END_TEST

START_TEST(a_rejection_that_cannot_be_kept_is_held)
{
        start();
        takes(2)->reject = PO_TRANSIENT;
        verdicts[0] = VERDICT_REJECTED;
        given[1].partition = 1;
        run();
        unit_assert_in(trail, "hold:100 store:101 ");
}
END_TEST

START_TEST(records_that_do_not_fit_one_batch_make_the_next)
{
        start();
        takes(3);
        fill_most = 2;
        run();
        ck_assert_str_eq(trail, "take fill:2 settle conclude reject store:100 store:101"
                                " fill:1 settle conclude reject store:102 ");
}
END_TEST

START_TEST(a_transient_outage_goes_on_taking)
{
        start();
        takes(1)->settle = PO_TRANSIENT;
        takes(1);
        verdicts[0] = VERDICT_HELD;
        run();
        ck_assert_str_eq(trail, "take fill:1 settle conclude reject hold:100"
                                " take fill:1 settle conclude reject store:101 ");
        unit_assert_in(capture.text, "the database fails");
        unit_assert_in(capture.text, "outage_over");
        ck_assert_ptr_null(readiness_reason());
}
END_TEST

START_TEST(a_systemic_outage_stops_intake_until_it_is_over)
{
        start();
        takes(1)->settle = PO_SYSTEMIC;
        verdicts[0] = VERDICT_HELD;
        run();
        ck_assert_ptr_nonnull(readiness_reason());
        unit_assert_in(capture.text, "alarm=SYSTEMIC");
        unit_assert_in(capture.text, "code=4711");
        unit_assert_in(trail, "hold:100 idle ");

        start();
        takes(1)->settle = PO_SYSTEMIC;
        takes(1);
        verdicts[0] = VERDICT_HELD;
        run();
        ck_assert_str_eq(trail, "take fill:1 settle conclude reject hold:100 idle"
                                " take fill:1 settle conclude reject store:101 ");
        ck_assert_ptr_null(readiness_reason());
}
END_TEST

START_TEST(an_outage_is_over_when_nothing_waits_and_the_database_answers)
{
        start();
        takes(1)->settle = PO_SYSTEMIC;
        verdicts[0] = VERDICT_HELD;
        takes(0); /* its partition was taken away: nothing is held */
        run();
        ck_assert_ptr_null(readiness_reason());
        unit_assert_in(capture.text, "outage_over");
}
END_TEST

START_TEST(one_systemic_outage_is_alarmed_once)
{
        start();
        takes(1)->settle = PO_SYSTEMIC;
        takes(1)->settle = PO_SYSTEMIC;
        verdicts[0] = verdicts[1] = VERDICT_HELD;
        run();
        const char *first = strstr(capture.text, "alarm=SYSTEMIC");
        ck_assert_ptr_nonnull(first);
        ck_assert_ptr_null(strstr(first + 1, "alarm=SYSTEMIC"));
}
END_TEST

START_TEST(a_source_that_fails_is_asked_again)
{
        start();
        takes(0)->take = PO_TRANSIENT;
        takes(1);
        run();
        unit_assert_in(trail, "take take fill:1 ");
        unit_assert_in(trail, "store:100");
        ck_assert_ptr_null(readiness_reason());

        start();
        takes(0)->take = PO_SYSTEMIC;
        takes(1);
        run();
        unit_assert_in(trail, "take idle take fill:1 ");
}
END_TEST

START_TEST(until_the_end_it_runs_until_the_end)
{
        static const enum source_end answers[] = { SOURCE_AT_END, SOURCE_AT_HOLD };
        static const enum worker_end ends[] = { WORKER_AT_END, WORKER_AT_HOLD };
        for (size_t i = 0; i < 2; i++) {
                start();
                options.until_end = true;
                end_answer = answers[i];
                takes(2);
                takes(0);
                takes(1); /* not asked for any more */
                run();
                ck_assert_int_eq(ended, ends[i]);
                ck_assert_str_eq(trail, "take fill:2 settle conclude reject store:100 store:101"
                                        " take ");
        }
}
END_TEST

START_TEST(without_until_end_an_end_is_no_end)
{
        start();
        end_answer = SOURCE_AT_END;
        takes(0);
        takes(1);
        run();
        ck_assert_int_eq(ended, WORKER_STOPPED);
        unit_assert_in(trail, "store:100");
}
END_TEST

START_TEST(a_stop_before_the_first_turn_takes_nothing)
{
        start();
        takes(1);
        stop = 1;
        run();
        ck_assert_str_eq(trail, "");
        ck_assert_int_eq(ended, WORKER_STOPPED);
}
END_TEST

START_TEST(a_paused_intake_takes_nothing_and_tries_nothing_until_it_is_resumed)
{
        start();
        takes(1);
        redrives = 1;
        paused_looks = 9;
        idles_most = 3;
        run();
        ck_assert_str_eq(trail, "idle ");
        ck_assert_int_eq(metric_get(METRIC_PAUSED), 1);
        ck_assert_int_eq(ended, WORKER_STOPPED);
        unit_assert_in(readiness_reason(), "postonce resume"); /* whoever looks sees why */

        start();
        takes(1);
        paused_looks = 1; /* resumed by the next look, a second later */
        run();
        ck_assert_str_eq(trail, "idle take fill:1 settle conclude reject store:100 ");
        ck_assert_uint_ge(looks, 2);
        ck_assert_int_eq(metric_get(METRIC_PAUSED), 0);
}
END_TEST

START_TEST(until_the_end_a_paused_intake_is_at_a_hold)
{
        start();
        options.until_end = true;
        takes(1);
        paused_looks = 9;
        run();
        ck_assert_int_eq(ended, WORKER_AT_HOLD);
}
END_TEST

#define REDRIVEN "taken repost conclude reject finish "

START_TEST(parked_ones_are_tried_by_a_worker_without_records)
{
        start();
        redrives = 1;
        int64_t posted = metric_get(METRIC_POSTED), taken = metric_get(METRIC_RECORDS);
        run();
        ck_assert_str_eq(trail, REDRIVEN);
        ck_assert_int_eq(metric_get(METRIC_POSTED) - posted, REDRIVE_ROWS_MAX);
        ck_assert_int_eq(metric_get(METRIC_RECORDS) - taken, 0);
        ck_assert_uint_eq(redrive_looks, 2); /* the first was full: there may be more */
}
END_TEST

START_TEST(many_parked_ones_do_not_keep_the_records_waiting)
{
        start();
        redrives = 1000;
        takes(1);
        run();
        ck_assert_uint_eq(redrive_looks, 10);
        unit_assert_in(trail, REDRIVEN "take fill:1");
}
END_TEST

START_TEST(what_waits_on_is_not_told_again)
{
        start();
        redrives = 1;
        redriven_as = VERDICT_PARKED;
        int64_t parked = metric_get(METRIC_PARKED);
        run();
        ck_assert_str_eq(trail, REDRIVEN); /* and no second row */
        ck_assert_int_eq(metric_get(METRIC_PARKED) - parked, 0);
        unit_assert_not_in(capture.text, "verdict=PARKED");
}
END_TEST

START_TEST(a_parked_one_in_conflict_is_kept_for_a_person)
{
        start();
        redrives = 1;
        redriven_as = VERDICT_CONFLICT;
        takes(0); /* the review's fate stands in a turn */
        turn_now = 1;
        run();
        unit_assert_in(trail, "conclude review:500 review:500 ");
        unit_assert_in(trail, "reject finish ");
        unit_assert_in(capture.text, "alarm=PAYLOAD_CONFLICT");
}
END_TEST

START_TEST(a_redrive_or_a_look_that_fails_is_an_outage)
{
        start();
        redrives = 1;
        redrive_fails = true;
        run();
        unit_assert_in(capture.text, "nothing can be taken");
        unit_assert_in(capture.text, "event=outage");

        start();
        look_fails = true;
        redrives = 1;
        run();
        unit_assert_in(capture.text, "the pauses cannot be read");
        ck_assert_uint_eq(redrive_looks, 0);
}
END_TEST

START_TEST(through_an_outage_what_operators_decide_is_seen_and_nothing_is_tried)
{
        start();
        takes(1)->settle = PO_SYSTEMIC;
        verdicts[0] = VERDICT_HELD;
        options.backoff = (struct backoff){ 2500, 2500 };
        run();
        ck_assert_uint_eq(looks, 2); /* before it and through it */
        ck_assert_uint_eq(redrive_looks, 1);

        start();
        takes(1)->settle = PO_SYSTEMIC;
        verdicts[0] = VERDICT_HELD;
        options.backoff = (struct backoff){ 2500, 2500 };
        connected = false; /* asked again at the pace of the back-off, whatever is held */
        run();
        ck_assert_uint_eq(looks, 2);
}
END_TEST

START_TEST(a_held_record_that_a_person_skips_passes)
{
        start();
        takes(2);
        verdicts[0] = VERDICT_HELD;
        skipped_offset = 100;
        run();
        unit_assert_in(trail, "skip:100 store:100 store:101 ");
}
END_TEST

START_TEST(strict_unfinished_reaches_the_claims)
{
        start();
        options.policy.reconcile = true;
        run();
        ck_assert_str_eq(trail, "strict ");
}
END_TEST

UNIT_MAIN("worker", each_verdict_passes_or_holds_as_the_contract_says,
          the_steps_stand_in_order_and_the_offset_is_the_last,
          behind_a_hold_nothing_of_its_partition_is_stored,
          behind_a_hold_only_what_was_settled_now_is_counted,
          a_conflict_that_cannot_be_kept_is_held, a_rejection_that_cannot_be_kept_is_held,
          records_that_do_not_fit_one_batch_make_the_next, a_transient_outage_goes_on_taking,
          a_systemic_outage_stops_intake_until_it_is_over,
          an_outage_is_over_when_nothing_waits_and_the_database_answers,
          one_systemic_outage_is_alarmed_once, a_source_that_fails_is_asked_again,
          until_the_end_it_runs_until_the_end, without_until_end_an_end_is_no_end,
          a_stop_before_the_first_turn_takes_nothing,
          a_paused_intake_takes_nothing_and_tries_nothing_until_it_is_resumed,
          until_the_end_a_paused_intake_is_at_a_hold,
          parked_ones_are_tried_by_a_worker_without_records,
          many_parked_ones_do_not_keep_the_records_waiting, what_waits_on_is_not_told_again,
          a_parked_one_in_conflict_is_kept_for_a_person,
          a_redrive_or_a_look_that_fails_is_an_outage,
          through_an_outage_what_operators_decide_is_seen_and_nothing_is_tried,
          a_held_record_that_a_person_skips_passes, strict_unfinished_reaches_the_claims)
