#include "ledger/opening.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "postonce/key.h"

enum { TRIES_MAX = 5 };

static const char own_channel[] = "POSTONCE";
static const char own_event[] = "OPENING_BALANCE";
static const char own_topic[] = "postonce.opening"; /* partition -1: no record has it */

/* What one of them is to the ledger. */
struct work {
        struct po_notification notification;
        struct record record;
        struct event_rule rule;
        struct posting posting;
};

static enum po_class check_code(const char *code, struct po_error *error)
{
        size_t length = strlen(code);
        if (length == 0 || length >= ACCOUNT_CODE_BYTES)
                return po_refuse(error, "ACCOUNT_MALFORMED", "account must have 1…%d bytes",
                                 ACCOUNT_CODE_BYTES - 1);
        if (code[0] == ' ' || code[length - 1] == ' ')
                return po_refuse(error, "ACCOUNT_MALFORMED", "account has a space at an end");
        for (const char *at = code; *at != '\0'; at++)
                if ((unsigned char)*at < ' ' || *at == 0x7f || *at == '{' || *at == '}')
                        return po_refuse(error, "ACCOUNT_MALFORMED",
                                         "account has a control character or a brace");
        return PO_OK;
}

static enum po_class fill_txn(const struct opening *opening, struct po_notification *notification,
                              struct po_error *error)
{
        char *txn = notification->txn;
        snprintf(txn, sizeof notification->txn, "opening-");
        if (po_key_encode(txn, sizeof notification->txn, opening->account, strlen(opening->account),
                          error) != PO_OK)
                return error->kind;
        size_t used = strlen(txn);
        int more = snprintf(txn + used, sizeof notification->txn - used, "/%s", opening->currency);
        if ((size_t)more >= sizeof notification->txn - used)
                return po_refuse(error, "KEY_TOO_LONG", "the account's name makes too long a key");
        return PO_OK;
}

/* Amounts of notifications have no sign: which side it is on stands in parent, and so in the
 * fingerprint. */
static enum po_class fill_notification(const struct opening *opening,
                                       struct po_notification *notification, struct po_error *error)
{
        bool debit = opening->amount_minor > 0;
        *notification = (struct po_notification){
                .tenant_id = opening->tenant_id,
                .amount_kind = PO_AMOUNT_THIS,
                .amount_minor = debit ? opening->amount_minor : -opening->amount_minor,
                .occurred_at_us = opening->effective_at_us,
        };
        memcpy(notification->channel, own_channel, sizeof own_channel);
        memcpy(notification->event, own_event, sizeof own_event);
        snprintf(notification->parent, sizeof notification->parent, debit ? "debit" : "credit");
        snprintf(notification->currency, sizeof notification->currency, "%s", opening->currency);
        if (fill_txn(opening, notification, error) != PO_OK)
                return error->kind;
        return po_key_seal(notification, error);
}

enum po_class opening_check(const struct opening *opening, struct po_error *error)
{
        struct po_notification notification;
        if (check_code(opening->account, error) != PO_OK)
                return error->kind;
        if (opening->amount_minor == 0)
                return po_refuse(error, "AMOUNT_NOT_POSITIVE", "amount must not be zero");
        return fill_notification(opening, &notification, error);
}

static enum po_class fill_work(struct work *work, const struct opening *opening,
                               const char *counter, size_t turn, struct po_error *error)
{
        bool debit = opening->amount_minor > 0;
        struct rule_line *line = &work->rule.lines[0];
        memset(work, 0, sizeof *work);
        if (fill_notification(opening, &work->notification, error) != PO_OK)
                return error->kind;
        work->record = (struct record){
                .topic = own_topic, .partition = -1, .offset = opening->line, .timestamp_ms = -1
        };
        work->rule.subject = RULE_POSTS_ONLY;
        work->rule.lines_count = 1;
        memcpy(work->rule.event, own_event, sizeof own_event);
        snprintf(line->debit, sizeof line->debit, "%s", debit ? opening->account : counter);
        snprintf(line->credit, sizeof line->credit, "%s", debit ? counter : opening->account);
        work->rule.suspense[0] = *line;
        work->posting = (struct posting){ .notification = &work->notification,
                                          .record = &work->record,
                                          .rule = &work->rule,
                                          .turn = (uint32_t)turn };
        return PO_OK;
}

/* `again`: an earlier try of this call settled it, and COMMIT's answer was lost. */
static enum opening_fate fate_of(const struct posting *posting)
{
        if (posting->verdict == VERDICT_POSTED && !posting->again)
                return OPENING_POSTED;
        return posting->verdict == VERDICT_CONFLICT ? OPENING_DIFFERS : OPENING_THERE;
}

static enum po_class claim_and_post(struct ledger *ledger, struct posting **postings, size_t count,
                                    struct po_error *error)
{
        struct claims *claims = ledger_claims(ledger);
        claims_begin(claims);
        if (claims_acquire(claims, postings, count, error) != PO_OK)
                return error->kind;
        return posting_run(ledger, postings, count, error);
}

static enum po_class post(struct ledger *ledger, struct posting **postings, size_t count,
                          struct po_error *error)
{
        enum po_class kind = PO_OK;
        for (int try = 0; try < TRIES_MAX; try++) {
                kind = claim_and_post(ledger, postings, count, error);
                if (kind != PO_TRANSIENT || !ledger_is_connected(ledger))
                        break;
        }
        return kind;
}

/* Nothing else can come of a rule that only posts. */
static enum po_class check_verdict(const struct posting *posting, struct po_error *error)
{
        const struct posting *decided = posting->leader != NULL ? posting->leader : posting;
        if (decided->verdict == VERDICT_POSTED || decided->verdict == VERDICT_DUPLICATE ||
            decided->verdict == VERDICT_CONFLICT)
                return PO_OK;
        return po_fail(error, PO_BUG, 0, "%s became %s", posting->notification->key,
                       verdict_name(decided->verdict));
}

enum po_class openings_post(struct ledger *ledger, const char *counter, struct opening *openings,
                            size_t count, struct po_error *error)
{
        assert(count <= OPENING_ROWS_MAX);
        struct posting *postings[OPENING_ROWS_MAX];
        CLEANUP(cleanup_free) struct work *works = calloc(OPENING_ROWS_MAX, sizeof *works);
        if (works == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for %zu balances", count);
        if (check_code(counter, error) != PO_OK)
                return po_within(error, "the counter account");
        for (size_t i = 0; i < count; i++) {
                if (fill_work(&works[i], &openings[i], counter, i, error) != PO_OK)
                        return error->kind;
                postings[i] = &works[i].posting;
        }
        if (post(ledger, postings, count, error) != PO_OK)
                return po_within(error, "post %zu opening balances", count);
        for (size_t i = 0; i < count; i++) {
                if (check_verdict(postings[i], error) != PO_OK)
                        return error->kind;
                openings[i].fate =
                        postings[i]->leader != NULL ? OPENING_THERE : fate_of(postings[i]);
        }
        return PO_OK;
}
