/*
 * The claim: the placeholder row of a key, committed in a transaction of its own before posting
 * starts. It is a receipt, not a proof of work: a claim without an outcome is finished by whoever
 * holds its record, and only an outcome with an equal fingerprint makes a duplicate.
 *
 * Nothing here takes an absent row for an answer, ignores an error or reads an error's text: what
 * is not known to be settled is inserted, and the unique key says whether it was there.
 */
#ifndef LEDGER_CLAIM_H
#define LEDGER_CLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/record.h"
#include "ledger/subject.h"
#include "ledger/verdict.h"
#include "mysql/db.h"
#include "postonce/error.h"
#include "postonce/notification.h"

struct event_rule; /* ledger/rules.h */

/* One notification on its way through the ledger. The caller fills the first part. */
struct posting {
        const struct po_notification *notification;
        const struct record *record;   /* the delivery that brought it */
        const struct event_rule *rule; /* what its event means */
        uint32_t turn;                 /* its place in the batch, in order of arrival */

        /* Filled by claims_acquire() and claims_read(). */
        int64_t claim_id;
        uint64_t deliveries; /* records that brought this key, this one included */
        unsigned char first_fingerprint[PO_FINGERPRINT_BYTES]; /* what the key stands for */
        unsigned char kept_version; /* not 0: equal to first_fingerprint by this version, which is
                                       not its notification's; its outcome keeps both */
        struct posting *leader; /* an earlier one of this batch with the same key and fingerprint:
                                   this one is its duplicate once that is settled; else NULL */

        /* VERDICT_NONE: ours to post. */
        enum verdict verdict;
        bool again; /* settled by an earlier delivery of this very record: our COMMIT's
                       reply was lost, or a hold brought it again; not counted twice */
        char result[RESULT_BYTES]; /* the first result, for POSTED, SKIPPED and DUPLICATE */
        const char *reason;        /* static word, for PARKED, REJECTED and HELD */
        const char *review;        /* why a person must look at the outcome; NULL: nobody need */

        /* Filled by the caller for one that comes out of `parked`. */
        bool unparks;      /* its row there goes with its outcome */
        bool stays_parked; /* … but not at once: the caller deletes it */
        bool gave_up;      /* it waited for park.give_up_after: not parked again */

        /* Filled by posting_run(). */
        bool unblocked; /* PARKED, but its order moved in the same batch */
        bool begun;     /* its transaction began, and was not judged to wait */

        /* For strict.unfinished. */
        uint64_t attempt; /* by claims_read(): this worker's that made the claim; 0: none */
        bool in_doubt;    /* by the caller, for one that unparks, or posting_run(): an earlier
                             posting may have taken place. Without an outcome it is ORPHANED */

        /* By posting_run(): what it is about, and what it posts. */
        struct subject subject;
        int64_t amount_minor; /* 0: nothing */
        char currency[PO_CURRENCY_BYTES];
        int64_t reverses;          /* claim whose entries are posted the other way round; 0: none */
        bool silent;               /* POSTED, and nothing for the outbox */
        char status[STATUS_BYTES]; /* its order's state after it; "": it moved none */
};

/* Scratch of the ledger's statements: buffers that are sized once and reused. */
struct claims;
PO_MUST_USE enum po_class claims_open(struct claims **claims_out, struct db *db, size_t capacity,
                                      struct po_error *error);
void claims_close(struct claims *claims); /* takes NULL */

/*
 * strict.unfinished: from now on a claim carries the attempt that made it (attempt.h), and
 * claims_read() gives an unfinished claim that is not ours the verdict ORPHANED, or PARKED when it
 * stands in `parked`. What unparks is exempt until its posting is in doubt.
 */
PO_MUST_USE enum po_class claims_be_strict(struct claims *claims, struct po_error *error);
bool claims_are_strict(const struct claims *claims);
/* A batch is about to be claimed: a new attempt begins. Without strict.unfinished: nothing. */
void claims_begin(struct claims *claims);
/*
 * The attempt is over for a posting. What comes again and was not begun stays ours; what was begun,
 * or passed, is not. Without strict.unfinished: nothing.
 */
void claims_end(struct claims *claims, const struct posting *posting, bool comes_again);

/*
 * Claims the postings' keys: one commit, keys sorted by bytes, each once; then reads them back and
 * decides per posting (claims_read). Behind a batch of duplicates what is settled is found first.
 * Asserts that no transaction is open. After any error nothing is decided; the same call again is
 * safe (deliveries counts more).
 */
PO_MUST_USE enum po_class claims_acquire(struct claims *claims, struct posting **postings,
                                         size_t count, struct po_error *error);

/*
 * Reads claims and outcomes by key and sets verdict anew: DUPLICATE, CONFLICT, the outcome's own
 * verdict with `again`, or VERDICT_NONE. BUG when a claim is missing: claims are never deleted.
 */
PO_MUST_USE enum po_class claims_read(struct claims *claims, struct posting **postings,
                                      size_t count, struct po_error *error);

#endif
