/*
 * Double entry: the lines of a rule as rows of `entry`, and the balances that they move.
 * A debit is positive, a credit negative; the entries of an outcome sum to zero per currency.
 */
#ifndef LEDGER_ENTRY_H
#define LEDGER_ENTRY_H

#include "ledger/account.h"
#include "ledger/claim.h"
#include "mysql/db.h"
#include "postonce/error.h"

struct entries;
/* capacity: the largest number of postings of one unit. accounts must outlive it. */
PO_MUST_USE enum po_class entries_open(struct entries **entries_out, struct db *db,
                                       struct accounts *accounts, size_t capacity,
                                       struct po_error *error);
void entries_close(struct entries *entries); /* takes NULL */

/*
 * Asks for the accounts of the posting's rule and those where its money may stand in suspense, if
 * it has an amount; accounts_make() must follow.
 */
PO_MUST_USE enum po_class entries_want_accounts(struct entries *entries,
                                                const struct posting *posting,
                                                struct po_error *error);

/*
 * Inserts the entries of all POSTED and SUSPENSE postings (ascending by claim): the lines of the
 * rule with what is posted, or what the posting that it `reverses` had, negated. Sums what each
 * account moves. BUG: lines that do not sum to zero. RECORD (AMOUNT_OUT_OF_RANGE): a sum beyond 64
 * bits.
 */
PO_MUST_USE enum po_class entries_insert(struct entries *entries, struct db *db, struct sql *sql,
                                         struct posting *const *postings, size_t count,
                                         struct po_error *error);

/*
 * Adds the sums to the balances, ascending by account. SYSTEMIC (1690): a balance would leave 64
 * bits; the failed statement does not say whose, entries_explain() does.
 */
PO_MUST_USE enum po_class entries_move_balances(struct entries *entries, struct db *db,
                                                struct sql *sql, struct po_error *error);

/*
 * To be called after the ROLLBACK of a transaction that failed: puts the account at the border in
 * front of error's text, when that was why. Nothing depends on what this reads.
 */
void entries_explain(struct entries *entries, struct db *db, struct sql *sql,
                     struct po_error *error);

#endif
