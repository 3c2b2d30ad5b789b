/*
 * Outbox rows: what other systems are told, written in the transaction of the posting that they
 * tell of, so a row exists if and only if its posting does. Debezium's outbox columns.
 */
#ifndef LEDGER_OUTBOX_H
#define LEDGER_OUTBOX_H

#include "ledger/claim.h"
#include "mysql/bulk.h"
#include "postonce/error.h"

#define OUTBOX_AGGREGATE "order" /* aggregatetype of every row */

extern const struct bulk_form OUTBOX_FORM;
/* One row more. bulk: of OUTBOX_FORM. type: the rule's outbox word; status: the
 * order's new state, or "" when no order moved. */
void outbox_add(struct bulk *bulk, const struct posting *posting, const char *type,
                const char *status);

#endif
