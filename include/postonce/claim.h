/*
 * Claims: doing something once for a notification, in a program's own database transaction, with
 * the workers' own protocol. For a program that books elsewhere than in postonce's ledger, on the
 * same database server.
 *
 *   po_claim_acquire(…)               the claim, committed on the ledger's own connection
 *   BEGIN                             on the program's connection
 *     … the program's own statements …
 *     po_claim_settle(…)              the outcome row: the fence
 *   COMMIT
 *
 * A claim is a receipt, no proof of work: who finds one without outcome finishes it. The outcome
 * proves, because it is committed with the work. Two transactions cannot settle one claim: the
 * second waits for the first, and gets EXISTS when that was committed.
 */
#ifndef POSTONCE_CLAIM_H
#define POSTONCE_CLAIM_H

#include <stdint.h>

#include "postonce/error.h"
#include "postonce/ledger.h"
#include "postonce/notification.h"
#include "postonce/record.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
        PO_RESULT_BYTES = 160,
        PO_SOURCE_BYTES = 250,
        PO_SETTLED_WORD_BYTES = 33, /* [A-Z0-9_]{1,32} */
};

enum po_claim_state {
        PO_CLAIM_UNFINISHED = 1, /* nobody settled it: do the work and settle it */
        PO_CLAIM_SETTLED,        /* a confirmed duplicate: do nothing; result is the first result */
        PO_CLAIM_CONFLICT,       /* the key stands for another content: do nothing. A review item
                                    keeps both for a person */
};

/* Filled by po_claim_acquire(); read only to the caller. Nothing in it points elsewhere. */
struct po_claim {
        enum po_claim_state state;
        char result[PO_RESULT_BYTES]; /* of SETTLED: what its outcome says, JSON; else "" */

        /* For po_claim_settle(). */
        int64_t id;
        int64_t tenant_id;
        char key[PO_KEY_BYTES];
        unsigned char fingerprint[PO_FINGERPRINT_BYTES];
        unsigned char fingerprint_version;
        int64_t occurred_at_us;
        char source[PO_SOURCE_BYTES];
        int32_t partition;
        int64_t offset;
};

/*
 * Claims a sealed notification's key (of po_decode(), or filled by hand and given to po_key_seal())
 * in a committed transaction of its own, and says what it finds. Before the program's own
 * transaction begins. The same again is safe after any class.
 * record: what brought it; its body is kept in the review item of a conflict, and compared where
 * the claim stands for a body's digest (a profile's `fingerprint: raw`).
 * RECORD: reason NOT_SEALED, SOURCE_MALFORMED, or what the database refuses. TRANSIENT, SYSTEMIC:
 * nothing is decided.
 */
PO_MUST_USE enum po_class po_claim_acquire(struct po_ledger *ledger,
                                           const struct po_notification *notification,
                                           const struct po_record *record,
                                           struct po_claim *claim_out, struct po_error *error);

/*
 * Settles an UNFINISHED claim inside the caller's open transaction: it is settled if and when the
 * caller commits. To this ledger it is SKIPPED, with the result {"settled":"WORD"}, which later
 * deliveries of the notification are answered with; the workers post it no more.
 *
 * ledger: tells the name of its database; its connection is not used, its thread is.
 * mysql: the caller's connection, a MYSQL * of the client library that libpostonce was linked with
 * (`pkg-config --print-requires-private postonce` names it), to the same server, with the rights to
 * read claim and to insert into outcome. The caller keeps it: it is neither closed nor rolled back
 * here, and no result may be open on it. Any character set, SQL mode and default database; READ
 * COMMITTED or REPEATABLE READ. Under SERIALIZABLE the claim's row stays locked until the end, and
 * workers that meet the key wait.
 *
 * word: what was done, for the result; [A-Z0-9_]{1,32}.
 *
 * On any class but OK roll the whole transaction back. EXISTS: somebody settled it meanwhile;
 * acquire tells the result. TRANSIENT: deadlock (1213), lock wait (1205: somebody is at it), or the
 * connection is lost. BUG: no transaction is open, the claim is not UNFINISHED or cannot be seen
 * from here (another server, or the transaction looked at the database before acquire), or word is
 * malformed. Commit soon after OK: a worker that holds the same notification waits. When the answer
 * to COMMIT is lost, acquire tells.
 */
PO_MUST_USE enum po_class po_claim_settle(struct po_ledger *ledger, const struct po_claim *claim,
                                          void *mysql, const char *word, struct po_error *error);

#ifdef __cplusplus
}
#endif

#endif
