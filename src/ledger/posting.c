#include "ledger/posting.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/failpoint.h"
#include "base/text.h"
#include "ledger/account.h"
#include "ledger/entry.h"
#include "ledger/judge.h"
#include "ledger/judge_refund.h"
#include "ledger/judge_reversal.h"
#include "ledger/letter.h"
#include "ledger/order.h"
#include "ledger/outbox.h"
#include "ledger/outcome.h"
#include "ledger/parked.h"
#include "ledger/review.h"
#include "ledger/rows.h"

/* COMMITs without an answer that one call reads after; then the records come again instead. */
enum { ANSWERS_LOST_MAX = 3 };

struct ledger {
        struct db *db;
        const struct rules *rules;
        struct claims *claims;
        struct accounts *accounts;
        struct entries *entries;
        struct outcomes outcomes;
        struct bulk *moves, *outbox;
        struct sql sql;
        size_t capacity;

        /* The set under way. */
        struct posting **set; /* ours, in order of turn */
        size_t set_count;
        struct posting **settled; /* those with an outcome to write, by claim */
        size_t settled_count;
        struct posting **picked; /* some of them, for one statement */
        struct rows rows;        /* what they are judged on, locked */
        bool may_race; /* a unique key beside the fence may have spoken: see posting_run() */
};

enum po_class ledger_open(struct ledger **ledger_out, struct db *db, const struct rules *rules,
                          size_t capacity, struct po_error *error)
{
        struct ledger *ledger = calloc(1, sizeof *ledger);
        *ledger_out = ledger;
        if (ledger == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for the ledger");
        ledger->db = db;
        ledger->rules = rules;
        ledger->capacity = capacity;
        ledger->set = calloc(capacity, sizeof(struct posting *));
        ledger->settled = calloc(capacity, sizeof(struct posting *));
        ledger->picked = calloc(capacity, sizeof(struct posting *));
        if (ledger->set == NULL || ledger->settled == NULL || ledger->picked == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for %zu postings", capacity);
        if (rows_open(&ledger->rows, capacity, error) != PO_OK ||
            claims_open(&ledger->claims, db, capacity, error) != PO_OK ||
            accounts_open(&ledger->accounts, db, error) != PO_OK ||
            entries_open(&ledger->entries, db, ledger->accounts, capacity, error) != PO_OK ||
            outcomes_open(&ledger->outcomes, db, error) != PO_OK ||
            bulk_open(&ledger->moves, db, &ORDER_MOVE_FORM, error) != PO_OK ||
            bulk_open(&ledger->outbox, db, &OUTBOX_FORM, error) != PO_OK)
                return error->kind;
        return PO_OK;
}

void ledger_close(struct ledger *ledger)
{
        if (ledger == NULL)
                return;
        claims_close(ledger->claims);
        accounts_close(ledger->accounts);
        entries_close(ledger->entries);
        outcomes_close(&ledger->outcomes);
        bulk_close(ledger->moves);
        bulk_close(ledger->outbox);
        sql_free(&ledger->sql);
        free(ledger->set);
        free(ledger->settled);
        free(ledger->picked);
        rows_close(&ledger->rows);
        free(ledger);
}

struct claims *ledger_claims(struct ledger *ledger)
{
        return ledger->claims;
}

bool ledger_is_connected(const struct ledger *ledger)
{
        return db_is_connected(ledger->db);
}

enum po_class ledger_connect(struct ledger *ledger, struct po_error *error)
{
        return db_connect(ledger->db, error);
}

enum po_class ledger_failures(struct ledger *ledger, const char *letter_id, unsigned *failures_out,
                              struct po_error *error)
{
        return letter_failures(ledger->db, &ledger->sql, letter_id, failures_out, error);
}

void ledger_keep_alive(struct ledger *ledger)
{
        db_keep_alive(ledger->db);
}

static int compare_turns(const void *left, const void *right)
{
        const struct posting *a = *(struct posting *const *)left;
        const struct posting *b = *(struct posting *const *)right;
        return a->turn < b->turn ? -1 : a->turn > b->turn;
}

static int compare_claims(const void *left, const void *right)
{
        const struct posting *a = *(struct posting *const *)left;
        const struct posting *b = *(struct posting *const *)right;
        return a->claim_id < b->claim_id ? -1 : a->claim_id > b->claim_id;
}

static int compare_orders(const void *left, const void *right)
{
        const struct order *a = left, *b = right;
        struct order_id a_id = { a->tenant_id, a->order_no }, b_id = { b->tenant_id, b->order_no };
        return order_id_compare(&a_id, &b_id);
}

static void pick_ours(struct ledger *ledger, struct posting **postings, size_t count)
{
        ledger->set_count = 0;
        for (size_t i = 0; i < count; i++)
                if (postings[i]->verdict == VERDICT_NONE && postings[i]->leader == NULL)
                        ledger->set[ledger->set_count++] = postings[i];
        qsort(ledger->set, ledger->set_count, sizeof(struct posting *), compare_turns);
}

static void take_back_verdicts(struct ledger *ledger)
{
        for (size_t i = 0; i < ledger->set_count; i++) {
                ledger->set[i]->verdict = VERDICT_NONE;
                ledger->set[i]->reason = NULL;
                ledger->set[i]->review = NULL;
                ledger->set[i]->result[0] = '\0';
        }
}

/* Orders that a rule makes from the notification: their own commit, an order that is there stays.
 */
static enum po_class create_orders(struct ledger *ledger, struct po_error *error)
{
        struct rows *rows = &ledger->rows;
        rows->orders_count = 0;
        for (size_t i = 0; i < ledger->set_count; i++) {
                const struct po_notification *notification = ledger->set[i]->notification;
                const struct event_rule *rule = ledger->set[i]->rule;
                if (rule->create[0] == '\0' || notification->order_no[0] == '\0' ||
                    notification->amount_kind != PO_AMOUNT_THIS)
                        continue;
                struct order *order = &rows->orders[rows->orders_count++];
                *order = (struct order){ .tenant_id = notification->tenant_id,
                                         .amount_minor = notification->amount_minor };
                memcpy(order->order_no, notification->order_no, sizeof order->order_no);
                memcpy(order->currency, notification->currency, sizeof order->currency);
                memcpy(order->status, rule->create, sizeof order->status);
        }
        qsort(rows->orders, rows->orders_count, sizeof *rows->orders, compare_orders);
        return orders_insert(ledger->db, &ledger->sql, rows->orders, rows->orders_count, error);
}

/* A reversal without an amount is of the payment's. */
static void name_currency(struct posting *posting)
{
        const char *currency = posting->notification->amount_kind != PO_AMOUNT_NONE
                                       ? posting->notification->currency
                                       : posting->subject.currency;
        memcpy(posting->currency, currency, sizeof posting->currency);
}

/* What the transaction needs and does not make itself, each in its own commit before BEGIN. */
static enum po_class prepare(struct ledger *ledger, struct po_error *error)
{
        accounts_trim(ledger->accounts);
        if (subjects_find(ledger->db, &ledger->sql, ledger->set, ledger->set_count, error) != PO_OK)
                return error->kind;
        for (size_t i = 0; i < ledger->set_count; i++)
                name_currency(ledger->set[i]);
        for (size_t i = 0; i < ledger->set_count; i++)
                if (entries_want_accounts(ledger->entries, ledger->set[i], error) != PO_OK)
                        return error->kind;
        if (accounts_make(ledger->accounts, &ledger->sql, error) != PO_OK)
                return error->kind;
        return create_orders(ledger, error);
}

static void judge_one(struct ledger *ledger, struct posting *posting, struct judgement *judgement)
{
        struct order *order = rows_order(&ledger->rows, posting);
        const struct event_rule *rule = posting->rule;
        if (rule->subject == RULE_REFUND)
                judge_refund(rule, posting->notification, &posting->subject, posting->claim_id,
                             order, rows_refund(&ledger->rows, posting), judgement);
        else if (rule->reverses[0] != '\0')
                judge_reversal(rule, posting->notification, &posting->subject, order, judgement);
        else
                judge(ledger->rules, rule, posting->notification, order, judgement);
        if (posting->gave_up)
                judge_give_up(rule, order, judgement);
}

/* The payment that was reversed just now is reversed for all that stand behind. */
static void note_reversed(struct ledger *ledger, int64_t claim_id)
{
        for (size_t i = 0; i < ledger->set_count; i++)
                if (ledger->set[i]->subject.claim_id == claim_id)
                        ledger->set[i]->subject.reversed = true;
}

/* What the database does not show yet to those that stand behind and may take it back. */
static void note_suspended(struct ledger *ledger, const struct posting *posting)
{
        if (posting->rule->subject != RULE_REFUND)
                return; /* a payment that has no outcome yet is waited for anyway */
        for (size_t i = 0; i < ledger->set_count; i++)
                if (ledger->set[i]->subject.claim_id == posting->claim_id)
                        ledger->set[i]->subject.suspended_now = true;
}

static void take_judgement(struct ledger *ledger, struct posting *posting,
                           const struct judgement *judgement)
{
        struct order *order = rows_order(&ledger->rows, posting);
        posting->verdict = judgement->verdict;
        posting->reason = judgement->reason;
        posting->review = judgement->review;
        posting->amount_minor = judgement->amount_minor;
        posting->reverses = judgement->reverses;
        posting->silent = judgement->silent;
        posting->unblocked = judgement->unblocked;
        memcpy(posting->result, judgement->result, sizeof posting->result);
        text_copy(posting->status, sizeof posting->status, order != NULL ? order->status : "");
        if (!verdict_is_outcome(posting->verdict))
                return;
        ledger->settled[ledger->settled_count++] = posting;
        if (order != NULL && (order->moved || posting->verdict != VERDICT_SKIPPED))
                order->touched = true;
        if (posting->reverses != 0)
                note_reversed(ledger, posting->reverses);
        if (posting->verdict == VERDICT_SUSPENSE)
                note_suspended(ledger, posting);
}

static void judge_all(struct ledger *ledger)
{
        ledger->settled_count = 0;
        for (size_t i = 0; i < ledger->set_count; i++) {
                struct judgement judgement;
                judge_one(ledger, ledger->set[i], &judgement);
                take_judgement(ledger, ledger->set[i], &judgement);
        }
        qsort(ledger->settled, ledger->settled_count, sizeof(struct posting *), compare_claims);
}

/* What stands behind it in the batch may have moved the order that a PARKED one waits for. */
static void find_unblocked(struct ledger *ledger)
{
        for (size_t i = 0; i < ledger->set_count; i++) {
                struct posting *posting = ledger->set[i];
                const struct order *order = rows_order(&ledger->rows, posting);
                if (posting->verdict == VERDICT_PARKED && order != NULL && order->touched)
                        posting->unblocked = true;
        }
}

static enum po_class insert_outbox(struct ledger *ledger, struct po_error *error)
{
        bulk_begin(ledger->outbox, NULL);
        for (size_t i = 0; i < ledger->set_count; i++) {
                const struct posting *posting = ledger->set[i];
                if (posting->verdict == VERDICT_POSTED && posting->rule->outbox[0] != '\0' &&
                    !posting->silent)
                        outbox_add(ledger->outbox, posting, posting->rule->outbox, posting->status);
        }
        if (bulk_end(ledger->outbox, error) != PO_OK)
                return po_within(error, "write %zu outbox rows", bulk_rows(ledger->outbox));
        return PO_OK;
}

/* What a person must look at, each for its own reason; picked is scratch. */
static enum po_class insert_reviews(struct ledger *ledger, struct po_error *error)
{
        size_t count = 0;
        for (size_t i = 0; i < ledger->settled_count; i++)
                if (ledger->settled[i]->review != NULL)
                        ledger->picked[count++] = ledger->settled[i];
        return reviews_insert(ledger->db, &ledger->sql, NULL, ledger->picked, count, false, error);
}

/* Refunds and reversals name a payment, not each other. */
static bool may_be_awaited(const struct posting *posting)
{
        return (posting->verdict == VERDICT_POSTED || posting->verdict == VERDICT_SUSPENSE) &&
               posting->rule->subject != RULE_REFUND && posting->rule->reverses[0] == '\0';
}

/*
 * What was parked and is settled now is parked no longer; what waits for an order that moved is due
 * at once. A claim that only this delivery brought cannot be parked.
 */
static enum po_class move_parked(struct ledger *ledger, struct po_error *error)
{
        size_t count = 0;
        for (size_t i = 0; i < ledger->settled_count; i++)
                if (!ledger->settled[i]->stays_parked &&
                    (ledger->settled[i]->unparks || ledger->settled[i]->deliveries > 1))
                        ledger->picked[count++] = ledger->settled[i];
        if (parked_delete(ledger->db, &ledger->sql, ledger->picked, count, error) != PO_OK)
                return error->kind;

        size_t touched = rows_touched(&ledger->rows), awaited = 0;
        for (size_t i = 0; i < ledger->settled_count; i++)
                if (may_be_awaited(ledger->settled[i]))
                        ledger->picked[awaited++] = ledger->settled[i];
        return parked_make_due_by(ledger->db, &ledger->sql, ledger->rows.ids, touched,
                                  ledger->picked, awaited, error);
}

/* A unique key other than the fence's has no business to say anything here. */
static enum po_class must_not_exist(enum po_class kind, struct po_error *error)
{
        if (kind == PO_EXISTS)
                error->kind = PO_BUG;
        return error->kind;
}

static enum po_class write_effects(struct ledger *ledger, struct po_error *error)
{
        struct db *db = ledger->db;
        struct sql *sql = &ledger->sql;
        struct rows *rows = &ledger->rows;
        ledger->may_race = true;
        if (refunds_write(db, sql, rows->refunds, rows->refunds_count, error) != PO_OK)
                return error->kind; /* EXISTS: registered meanwhile, for another order */
        ledger->may_race = false;
        enum po_class kind = orders_move(ledger->moves, rows->orders, rows->orders_count, error);
        if (kind == PO_OK)
                kind = entries_insert(ledger->entries, db, sql, ledger->settled,
                                      ledger->settled_count, error);
        if (kind == PO_OK)
                kind = insert_outbox(ledger, error);
        if (kind == PO_OK)
                kind = insert_reviews(ledger, error);
        if (kind == PO_OK)
                kind = PO_FAILPOINT("posting.before_balances");
        if (kind == PO_OK)
                kind = entries_move_balances(ledger->entries, db, sql, error);
        if (kind == PO_OK)
                kind = move_parked(ledger, error);
        return kind == PO_OK ? PO_OK : must_not_exist(kind, error);
}

static bool reverses_any(const struct ledger *ledger)
{
        for (size_t i = 0; i < ledger->settled_count; i++)
                if (ledger->settled[i]->reverses != 0)
                        return true;
        return false;
}

/* What stands between BEGIN and COMMIT. */
static enum po_class write_posting(struct ledger *ledger, struct po_error *error)
{
        ledger->settled_count = 0;
        ledger->may_race = false;
        if (PO_FAILPOINT("posting.begun") != PO_OK ||
            rows_lock(&ledger->rows, ledger->db, &ledger->sql, ledger->set, ledger->set_count,
                      error) != PO_OK ||
            PO_FAILPOINT("posting.locked") != PO_OK ||
            outcomes_refuse(ledger->db, &ledger->sql, ledger->set, ledger->set_count, error) !=
                    PO_OK ||
            subjects_read(ledger->db, &ledger->sql, ledger->set, ledger->set_count, error) != PO_OK)
                return error->kind;
        judge_all(ledger);
        find_unblocked(ledger);
        if (ledger->settled_count == 0)
                return PO_OK;
        ledger->may_race = reverses_any(ledger);
        if (outcomes_insert(&ledger->outcomes, ledger->settled, ledger->settled_count, error) !=
                    PO_OK ||
            PO_FAILPOINT("posting.fenced") != PO_OK || write_effects(ledger, error) != PO_OK ||
            PO_FAILPOINT("posting.before_commit") != PO_OK)
                return error->kind;
        return PO_OK;
}

/* A transaction that wrote nothing has nothing to commit, and no answer to lose. */
static enum po_class end_posting(struct ledger *ledger, enum po_class kind, struct po_error *error)
{
        if (kind != PO_OK || ledger->settled_count > 0)
                return db_end(ledger->db, kind, error);
        db_rollback(ledger->db);
        return PO_OK;
}

/* strict.unfinished: whoever takes one of these out of `parked` later must know that it was begun.
 */
static enum po_class mark_parked(struct ledger *ledger, struct po_error *error)
{
        size_t count = 0;
        for (size_t i = 0; i < ledger->set_count && claims_are_strict(ledger->claims); i++)
                if (ledger->set[i]->unparks)
                        ledger->picked[count++] = ledger->set[i];
        return parked_begin(ledger->db, &ledger->sql, ledger->picked, count, error);
}

static void mark_begun(struct ledger *ledger)
{
        for (size_t i = 0; i < ledger->set_count; i++)
                ledger->set[i]->begun = true;
}

/* Nothing was written for those that must wait: their posting is still to come. */
static void mark_waiting(struct ledger *ledger)
{
        for (size_t i = 0; i < ledger->set_count; i++)
                ledger->set[i]->begun = verdict_is_outcome(ledger->set[i]->verdict);
}

static enum po_class post_set(struct ledger *ledger, struct po_error *error)
{
        if (prepare(ledger, error) != PO_OK || PO_FAILPOINT("posting.prepared") != PO_OK ||
            mark_parked(ledger, error) != PO_OK || db_begin(ledger->db, error) != PO_OK)
                return error->kind;
        mark_begun(ledger);
        enum po_class kind = end_posting(ledger, write_posting(ledger, error), error);
        if (kind == PO_OK)
                kind = PO_FAILPOINT("posting.committed");
        if (kind == PO_OK) {
                mark_waiting(ledger);
                return PO_OK;
        }
        take_back_verdicts(ledger);
        entries_explain(ledger->entries, ledger->db, &ledger->sql, error);
        return kind;
}

/* An answer to COMMIT was lost: what this delivery is found to have settled, it settled just now.
 */
static void count_as_settled_now(struct ledger *ledger)
{
        for (size_t i = 0; i < ledger->set_count; i++)
                ledger->set[i]->again = false;
}

/*
 * strict.unfinished: what has no outcome now is not posted again, so a COMMIT that is still under
 * way has to end before we look.
 */
static enum po_class doubt(struct ledger *ledger, struct po_error *error)
{
        if (!claims_are_strict(ledger->claims))
                return PO_OK;
        for (size_t i = 0; i < ledger->set_count; i++)
                ledger->set[i]->in_doubt = true;
        return outcomes_await(ledger->db, &ledger->sql, ledger->set, ledger->set_count, error);
}

/* COMMIT's answer is lost: what is there tells. */
static enum po_class read_after_uncertain(struct ledger *ledger, struct posting **postings,
                                          size_t count, struct po_error *error)
{
        struct po_error reading;
        if (doubt(ledger, &reading) != PO_OK ||
            claims_read(ledger->claims, postings, count, &reading) != PO_OK)
                return error->kind;
        count_as_settled_now(ledger);
        return PO_OK;
}

/* Somebody registered the same refund, or reversed the same payment, between our read and our
 * insert: judged once more on what is there now. A second time is a bug. */
static bool may_try_again(const struct ledger *ledger, bool *raced)
{
        if (*raced || !ledger->may_race)
                return false;
        *raced = true;
        return true;
}

enum po_class posting_run(struct ledger *ledger, struct posting **postings, size_t count,
                          struct po_error *error)
{
        assert(count <= ledger->capacity);
        unsigned answers_lost = 0;
        bool raced = false;
        for (size_t before = SIZE_MAX;;) {
                pick_ours(ledger, postings, count);
                if (ledger->set_count == 0)
                        return PO_OK;
                if (ledger->set_count >= before && !may_try_again(ledger, &raced))
                        return po_fail(error, PO_BUG, 0,
                                       "a unique key refused an outcome that is not there");
                before = ledger->set_count;

                enum po_class kind = post_set(ledger, error);
                if (kind == PO_UNCERTAIN) {
                        if (++answers_lost > ANSWERS_LOST_MAX ||
                            read_after_uncertain(ledger, postings, count, error) != PO_OK)
                                return error->kind;
                        before = SIZE_MAX;
                        continue;
                }
                if (kind != PO_EXISTS)
                        return kind;
                if (claims_read(ledger->claims, postings, count, error) != PO_OK)
                        return error->kind;
                if (answers_lost > 0) /* that COMMIT took place after we had looked for it */
                        count_as_settled_now(ledger);
        }
}
