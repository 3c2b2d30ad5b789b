#include "ledger/posting.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/failpoint.h"
#include "ledger/account.h"
#include "ledger/entry.h"
#include "ledger/judge.h"
#include "ledger/letter.h"
#include "ledger/order.h"
#include "ledger/outbox.h"
#include "ledger/outcome.h"
#include "ledger/parked.h"
#include "ledger/review.h"

/* COMMITs without an answer that one call reads after; then the records come again instead. */
enum { ANSWERS_LOST_MAX = 3 };

struct ledger {
        struct db *db;
        const struct rules *rules;
        struct claims *claims;
        struct accounts *accounts;
        struct entries *entries;
        struct outbox outbox;
        struct sql sql;
        size_t capacity;

        /* The set under way. */
        struct posting **set; /* ours, in order of turn */
        size_t set_count;
        struct posting **settled; /* those with an outcome to write, by claim */
        size_t settled_count;
        struct posting **picked; /* some of them, for one statement */
        struct order_id *order_ids;
        struct order *orders; /* locked rows, ascending */
        size_t orders_count;
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
        ledger->order_ids = calloc(capacity, sizeof *ledger->order_ids);
        ledger->orders = calloc(capacity, sizeof *ledger->orders);
        if (ledger->set == NULL || ledger->settled == NULL || ledger->picked == NULL ||
            ledger->order_ids == NULL || ledger->orders == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for %zu postings", capacity);
        if (claims_open(&ledger->claims, db, capacity, error) != PO_OK ||
            accounts_open(&ledger->accounts, db, error) != PO_OK ||
            entries_open(&ledger->entries, ledger->accounts, capacity, error) != PO_OK)
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
        outbox_free(&ledger->outbox);
        sql_free(&ledger->sql);
        free(ledger->set);
        free(ledger->settled);
        free(ledger->picked);
        free(ledger->order_ids);
        free(ledger->orders);
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

static int compare_order_ids(const void *left, const void *right)
{
        return order_id_compare(left, right);
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

/* The orders that the set names, sorted, each once. */
static size_t collect_orders(struct ledger *ledger)
{
        size_t count = 0;
        for (size_t i = 0; i < ledger->set_count; i++) {
                const struct posting *posting = ledger->set[i];
                if (posting->rule->subject == RULE_POSTS_ONLY ||
                    posting->notification->order_no[0] == '\0')
                        continue;
                ledger->order_ids[count++] = (struct order_id){ posting->notification->tenant_id,
                                                                posting->notification->order_no };
        }
        qsort(ledger->order_ids, count, sizeof *ledger->order_ids, compare_order_ids);
        size_t kept = 0;
        for (size_t i = 0; i < count; i++)
                if (kept == 0 ||
                    order_id_compare(&ledger->order_ids[kept - 1], &ledger->order_ids[i]) != 0)
                        ledger->order_ids[kept++] = ledger->order_ids[i];
        return kept;
}

static struct order *find_order(struct ledger *ledger, const struct po_notification *notification)
{
        struct order_id wanted = { notification->tenant_id, notification->order_no };
        size_t low = 0, high = ledger->orders_count;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                struct order *order = &ledger->orders[middle];
                struct order_id here = { order->tenant_id, order->order_no };
                int way = order_id_compare(&here, &wanted);
                if (way == 0)
                        return order;
                if (way < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return NULL;
}

/* Orders that a rule makes from the notification: their own commit, an order that is there stays.
 */
static enum po_class create_orders(struct ledger *ledger, struct po_error *error)
{
        ledger->orders_count = 0;
        for (size_t i = 0; i < ledger->set_count; i++) {
                const struct po_notification *notification = ledger->set[i]->notification;
                const struct event_rule *rule = ledger->set[i]->rule;
                if (rule->create[0] == '\0' || notification->order_no[0] == '\0' ||
                    notification->amount_kind != PO_AMOUNT_THIS)
                        continue;
                struct order *order = &ledger->orders[ledger->orders_count++];
                *order = (struct order){ .tenant_id = notification->tenant_id,
                                         .amount_minor = notification->amount_minor };
                memcpy(order->order_no, notification->order_no, sizeof order->order_no);
                memcpy(order->currency, notification->currency, sizeof order->currency);
                memcpy(order->status, rule->create, sizeof order->status);
        }
        qsort(ledger->orders, ledger->orders_count, sizeof *ledger->orders, compare_orders);
        return orders_insert(ledger->db, &ledger->sql, ledger->orders, ledger->orders_count, error);
}

/* What the transaction needs and does not make itself, each in its own commit before BEGIN. */
static enum po_class prepare(struct ledger *ledger, struct po_error *error)
{
        accounts_trim(ledger->accounts);
        for (size_t i = 0; i < ledger->set_count; i++)
                if (entries_want_accounts(ledger->entries, ledger->set[i], error) != PO_OK)
                        return error->kind;
        if (accounts_make(ledger->accounts, &ledger->sql, error) != PO_OK)
                return error->kind;
        return create_orders(ledger, error);
}

static void judge_all(struct ledger *ledger)
{
        ledger->settled_count = 0;
        for (size_t i = 0; i < ledger->set_count; i++) {
                struct posting *posting = ledger->set[i];
                struct judgement judgement;
                struct order *order = find_order(ledger, posting->notification);
                judge(ledger->rules, posting->rule, posting->notification, order, &judgement);
                if (posting->gave_up)
                        judge_give_up(posting->rule, posting->notification, order, &judgement);
                posting->verdict = judgement.verdict;
                posting->reason = judgement.reason;
                posting->review = judgement.review;
                memcpy(posting->result, judgement.result, sizeof posting->result);
                if (verdict_is_outcome(posting->verdict))
                        ledger->settled[ledger->settled_count++] = posting;
        }
        qsort(ledger->settled, ledger->settled_count, sizeof(struct posting *), compare_claims);
}

/* What stands behind it in the batch may have moved the order that a PARKED one waits for. */
static void find_unblocked(struct ledger *ledger)
{
        for (size_t i = 0; i < ledger->set_count; i++) {
                struct posting *posting = ledger->set[i];
                const struct order *order = find_order(ledger, posting->notification);
                posting->unblocked =
                        posting->verdict == VERDICT_PARKED && order != NULL && order->moved;
        }
}

static enum po_class insert_outbox(struct ledger *ledger, struct po_error *error)
{
        outbox_reset(&ledger->outbox);
        for (size_t i = 0; i < ledger->set_count; i++) {
                const struct posting *posting = ledger->set[i];
                if (posting->verdict == VERDICT_POSTED && posting->rule->outbox[0] != '\0')
                        outbox_add(&ledger->outbox, posting, posting->rule->outbox,
                                   posting->rule->to);
        }
        return outbox_insert(&ledger->outbox, ledger->db, error);
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

        size_t moved = 0;
        for (size_t i = 0; i < ledger->orders_count; i++)
                if (ledger->orders[i].moved)
                        ledger->order_ids[moved++] =
                                (struct order_id){ ledger->orders[i].tenant_id,
                                                   ledger->orders[i].order_no };
        return parked_make_due(ledger->db, &ledger->sql, ledger->order_ids, moved, error);
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
        enum po_class kind = orders_move(db, sql, ledger->orders, ledger->orders_count, error);
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

/* What stands between BEGIN and COMMIT. */
static enum po_class write_posting(struct ledger *ledger, struct po_error *error)
{
        size_t orders = collect_orders(ledger);
        if (PO_FAILPOINT("posting.begun") != PO_OK ||
            orders_lock(ledger->db, &ledger->sql, ledger->order_ids, orders, ledger->orders,
                        &ledger->orders_count, error) != PO_OK ||
            PO_FAILPOINT("posting.locked") != PO_OK ||
            outcomes_refuse(ledger->db, &ledger->sql, ledger->set, ledger->set_count, error) !=
                    PO_OK)
                return error->kind;
        judge_all(ledger);
        find_unblocked(ledger);
        if (ledger->settled_count == 0)
                return PO_OK;
        if (outcomes_insert(ledger->db, &ledger->sql, ledger->settled, ledger->settled_count,
                            error) != PO_OK ||
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

enum po_class posting_run(struct ledger *ledger, struct posting **postings, size_t count,
                          struct po_error *error)
{
        assert(count <= ledger->capacity);
        unsigned answers_lost = 0;
        for (size_t before = SIZE_MAX;;) {
                pick_ours(ledger, postings, count);
                if (ledger->set_count == 0)
                        return PO_OK;
                if (ledger->set_count >= before)
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
