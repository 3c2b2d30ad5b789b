/*
 * Orders: what a merchant expects to be paid. Rows of payment_order, keyed (tenant_id, order_no).
 *
 * Services may INSERT rows themselves with (tenant_id, order_no, amount, currency, status); all
 * other columns have defaults and belong to postonce.
 */
#ifndef LEDGER_ORDER_H
#define LEDGER_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "mysql/bulk.h"
#include "mysql/db.h"
#include "postonce/error.h"
#include "postonce/notification.h"

struct order {
        int64_t tenant_id;
        char order_no[PO_ORDER_NO_BYTES];
        int64_t amount_minor; /* > 0 */
        char currency[PO_CURRENCY_BYTES];
        char status[STATUS_BYTES];
        char paid_channel[PO_CHANNEL_BYTES]; /* "": no payment is recorded */
        char paid_txn[PO_TXN_BYTES];
        int64_t paid_amount;                     /* 0: none */
        int64_t refunded, refund_reserved;       /* together at most paid_amount */
        char status_before_refund[STATUS_BYTES]; /* what a reversal of all refunds goes back to */

        /* Set by orders_lock(): the row as it was read, for the conditional UPDATE. */
        char status_read[STATUS_BYTES];
        bool moved;   /* judged to change */
        bool touched; /* something was settled on it, if only in suspense */
};

struct order_id {
        int64_t tenant_id;
        const char *order_no;
};

/* (tenant_id, order_no) by bytes, which is the primary key's order. */
int order_id_compare(const struct order_id *a, const struct order_id *b);

/*
 * Writes "(tenant_id = 1 AND order_no IN (…)) OR (…)" for ids (ascending, at least one), as both
 * optimizers read ranges of an index on (tenant_id, order_no).
 */
void order_ids_write(struct sql *sql, const struct order_id *ids, size_t count);

/*
 * Locks and reads the rows of ids (ascending, no id twice) inside the caller's transaction. Rows
 * that are there are put into orders_out (capacity: count) in the same order.
 */
PO_MUST_USE enum po_class orders_lock(struct db *db, struct sql *sql, const struct order_id *ids,
                                      size_t count, struct order *orders_out, size_t *count_out,
                                      struct po_error *error);

extern const struct bulk_form ORDER_MOVE_FORM;
/*
 * Writes the orders that moved, which the transaction has locked, each once with its final state,
 * under `status = <as read>`. bulk: of ORDER_MOVE_FORM.
 * BUG when the database found another number of rows than were judged.
 */
PO_MUST_USE enum po_class orders_move(struct bulk *bulk, const struct order *orders, size_t count,
                                      struct po_error *error);

/*
 * Inserts orders that are not there, in their own commit; one that is there is left as it is.
 * orders ascending by id; of one id twice the first counts.
 */
PO_MUST_USE enum po_class orders_insert(struct db *db, struct sql *sql, const struct order *orders,
                                        size_t count, struct po_error *error);

/*
 * orders_insert() for orders that somebody registers: in one transaction with making due what is
 * parked for them.
 */
PO_MUST_USE enum po_class orders_register(struct db *db, struct sql *sql,
                                          const struct order *orders, size_t count,
                                          struct po_error *error);

/* One order, unlocked. *found_out tells whether it is there. */
PO_MUST_USE enum po_class order_read(struct db *db, struct sql *sql, const struct order_id *id,
                                     struct order *order_out, bool *found_out,
                                     struct po_error *error);

/*
 * A person or another system sets the state: conditional on the state it was read in, audited with
 * who and why, and what is parked for it made due, in the same transaction. RECORD (ORDER_UNKNOWN):
 * no such order.
 */
PO_MUST_USE enum po_class order_set(struct db *db, struct sql *sql, const struct order_id *id,
                                    const char *status, const char *who, const char *why,
                                    struct po_error *error);

#endif
