/*
 * A notification: one business event, normalised from whatever a channel sent.
 *
 * The caller owns the struct; nothing in it points elsewhere. All text is NUL-terminated UTF-8
 * without control characters and without a space at either end; a member that a notification does
 * not have is the empty string.
 */
#ifndef POSTONCE_NOTIFICATION_H
#define POSTONCE_NOTIFICATION_H

#include <stdbool.h>
#include <stdint.h>

enum {
        PO_CHANNEL_BYTES = 33,     /* label, [A-Z0-9_]{1,32} */
        PO_KEY_BYTES = 192,        /* channel:txn:event, at most 191 ASCII bytes: claim.idem_key */
        PO_TXN_BYTES = 192,        /* parts percent-encoded and joined by '/', as in the key */
        PO_EVENT_BYTES = 65,       /* canonical event, [A-Z0-9_]{1,64} */
        PO_ORDER_NO_BYTES = 65,    /* at most 64 bytes */
        PO_CURRENCY_BYTES = 4,     /* ISO 4217, three upper-case letters */
        PO_FINGERPRINT_BYTES = 32, /* SHA-256 */
        PO_FINGERPRINT_VERSION =
                1, /* of what it says, normalised; 0 is "unknown", never a conflict */
};

enum { PO_FINGERPRINT_RAW = 2 }; /* the version that is the SHA-256 of the raw body */

#define PO_TIME_UNKNOWN INT64_MIN

/* What the amount of a notification counts (some channels send running totals). */
enum po_amount_kind {
        PO_AMOUNT_NONE = 0,
        PO_AMOUNT_THIS,       /* this movement's own amount */
        PO_AMOUNT_CUMULATIVE, /* the total moved so far */
        PO_AMOUNT_NET,        /* what is left of the payment */
};

struct po_notification {
        int64_t tenant_id;
        char channel[PO_CHANNEL_BYTES];
        char txn[PO_TXN_BYTES]; /* the channel's number of the money movement, encoded */
        char event[PO_EVENT_BYTES];
        char order_no[PO_ORDER_NO_BYTES]; /* the merchant's order number; may be empty */
        char parent[PO_TXN_BYTES]; /* for a refund: the payment's txn, encoded; may be empty */
        char refund_no[PO_ORDER_NO_BYTES];
        enum po_amount_kind amount_kind;
        int64_t amount_minor; /* minor units of currency; > 0, or 0 if NET; NONE: 0 */
        int64_t fee_minor; /* what of PO_AMOUNT_THIS the channel keeps: 0 to amount_minor; 0: none
                            */
        char currency[PO_CURRENCY_BYTES];
        int64_t occurred_at_us; /* the channel's time, µs since 1970 UTC, or PO_TIME_UNKNOWN */

        char key[PO_KEY_BYTES];                          /* see key.h */
        unsigned char fingerprint[PO_FINGERPRINT_BYTES]; /* see key.h */
        unsigned char fingerprint_version;               /* PO_FINGERPRINT_VERSION or …_RAW */
};

#endif
