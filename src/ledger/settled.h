/*
 * A claim settled by another program, inside its own transaction on its own connection
 * (postonce/claim.h): the outcome row without entries, through the same fence as a posting.
 *
 * The caller's session may read escapes, modes and names otherwise than ours: texts go as
 * hexadecimal, tables with their database, the claim by values instead of INSERT … SELECT, which
 * would lock its row under REPEATABLE READ.
 */
#ifndef LEDGER_SETTLED_H
#define LEDGER_SETTLED_H

#include "mysql/sql.h"
#include "postonce/claim.h"
#include "postonce/error.h"

/* mysql, and the classes: po_claim_settle(). database: the ledger's. */
PO_MUST_USE enum po_class settled_insert(void *mysql, struct sql *sql, const char *database,
                                         const struct po_claim *claim, const char *word,
                                         struct po_error *error);

#endif
