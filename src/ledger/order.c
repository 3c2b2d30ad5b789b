#include "ledger/order.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
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
        text_copy(order->order_no, sizeof order->order_no, db_text(db, 1));
        order->amount_minor = db_integer(db, 2);
        text_copy(order->currency, sizeof order->currency, db_text(db, 3));
        text_copy(order->status, sizeof order->status, db_text(db, 4));
        text_copy(order->paid_channel, sizeof order->paid_channel, db_text(db, 5));
        text_copy(order->paid_txn, sizeof order->paid_txn, db_text(db, 6));
        order->paid_amount = db_is_null(db, 7) ? 0 : db_integer(db, 7);
        order->refunded = db_integer(db, 8);
        order->refund_reserved = db_integer(db, 9);
        text_copy(order->status_before_refund, sizeof order->status_before_refund, db_text(db, 10));
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

/*
 * The orders are there, and locked: what is inserted never is (so its amount and currency are
 * anything that the columns take), and the update is the conditional one, which counts two for a
 * row that it found as it was read and one for any other. Both servers take it for less than an
 * UPDATE through a derived table. status last: it is what all ask.
 */
#define IF_AS_READ(column)                                                                         \
        "payment_order." column " = IF(payment_order.status = ?, VALUES(" column                   \
        "), payment_order." column ")"
#define PAYMENT_AS_READ                                                                            \
        IF_AS_READ("paid_channel") ", " IF_AS_READ("paid_txn") ", " IF_AS_READ("paid_amount")
#define REFUNDS_AS_READ                                                                            \
        IF_AS_READ("refunded")                                                                     \
        ", " IF_AS_READ("refund_reserved") ", " IF_AS_READ("status_before_refund")
#define STATE_AS_READ IF_AS_READ("moved_at") ", " IF_AS_READ("status")
const struct bulk_form ORDER_MOVE_FORM = {
        .insert = "INSERT INTO payment_order (tenant_id, order_no, amount, currency, status,"
                  " paid_channel, paid_txn, paid_amount, refunded, refund_reserved,"
                  " status_before_refund, moved_at) VALUES ",
        .row = "(?,?,1,'XXX',?,?,?,?,?,?,?,UTC_TIMESTAMP(6))",
        .types = "ItTttiIIT",
        .ending =
                " ON DUPLICATE KEY UPDATE " PAYMENT_AS_READ ", " REFUNDS_AS_READ ", " STATE_AS_READ,
};
enum { ROWS_COUNTED_MOVED = 2 };

/* '' is what the struct says for NULL. */
static void add_nullable(struct bulk *bulk, const char *text)
{
        bulk_text(bulk, text[0] != '\0' ? text : NULL);
}

static void add_move(struct bulk *bulk, const struct order *order)
{
        bulk_integer(bulk, order->tenant_id);
        bulk_text(bulk, order->order_no);
        bulk_text(bulk, order->status);
        add_nullable(bulk, order->paid_channel);
        add_nullable(bulk, order->paid_txn);
        if (order->paid_amount != 0)
                bulk_integer(bulk, order->paid_amount);
        else
                bulk_null(bulk);
        bulk_integer(bulk, order->refunded);
        bulk_integer(bulk, order->refund_reserved);
        add_nullable(bulk, order->status_before_refund);
}

/* Those that were read in one state. */
static enum po_class move_from(struct bulk *bulk, const struct order *orders, size_t count,
                               const char *status_read, struct po_error *error)
{
        bulk_begin(bulk, status_read);
        for (size_t i = 0; i < count; i++)
                if (orders[i].moved && strcmp(orders[i].status_read, status_read) == 0)
                        add_move(bulk, &orders[i]);
        size_t moves = bulk_rows(bulk);
        if (bulk_end(bulk, error) != PO_OK)
                return po_within(error, "move %zu orders", moves);
        if (bulk_affected(bulk) != moves * ROWS_COUNTED_MOVED)
                return po_fail(error, PO_BUG, 0,
                               "move orders: %zu were judged in state %s, the server counts %llu",
                               moves, status_read, (unsigned long long)bulk_affected(bulk));
        return PO_OK;
}

static bool is_first_of_its_state(const struct order *orders, size_t place)
{
        for (size_t i = 0; i < place; i++)
                if (orders[i].moved &&
                    strcmp(orders[i].status_read, orders[place].status_read) == 0)
                        return false;
        return true;
}

enum po_class orders_move(struct bulk *bulk, const struct order *orders, size_t count,
                          struct po_error *error)
{
        for (size_t i = 0; i < count; i++)
                if (orders[i].moved && is_first_of_its_state(orders, i) &&
                    move_from(bulk, orders, count, orders[i].status_read, error) != PO_OK)
                        return error->kind;
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

static enum po_class move_one(struct db *db, const struct order *order, struct po_error *error)
{
        struct bulk *bulk;
        enum po_class kind = bulk_open(&bulk, db, &ORDER_MOVE_FORM, error);
        if (kind == PO_OK)
                kind = orders_move(bulk, order, 1, error);
        bulk_close(bulk);
        return kind;
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
        text_copy(order.status, sizeof order.status, status);
        order.moved = true;
        if (move_one(db, &order, error) != PO_OK)
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
