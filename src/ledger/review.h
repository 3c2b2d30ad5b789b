/*
 * The review queue: everything that waits for a person. A row is unique by claim, reason and
 * fingerprint, so a re-push of the same thing adds nothing.
 */
#ifndef LEDGER_REVIEW_H
#define LEDGER_REVIEW_H

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
#define REVIEW_REFUND_OPEN    "REFUND_OPEN" /* a payment was reversed that refunds were made of */
/* Posted, and nobody had registered it before. */
#define REVIEW_REFUND_UNREGISTERED "REFUND_UNREGISTERED"

/*
 * Inserts one item a posting, inside the caller's transaction or, without one, in its own commit.
 * reason NULL: each posting's own `review`. with_body: keeps the record's raw value (for a
 * conflict: the second body).
 */
PO_MUST_USE enum po_class reviews_insert(struct db *db, struct sql *sql, const char *reason,
                                         struct posting *const *postings, size_t count,
                                         bool with_body, struct po_error *error);

#endif
