/*
 * What a notification is about and does not say itself: the order of a refund that names only its
 * payment, and the posting that a reversal or a refund's failure takes back. Both are found by
 * keys, which never change.
 */
#ifndef LEDGER_SUBJECT_H
#define LEDGER_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/verdict.h"
#include "mysql/db.h"
#include "postonce/error.h"
#include "postonce/notification.h"

struct posting; /* ledger/claim.h */

struct subject {
        char order_no[PO_ORDER_NO_BYTES]; /* the notification's, or found; "": not known */

        /* What may have to be taken back: of a rule that `reverses` the payment's claim, of a
         * refund's with `reverse` its success's; 0: there is none yet. */
        int64_t claim_id;
        const char *channel, *txn; /* what of the notification named it */
        bool of_another_order;     /* than the notification names */
        int64_t amount_minor;
        char currency[PO_CURRENCY_BYTES]; /* "": it carried no amount */
        /* Filled by subjects_read(). */
        enum verdict verdict; /* of its outcome; VERDICT_NONE: it has none */
        bool reversed;        /* by somebody else */
        bool suspended_now;   /* in the transaction under way; posting.c says so */
};

/* Fills subject of each posting by plain reads, before BEGIN; none for most of them. */
PO_MUST_USE enum po_class subjects_find(struct db *db, struct sql *sql,
                                        struct posting *const *postings, size_t count,
                                        struct po_error *error);

/* What became of what may have to be taken back, inside the transaction that holds their orders. */
PO_MUST_USE enum po_class subjects_read(struct db *db, struct sql *sql,
                                        struct posting *const *postings, size_t count,
                                        struct po_error *error);

/*
 * The key of the payment whose posting makes this one due, if it waits: of a refund or a reversal
 * that names one. False: it names none.
 */
bool subject_awaited(const struct posting *posting, char key_out[PO_KEY_BYTES]);

#endif
