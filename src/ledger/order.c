#include "ledger/order.h"

#include <stdio.h>
#include <string.h>

#include "ledger/audit.h"
#include "ledger/parked.h"
#include "mysql/again.h"

enum { DUE_CHUNK = 64 }; /* orders a statement */

static const char ORDER_COLUMNS[] =
        "SELECT tenant_id, order_no, amount, currency, status, paid_channel, paid_txn,"
        " paid_amount, refunded, refund_reserved, status_before_refund FROM payment_order";

int order_id_compare(const struct order_id *a, const struct order_id *b)
{
        if (a->tenant_id != b->tenant_id)
                return a->tenant_id < b->tenant_id ? -1 : 1;
        return strcmp(a->order_no, b->order_no);
}

/* (tenant_id = 1 AND order_no IN ('a','b')) OR (tenant_id = 2 AND …): ranges of the primary key on
 * both servers, which row constructors are not on MariaDB. */
void order_ids_write(struct sql *sql, const struct order_id *ids, size_t count)
{
        for (size_t i = 0; i < count; i++) {
                if (i == 0 || ids[i].tenant_id != ids[i - 1].tenant_id) {
                        sql_raw(sql, i == 0 ? "(tenant_id = " : ")) OR (tenant_id = ");
                        sql_integer(sql, ids[i].tenant_id);
                        sql_raw(sql, " AND order_no IN (");
                } else {
                        sql_raw(sql, ",");
                }
                sql_text(sql, ids[i].order_no);
        }
        sql_raw(sql, "))");
}

static void read_row(struct db *db, struct order *order)
{
        memset(order, 0, sizeof *order);
        order->tenant_id = db_integer(db, 0);
        snprintf(order->order_no, sizeof order->order_no, "%s", db_text(db, 1));
        order->amount_minor = db_integer(db, 2);
        snprintf(order->currency, sizeof order->currency, "%s", db_text(db, 3));
        snprintf(order->status, sizeof order->status, "%s", db_text(db, 4));
        snprintf(order->paid_channel, sizeof order->paid_channel, "%s", db_text(db, 5));
        snprintf(order->paid_txn, sizeof order->paid_txn, "%s", db_text(db, 6));
        order->paid_amount = db_is_null(db, 7) ? 0 : db_integer(db, 7);
        order->refunded = db_integer(db, 8);
        order->refund_reserved = db_integer(db, 9);
        snprintf(order->status_before_refund, sizeof order->status_before_refund, "%s",
                 db_text(db, 10));
        memcpy(order->status_read, order->status, sizeof order->status_read);
}

enum po_class orders_lock(struct db *db, struct sql *sql, const struct order_id *ids, size_t count,
                          struct order *orders_out, size_t *count_out, struct po_error *error)
{
        *count_out = 0;
        if (count == 0)
                return PO_OK;
        sql_reset(sql);
        sql_raw(sql, ORDER_COLUMNS);
        /* Without the hint both optimizers scan a small table and lock other workers' rows. */
        sql_raw(sql, " FORCE INDEX (PRIMARY) WHERE ");
        order_ids_write(sql, ids, count);
        sql_raw(sql, " ORDER BY tenant_id, order_no FOR UPDATE");
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "lock %zu orders", count);
        while (*count_out < count && db_next_row(db))
                read_row(db, &orders_out[(*count_out)++]);
        db_rows_end(db);
        return PO_OK;
}

/* The rows judged, as a derived table: one statement, whatever mix of states and payments. */
static void write_moves(struct sql *sql, const struct order *orders, size_t count, size_t *moves)
{
        *moves = 0;
        for (size_t i = 0; i < count; i++) {
                if (!orders[i].moved)
                        continue;
                bool first = (*moves)++ == 0;
                sql_raw(sql, first ? "SELECT " : " UNION ALL SELECT ");
                sql_integer(sql, orders[i].tenant_id);
                sql_raw(sql, first ? " AS tenant_id, " : ",");
                sql_text(sql, orders[i].order_no);
                sql_raw(sql, first ? " AS order_no, " : ",");
                sql_text(sql, orders[i].status_read);
                sql_raw(sql, first ? " AS status_read, " : ",");
                sql_text(sql, orders[i].status);
                sql_raw(sql, first ? " AS status, " : ",");
                sql_text(sql, orders[i].paid_channel[0] != '\0' ? orders[i].paid_channel : NULL);
                sql_raw(sql, first ? " AS paid_channel, " : ",");
                sql_text(sql, orders[i].paid_txn[0] != '\0' ? orders[i].paid_txn : NULL);
                sql_raw(sql, first ? " AS paid_txn, " : ",");
                sql_integer(sql, orders[i].paid_amount);
                sql_raw(sql, first ? " AS paid_amount, " : ",");
                sql_integer(sql, orders[i].refunded);
                sql_raw(sql, first ? " AS refunded, " : ",");
                sql_integer(sql, orders[i].refund_reserved);
                sql_raw(sql, first ? " AS refund_reserved, " : ",");
                sql_text(sql, orders[i].status_before_refund[0] != '\0'
                                      ? orders[i].status_before_refund
                                      : NULL);
                sql_raw(sql, first ? " AS status_before_refund" : "");
        }
}

enum po_class orders_move(struct db *db, struct sql *sql, const struct order *orders, size_t count,
                          struct po_error *error)
{
        size_t moves = 0;
        sql_reset(sql);
        sql_raw(sql, "UPDATE (");
        write_moves(sql, orders, count, &moves);
        sql_raw(sql, ") m STRAIGHT_JOIN payment_order o FORCE INDEX (PRIMARY)"
                     " ON o.tenant_id = m.tenant_id AND o.order_no = m.order_no"
                     " SET o.status = m.status, o.paid_channel = m.paid_channel,"
                     " o.paid_txn = m.paid_txn, o.paid_amount = NULLIF(m.paid_amount, 0),"
                     " o.refunded = m.refunded, o.refund_reserved = m.refund_reserved,"
                     " o.status_before_refund = m.status_before_refund,"
                     " o.moved_at = UTC_TIMESTAMP(6)"
                     " WHERE o.status = m.status_read");
        if (moves == 0)
                return PO_OK;
        struct db_result result;
        if (db_exec(db, sql, &result, error) != PO_OK)
                return po_within(error, "move %zu orders", moves);
        if (result.affected_rows != moves)
                return po_fail(error, PO_BUG, 0, "move orders: %zu were judged, %llu were found",
                               moves, (unsigned long long)result.affected_rows);
        return PO_OK;
}

enum po_class orders_insert(struct db *db, struct sql *sql, const struct order *orders,
                            size_t count, struct po_error *error)
{
        if (count == 0)
                return PO_OK;
        sql_reset(sql);
        sql_raw(sql, "INSERT INTO payment_order (tenant_id, order_no, amount, currency, status)"
                     " VALUES ");
        for (size_t i = 0; i < count; i++) {
                sql_raw(sql, i == 0 ? "(" : ",(");
                sql_integer(sql, orders[i].tenant_id);
                sql_raw(sql, ",");
                sql_text(sql, orders[i].order_no);
                sql_raw(sql, ",");
                sql_integer(sql, orders[i].amount_minor);
                sql_raw(sql, ",");
                sql_text(sql, orders[i].currency);
                sql_raw(sql, ",");
                sql_text(sql, orders[i].status);
                sql_raw(sql, ")");
        }
        sql_raw(sql, " ON DUPLICATE KEY UPDATE payment_order.order_no = payment_order.order_no");
        if (db_exec(db, sql, NULL, error) != PO_OK)
                return po_within(error, "insert %zu orders", count);
        return PO_OK;
}

enum po_class order_read(struct db *db, struct sql *sql, const struct order_id *id,
                         struct order *order_out, bool *found_out, struct po_error *error)
{
        *found_out = false;
        sql_reset(sql);
        sql_raw(sql, ORDER_COLUMNS);
        sql_raw(sql, " WHERE ");
        order_ids_write(sql, id, 1);
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "read order");
        if (db_next_row(db)) {
                read_row(db, order_out);
                *found_out = true;
        }
        db_rows_end(db);
        return PO_OK;
}

static enum po_class set_locked(struct db *db, struct sql *sql, const struct order_id *id,
                                const char *status, const char *who, const char *why,
                                struct po_error *error)
{
        struct order order;
        size_t found = 0;
        if (orders_lock(db, sql, id, 1, &order, &found, error) != PO_OK)
                return error->kind;
        if (found == 0)
                return po_refuse(error, "ORDER_UNKNOWN", "no order %s of tenant %lld", id->order_no,
                                 (long long)id->tenant_id);
        snprintf(order.status, sizeof order.status, "%s", status);
        order.moved = true;
        if (orders_move(db, sql, &order, 1, error) != PO_OK)
                return error->kind;

        char what[160];
        snprintf(what, sizeof what, "%lld/%s %s -> %s", (long long)id->tenant_id, id->order_no,
                 order.status_read, status);
        if (audit_insert(db, sql, who, "order set", what, why, error) != PO_OK ||
            parked_make_due(db, sql, id, 1, error) != PO_OK)
                return error->kind;
        return PO_OK;
}

static enum po_class insert_and_make_due(struct db *db, struct sql *sql, const struct order *orders,
                                         size_t count, struct po_error *error)
{
        if (orders_insert(db, sql, orders, count, error) != PO_OK)
                return error->kind;
        for (size_t done = 0; done < count;) {
                struct order_id ids[DUE_CHUNK];
                size_t chunk = 0;
                for (; chunk < DUE_CHUNK && done < count; done++)
                        ids[chunk++] =
                                (struct order_id){ orders[done].tenant_id, orders[done].order_no };
                if (parked_make_due(db, sql, ids, chunk, error) != PO_OK)
                        return error->kind;
        }
        return PO_OK;
}

enum po_class orders_register(struct db *db, struct sql *sql, const struct order *orders,
                              size_t count, struct po_error *error)
{
        enum po_class kind;
        unsigned tries = 0;
        do {
                if (db_begin(db, error) != PO_OK)
                        return error->kind;
                kind = db_end(db, insert_and_make_due(db, sql, orders, count, error), error);
        } while (db_try_again(db, kind, &tries));
        return kind;
}

enum po_class order_set(struct db *db, struct sql *sql, const struct order_id *id,
                        const char *status, const char *who, const char *why,
                        struct po_error *error)
{
        enum po_class kind;
        unsigned tries = 0;
        do {
                if (db_begin(db, error) != PO_OK)
                        return error->kind;
                kind = db_end(db, set_locked(db, sql, id, status, who, why, error), error);
        } while (db_try_again(db, kind, &tries));
        return kind;
}
