/*
 * The orders and refunds that a set of postings is judged on: collected, locked in the order of
 * every writer, found again in memory. What judges change in them is written once, with its final
 * state.
 */
#ifndef LEDGER_ROWS_H
#define LEDGER_ROWS_H

#include <stddef.h>

#include "ledger/claim.h"
#include "ledger/order.h"
#include "ledger/refund.h"
#include "mysql/db.h"
#include "postonce/error.h"

struct rows {
        size_t capacity;
        struct order_id *ids; /* scratch of one statement */
        size_t orders_count;
        struct order *orders; /* ascending */
        size_t refunds_count;
        struct refund *refunds; /* ascending; those without a row too, by their keys */
};

/* capacity: the largest number of postings of a set. */
PO_MUST_USE enum po_class rows_open(struct rows *rows, size_t capacity, struct po_error *error);
void rows_close(struct rows *rows); /* also of a zeroed or half-made one */

/* Whether a posting is judged on an order that it knows, and so holds its lock. */
bool rows_locks_order(const struct posting *posting);

/* Locks what the postings' subjects name, inside the caller's transaction: orders, then refunds. */
PO_MUST_USE enum po_class rows_lock(struct rows *rows, struct db *db, struct sql *sql,
                                    struct posting *const *set, size_t count,
                                    struct po_error *error);

/* The posting's order; NULL: there is none, or its rule needs none. */
struct order *rows_order(struct rows *rows, const struct posting *posting);
/* The refund of a posting whose rule is RULE_REFUND; its key alone where there is no row. */
struct refund *rows_refund(struct rows *rows, const struct posting *posting);

/* The orders on which something was settled, ascending, into ids (scratch); returns their count. */
size_t rows_touched(struct rows *rows);

#endif
