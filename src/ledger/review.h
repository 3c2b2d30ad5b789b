/*
 * The review queue: everything that waits for a person. An item about a claim is unique by claim,
 * reason and fingerprint, so a re-push of the same thing adds nothing. What is not about the
 * content of a claim (a held partition, the stopped intake, a parked row that cannot be read) has a
 * subject instead, unique while it is open; when it is over the item is CLOSED, and the same again
 * is a new one.
 */
#ifndef LEDGER_REVIEW_H
#define LEDGER_REVIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "ledger/claim.h"
#include "mysql/db.h"
#include "postonce/error.h"

#define REVIEW_PAYLOAD_CONFLICT    "PAYLOAD_CONFLICT"
#define REVIEW_NO_POSTING_RECORDED "NO_POSTING_RECORDED"
#define REVIEW_PARK_GAVE_UP        "PARK_GAVE_UP"
#define REVIEW_ORPHAN              "ORPHAN"
/* Money in suspense, and why it could not move its order. */
#define REVIEW_SECOND_PAYMENT "SECOND_PAYMENT" /* the order records another payment */
#define REVIEW_AMOUNT_DIFFERS "AMOUNT_DIFFERS" /* amount or currency is not the order's */
#define REVIEW_STATE_REFUSED  "STATE_REFUSED"  /* the order's state is in no list of the rule */
#define REVIEW_REFUND_DIFFERS                                                                      \
        "REFUND_DIFFERS"                       /* not as registered: order, amount, currency, txn  \
                                                */
#define REVIEW_REFUND_EXCEEDS "REFUND_EXCEEDS" /* more than was paid */
#define REVIEW_PAYMENT_DIFFERS                                                                     \
        "PAYMENT_DIFFERS"                /* a reversal's order does not carry its payment          \
                                          */
#define REVIEW_REFUND_OPEN "REFUND_OPEN" /* a payment was reversed that refunds were made of */
/* A refund's failure came, and nobody knew the refund: its success may follow. */
#define REVIEW_REFUND_UNKNOWN "REFUND_UNKNOWN"
/* Posted, and nobody had registered it before. */
#define REVIEW_REFUND_UNREGISTERED "REFUND_UNREGISTERED"
/* By subject. */
#define REVIEW_PARTITION_HELD    "PARTITION_HELD"
#define REVIEW_DEAD_LETTER_FLOOD "DEAD_LETTER_FLOOD"
#define REVIEW_PARKED_UNREADABLE "PARKED_UNREADABLE"

enum { REVIEW_SUBJECT_BYTES = 600 };
#define REVIEW_SUBJECT_PAUSE "pause *"

/*
 * Inserts one item a posting, inside the caller's transaction or, without one, in its own commit.
 * reason NULL: each posting's own `review`. with_body: keeps the record's raw value (for a
 * conflict: the second body).
 */
PO_MUST_USE enum po_class reviews_insert(struct db *db, struct sql *sql, const char *reason,
                                         struct posting *const *postings, size_t count,
                                         bool with_body, struct po_error *error);

/*
 * The same of one posting; *fresh_out: it was not there before. Else it only counts in `seen`, how
 * often it came.
 */
PO_MUST_USE enum po_class review_insert(struct db *db, struct sql *sql, const char *reason,
                                        const struct posting *posting, bool with_body,
                                        bool *fresh_out, struct po_error *error);

/*
 * Opens an item about a subject (claim_id 0: of no claim), inside the caller's transaction or in
 * its own commit. *fresh_out (may be NULL): none of this subject was open before.
 */
PO_MUST_USE enum po_class review_open(struct db *db, struct sql *sql, const char *subject,
                                      const char *reason, int64_t claim_id, bool *fresh_out,
                                      struct po_error *error);
/* It is over: closes the open item of this subject, if there is one. */
PO_MUST_USE enum po_class review_close(struct db *db, struct sql *sql, const char *subject,
                                       struct po_error *error);
/* How many wait. */
PO_MUST_USE enum po_class reviews_count_open(struct db *db, struct sql *sql, int64_t *count_out,
                                             struct po_error *error);

#endif
