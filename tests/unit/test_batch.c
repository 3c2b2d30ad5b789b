/*
 * A batch from records to verdicts, on a decoder and a ledger of the test's own: who is isolated,
 * who posts, who comes again.
 */
#include "posting_fixture.h"

#include "ops/metrics.h"
#include "worker/batch.h"

enum { CALLS_MAX = 64, TXNS_MAX = 128 };

/*
 * The decoder: a value is the txns of its notifications, one letter each. '-' stands for none, '!'
 * makes the record malformed, '?' an event without rule.
 */
enum po_class decode_record(struct decoder *decoder, const struct record *record,
                            const char *topic_channel, struct po_notification *decoded,
                            size_t capacity, size_t *count_out, struct po_error *why)
{
        (void)decoder;
        ck_assert_uint_ge(capacity, NOTIFICATIONS_PER_RECORD_MAX);
        *count_out = 0;
        for (const char *txn = record->value; *txn != '\0' && *txn != '-'; txn++) {
                struct po_notification *notification = &decoded[(*count_out)++];
                if (*txn == '!')
                        return po_refuse(why, "MALFORMED_JSON", "no JSON");
                memset(notification, 0, sizeof *notification);
                snprintf(notification->txn, sizeof notification->txn, "%c", *txn);
                snprintf(notification->key, sizeof notification->key, "K:%c", *txn);
                snprintf(notification->event, sizeof notification->event, "%s",
                         *txn == '?' ? "UNHEARD_OF" : "PAYMENT_RECEIVED");
                snprintf(notification->channel, sizeof notification->channel, "%s",
                         topic_channel != NULL ? topic_channel : "OWN");
        }
        return PO_OK;
}

/* The ledger: what each step does about a txn, and the calls that were made. */
enum step { STEP_CLAIM, STEP_POST, STEPS };
static enum po_class faults[STEPS][TXNS_MAX]; /* a set that holds such a txn fails so */
static unsigned times[STEPS][TXNS_MAX];       /* so often; 0: always */
static enum verdict read_as[TXNS_MAX], posted_as[TXNS_MAX]; /* NONE: ours, POSTED */
static bool read_again_as[TXNS_MAX];
static size_t calls[STEPS][CALLS_MAX], calls_count[STEPS], reads_count;
static bool connected;

static unsigned letter(const struct posting *posting)
{
        return (unsigned char)posting->notification->txn[0];
}

/* Remembers the call; the fault of the first in the set that has one. */
static enum po_class step(enum step which, struct posting **set, size_t count, struct po_error *why)
{
        ck_assert_uint_lt(calls_count[which], CALLS_MAX);
        calls[which][calls_count[which]++] = count;
        for (size_t i = 0; i < count; i++) {
                unsigned txn = letter(set[i]);
                if (faults[which][txn] == PO_OK)
                        continue;
                enum po_class kind = faults[which][txn];
                if (times[which][txn] > 0 && --times[which][txn] == 0)
                        faults[which][txn] = PO_OK;
                return po_fail(why, kind, 4711, "fault of %c", (int)txn);
        }
        return PO_OK;
}

enum po_class claims_read(struct claims *claims, struct posting **set, size_t count,
                          struct po_error *why)
{
        (void)claims;
        (void)why;
        reads_count++;
        for (size_t i = 0; i < count; i++) {
                set[i]->verdict = read_as[letter(set[i])];
                set[i]->again = read_again_as[letter(set[i])];
                set[i]->leader = NULL;
                for (size_t j = 0; j < i && set[i]->leader == NULL; j++)
                        if (letter(set[j]) == letter(set[i]) && set[i]->verdict == VERDICT_NONE)
                                set[i]->leader = set[j];
        }
        return PO_OK;
}

enum po_class claims_acquire(struct claims *claims, struct posting **set, size_t count,
                             struct po_error *why)
{
        enum po_class kind = step(STEP_CLAIM, set, count, why);
        if (kind != PO_OK)
                return kind;
        reads_count--;
        return claims_read(claims, set, count, why);
}

/* strict.unfinished: the attempts, as claim.c counts them. */
static char attempts[64];

static void note_attempt(const char *step_name)
{
        size_t length = strlen(attempts);
        ck_assert_int_lt(snprintf(attempts + length, sizeof attempts - length, "%s ", step_name),
                         (int)(sizeof attempts - length));
}

void claims_begin(struct claims *claims)
{
        (void)claims;
        note_attempt("begin");
}

void claims_end(struct claims *claims, const struct posting *posting, bool comes_again)
{
        (void)claims;
        note_attempt(comes_again ? "again" : "passed");
        note_attempt(posting->notification->txn);
}

enum po_class posting_run(struct ledger *ledger, struct posting **set, size_t count,
                          struct po_error *why)
{
        (void)ledger;
        enum po_class kind = step(STEP_POST, set, count, why);
        for (size_t i = 0; kind == PO_OK && i < count; i++) {
                ck_assert_int_eq(set[i]->verdict, VERDICT_NONE);
                ck_assert_ptr_null(set[i]->leader);
                enum verdict verdict = posted_as[letter(set[i])];
                set[i]->verdict = verdict != VERDICT_NONE ? verdict : VERDICT_POSTED;
                if (!verdict_is_outcome(set[i]->verdict))
                        set[i]->reason = "TOO_EARLY";
                else
                        snprintf(set[i]->result, sizeof set[i]->result, "result of %s",
                                 set[i]->notification->txn);
        }
        return kind;
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

static unsigned failures_before;

enum po_class ledger_failures(struct ledger *ledger, const char *letter_id, unsigned *failures_out,
                              struct po_error *why)
{
        (void)ledger;
        (void)why;
        ck_assert_uint_eq(strlen(letter_id), 36);
        *failures_out = failures_before;
        return PO_OK;
}

static struct batch batch;
static struct rules *rules;
static struct record batch_records[FIXTURE_MAX];

static const struct topic_channel topics[] = { { "fixed", "SQB" }, { "open", NULL } };

/* One record a value, all of the topic "open". */
static size_t fill(size_t records_max, const char *const *values, size_t count)
{
        memset(faults, 0, sizeof faults);
        memset(times, 0, sizeof times);
        memset(read_as, 0, sizeof read_as);
        memset(posted_as, 0, sizeof posted_as);
        memset(read_again_as, 0, sizeof read_again_as);
        memset(calls_count, 0, sizeof calls_count);
        memset(attempts, 0, sizeof attempts);
        reads_count = 0;
        connected = true;
        rules_free(rules);
        rules = fixture_rules(ORDERS_WITH_OTHERS, PAYMENT_RULE);
        batch_close(&batch);
        ck_assert_int_eq(batch_open(&batch, records_max, &error), PO_OK);
        for (size_t i = 0; i < count; i++)
                batch_records[i] = (struct record){ .topic = "open",
                                                    .offset = (int64_t)i,
                                                    .value = values[i],
                                                    .value_bytes = strlen(values[i]) };
        return batch_fill(&batch, batch_records, count, NULL, rules, topics, 2);
}

#define filled(...)                                                                                \
        ck_assert_uint_eq(fill(FIXTURE_MAX, (const char *const[]){ __VA_ARGS__ },                  \
                               sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)),     \
                          sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static enum po_class settle(void)
{
        enum po_class kind = batch_settle(&batch, NULL, &error);
        batch_conclude(&batch, kind == PO_OK ? NULL : &error);
        for (size_t i = 0; i < batch.postings_count; i++)
                ck_assert_int_ne(batch.postings[i].verdict, VERDICT_NONE);
        return kind;
}

/* The verdict of a record. */
static void is(size_t i, enum verdict verdict)
{
        ck_assert_msg(batch.parcels[i].verdict == verdict, "record %zu is %s: %s", i,
                      verdict_name(batch.parcels[i].verdict), batch.parcels[i].error->text);
}

/* The same, and why. */
static void is_because(size_t i, enum verdict verdict, const char *text)
{
        is(i, verdict);
        unit_assert_in(batch.parcels[i].error->text, text);
}

static void are(size_t first, size_t end, enum verdict verdict)
{
        for (size_t i = first; i < end; i++)
                is(i, verdict);
}

START_TEST(records_become_postings_in_order_of_arrival)
{
        filled("a", "bc", "-", "d");
        ck_assert_uint_eq(batch.parcels_count, 4);
        ck_assert_uint_eq(batch.postings_count, 4);
        static const size_t firsts[] = { 0, 1, 3, 3 }, counts[] = { 1, 2, 0, 1 };
        for (size_t i = 0; i < 4; i++) {
                ck_assert_ptr_eq(batch.parcels[i].record, &batch_records[i]);
                ck_assert_uint_eq(batch.parcels[i].first, firsts[i]);
                ck_assert_uint_eq(batch.parcels[i].count, counts[i]);
                ck_assert_uint_eq(batch.postings[i].turn, i);
                ck_assert_int_eq(batch.postings[i].notification->txn[0], "abcd"[i]);
                ck_assert_ptr_eq(batch.postings[i].rule, rules_at(rules, 0));
        }
        ck_assert_ptr_eq(batch.postings[2].record, &batch_records[1]);
}
END_TEST

START_TEST(a_topic_may_fix_its_channel)
{
        filled("a", "b", "c");
        ck_assert_str_eq(batch.notifications[0].channel, "OWN");
        batch_records[1].topic = "fixed";
        batch_records[2].topic = "another";
        ck_assert_uint_eq(batch_fill(&batch, batch_records, 3, NULL, rules, topics, 2), 3);
        ck_assert_str_eq(batch.notifications[0].channel, "OWN");
        ck_assert_str_eq(batch.notifications[1].channel, "SQB");
        ck_assert_str_eq(batch.notifications[2].channel, "OWN");
}
END_TEST

START_TEST(what_cannot_be_decoded_is_rejected_alone)
{
        filled("a", "b!", "c");
        ck_assert_int_eq(settle(), PO_OK);
        is(0, VERDICT_POSTED);
        is_because(1, VERDICT_REJECTED, "no JSON");
        ck_assert_str_eq(batch.parcels[1].error->reason, "MALFORMED_JSON");
        ck_assert(!batch.parcels[1].may_change);
        ck_assert_uint_eq(batch.parcels[1].count, 0);
        is(2, VERDICT_POSTED);
        ck_assert_uint_eq(batch.postings_count, 2);
}
END_TEST

START_TEST(an_event_without_rule_is_rejected_and_its_neighbours_post)
{
        filled("a?", "b");
        ck_assert_int_eq(settle(), PO_OK);
        is_because(0, VERDICT_REJECTED, "event UNHEARD_OF of K:? has no rule");
        ck_assert_str_eq(batch.parcels[0].error->reason, "NO_EVENT_RULE");
        ck_assert(!batch.parcels[0].may_change);
        ck_assert_int_eq(batch.postings[0].verdict, VERDICT_POSTED);
        ck_assert_int_eq(batch.postings[1].verdict, VERDICT_REJECTED);
        ck_assert_str_eq(batch.postings[1].reason, "NO_EVENT_RULE");
        is(1, VERDICT_POSTED);
        ck_assert_uint_eq(calls[STEP_CLAIM][0], 2); /* it is not claimed */
}
END_TEST

START_TEST(a_batch_takes_records_while_the_largest_fits)
{
        char large[NOTIFICATIONS_PER_RECORD_MAX + 1];
        memset(large, 'a', sizeof large - 1);
        large[sizeof large - 1] = '\0';
        /* Room for 1 + 64: after a record of 2 the largest may not fit any more. */
        static const char *const twos[] = { "ab", "cd" };
        ck_assert_uint_eq(fill(2, twos, 2), 2);
        ck_assert_uint_eq(fill(1, twos, 2), 1);
        const char *const larges[] = { large, large };
        ck_assert_uint_eq(fill(2, larges, 2), 1);
        ck_assert_uint_eq(batch.postings_count, NOTIFICATIONS_PER_RECORD_MAX);
}
END_TEST

START_TEST(a_batch_without_fault_is_one_claim_and_one_posting)
{
        filled("a", "b", "cd");
        ck_assert_int_eq(settle(), PO_OK);
        are(0, 3, VERDICT_POSTED);
        ck_assert_uint_eq(calls_count[STEP_CLAIM], 1);
        ck_assert_uint_eq(calls_count[STEP_POST], 1);
        ck_assert_uint_eq(calls[STEP_POST][0], 4);
        ck_assert_uint_eq(reads_count, 0);
}
END_TEST

START_TEST(nothing_to_claim_asks_nothing)
{
        filled("-", "!");
        ck_assert_int_eq(settle(), PO_OK);
        is(0, VERDICT_SKIPPED);
        is(1, VERDICT_REJECTED);
        ck_assert_uint_eq(calls_count[STEP_CLAIM] + calls_count[STEP_POST], 0);
}
END_TEST

START_TEST(halving_isolates_one_culprit_while_the_rest_posts)
{
        for (char culprit = 'a'; culprit <= 'h'; culprit++) {
                filled("a", "b", "c", "d", "e", "f", "g", "h");
                faults[STEP_POST][(unsigned)culprit] = PO_RECORD;
                ck_assert_int_eq(settle(), PO_OK);
                size_t place = (size_t)(culprit - 'a');
                are(0, place, VERDICT_POSTED);
                is_because(place, VERDICT_REJECTED, "fault of ");
                ck_assert(batch.parcels[place].may_change);
                ck_assert_int_eq(batch.parcels[place].error->code, 4711);
                are(place + 1, 8, VERDICT_POSTED);
                ck_assert_uint_eq(calls_count[STEP_POST], 7); /* 8, and twice 4, 2, 1 */
        }
}
END_TEST

START_TEST(several_culprits_are_isolated_each)
{
        filled("a", "b", "c", "d", "e");
        faults[STEP_POST]['a'] = faults[STEP_POST]['b'] = faults[STEP_POST]['e'] = PO_RECORD;
        ck_assert_int_eq(settle(), PO_OK);
        are(0, 2, VERDICT_REJECTED);
        are(2, 4, VERDICT_POSTED);
        is(4, VERDICT_REJECTED);
}
END_TEST

START_TEST(a_culprit_among_the_claims_is_isolated_and_the_rest_claimed_and_posted)
{
        filled("a", "b", "ca", "d");
        faults[STEP_CLAIM]['b'] = PO_RECORD;
        ck_assert_int_eq(settle(), PO_OK);
        is(0, VERDICT_POSTED);
        is_because(1, VERDICT_REJECTED, "fault of b");
        is(2,
           VERDICT_DUPLICATE); /* its last one follows the first record's: found again by a read */
        is(3, VERDICT_POSTED);
        ck_assert_uint_eq(reads_count, 1);
        ck_assert_uint_eq(calls[STEP_POST][0], 3);
}
END_TEST

START_TEST(a_record_of_several_is_rejected_for_the_one_at_fault)
{
        filled("-", "abc", "-", "d");
        faults[STEP_POST]['b'] = PO_RECORD;
        ck_assert_int_eq(settle(), PO_OK);
        is(0, VERDICT_SKIPPED);
        is_because(1, VERDICT_REJECTED, "fault of b");
        ck_assert_int_eq(batch.postings[0].verdict, VERDICT_POSTED);
        ck_assert_int_eq(batch.postings[1].verdict, VERDICT_REJECTED);
        ck_assert_int_eq(batch.postings[2].verdict, VERDICT_POSTED);
        is(2, VERDICT_SKIPPED);
        is(3, VERDICT_POSTED);
}
END_TEST

START_TEST(a_bug_alone_is_systemic_and_rejects_nothing)
{
        filled("a");
        faults[STEP_POST]['a'] = PO_BUG;
        ck_assert_int_eq(settle(), PO_SYSTEMIC);
        ck_assert_int_eq(error.kind, PO_SYSTEMIC);
        unit_assert_in(error.text, "fault of a");
        is_because(0, VERDICT_HELD, "fault of a");
        ck_assert_int_eq(batch.postings[0].verdict, VERDICT_HELD);
}
END_TEST

START_TEST(bugs_of_a_whole_batch_are_systemic_and_reject_none)
{
        filled("a", "b", "cd");
        faults[STEP_POST]['a'] = faults[STEP_POST]['b'] = PO_BUG;
        faults[STEP_POST]['c'] = faults[STEP_POST]['d'] = PO_BUG;
        ck_assert_int_eq(settle(), PO_SYSTEMIC);
        are(0, 3, VERDICT_HELD);
        for (size_t i = 0; i < 4; i++)
                ck_assert_int_eq(batch.postings[i].verdict, VERDICT_HELD);
}
END_TEST

START_TEST(a_bug_beside_a_posted_one_is_its_records_fault)
{
        filled("a", "b", "c");
        faults[STEP_POST]['b'] = PO_BUG;
        ck_assert_int_eq(settle(), PO_OK);
        is(0, VERDICT_POSTED);
        is_because(1, VERDICT_REJECTED, "fault of b");
        ck_assert_int_eq(batch.parcels[1].error->kind, PO_BUG);
        ck_assert(batch.parcels[1].may_change);
        is(2, VERDICT_POSTED);
}
END_TEST

START_TEST(a_bug_beside_what_was_settled_before_is_systemic)
{
        filled("a", "b", "c");
        read_as['a'] = VERDICT_POSTED;
        read_again_as['a'] = true;
        read_as['c'] = VERDICT_DUPLICATE;
        faults[STEP_POST]['b'] = PO_BUG;
        ck_assert_int_eq(settle(), PO_SYSTEMIC);
        is(0, VERDICT_POSTED);
        is(1, VERDICT_HELD);
        is(2, VERDICT_DUPLICATE);
}
END_TEST

START_TEST(a_bug_that_was_its_records_fault_before_is_so_again_though_nothing_fresh_posts)
{
        filled("a", "b");
        read_as['b'] = VERDICT_POSTED;
        read_again_as['b'] = true;
        faults[STEP_POST]['a'] = PO_BUG;
        failures_before = 1;
        ck_assert_int_eq(settle(), PO_OK);
        is_because(0, VERDICT_REJECTED, "fault of a");
        ck_assert(batch.parcels[0].may_change);
}
END_TEST

START_TEST(a_bug_among_the_claims_before_an_outage_is_not_rejected)
{
        filled("a", "b");
        faults[STEP_CLAIM]['a'] = PO_BUG;
        faults[STEP_CLAIM]['b'] = PO_TRANSIENT;
        connected = false;
        ck_assert_int_eq(settle(), PO_TRANSIENT);
        are(0, 2, VERDICT_HELD);
}
END_TEST

START_TEST(a_rejected_record_stays_rejected_beside_a_bug)
{
        filled("a", "!", "b");
        faults[STEP_POST]['a'] = PO_BUG;
        faults[STEP_POST]['b'] = PO_RECORD;
        ck_assert_int_eq(settle(), PO_SYSTEMIC);
        is(0, VERDICT_HELD);
        is_because(1, VERDICT_REJECTED, "no JSON");
        is_because(2, VERDICT_REJECTED, "fault of b");
}
END_TEST

START_TEST(a_deadlock_is_tried_again_at_once)
{
        filled("a", "b");
        faults[STEP_CLAIM]['a'] = faults[STEP_POST]['b'] = PO_TRANSIENT;
        times[STEP_CLAIM]['a'] = 1;
        times[STEP_POST]['b'] = 3;
        int64_t retries = metric_get(METRIC_RETRIES);
        ck_assert_int_eq(settle(), PO_OK);
        are(0, 2, VERDICT_POSTED);
        ck_assert_uint_eq(calls_count[STEP_CLAIM], 2);
        ck_assert_uint_eq(calls_count[STEP_POST], 4);
        ck_assert_int_eq(metric_get(METRIC_RETRIES) - retries, 4);
}
END_TEST

START_TEST(a_deadlock_that_stays_gives_the_records_back)
{
        filled("a", "b");
        faults[STEP_POST]['b'] = PO_TRANSIENT;
        ck_assert_int_eq(settle(), PO_TRANSIENT);
        is_because(0, VERDICT_HELD, "fault of b");
        is_because(1, VERDICT_HELD, "fault of b");
        ck_assert_uint_eq(calls_count[STEP_POST], 4);
}
END_TEST

START_TEST(without_a_connection_nothing_is_tried_again_at_once)
{
        static const enum po_class classes[] = { PO_TRANSIENT, PO_SYSTEMIC, PO_UNCERTAIN };
        for (size_t i = 0; i < 3; i++) {
                filled("a", "-", "b");
                faults[STEP_POST]['a'] = classes[i];
                connected = classes[i] != PO_TRANSIENT;
                ck_assert_int_eq(settle(), classes[i]);
                ck_assert_uint_eq(calls_count[STEP_POST], 1);
                is(0, VERDICT_HELD);
                is(1, VERDICT_SKIPPED);
                is(2, VERDICT_HELD);
        }
}
END_TEST

START_TEST(an_outage_between_halves_leaves_the_rest_held)
{
        filled("a", "b", "c", "d");
        faults[STEP_POST]['b'] = PO_RECORD;
        faults[STEP_POST]['d'] = PO_TRANSIENT;
        connected = false;
        ck_assert_int_eq(settle(), PO_TRANSIENT);
        is(0, VERDICT_POSTED);
        is(1, VERDICT_REJECTED);
        are(2, 4, VERDICT_HELD);
}
END_TEST

START_TEST(an_outage_of_the_claims_holds_all_but_what_is_decided)
{
        filled("a", "!", "-", "b");
        faults[STEP_CLAIM]['b'] = PO_SYSTEMIC;
        ck_assert_int_eq(settle(), PO_SYSTEMIC);
        is(0, VERDICT_HELD);
        is(1, VERDICT_REJECTED);
        is(2, VERDICT_SKIPPED);
        is(3, VERDICT_HELD);
        ck_assert_uint_eq(calls_count[STEP_POST], 0);
}
END_TEST

START_TEST(a_follower_of_a_settled_one_is_its_duplicate)
{
        filled("a", "aba", "b");
        posted_as['b'] = VERDICT_SKIPPED;
        ck_assert_int_eq(settle(), PO_OK);
        is(0, VERDICT_POSTED);
        is(1, VERDICT_DUPLICATE);
        is(2, VERDICT_DUPLICATE);
        ck_assert_int_eq(batch.postings[2].verdict, VERDICT_SKIPPED);
        ck_assert_str_eq(batch.postings[1].result, "result of a");
        ck_assert_str_eq(batch.postings[4].result, "result of b");
        ck_assert_uint_eq(calls[STEP_CLAIM][0], 5);
        ck_assert_uint_eq(calls[STEP_POST][0], 2);
}
END_TEST

START_TEST(a_follower_of_a_held_one_is_held)
{
        filled("a", "a", "b");
        posted_as['a'] = VERDICT_HELD;
        ck_assert_int_eq(settle(), PO_OK);
        is_because(0, VERDICT_HELD, "K:a waits: TOO_EARLY");
        ck_assert_str_eq(batch.parcels[0].error->reason, "TOO_EARLY");
        is_because(1, VERDICT_HELD, "K:a waits for its first delivery");
        ck_assert_str_eq(batch.parcels[1].error->reason, "WAITS_FOR_FIRST");
        is(2, VERDICT_POSTED);
}
END_TEST

START_TEST(a_follower_of_a_rejected_one_comes_again)
{
        filled("a", "a", "b");
        faults[STEP_POST]['a'] = PO_RECORD;
        ck_assert_int_eq(settle(), PO_OK);
        is(0, VERDICT_REJECTED);
        is_because(1, VERDICT_HELD, "waits for its first delivery");
        is(2, VERDICT_POSTED);
}
END_TEST

START_TEST(one_held_notification_holds_its_record)
{
        filled("ab?c");
        posted_as['b'] = VERDICT_HELD;
        read_as['c'] = VERDICT_CONFLICT;
        ck_assert_int_eq(settle(), PO_OK);
        is_because(0, VERDICT_HELD, "K:b waits: TOO_EARLY");
        ck_assert_int_eq(batch.postings[0].verdict, VERDICT_POSTED);
        ck_assert_int_eq(batch.postings[3].verdict, VERDICT_CONFLICT);
}
END_TEST

START_TEST(the_first_held_notification_says_why)
{
        filled("abc");
        posted_as['b'] = posted_as['c'] = VERDICT_HELD;
        ck_assert_int_eq(settle(), PO_OK);
        is_because(0, VERDICT_HELD, "K:b waits: TOO_EARLY");
}
END_TEST

START_TEST(behind_a_held_notification_the_others_have_their_verdict)
{
        filled("ab", "ba");
        posted_as['a'] = VERDICT_HELD;
        ck_assert_int_eq(settle(), PO_OK);
        are(0, 2, VERDICT_HELD);
        ck_assert_int_eq(batch.postings[1].verdict, VERDICT_POSTED);
        ck_assert_int_eq(batch.postings[2].verdict, VERDICT_DUPLICATE);
        ck_assert_int_eq(batch.postings[3].verdict, VERDICT_HELD);
}
END_TEST

START_TEST(a_rejection_counts_before_a_conflict_and_that_before_the_rest)
{
        filled("ab", "bc", "ca", "aa");
        posted_as['a'] = VERDICT_REJECTED;
        read_as['b'] = VERDICT_CONFLICT;
        ck_assert_int_eq(settle(), PO_OK);
        is_because(0, VERDICT_REJECTED, "K:a: TOO_EARLY");
        ck_assert_str_eq(batch.parcels[0].error->reason, "TOO_EARLY");
        ck_assert(batch.parcels[0].may_change); /* another state may take it */
        is(1, VERDICT_CONFLICT);
        are(2, 4, VERDICT_HELD); /* they follow the rejected one */
}
END_TEST

START_TEST(the_last_notification_names_a_record_that_passes)
{
        filled("ab", "ba");
        posted_as['b'] = VERDICT_SKIPPED;
        ck_assert_int_eq(settle(), PO_OK);
        is(0, VERDICT_SKIPPED);
        is(1, VERDICT_DUPLICATE);
}
END_TEST

START_TEST(a_batch_is_filled_again_from_nothing)
{
        filled("a", "!", "b");
        faults[STEP_POST]['a'] = PO_RECORD;
        ck_assert_int_eq(settle(), PO_OK);
        static const struct record next[] = { { .topic = "open", .value = "c" },
                                              { .topic = "open", .value = "d" } };
        ck_assert_uint_eq(batch_fill(&batch, next, 2, NULL, rules, topics, 2), 2);
        ck_assert_int_eq(settle(), PO_OK);
        ck_assert_uint_eq(batch.parcels_count, 2);
        are(0, 2, VERDICT_POSTED);
        ck_assert(!batch.parcels[0].may_change);
}
END_TEST

START_TEST(a_batch_that_was_never_opened_is_closed_like_any)
{
        struct batch never = { 0 };
        batch_close(&never);
        batch_close(&never);
}
END_TEST

START_TEST(a_follower_of_a_parked_one_is_parked_with_it)
{
        filled("a", "a", "b");
        posted_as['a'] = VERDICT_PARKED;
        ck_assert_int_eq(settle(), PO_OK);
        are(0, 2, VERDICT_PARKED);
        ck_assert_int_eq(batch.postings[1].verdict, VERDICT_PARKED);
        ck_assert_str_eq(batch.postings[1].reason, "TOO_EARLY");
        is(2, VERDICT_POSTED);
}
END_TEST

START_TEST(the_heaviest_verdict_is_the_records)
{
        /* As they weigh: outcomes and duplicates, PARKED, ORPHANED, CONFLICT, REJECTED, HELD. */
        static const char *const records_of_two[] = { "ap", "po", "oc", "cr", "rh",
                                                      "pa", "op", "co", "rc", "hr" };
        static const enum verdict heaviest[] = { VERDICT_PARKED, VERDICT_ORPHANED, VERDICT_CONFLICT,
                                                 VERDICT_REJECTED, VERDICT_HELD };
        for (size_t i = 0; i < 10; i++) {
                filled(records_of_two[i]);
                posted_as['p'] = VERDICT_PARKED;
                read_as['o'] = VERDICT_ORPHANED;
                read_as['c'] = VERDICT_CONFLICT;
                posted_as['r'] = VERDICT_REJECTED;
                posted_as['h'] = VERDICT_HELD;
                ck_assert_int_eq(settle(), PO_OK);
                is(0, heaviest[i % 5]);
        }
}
END_TEST

START_TEST(a_settled_notification_does_not_hide_a_parked_one_of_its_record)
{
        filled("pab");
        posted_as['p'] = VERDICT_PARKED;
        read_as['b'] = VERDICT_DUPLICATE;
        ck_assert_int_eq(settle(), PO_OK);
        is(0, VERDICT_PARKED);
        ck_assert_int_eq(batch.postings[1].verdict, VERDICT_POSTED);
}
END_TEST

static const struct pauses sqb_paused = { .count = 2, .channels = { "SQB", "XYZ" } };

START_TEST(a_paused_channels_notifications_are_claimed_and_parked)
{
        filled("a", "b", "a");
        batch.pauses = &sqb_paused;
        snprintf(batch.notifications[0].channel, PO_CHANNEL_BYTES, "SQB");
        snprintf(batch.notifications[2].channel, PO_CHANNEL_BYTES, "SQB");
        ck_assert_int_eq(settle(), PO_OK);
        is(0, VERDICT_PARKED);
        is(1, VERDICT_POSTED);
        is(2, VERDICT_PARKED);
        ck_assert_str_eq(batch.postings[0].reason, "PAUSED");
        ck_assert_str_eq(batch.postings[2].reason, "PAUSED");
        ck_assert_uint_eq(calls[STEP_CLAIM][0], 3);
        ck_assert_uint_eq(calls[STEP_POST][0], 1);
}
END_TEST

START_TEST(a_duplicate_of_a_paused_channel_is_a_duplicate)
{
        filled("a");
        batch.pauses = &sqb_paused;
        snprintf(batch.notifications[0].channel, PO_CHANNEL_BYTES, "SQB");
        read_as['a'] = VERDICT_DUPLICATE;
        ck_assert_int_eq(settle(), PO_OK);
        is(0, VERDICT_DUPLICATE);
}
END_TEST

static const struct policy literal = { .hand_over = false };
static const struct policy usual = { .hand_over = true };
static const struct policy reconciling = { .hand_over = true, .reconcile = true };

START_TEST(without_hand_over_only_what_the_ledger_settled_passes)
{
        filled("p", "c", "r", "!", "o", "a", "s", "d");
        batch.policy = &literal;
        posted_as['p'] = VERDICT_PARKED;
        read_as['c'] = VERDICT_CONFLICT;
        posted_as['r'] = VERDICT_REJECTED;
        read_as['o'] = VERDICT_ORPHANED;
        posted_as['s'] = VERDICT_SUSPENSE;
        read_as['d'] = VERDICT_DUPLICATE;
        ck_assert_int_eq(settle(), PO_OK);
        is_because(0, VERDICT_HELD, "it is PARKED, and strict.hand_over is false");
        ck_assert_str_eq(batch.parcels[0].error->reason, "PARKED");
        is_because(1, VERDICT_HELD, "it is CONFLICT, and");
        is_because(2, VERDICT_HELD, "K:r: TOO_EARLY");
        is_because(3, VERDICT_HELD, "no JSON");
        is(4, VERDICT_ORPHANED);
        is(5, VERDICT_POSTED);
        is(6, VERDICT_SUSPENSE);
        is(7, VERDICT_DUPLICATE);
        ck_assert_int_eq(batch.postings[1].verdict, VERDICT_CONFLICT); /* a person may look now */

        filled("p", "c", "r");
        batch.policy = &usual;
        posted_as['p'] = VERDICT_PARKED;
        read_as['c'] = VERDICT_CONFLICT;
        posted_as['r'] = VERDICT_REJECTED;
        ck_assert_int_eq(settle(), PO_OK);
        is(0, VERDICT_PARKED);
        is(1, VERDICT_CONFLICT);
        is(2, VERDICT_REJECTED);
}
END_TEST

START_TEST(a_posting_that_began_is_not_begun_again_where_that_is_forbidden)
{
        filled("a", "b");
        batch.policy = &reconciling;
        faults[STEP_CLAIM]['a'] = faults[STEP_POST]['b'] = PO_TRANSIENT;
        times[STEP_CLAIM]['a'] = 1;
        ck_assert_int_eq(settle(), PO_TRANSIENT);
        are(0, 2, VERDICT_HELD);
        ck_assert_uint_eq(calls_count[STEP_CLAIM], 2); /* nothing had begun */
        ck_assert_uint_eq(calls_count[STEP_POST], 1);
}
END_TEST

START_TEST(an_attempt_ends_with_what_becomes_of_each_record)
{
        filled("a", "b");
        faults[STEP_POST]['b'] = PO_TRANSIENT;
        connected = false;
        ck_assert_int_eq(settle(), PO_TRANSIENT);
        batch.parcels[0].verdict = VERDICT_POSTED;
        batch_end(&batch, NULL);
        ck_assert_str_eq(attempts, "begin passed a again b ");
}
END_TEST

static enum po_class settle_again(void)
{
        enum po_class kind = batch_repost(&batch, NULL, &error);
        batch_conclude(&batch, kind == PO_OK ? NULL : &error);
        return kind;
}

START_TEST(what_is_claimed_already_is_read_and_posted)
{
        filled("a", "b", "c");
        posted_as['b'] = VERDICT_PARKED;
        read_as['c'] = VERDICT_DUPLICATE;
        ck_assert_int_eq(settle_again(), PO_OK);
        is(0, VERDICT_POSTED);
        is(1, VERDICT_PARKED);
        is(2, VERDICT_DUPLICATE);
        ck_assert_uint_eq(calls_count[STEP_CLAIM], 0);
        ck_assert_uint_eq(reads_count, 1);
        ck_assert_uint_eq(calls[STEP_POST][0], 2);
        ck_assert_str_eq(attempts, ""); /* theirs are not the batches' */
}
END_TEST

START_TEST(one_that_gave_up_is_rejected_at_once)
{
        filled("a", "b");
        posted_as['a'] = posted_as['b'] = VERDICT_REJECTED;
        batch.postings[0].gave_up = true;
        ck_assert_int_eq(settle_again(), PO_OK);
        are(0, 2, VERDICT_REJECTED);
        ck_assert(!batch.parcels[0].may_change);
        ck_assert(batch.parcels[1].may_change);
}
END_TEST

START_TEST(a_bug_among_the_parked_lets_the_others_post)
{
        filled("a", "b", "c");
        faults[STEP_POST]['b'] = PO_BUG;
        ck_assert_int_eq(settle_again(), PO_OK);
        is(0, VERDICT_POSTED);
        is(1, VERDICT_REJECTED);
        is(2, VERDICT_POSTED);

        /* None of the others can post yet: nothing tells it from an outage. */
        filled("a", "b", "c");
        posted_as['a'] = posted_as['c'] = VERDICT_PARKED;
        faults[STEP_POST]['b'] = PO_BUG;
        ck_assert_int_eq(settle_again(), PO_SYSTEMIC);
        is(0, VERDICT_PARKED);
        is(1, VERDICT_HELD);
        is(2, VERDICT_PARKED);
}
END_TEST

UNIT_MAIN("batch", records_become_postings_in_order_of_arrival, a_topic_may_fix_its_channel,
          what_cannot_be_decoded_is_rejected_alone,
          an_event_without_rule_is_rejected_and_its_neighbours_post,
          a_batch_takes_records_while_the_largest_fits,
          a_batch_without_fault_is_one_claim_and_one_posting, nothing_to_claim_asks_nothing,
          halving_isolates_one_culprit_while_the_rest_posts, several_culprits_are_isolated_each,
          a_culprit_among_the_claims_is_isolated_and_the_rest_claimed_and_posted,
          a_record_of_several_is_rejected_for_the_one_at_fault,
          a_bug_alone_is_systemic_and_rejects_nothing,
          a_bug_that_was_its_records_fault_before_is_so_again_though_nothing_fresh_posts,
          bugs_of_a_whole_batch_are_systemic_and_reject_none,
          a_bug_beside_a_posted_one_is_its_records_fault,
          a_bug_beside_what_was_settled_before_is_systemic,
          a_bug_among_the_claims_before_an_outage_is_not_rejected,
          a_rejected_record_stays_rejected_beside_a_bug, a_deadlock_is_tried_again_at_once,
          a_deadlock_that_stays_gives_the_records_back,
          without_a_connection_nothing_is_tried_again_at_once,
          an_outage_between_halves_leaves_the_rest_held,
          an_outage_of_the_claims_holds_all_but_what_is_decided,
          a_follower_of_a_settled_one_is_its_duplicate, a_follower_of_a_held_one_is_held,
          a_follower_of_a_rejected_one_comes_again, one_held_notification_holds_its_record,
          the_first_held_notification_says_why,
          behind_a_held_notification_the_others_have_their_verdict,
          a_rejection_counts_before_a_conflict_and_that_before_the_rest,
          the_last_notification_names_a_record_that_passes, a_batch_is_filled_again_from_nothing,
          a_follower_of_a_parked_one_is_parked_with_it, the_heaviest_verdict_is_the_records,
          a_settled_notification_does_not_hide_a_parked_one_of_its_record,
          a_paused_channels_notifications_are_claimed_and_parked,
          a_duplicate_of_a_paused_channel_is_a_duplicate,
          without_hand_over_only_what_the_ledger_settled_passes,
          a_posting_that_began_is_not_begun_again_where_that_is_forbidden,
          an_attempt_ends_with_what_becomes_of_each_record,
          what_is_claimed_already_is_read_and_posted, one_that_gave_up_is_rejected_at_once,
          a_bug_among_the_parked_lets_the_others_post,
          a_batch_that_was_never_opened_is_closed_like_any)
