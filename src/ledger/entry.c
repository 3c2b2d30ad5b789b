#include "ledger/entry.h"

#include <assert.h>
#include <stdlib.h>

#include "base/checked.h"
#include "ledger/rules.h"

struct change {
        int64_t account_id;
        int64_t amount;
};

struct entries {
        struct accounts *accounts;
        size_t capacity;
        size_t changes_count;
        struct change *changes;
        bool at_border; /* the last move was refused: a balance would have left 64 bits */
};

enum po_class entries_open(struct entries **entries_out, struct accounts *accounts, size_t capacity,
                           struct po_error *error)
{
        struct entries *entries = calloc(1, sizeof *entries);
        *entries_out = entries;
        if (entries != NULL) {
                entries->accounts = accounts;
                entries->capacity = capacity * RULE_LINES_MAX * 2;
                entries->changes = calloc(entries->capacity, sizeof *entries->changes);
        }
        if (entries == NULL || entries->changes == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for the entries");
        return PO_OK;
}

void entries_close(struct entries *entries)
{
        if (entries == NULL)
                return;
        free(entries->changes);
        free(entries);
}

static enum po_class want_lines(struct entries *entries, const struct posting *posting,
                                const struct rule_line *lines, struct po_error *error)
{
        if (posting->notification->amount_kind != PO_AMOUNT_THIS)
                return PO_OK; /* the judge posts no lines of it, and its currency may be empty */
        for (size_t i = 0; i < posting->rule->lines_count; i++) {
                const char *sides[] = { lines[i].debit, lines[i].credit };
                for (size_t side = 0; side < 2; side++) {
                        char code[ACCOUNT_CODE_BYTES];
                        if (sides[side][0] == '\0')
                                continue;
                        if (account_expand(sides[side], posting->notification, code, error) !=
                                    PO_OK ||
                            accounts_want(entries->accounts, posting->notification->tenant_id, code,
                                          posting->notification->currency, error) != PO_OK)
                                return error->kind;
                }
        }
        return PO_OK;
}

enum po_class entries_want_accounts(struct entries *entries, const struct posting *posting,
                                    struct po_error *error)
{
        if (want_lines(entries, posting, posting->rule->lines, error) != PO_OK)
                return error->kind;
        if (posting->rule->subject == RULE_POSTS_ONLY)
                return PO_OK; /* nothing can stand in its way */
        return want_lines(entries, posting, posting->rule->suspense, error);
}

static enum po_class add_entry(struct entries *entries, struct sql *sql,
                               const struct posting *posting, size_t line, const char *template,
                               int64_t amount, struct po_error *error)
{
        const struct po_notification *notification = posting->notification;
        char code[ACCOUNT_CODE_BYTES];
        if (account_expand(template, notification, code, error) != PO_OK)
                return error->kind;
        int64_t account_id = accounts_id(entries->accounts, notification->tenant_id, code,
                                         notification->currency);
        if (account_id == 0)
                return po_fail(error, PO_BUG, 0, "account %s was not made", code);

        sql_raw(sql, entries->changes_count == 0 ? "(" : ",(");
        sql_integer(sql, posting->claim_id);
        sql_raw(sql, ",");
        sql_integer(sql, (int64_t)line);
        sql_raw(sql, ",");
        sql_integer(sql, account_id);
        sql_raw(sql, ",");
        sql_integer(sql, amount);
        sql_raw(sql, ",");
        sql_text(sql, notification->currency);
        sql_raw(sql, ")");
        assert(entries->changes_count < entries->capacity);
        entries->changes[entries->changes_count++] = (struct change){ account_id, amount };
        return PO_OK;
}

static enum po_class add_posting(struct entries *entries, struct sql *sql,
                                 const struct posting *posting, struct po_error *error)
{
        int64_t amount = posting->notification->amount_minor;
        size_t line = 0;
        int sides = 0; /* debits minus credits: all lines are of the one amount */
        for (size_t i = 0; i < posting->rule->lines_count; i++) {
                const struct rule_line *rule_line = posting->verdict == VERDICT_SUSPENSE
                                                            ? &posting->rule->suspense[i]
                                                            : &posting->rule->lines[i];
                if (rule_line->debit[0] != '\0') {
                        sides++;
                        if (add_entry(entries, sql, posting, line++, rule_line->debit, amount,
                                      error) != PO_OK)
                                return error->kind;
                }
                if (rule_line->credit[0] != '\0') {
                        sides--;
                        if (add_entry(entries, sql, posting, line++, rule_line->credit, -amount,
                                      error) != PO_OK)
                                return error->kind;
                }
        }
        if (sides != 0)
                return po_fail(error, PO_BUG, 0, "entries of %s do not sum to zero",
                               posting->notification->key);
        return PO_OK;
}

enum po_class entries_insert(struct entries *entries, struct db *db, struct sql *sql,
                             struct posting *const *postings, size_t count, struct po_error *error)
{
        entries->changes_count = 0;
        entries->at_border = false;
        sql_reset(sql);
        sql_raw(sql, "INSERT INTO entry (claim_id, line, account_id, amount, currency) VALUES ");
        for (size_t i = 0; i < count; i++)
                if ((postings[i]->verdict == VERDICT_POSTED ||
                     postings[i]->verdict == VERDICT_SUSPENSE) &&
                    add_posting(entries, sql, postings[i], error) != PO_OK)
                        return error->kind;
        if (entries->changes_count == 0)
                return PO_OK;
        if (db_exec(db, sql, NULL, error) != PO_OK)
                return po_within(error, "write %zu entries", entries->changes_count);
        return PO_OK;
}

static int compare_changes(const void *left, const void *right)
{
        const struct change *a = left, *b = right;
        return a->account_id < b->account_id ? -1 : a->account_id > b->account_id;
}

/* One change an account. */
static enum po_class sum_changes(struct entries *entries, struct po_error *error)
{
        qsort(entries->changes, entries->changes_count, sizeof *entries->changes, compare_changes);
        size_t kept = 0;
        for (size_t i = 0; i < entries->changes_count; i++) {
                const struct change *change = &entries->changes[i];
                if (kept == 0 || entries->changes[kept - 1].account_id != change->account_id) {
                        entries->changes[kept++] = *change;
                        continue;
                }
                if (!checked_add(&entries->changes[kept - 1].amount, change->amount))
                        return po_refuse(error, "AMOUNT_OUT_OF_RANGE",
                                         "one batch moves more than 64 bits on one account");
        }
        entries->changes_count = kept;
        return PO_OK;
}

enum { ER_DATA_OUT_OF_RANGE = 1690, ER_WARN_DATA_OUT_OF_RANGE = 1264 };

enum po_class entries_move_balances(struct entries *entries, struct db *db, struct sql *sql,
                                    struct po_error *error)
{
        if (entries->changes_count == 0)
                return PO_OK;
        if (sum_changes(entries, error) != PO_OK)
                return error->kind;
        sql_reset(sql);
        sql_raw(sql, "INSERT INTO balance (account_id, slot, amount) VALUES ");
        for (size_t i = 0; i < entries->changes_count; i++) {
                sql_raw(sql, i == 0 ? "(" : ",(");
                sql_integer(sql, entries->changes[i].account_id);
                sql_raw(sql, ",0,");
                sql_integer(sql, entries->changes[i].amount);
                sql_raw(sql, ")");
        }
        sql_raw(sql, " ON DUPLICATE KEY UPDATE amount = amount + VALUES(amount)");
        if (db_exec(db, sql, NULL, error) == PO_OK)
                return PO_OK;
        if (error->code == ER_DATA_OUT_OF_RANGE || error->code == ER_WARN_DATA_OUT_OF_RANGE) {
                error->kind = PO_SYSTEMIC;
                entries->at_border = true;
        }
        return po_within(error, "move %zu balances", entries->changes_count);
}

void entries_explain(struct entries *entries, struct db *db, struct sql *sql,
                     struct po_error *error)
{
        struct po_error reading;
        if (!entries->at_border)
                return;
        entries->at_border = false;
        sql_reset(sql);
        sql_raw(sql, "SELECT a.tenant_id, a.code, a.currency, b.amount FROM balance b"
                     " JOIN account a ON a.id = b.account_id WHERE b.account_id IN (");
        for (size_t i = 0; i < entries->changes_count; i++) {
                sql_raw(sql, i == 0 ? "" : ",");
                sql_integer(sql, entries->changes[i].account_id);
        }
        sql_raw(sql, ") ORDER BY ABS(CAST(b.amount AS DECIMAL(20))) DESC LIMIT 1");
        if (db_query(db, sql, &reading) != PO_OK)
                return;
        if (db_next_row(db))
                po_within(error,
                          "balance of account %s %s of tenant %s would leave 64 bits (is %s)",
                          db_text(db, 1), db_text(db, 2), db_text(db, 0), db_text(db, 3));
        db_rows_end(db);
}
