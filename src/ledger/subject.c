#include "ledger/subject.h"

#include <stdio.h>
#include <string.h>

#include "ledger/claim.h"
#include "ledger/refund.h"
#include "ledger/rules.h"

/* A reversal may bear the payment's own number, or name it as its parent. */
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

/* The keys to look for, the more likely first. */
static size_t keys_of(const struct posting *posting, char keys[KEYS_MAX][PO_KEY_BYTES],
                      const char *txns[KEYS_MAX])
{
        const struct po_notification *notification = posting->notification;
        const struct event_rule *rule = posting->rule;
        size_t count = 0;
        txns[0] = notification->txn;
        if (rule->reverses[0] != '\0' &&
            write_key(posting, notification->txn, rule->reverses, keys[0]))
                count = 1;
        const char *event = rule->reverses;
        if (rule->subject == RULE_REFUND && posting->subject.order_no[0] == '\0')
                event = rule->parent;
        txns[count] = notification->parent;
        if (write_key(posting, notification->parent, event, keys[count]))
                count++;
        return count;
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

/* The order of a registered refund stands in its row. */
static enum po_class find_registered(struct db *db, struct sql *sql,
                                     struct posting *const *postings, size_t count,
                                     struct po_error *error)
{
        for (size_t i = 0; i < count; i++) {
                struct refund refund;
                if (!needs_refund(postings[i]))
                        continue;
                if (refund_read(db, sql, postings[i]->notification->tenant_id,
                                refund_no_of(postings[i]->notification), &refund, error) != PO_OK)
                        return error->kind;
                memcpy(postings[i]->subject.order_no, refund.order_no, sizeof refund.order_no);
        }
        return PO_OK;
}

static void take(struct posting *posting, struct db *db, const char *txn)
{
        struct subject *subject = &posting->subject;
        const char *said = posting->notification->order_no, *its = db_text(db, 3);
        if (posting->rule->reverses[0] == '\0') {
                snprintf(subject->order_no, sizeof subject->order_no, "%s", its);
                return;
        }
        if (subject->claim_id != 0 && subject->txn == posting->notification->txn)
                return; /* what bears its own number is it */
        if (said[0] == '\0')
                snprintf(subject->order_no, sizeof subject->order_no, "%s", its);
        subject->of_another_order = said[0] != '\0' && its[0] != '\0' && strcmp(said, its) != 0;
        subject->claim_id = db_integer(db, 2);
        subject->channel = posting->notification->channel;
        subject->txn = txn;
        subject->amount_minor = db_is_null(db, 4) ? 0 : db_integer(db, 4);
        snprintf(subject->currency, sizeof subject->currency, "%s", db_text(db, 5));
}

static void take_row(struct db *db, struct posting *const *postings, size_t count)
{
        int64_t tenant_id = db_integer(db, 0);
        const char *key = db_text(db, 1);
        for (size_t i = 0; i < count; i++) {
                char keys[KEYS_MAX][PO_KEY_BYTES];
                const char *txns[KEYS_MAX];
                if (postings[i]->notification->tenant_id != tenant_id)
                        continue;
                size_t wanted = keys_of(postings[i], keys, txns);
                for (size_t j = 0; j < wanted; j++)
                        if (strcmp(keys[j], key) == 0)
                                take(postings[i], db, txns[j]);
        }
}

enum po_class subjects_find(struct db *db, struct sql *sql, struct posting *const *postings,
                            size_t count, struct po_error *error)
{
        size_t asked = 0;
        for (size_t i = 0; i < count; i++)
                start(postings[i]);
        if (find_registered(db, sql, postings, count, error) != PO_OK)
                return error->kind;
        sql_reset(sql);
        sql_raw(sql, "SELECT c.tenant_id, c.idem_key, c.id, c.order_no, c.amount, c.currency"
                     " FROM claim c FORCE INDEX (uk_idem) WHERE ");
        for (size_t i = 0; i < count; i++) {
                char keys[KEYS_MAX][PO_KEY_BYTES];
                const char *txns[KEYS_MAX];
                size_t wanted = keys_of(postings[i], keys, txns);
                for (size_t j = 0; j < wanted; j++) {
                        sql_raw(sql, asked++ == 0 ? "(c.tenant_id = " : " OR (c.tenant_id = ");
                        sql_integer(sql, postings[i]->notification->tenant_id);
                        sql_raw(sql, " AND c.idem_key = ");
                        sql_text(sql, keys[j]);
                        sql_raw(sql, ")");
                }
        }
        if (asked == 0)
                return PO_OK;
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "find %zu payments", asked);
        while (db_next_row(db))
                take_row(db, postings, count);
        db_rows_end(db);
        return PO_OK;
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
                subject->reversed = false;
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
