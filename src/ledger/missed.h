/*
 * Wake-ups that what was just parked has missed: whoever moved its order, or settled what it
 * awaits, looked for parked rows after the judgement and before the row was there.
 */
#ifndef LEDGER_MISSED_H
#define LEDGER_MISSED_H

#include <stddef.h>

#include "ledger/claim.h"
#include "mysql/db.h"
#include "postonce/error.h"

/*
 * To be called after parked_insert(), with the same postings: makes due at once those whose order,
 * or the payment that they await, was created, moved or settled within the last minute. One plain
 * read by keys, and an update only where there is something to make due; nothing for those that
 * are due already or wait for a resume. One made due in vain costs a try.
 */
PO_MUST_USE enum po_class missed_make_due(struct db *db, struct sql *sql,
                                          struct posting *const *postings, size_t count,
                                          struct po_error *error);

#endif
