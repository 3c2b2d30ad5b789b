/*
 * The posting: one ledger transaction for many notifications.
 *
 * Lock order of every writer: orders and then refunds by primary key, outcome rows by claim (the
 * fence), entries, outbox, reviews, balances by account, parked. A claim row is never locked. The
 * outcome's primary key is what makes a second posting of a claim impossible, whoever tries.
 */
#ifndef LEDGER_POSTING_H
#define LEDGER_POSTING_H

#include "ledger/claim.h"
#include "ledger/rules.h"
#include "mysql/db.h"
#include "postonce/error.h"

struct ledger;

/* capacity: the largest number of postings of one call. db and rules must outlive the ledger. */
PO_MUST_USE enum po_class ledger_open(struct ledger **ledger_out, struct db *db,
                                      const struct rules *rules, size_t capacity,
                                      struct po_error *error);
void ledger_close(struct ledger *ledger); /* takes NULL */
/* The claims that this ledger reads again; for claims_acquire(). */
struct claims *ledger_claims(struct ledger *ledger);
/* Whether the connection lives: a deadlock is worth another try at once, an outage is not. */
bool ledger_is_connected(const struct ledger *ledger);
/* Connects if it is not connected: for asking whether an outage is over. */
PO_MUST_USE enum po_class ledger_connect(struct ledger *ledger, struct po_error *error);
/* How often a record failed by itself before, by its letter id. */
PO_MUST_USE enum po_class ledger_failures(struct ledger *ledger, const char *letter_id,
                                          unsigned *failures_out, struct po_error *error);
/* For a worker without work: pings in time, see db_keep_alive(). */
void ledger_keep_alive(struct ledger *ledger);

/*
 * Posts all postings that are ours (VERDICT_NONE, no leader, a rule), in order of their turn, in
 * one transaction. After OK each of them has a verdict: POSTED, SKIPPED, SUSPENSE, PARKED, HELD or
 * REJECTED (with `reason`), or, when somebody else settled it meanwhile, what claims_read() says;
 * ORPHANED with strict.unfinished when COMMIT's answer was lost and there is no outcome.
 * After any other class the transaction is rolled back and each of them is VERDICT_NONE again:
 * TRANSIENT, SYSTEMIC as they say; UNCERTAIN: COMMIT's answer is lost and reading again failed too;
 * RECORD, BUG: halve the set, the culprit is in it; the transaction did not take place, since
 * COMMIT was not sent or was refused. `begun` tells whose transaction had begun.
 */
PO_MUST_USE enum po_class posting_run(struct ledger *ledger, struct posting **postings,
                                      size_t count, struct po_error *error);

#endif
