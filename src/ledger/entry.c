#include "ledger/entry.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "ledger/rules.h"
#include "mysql/bulk.h"

struct change {
        int64_t account_id;
        int64_t amount;
};

/* An entry of a posting that is taken back. */
struct reversed {
        int64_t claim_id;
        struct change change;
        char currency[PO_CURRENCY_BYTES];
};

struct entries {
        struct accounts *accounts;
        struct bulk *rows;
        size_t reversed_count;
        struct reversed *reversed;
        size_t capacity;
        size_t changes_count;
        struct change *changes;
        bool at_border; /* the last move was refused: a balance would have left 64 bits */
};

static const struct bulk_form ENTRY_FORM = {
        .insert = "INSERT INTO entry (claim_id, line, account_id, amount, currency) VALUES ",
        .row = "(?,?,?,?,?)",
        .types = "iiiiT",
        .ending = "",
};

enum po_class entries_open(struct entries **entries_out, struct db *db, struct accounts *accounts,
                           size_t capacity, struct po_error *error)
{
        struct entries *entries = calloc(1, sizeof *entries);
        *entries_out = entries;
        if (entries != NULL) {
                entries->accounts = accounts;
                entries->capacity = capacity * RULE_LINES_MAX * 2;
                entries->changes = calloc(entries->capacity, sizeof *entries->changes);
                entries->reversed = calloc(entries->capacity, sizeof *entries->reversed);
        }
        if (entries == NULL || entries->changes == NULL || entries->reversed == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for the entries");
        return bulk_open(&entries->rows, db, &ENTRY_FORM, error);
}

void entries_close(struct entries *entries)
{
        if (entries == NULL)
                return;
        bulk_close(entries->rows);
        free(entries->changes);
        free(entries->reversed);
        free(entries);
}

/* A reversal may carry no currency of its own: its payment's stands in. */
static enum po_class expand(const char *template, const struct posting *posting,
                            char code_out[ACCOUNT_CODE_BYTES], struct po_error *error)
{
        if (posting->notification->currency[0] != '\0')
                return account_expand(template, posting->notification, code_out, error);
        struct po_notification named = *posting->notification;
        memcpy(named.currency, posting->currency, sizeof named.currency);
        return account_expand(template, &named, code_out, error);
}

static enum po_class want_lines(struct entries *entries, const struct posting *posting,
                                const struct rule_line *lines, size_t count, struct po_error *error)
{
        for (size_t i = 0; i < count; i++) {
                const char *sides[] = { lines[i].debit, lines[i].credit };
                for (size_t side = 0; side < 2; side++) {
                        char code[ACCOUNT_CODE_BYTES];
                        if (sides[side][0] == '\0')
                                continue;
                        if (expand(sides[side], posting, code, error) != PO_OK ||
                            accounts_want(entries->accounts, posting->notification->tenant_id, code,
                                          posting->currency, error) != PO_OK)
                                return error->kind;
                }
        }
        return PO_OK;
}

/* What cannot be posted wants none: its currency may be empty. */
static bool has_lines(const struct posting *posting)
{
        if (posting->currency[0] == '\0')
                return false;
        return posting->notification->amount_kind == PO_AMOUNT_THIS ||
               posting->rule->subject == RULE_REFUND || posting->rule->reverses[0] != '\0';
}

enum po_class entries_want_accounts(struct entries *entries, const struct posting *posting,
                                    struct po_error *error)
{
        const struct event_rule *rule = posting->rule;
        if (!has_lines(posting))
                return PO_OK;
        if (want_lines(entries, posting, rule->lines, rule->lines_count, error) != PO_OK)
                return error->kind;
        if (rule->subject == RULE_POSTS_ONLY && rule->reverses[0] == '\0')
                return PO_OK; /* nothing can stand in its way */
        return want_lines(entries, posting, rule->suspense, rule->suspense_count, error);
}

static void add_entry(struct entries *entries, const struct posting *posting, size_t line,
                      const struct change *change, const char *currency)
{
        bulk_integer(entries->rows, posting->claim_id);
        bulk_integer(entries->rows, (int64_t)line);
        bulk_integer(entries->rows, change->account_id);
        bulk_integer(entries->rows, change->amount);
        bulk_text(entries->rows, currency);
        assert(entries->changes_count < entries->capacity);
        entries->changes[entries->changes_count++] = *change;
}

/* The lines of one posting as they are written. */
struct writing {
        struct entries *entries;
        const struct posting *posting;
        size_t line;
        int64_t sum;
};

/* An amount of 0 (no fee) is no entry. */
static enum po_class add_side(struct writing *writing, const char *template, int64_t amount,
                              struct po_error *error)
{
        const struct posting *posting = writing->posting;
        char code[ACCOUNT_CODE_BYTES];
        if (template[0] == '\0' || amount == 0)
                return PO_OK;
        if (expand(template, posting, code, error) != PO_OK)
                return error->kind;
        struct change change = { accounts_id(writing->entries->accounts,
                                             posting->notification->tenant_id, code,
                                             posting->currency),
                                 amount };
        if (change.account_id == 0)
                return po_fail(error, PO_BUG, 0, "account %s was not made", code);
        writing->sum += amount;
        add_entry(writing->entries, posting, writing->line++, &change, posting->currency);
        return PO_OK;
}

/* The channel's fee is of the notice's own amount; of another one it is not known. */
static int64_t line_amount(const struct posting *posting, enum line_amount which)
{
        int64_t amount = posting->amount_minor;
        int64_t fee = amount == posting->notification->amount_minor
                              ? posting->notification->fee_minor
                              : 0;
        if (which == LINE_FEE)
                return fee;
        return which == LINE_NET ? amount - fee : amount;
}

static enum po_class add_lines(struct writing *writing, const struct rule_line *lines, size_t count,
                               struct po_error *error)
{
        for (size_t i = 0; i < count; i++) {
                int64_t amount = line_amount(writing->posting, lines[i].amount);
                if (amount < 0)
                        return po_refuse(error, "FEE_EXCEEDS", "the fee is more than the amount");
                if (add_side(writing, lines[i].debit, amount, error) != PO_OK ||
                    add_side(writing, lines[i].credit, -amount, error) != PO_OK)
                        return error->kind;
        }
        return PO_OK;
}

/* What the posting that it takes back had, the other way round. */
static enum po_class add_reversal(struct writing *writing, struct po_error *error)
{
        const struct entries *entries = writing->entries;
        for (size_t i = 0; i < entries->reversed_count; i++) {
                const struct reversed *reversed = &entries->reversed[i];
                if (reversed->claim_id != writing->posting->reverses)
                        continue;
                if (reversed->change.amount == INT64_MIN)
                        return po_fail(error, PO_BUG, 0, "an entry of %s cannot be reversed",
                                       writing->posting->notification->key);
                struct change change = { reversed->change.account_id, -reversed->change.amount };
                writing->sum += change.amount;
                add_entry(writing->entries, writing->posting, writing->line++, &change,
                          reversed->currency);
        }
        return PO_OK;
}

static enum po_class add_posting(struct entries *entries, const struct posting *posting,
                                 struct po_error *error)
{
        struct writing writing = { entries, posting, 0, 0 };
        const struct event_rule *rule = posting->rule;
        enum po_class kind;
        if (posting->reverses != 0)
                kind = add_reversal(&writing, error);
        else if (posting->verdict == VERDICT_SUSPENSE)
                kind = add_lines(&writing, rule->suspense, rule->suspense_count, error);
        else
                kind = add_lines(&writing, rule->lines, rule->lines_count, error);
        if (kind == PO_OK && writing.sum != 0)
                return po_fail(error, PO_BUG, 0, "entries of %s do not sum to zero",
                               posting->notification->key);
        return kind;
}

/* The entries of postings that are taken back: read, never remembered. */
static enum po_class read_reversed(struct entries *entries, struct db *db, struct sql *sql,
                                   struct posting *const *postings, size_t count,
                                   struct po_error *error)
{
        size_t asked = 0;
        entries->reversed_count = 0;
        sql_reset(sql);
        sql_raw(sql,
                "SELECT claim_id, account_id, amount, currency FROM entry WHERE claim_id IN (");
        for (size_t i = 0; i < count; i++) {
                if (postings[i]->reverses == 0)
                        continue;
                sql_raw(sql, asked++ == 0 ? "" : ",");
                sql_integer(sql, postings[i]->reverses);
        }
        if (asked == 0)
                return PO_OK;
        sql_raw(sql, ") ORDER BY claim_id, line");
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "read the entries of %zu postings", asked);
        bool fits = db_row_count(db) <= entries->capacity;
        while (fits && db_next_row(db)) {
                struct reversed *reversed = &entries->reversed[entries->reversed_count++];
                reversed->claim_id = db_integer(db, 0);
                reversed->change = (struct change){ db_integer(db, 1), db_integer(db, 2) };
                snprintf(reversed->currency, sizeof reversed->currency, "%s", db_text(db, 3));
        }
        db_rows_end(db);
        if (!fits)
                return po_fail(error, PO_BUG, 0, "more entries than rules have lines");
        return PO_OK;
}

enum po_class entries_insert(struct entries *entries, struct db *db, struct sql *sql,
                             struct posting *const *postings, size_t count, struct po_error *error)
{
        entries->changes_count = 0;
        entries->at_border = false;
        if (read_reversed(entries, db, sql, postings, count, error) != PO_OK)
                return error->kind;
        bulk_begin(entries->rows, NULL);
        for (size_t i = 0; i < count; i++)
                if ((postings[i]->verdict == VERDICT_POSTED ||
                     postings[i]->verdict == VERDICT_SUSPENSE) &&
                    add_posting(entries, postings[i], error) != PO_OK)
                        return error->kind;
        if (bulk_end(entries->rows, error) != PO_OK)
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
