/*
 * Registering a refund before the channel is asked: its amount is reserved on the order in a
 * transaction of its own, so that two at once cannot give back more than was paid.
 */
#ifndef LEDGER_REFUND_RESERVE_H
#define LEDGER_REFUND_RESERVE_H

#include "ledger/refund.h"
#include "ledger/rules.h"
#include "mysql/db.h"
#include "postonce/error.h"

/*
 * refund: tenant_id, refund_no, order_no, amount_minor and currency are given; the rest is filled.
 * A second registration with the same order, amount and currency gets the first one's row, whatever
 * became of it (*again_out). rule: rules_registering().
 *
 * RECORD, and nothing is reserved: REFUND_DIFFERS (that number is registered with another order,
 * amount or currency, or the order is in another currency), REFUND_EXCEEDS (with what is refunded
 * and reserved it is more than was paid), ORDER_UNKNOWN, STATE_REFUSED (the order is in no state of
 * the rule's `from`). UNCERTAIN: the same again tells.
 */
PO_MUST_USE enum po_class refund_reserve(struct db *db, struct sql *sql,
                                         const struct event_rule *rule, struct refund *refund,
                                         bool *again_out, struct po_error *error);

#endif
