/*
 * Fingerprint, version 1: what a notification said, so that two deliveries of one key can be told
 * apart from two different statements under one key.
 *
 * SHA-256 over eight fields, one after the other, each a 4-byte big-endian length and then that
 * many bytes:
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
 */
#ifndef CHANNEL_FINGERPRINT_H
#define CHANNEL_FINGERPRINT_H

#include "postonce/error.h"
#include "postonce/notification.h"

/* Fills notification->fingerprint by version 1. BUG: OpenSSL has no SHA-256. */
PO_MUST_USE enum po_class fingerprint_seal(struct po_notification *notification,
                                           struct po_error *error);

#endif
