/* Who did what by hand, and why. Append-only. */
#ifndef LEDGER_AUDIT_H
#define LEDGER_AUDIT_H

#include "mysql/db.h"

/* One row, inside the caller's transaction if there is one. Over-long text is cut at the column's
 * 255 characters: an audit line never makes an operator's act fail. */
PO_MUST_USE enum po_class audit_insert(struct db *db, struct sql *sql, const char *who,
                                       const char *verb, const char *what, const char *why,
                                       struct po_error *error);

#endif
