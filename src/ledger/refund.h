/*
 * Refunds: what is to go back to a payer. Rows of refund, keyed (tenant_id, refund_no): registered
 * before the channel is asked, or by the notice of one that nobody registered.
 *
 * What is registered is reserved on its order (payment_order.refund_reserved), so that two of them
 * cannot give back more than was paid. Lock order: orders, then refunds, each by primary key.
 */
#ifndef LEDGER_REFUND_H
#define LEDGER_REFUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "mysql/db.h"
#include "postonce/error.h"
#include "postonce/notification.h"

enum { REFUND_NO_BYTES = 192 }; /* the channel's txn stands in where there is no number */

struct refund {
        int64_t tenant_id;
        char refund_no[REFUND_NO_BYTES];
        bool exists; /* false: only the key above is filled */
        char order_no[PO_ORDER_NO_BYTES];
        int64_t amount_minor; /* > 0 */
        char currency[PO_CURRENCY_BYTES];
        char status[STATUS_BYTES];
        int64_t reserved; /* what of it stands in the order's refund_reserved: all or 0 */
        /* The success that posted it and was not reversed; "" and 0: none. */
        char channel[PO_CHANNEL_BYTES];
        char txn[PO_TXN_BYTES];
        int64_t claim_id;
        bool registered; /* before its notice came */

        /* Of a locked row: as it was read, and what was judged. */
        char status_read[STATUS_BYTES];
        bool fresh;       /* to be inserted */
        bool moved;       /* to be updated */
        bool settled_now; /* claim_id is settled in the transaction under way */
};

/* (tenant_id, refund_no) by bytes, which is the primary key's order. */
int refund_compare(const struct refund *a, const struct refund *b);

/* The number of a notification's refund: its refund_no, else its txn. */
const char *refund_no_of(const struct po_notification *notification);

/*
 * Locks and reads the rows of refunds (keys filled, ascending, none twice; count may be 0) inside
 * the caller's transaction; those that are there are filled.
 */
PO_MUST_USE enum po_class refunds_lock(struct db *db, struct sql *sql, struct refund *refunds,
                                       size_t count, struct po_error *error);

/*
 * Writes what was judged: inserts the fresh ones, updates those that moved under `status = <as
 * read>`. EXISTS: somebody registered one of the fresh ones meanwhile for another order. BUG when
 * the database found another number of rows than were judged.
 */
PO_MUST_USE enum po_class refunds_write(struct db *db, struct sql *sql,
                                        const struct refund *refunds, size_t count,
                                        struct po_error *error);

/* The same without a lock. */
PO_MUST_USE enum po_class refunds_read(struct db *db, struct sql *sql, struct refund *refunds,
                                       size_t count, struct po_error *error);
/* One refund, unlocked; refund_out->exists tells whether it is there. */
PO_MUST_USE enum po_class refund_read(struct db *db, struct sql *sql, int64_t tenant_id,
                                      const char *refund_no, struct refund *refund_out,
                                      struct po_error *error);

/* For people: calls found(context, refund) for each refund of an order, by number. */
typedef void (*refund_found)(void *context, const struct refund *refund);
PO_MUST_USE enum po_class refunds_list(struct db *db, struct sql *sql, int64_t tenant_id,
                                       const char *order_no, refund_found found, void *context,
                                       struct po_error *error);

#endif
