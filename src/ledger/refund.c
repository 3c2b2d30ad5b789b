#include "ledger/refund.h"

#include <stdio.h>
#include <string.h>

static const char REFUND_COLUMNS[] =
        "SELECT tenant_id, refund_no, order_no, amount, currency, status, reserved, channel, txn,"
        " claim_id, origin FROM refund";

int refund_compare(const struct refund *a, const struct refund *b)
{
        if (a->tenant_id != b->tenant_id)
                return a->tenant_id < b->tenant_id ? -1 : 1;
        return strcmp(a->refund_no, b->refund_no);
}

const char *refund_no_of(const struct po_notification *notification)
{
        return notification->refund_no[0] != '\0' ? notification->refund_no : notification->txn;
}

static void read_row(struct db *db, struct refund *refund)
{
        memset(refund, 0, sizeof *refund);
        refund->exists = true;
        refund->tenant_id = db_integer(db, 0);
        snprintf(refund->refund_no, sizeof refund->refund_no, "%s", db_text(db, 1));
        snprintf(refund->order_no, sizeof refund->order_no, "%s", db_text(db, 2));
        refund->amount_minor = db_integer(db, 3);
        snprintf(refund->currency, sizeof refund->currency, "%s", db_text(db, 4));
        snprintf(refund->status, sizeof refund->status, "%s", db_text(db, 5));
        refund->reserved = db_integer(db, 6);
        snprintf(refund->channel, sizeof refund->channel, "%s", db_text(db, 7));
        snprintf(refund->txn, sizeof refund->txn, "%s", db_text(db, 8));
        refund->claim_id = db_is_null(db, 9) ? 0 : db_integer(db, 9);
        refund->registered = strcmp(db_text(db, 10), "REGISTERED") == 0;
        memcpy(refund->status_read, refund->status, sizeof refund->status_read);
}

static void write_keys(struct sql *sql, const struct refund *refunds, size_t count)
{
        for (size_t i = 0; i < count; i++) {
                if (i == 0 || refunds[i].tenant_id != refunds[i - 1].tenant_id) {
                        sql_raw(sql, i == 0 ? "(tenant_id = " : ")) OR (tenant_id = ");
                        sql_integer(sql, refunds[i].tenant_id);
                        sql_raw(sql, " AND refund_no IN (");
                } else {
                        sql_raw(sql, ",");
                }
                sql_text(sql, refunds[i].refund_no);
        }
        sql_raw(sql, "))");
}

/* Rows come in the order of the keys, some missing. */
static void fill_from_rows(struct db *db, struct refund *refunds, size_t count)
{
        size_t place = 0;
        while (db_next_row(db)) {
                struct refund row;
                read_row(db, &row);
                while (place < count && refund_compare(&refunds[place], &row) < 0)
                        place++;
                if (place < count && refund_compare(&refunds[place], &row) == 0)
                        refunds[place] = row;
        }
}

static enum po_class read_all(struct db *db, struct sql *sql, struct refund *refunds, size_t count,
                              const char *lock, struct po_error *error)
{
        if (count == 0)
                return PO_OK;
        sql_reset(sql);
        sql_raw(sql, REFUND_COLUMNS);
        sql_raw(sql, " FORCE INDEX (PRIMARY) WHERE ");
        write_keys(sql, refunds, count);
        sql_raw(sql, " ORDER BY tenant_id, refund_no");
        sql_raw(sql, lock);
        if (db_query(db, sql, error) != PO_OK)
                return error->kind;
        fill_from_rows(db, refunds, count);
        db_rows_end(db);
        return PO_OK;
}

enum po_class refunds_lock(struct db *db, struct sql *sql, struct refund *refunds, size_t count,
                           struct po_error *error)
{
        if (read_all(db, sql, refunds, count, " FOR UPDATE", error) != PO_OK)
                return po_within(error, "lock %zu refunds", count);
        return PO_OK;
}

enum po_class refunds_read(struct db *db, struct sql *sql, struct refund *refunds, size_t count,
                           struct po_error *error)
{
        if (read_all(db, sql, refunds, count, "", error) != PO_OK)
                return po_within(error, "read %zu refunds", count);
        return PO_OK;
}

static void write_success(struct sql *sql, const struct refund *refund)
{
        sql_text(sql, refund->txn[0] != '\0' ? refund->channel : NULL);
        sql_raw(sql, ",");
        sql_text(sql, refund->txn[0] != '\0' ? refund->txn : NULL);
        sql_raw(sql, ",");
        if (refund->claim_id != 0)
                sql_integer(sql, refund->claim_id);
        else
                sql_raw(sql, "NULL");
}

static void write_fresh(struct sql *sql, const struct refund *refund)
{
        sql_integer(sql, refund->tenant_id);
        sql_raw(sql, ",");
        sql_text(sql, refund->refund_no);
        sql_raw(sql, ",");
        sql_text(sql, refund->order_no);
        sql_raw(sql, ",");
        sql_integer(sql, refund->amount_minor);
        sql_raw(sql, ",");
        sql_text(sql, refund->currency);
        sql_raw(sql, ",");
        sql_text(sql, refund->status);
        sql_raw(sql, ",");
        sql_integer(sql, refund->reserved);
        sql_raw(sql, ",");
        write_success(sql, refund);
        sql_raw(sql, refund->registered ? ",'REGISTERED'" : ",'NOTICE'");
        sql_raw(sql, ",UTC_TIMESTAMP(6)");
}

static enum po_class insert_fresh(struct db *db, struct sql *sql, const struct refund *refunds,
                                  size_t count, struct po_error *error)
{
        size_t rows = 0;
        sql_reset(sql);
        sql_raw(sql, "INSERT INTO refund (tenant_id, refund_no, order_no, amount, currency, status,"
                     " reserved, channel, txn, claim_id, origin, created_at) VALUES ");
        for (size_t i = 0; i < count; i++) {
                if (!refunds[i].fresh)
                        continue;
                sql_raw(sql, rows++ == 0 ? "(" : ",(");
                write_fresh(sql, &refunds[i]);
                sql_raw(sql, ")");
        }
        if (rows == 0)
                return PO_OK;
        if (db_exec(db, sql, NULL, error) != PO_OK)
                return po_within(error, "insert %zu refunds", rows);
        return PO_OK;
}

static void write_move(struct sql *sql, const struct refund *refund, bool first)
{
        sql_raw(sql, first ? "SELECT " : " UNION ALL SELECT ");
        sql_integer(sql, refund->tenant_id);
        sql_raw(sql, first ? " AS tenant_id, " : ",");
        sql_text(sql, refund->refund_no);
        sql_raw(sql, first ? " AS refund_no, " : ",");
        sql_text(sql, refund->status_read);
        sql_raw(sql, first ? " AS status_read, " : ",");
        sql_text(sql, refund->status);
        sql_raw(sql, first ? " AS status, " : ",");
        sql_integer(sql, refund->reserved);
        sql_raw(sql, first ? " AS reserved, " : ",");
        sql_text(sql, refund->txn[0] != '\0' ? refund->channel : NULL);
        sql_raw(sql, first ? " AS channel, " : ",");
        sql_text(sql, refund->txn[0] != '\0' ? refund->txn : NULL);
        sql_raw(sql, first ? " AS txn, " : ",");
        sql_integer(sql, refund->claim_id);
        sql_raw(sql, first ? " AS claim_id" : "");
}

/*
 * One statement for any mix of states; refunds are few, and most move alone. STRAIGHT_JOIN and
 * FORCE INDEX keep both optimizers from scanning a small table and locking other workers' rows;
 * CLIENT_FOUND_ROWS makes the affected rows those that were found.
 */
static enum po_class update_moved(struct db *db, struct sql *sql, const struct refund *refunds,
                                  size_t count, struct po_error *error)
{
        size_t moves = 0;
        sql_reset(sql);
        sql_raw(sql, "UPDATE (");
        for (size_t i = 0; i < count; i++) {
                if (!refunds[i].moved || refunds[i].fresh)
                        continue;
                write_move(sql, &refunds[i], moves == 0);
                moves++;
        }
        sql_raw(sql, ") m STRAIGHT_JOIN refund r FORCE INDEX (PRIMARY)"
                     " ON r.tenant_id = m.tenant_id AND r.refund_no = m.refund_no"
                     " SET r.status = m.status, r.reserved = m.reserved, r.channel = m.channel,"
                     " r.txn = m.txn, r.claim_id = NULLIF(m.claim_id, 0),"
                     " r.moved_at = UTC_TIMESTAMP(6) WHERE r.status = m.status_read");
        if (moves == 0)
                return PO_OK;
        struct db_result result;
        if (db_exec(db, sql, &result, error) != PO_OK)
                return po_within(error, "move %zu refunds", moves);
        if (result.affected_rows != moves)
                return po_fail(error, PO_BUG, 0, "move refunds: %zu were judged, %llu were found",
                               moves, (unsigned long long)result.affected_rows);
        return PO_OK;
}

enum po_class refunds_write(struct db *db, struct sql *sql, const struct refund *refunds,
                            size_t count, struct po_error *error)
{
        if (insert_fresh(db, sql, refunds, count, error) != PO_OK)
                return error->kind;
        return update_moved(db, sql, refunds, count, error);
}

enum po_class refund_read(struct db *db, struct sql *sql, int64_t tenant_id, const char *refund_no,
                          struct refund *refund_out, struct po_error *error)
{
        *refund_out = (struct refund){ .tenant_id = tenant_id };
        snprintf(refund_out->refund_no, sizeof refund_out->refund_no, "%s", refund_no);
        sql_reset(sql);
        sql_raw(sql, REFUND_COLUMNS);
        sql_raw(sql, " WHERE ");
        write_keys(sql, refund_out, 1);
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "read refund");
        fill_from_rows(db, refund_out, 1);
        db_rows_end(db);
        return PO_OK;
}

enum po_class refunds_list(struct db *db, struct sql *sql, int64_t tenant_id, const char *order_no,
                           refund_found found, void *context, struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, REFUND_COLUMNS);
        sql_raw(sql, " WHERE tenant_id = ");
        sql_integer(sql, tenant_id);
        sql_raw(sql, " AND order_no = ");
        sql_text(sql, order_no);
        sql_raw(sql, " ORDER BY refund_no");
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "list refunds");
        while (db_next_row(db)) {
                struct refund refund;
                read_row(db, &refund);
                found(context, &refund);
        }
        db_rows_end(db);
        return PO_OK;
}
