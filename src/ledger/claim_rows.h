/*
 * Claims on their way into the table: one commit, whatever the number of statements, and which of
 * them it was that inserted.
 */
#ifndef LEDGER_CLAIM_ROWS_H
#define LEDGER_CLAIM_ROWS_H

#include "ledger/claim.h"
#include "mysql/db.h"
#include "postonce/error.h"

struct claim_rows;
/* strict: each says who made it. */
PO_MUST_USE enum po_class claim_rows_open(struct claim_rows **rows_out, struct db *db, bool strict,
                                          struct po_error *error);
void claim_rows_close(struct claim_rows *rows); /* takes NULL */

/*
 * claim_rows_begin(), claim_rows_add() of each key ascending (another order could deadlock),
 * claim_rows_end(): they are inserted, or their deliveries counted where they are there; committed.
 * Rows may be sent while they are added. most: no more than so many will be. If begin succeeds,
 * end must follow. TRANSIENT also when COMMIT's answer is lost: it is sent again.
 */
PO_MUST_USE enum po_class claim_rows_begin(struct claim_rows *rows, size_t most,
                                           struct po_error *error);
/* The key of a posting, brought by so many records of the batch. maker: MAKER_BYTES, iff strict. */
void claim_rows_add(struct claim_rows *rows, const struct posting *posting, size_t deliveries,
                    const unsigned char *maker);
PO_MUST_USE enum po_class claim_rows_end(struct claim_rows *rows, struct po_error *error);

/*
 * Writes the condition that finds what the last insert made, by `c.id`; false: too few for a read
 * of their own. A server gives the rows of one statement consecutive numbers. Where it does
 * otherwise, or somebody else inserted in between, the condition finds less of ours, or others'
 * rows beside it: a claim is known by its key.
 */
bool claim_rows_write_fresh(const struct claim_rows *rows, struct sql *sql);

#endif
