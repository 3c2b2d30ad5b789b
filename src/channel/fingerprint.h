/*
 * Fingerprint: what a notification said, so that two deliveries of one key can be told apart from
 * two different statements under one key.
 *
 * Version 1 (normalised): SHA-256 over eight fields, one after the other, each a 4-byte big-endian
 * length and then that many bytes:
 *
 *   1 channel        SQB
 *   2 txn            encoded, as in the key
 *   3 event          PAYMENT_RECEIVED
 *   4 order_no       may be empty
 *   5 parent         encoded; may be empty
 *   6 currency       may be empty
 *   7 amount kind    none, this, cumulative or net
 *   8 minor amount   decimal digits; empty when there is none, or when it is left out
 *
 * A cumulative or net amount is left out where the refund is named in the key: a later copy of the
 * same refund carries another total. That is so exactly when txn is parent, a '/' and more (SQB:
 * parent "sn", txn "sn/refund_request_no"). It is kept everywhere else, on purpose: a running total
 * under a key that names only the payment would fold two refunds into one, and a false conflict is
 * loud where a false duplicate loses money.
 *
 * Never part of it: times, ids of envelopes, tenant_id (it stands beside the key), refund_no.
 *
 * Version 2 (raw): SHA-256 of the record's value, byte for byte, before anything is unwrapped. All
 * notifications of a record have the same one.
 */
#ifndef CHANNEL_FINGERPRINT_H
#define CHANNEL_FINGERPRINT_H

#include <stddef.h>

#include "postonce/error.h"
#include "postonce/notification.h"

/* Fills notification->fingerprint by version 1. BUG: OpenSSL has no SHA-256. */
PO_MUST_USE enum po_class fingerprint_seal(struct po_notification *notification,
                                           struct po_error *error);

/*
 * Replaces the sealed fingerprints of all notifications of one record by version 2. Where one
 * record says different things under one key, that key's stay as they are: by the body's digest the
 * second would be a duplicate of the first.
 */
PO_MUST_USE enum po_class fingerprint_seal_raw(struct po_notification *notifications, size_t count,
                                               const void *value, size_t value_bytes,
                                               struct po_error *error);

/*
 * The digest of a sealed notification and of the record's value that brought it by a version that
 * may be another than its own. BUG: a version that is neither 1 nor 2.
 */
PO_MUST_USE enum po_class fingerprint_by(int version, const struct po_notification *notification,
                                         const void *value, size_t value_bytes,
                                         unsigned char digest_out[PO_FINGERPRINT_BYTES],
                                         struct po_error *error);

#endif
