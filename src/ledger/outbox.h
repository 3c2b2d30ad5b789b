/*
 * Outbox rows: what other systems are told, written in the transaction of the posting that they
 * tell of, so a row exists if and only if its posting does. Debezium's outbox columns.
 */
#ifndef LEDGER_OUTBOX_H
#define LEDGER_OUTBOX_H

#include "ledger/claim.h"
#include "mysql/db.h"
#include "postonce/error.h"

#define OUTBOX_AGGREGATE "order" /* aggregatetype of every row */

/* Starts the statement; outbox_add() writes one row of it; outbox_insert() runs it if it has rows.
 */
struct outbox {
        struct sql sql;
        size_t rows;
};

void outbox_reset(struct outbox *outbox);
void outbox_free(struct outbox *outbox);
/* type: the rule's outbox word; status: the order's new state, or "" when no order moved. */
void outbox_add(struct outbox *outbox, const struct posting *posting, const char *type,
                const char *status);
PO_MUST_USE enum po_class outbox_insert(struct outbox *outbox, struct db *db,
                                        struct po_error *error);

#endif
