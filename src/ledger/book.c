#include "ledger/book.h"

#include <stdio.h>

static void copy(char *text_out, size_t capacity, struct db *db, unsigned column)
{
        snprintf(text_out, capacity, "%s", db_text(db, column));
}

/* Three columns from first on. */
static void read_account(struct db *db, unsigned first, struct book_account *account_out)
{
        account_out->tenant_id = db_integer(db, first);
        copy(account_out->code, sizeof account_out->code, db, first + 1);
        copy(account_out->currency, sizeof account_out->currency, db, first + 2);
}

/* The stream's own error counts where the reader had none. */
static enum po_class end_stream(struct db *db, enum po_class kind, struct po_error *error)
{
        struct po_error ending;
        enum po_class ended = db_stream_end(db, &ending);
        if (kind == PO_OK && ended != PO_OK)
                *error = ending;
        return kind != PO_OK ? kind : ended;
}

static void write_tenant(struct sql *sql, const char *before, int64_t tenant_id)
{
        if (tenant_id == 0)
                return;
        sql_raw(sql, before);
        sql_raw(sql, "a.tenant_id = ");
        sql_integer(sql, tenant_id);
}

#define BALANCE_COLUMNS "SELECT a.tenant_id, a.code, a.currency, "
#define BALANCE_GROUPS                                                                             \
        " GROUP BY a.tenant_id, a.code, a.currency ORDER BY a.tenant_id, a.code, a.currency"

static void write_balances(struct sql *sql, int64_t tenant_id, int64_t before_us)
{
        sql_reset(sql);
        if (before_us == PO_TIME_UNKNOWN) {
                sql_raw(sql, BALANCE_COLUMNS "SUM(b.amount) FROM account a"
                                             " JOIN balance b ON b.account_id = a.id");
                write_tenant(sql, " WHERE ", tenant_id);
        } else {
                sql_raw(sql, BALANCE_COLUMNS "SUM(e.amount) FROM outcome o"
                                             " JOIN entry e ON e.claim_id = o.claim_id"
                                             " JOIN account a ON a.id = e.account_id"
                                             " WHERE o.settled_at < ");
                sql_time(sql, before_us);
                write_tenant(sql, " AND ", tenant_id);
        }
        sql_raw(sql, BALANCE_GROUPS);
}

enum po_class book_balances(struct db *db, struct sql *sql, int64_t tenant_id, int64_t before_us,
                            book_balance_each each, void *context, struct po_error *error)
{
        write_balances(sql, tenant_id, before_us);
        if (db_stream(db, sql, error) != PO_OK)
                return po_within(error, "read balances");
        enum po_class kind = PO_OK;
        while (kind == PO_OK && db_next_row(db)) {
                struct book_balance balance = { .amount_minor = db_integer(db, 3) };
                read_account(db, 0, &balance.account);
                kind = each(context, &balance, error);
        }
        return end_stream(db, kind, error);
}

enum po_class book_accounts(struct db *db, struct sql *sql, int64_t tenant_id, const char *code,
                            book_account_each each, void *context, struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "SELECT a.id, a.tenant_id, a.code, a.currency FROM account a");
        write_tenant(sql, " WHERE ", tenant_id);
        if (code != NULL) {
                sql_raw(sql, tenant_id == 0 ? " WHERE a.code = " : " AND a.code = ");
                sql_text(sql, code);
        }
        sql_raw(sql, " ORDER BY a.tenant_id, a.code, a.currency");
        if (db_stream(db, sql, error) != PO_OK)
                return po_within(error, "read accounts");
        enum po_class kind = PO_OK;
        while (kind == PO_OK && db_next_row(db)) {
                struct book_account account = { .id = db_integer(db, 0) };
                read_account(db, 1, &account);
                kind = each(context, &account, error);
        }
        return end_stream(db, kind, error);
}

static const char ENTRY_COLUMNS[] =
        "SELECT e.claim_id, e.line, a.tenant_id, a.code, a.currency, e.amount, o.verdict,"
        " c.idem_key, c.event_type, c.order_no, o.effective_at, o.settled_at";

static void read_entry(struct db *db, struct book_entry *entry_out)
{
        entry_out->claim_id = db_integer(db, 0);
        entry_out->line = db_integer(db, 1);
        entry_out->account.id = 0;
        read_account(db, 2, &entry_out->account);
        entry_out->amount_minor = db_integer(db, 5);
        copy(entry_out->verdict, sizeof entry_out->verdict, db, 6);
        copy(entry_out->key, sizeof entry_out->key, db, 7);
        copy(entry_out->event, sizeof entry_out->event, db, 8);
        copy(entry_out->order_no, sizeof entry_out->order_no, db, 9);
        copy(entry_out->effective_at, sizeof entry_out->effective_at, db, 10);
        copy(entry_out->settled_at, sizeof entry_out->settled_at, db, 11);
}

static enum po_class stream_entries(struct db *db, const struct sql *sql, book_entry_each each,
                                    void *context, struct po_error *error)
{
        if (db_stream(db, sql, error) != PO_OK)
                return po_within(error, "read entries");
        enum po_class kind = PO_OK;
        while (kind == PO_OK && db_next_row(db)) {
                struct book_entry entry;
                read_entry(db, &entry);
                kind = each(context, &entry, error);
        }
        return end_stream(db, kind, error);
}

/* No index leads from an account to its entries: it would be paid at every posting. */
enum po_class book_statement(struct db *db, struct sql *sql, const struct book_account *account,
                             book_entry_each each, void *context, struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, ENTRY_COLUMNS);
        sql_raw(sql, " FROM entry e JOIN outcome o ON o.claim_id = e.claim_id"
                     " JOIN claim c ON c.id = e.claim_id JOIN account a ON a.id = e.account_id"
                     " WHERE e.account_id = ");
        sql_integer(sql, account->id);
        sql_raw(sql, " ORDER BY o.settled_at, o.turn, e.claim_id, e.line");
        return stream_entries(db, sql, each, context, error);
}

/* In the order of the primary key, so that the first row comes at once and nothing is sorted. */
enum po_class book_entries(struct db *db, struct sql *sql, int64_t tenant_id, book_entry_each each,
                           void *context, struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, ENTRY_COLUMNS);
        sql_raw(sql, " FROM entry e FORCE INDEX (PRIMARY)"
                     " STRAIGHT_JOIN outcome o ON o.claim_id = e.claim_id"
                     " STRAIGHT_JOIN claim c ON c.id = e.claim_id"
                     " STRAIGHT_JOIN account a ON a.id = e.account_id");
        write_tenant(sql, " WHERE ", tenant_id);
        sql_raw(sql, " ORDER BY e.claim_id, e.line");
        return stream_entries(db, sql, each, context, error);
}
