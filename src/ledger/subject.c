#include "ledger/subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "ledger/claim.h"
#include "ledger/refund.h"
#include "ledger/rules.h"

/* A reversal may bear the payment's own number, or name it as its parent; a refund's failure has
 * its success, and its payment. */
enum { KEYS_MAX = 2 };

static bool write_key(const struct posting *posting, const char *txn, const char *event,
                      char key[PO_KEY_BYTES])
{
        if (txn[0] == '\0' || event[0] == '\0')
                return false;
        int length =
                snprintf(key, PO_KEY_BYTES, "%s:%s:%s", posting->notification->channel, txn, event);
        return length < PO_KEY_BYTES; /* longer ones were refused as claims */
}

bool subject_awaited(const struct posting *posting, char key_out[PO_KEY_BYTES])
{
        const struct po_notification *notification = posting->notification;
        const struct event_rule *rule = posting->rule;
        if (rule == NULL)
                return false;
        if (rule->subject == RULE_REFUND)
                return write_key(posting, notification->parent, rule->parent, key_out);
        return write_key(posting, notification->parent, rule->reverses, key_out) ||
               write_key(posting, notification->txn, rule->reverses, key_out);
}

static void start(struct posting *posting)
{
        memset(&posting->subject, 0, sizeof posting->subject);
        memcpy(posting->subject.order_no, posting->notification->order_no,
               sizeof posting->subject.order_no);
}

static bool needs_refund(const struct posting *posting)
{
        return posting->rule->subject == RULE_REFUND && posting->subject.order_no[0] == '\0';
}

static int compare_refunds(const void *left, const void *right)
{
        return refund_compare(left, right);
}

static void name_refund(struct refund *refund, const struct posting *posting)
{
        memset(refund, 0, sizeof *refund);
        refund->tenant_id = posting->notification->tenant_id;
        text_copy(refund->refund_no, sizeof refund->refund_no, refund_no_of(posting->notification));
}

/* Sorted, each once. */
static size_t collect_refunds(struct refund *refunds, struct posting *const *postings, size_t count)
{
        size_t found = 0, kept = 0;
        for (size_t i = 0; i < count; i++)
                if (needs_refund(postings[i]))
                        name_refund(&refunds[found++], postings[i]);
        qsort(refunds, found, sizeof *refunds, compare_refunds);
        for (size_t i = 0; i < found; i++)
                if (kept == 0 || refund_compare(&refunds[kept - 1], &refunds[i]) != 0)
                        refunds[kept++] = refunds[i];
        return kept;
}

/* The order of a registered refund stands in its row. */
static enum po_class find_registered(struct db *db, struct sql *sql,
                                     struct posting *const *postings, size_t count,
                                     struct po_error *error)
{
        size_t needed = 0;
        for (size_t i = 0; i < count; i++)
                needed += needs_refund(postings[i]);
        if (needed == 0)
                return PO_OK;
        CLEANUP(cleanup_free) struct refund *refunds = calloc(needed, sizeof *refunds);
        if (refunds == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for %zu refunds", needed);
        size_t kept = collect_refunds(refunds, postings, count);
        if (refunds_read(db, sql, refunds, kept, error) != PO_OK)
                return error->kind;
        for (size_t i = 0; i < count; i++) {
                struct refund key;
                if (!needs_refund(postings[i]))
                        continue;
                name_refund(&key, postings[i]);
                const struct refund *refund =
                        bsearch(&key, refunds, kept, sizeof *refunds, compare_refunds);
                memcpy(postings[i]->subject.order_no, refund->order_no, sizeof refund->order_no);
        }
        return PO_OK;
}

/* A key that may be of what a posting is about, and what of its notification named it. */
struct wanted {
        struct posting *posting;
        const char *txn;
        bool names_order; /* that is all it is wanted for; else it is what may be taken back */
        char key[PO_KEY_BYTES];
};

static void take(const struct wanted *wanted, struct db *db)
{
        struct posting *posting = wanted->posting;
        struct subject *subject = &posting->subject;
        const char *said = posting->notification->order_no, *its = db_text(db, 3);
        if (wanted->names_order) {
                text_copy(subject->order_no, sizeof subject->order_no, its);
                return;
        }
        if (subject->claim_id != 0 && subject->txn == posting->notification->txn)
                return; /* what bears its own number is it */
        if (said[0] == '\0' && posting->rule->subject != RULE_REFUND)
                text_copy(subject->order_no, sizeof subject->order_no, its);
        subject->of_another_order = said[0] != '\0' && its[0] != '\0' && strcmp(said, its) != 0;
        subject->claim_id = db_integer(db, 2);
        subject->channel = posting->notification->channel;
        subject->txn = wanted->txn;
        subject->amount_minor = db_is_null(db, 4) ? 0 : db_integer(db, 4);
        text_copy(subject->currency, sizeof subject->currency, db_text(db, 5));
}

static int compare_key(int64_t tenant_id, const char *key, const struct wanted *wanted)
{
        int64_t other = wanted->posting->notification->tenant_id;
        if (tenant_id != other)
                return tenant_id < other ? -1 : 1;
        return strcmp(key, wanted->key);
}

static int compare_wanted(const void *left, const void *right)
{
        const struct wanted *a = left;
        return compare_key(a->posting->notification->tenant_id, a->key, right);
}

static size_t want(struct wanted *wanted, struct posting *posting, const char *txn,
                   const char *event, bool names_order)
{
        *wanted = (struct wanted){ .posting = posting, .txn = txn, .names_order = names_order };
        return write_key(posting, txn, event, wanted->key) ? 1 : 0;
}

/* At most KEYS_MAX. */
static size_t want_keys(struct wanted *wanted, struct posting *posting)
{
        const struct po_notification *notification = posting->notification;
        const struct event_rule *rule = posting->rule;
        size_t count = 0;
        if (rule->subject != RULE_REFUND) {
                count += want(&wanted[count], posting, notification->txn, rule->reverses, false);
                count += want(&wanted[count], posting, notification->parent, rule->reverses, false);
                return count;
        }
        count += want(&wanted[count], posting, notification->txn, rule->takes_back, false);
        if (posting->subject.order_no[0] == '\0')
                count += want(&wanted[count], posting, notification->parent, rule->parent, true);
        return count;
}

static bool wants_keys(const struct posting *posting)
{
        return posting->rule->reverses[0] != '\0' || posting->rule->takes_back[0] != '\0' ||
               needs_refund(posting);
}

/* Sorted, as often as they are wanted. */
static size_t collect_wanted(struct wanted *wanted, struct posting *const *postings, size_t count)
{
        size_t found = 0;
        for (size_t i = 0; i < count; i++)
                if (wants_keys(postings[i]))
                        found += want_keys(&wanted[found], postings[i]);
        qsort(wanted, found, sizeof *wanted, compare_wanted);
        return found;
}

/* One row for all that want it. */
static void take_row(struct db *db, const struct wanted *wanted, size_t count)
{
        int64_t tenant_id = db_integer(db, 0);
        const char *key = db_text(db, 1);
        size_t low = 0, high = count;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (compare_key(tenant_id, key, &wanted[middle]) > 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        for (; low < count && compare_key(tenant_id, key, &wanted[low]) == 0; low++)
                take(&wanted[low], db);
}

static enum po_class find_payments(struct db *db, struct sql *sql, const struct wanted *wanted,
                                   size_t count, struct po_error *error)
{
        if (count == 0)
                return PO_OK;
        sql_reset(sql);
        sql_raw(sql, "SELECT c.tenant_id, c.idem_key, c.id, c.order_no, c.amount, c.currency"
                     " FROM claim c FORCE INDEX (uk_idem) WHERE ");
        for (size_t i = 0; i < count; i++) {
                if (i > 0 && compare_wanted(&wanted[i - 1], &wanted[i]) == 0)
                        continue;
                sql_raw(sql, i == 0 ? "(c.tenant_id = " : " OR (c.tenant_id = ");
                sql_integer(sql, wanted[i].posting->notification->tenant_id);
                sql_raw(sql, " AND c.idem_key = ");
                sql_text(sql, wanted[i].key);
                sql_raw(sql, ")");
        }
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "find %zu payments", count);
        while (db_next_row(db))
                take_row(db, wanted, count);
        db_rows_end(db);
        return PO_OK;
}

enum po_class subjects_find(struct db *db, struct sql *sql, struct posting *const *postings,
                            size_t count, struct po_error *error)
{
        size_t most = 0;
        for (size_t i = 0; i < count; i++)
                start(postings[i]);
        if (find_registered(db, sql, postings, count, error) != PO_OK)
                return error->kind;
        for (size_t i = 0; i < count; i++)
                if (wants_keys(postings[i]))
                        most += KEYS_MAX;
        if (most == 0)
                return PO_OK;
        CLEANUP(cleanup_free) struct wanted *wanted = calloc(most, sizeof *wanted);
        if (wanted == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for %zu payments", most);
        return find_payments(db, sql, wanted, collect_wanted(wanted, postings, count), error);
}

static void take_outcome(struct db *db, struct posting *const *postings, size_t count)
{
        for (size_t i = 0; i < count; i++) {
                struct subject *subject = &postings[i]->subject;
                if (subject->claim_id == 0 || subject->claim_id != db_integer(db, 0))
                        continue;
                subject->verdict = verdict_parse(db_text(db, 1));
                subject->reversed = !db_is_null(db, 2);
        }
}

enum po_class subjects_read(struct db *db, struct sql *sql, struct posting *const *postings,
                            size_t count, struct po_error *error)
{
        size_t asked = 0;
        sql_reset(sql);
        sql_raw(sql, "SELECT o.claim_id, o.verdict, r.claim_id FROM outcome o"
                     " LEFT JOIN outcome r ON r.reverses = o.claim_id WHERE o.claim_id IN (");
        for (size_t i = 0; i < count; i++) {
                struct subject *subject = &postings[i]->subject;
                subject->verdict = VERDICT_NONE;
                subject->reversed = subject->suspended_now = false;
                if (subject->claim_id == 0)
                        continue;
                sql_raw(sql, asked++ == 0 ? "" : ",");
                sql_integer(sql, subject->claim_id);
        }
        if (asked == 0)
                return PO_OK;
        sql_raw(sql, ")");
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "read %zu payments", asked);
        while (db_next_row(db))
                take_outcome(db, postings, count);
        db_rows_end(db);
        return PO_OK;
}
