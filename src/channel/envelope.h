/*
 * The plain envelope: postonce's own form, for programs that already know what a notification says.
 * schema/notification.schema.json describes it member by member.
 *
 *   { "channel": "SQB", "tenant_id": 1, "txn": "7895…", "event": "PAYMENT_RECEIVED",
 *     "order_no": "R8-…", "parent": "…", "refund_no": "…", "amount_minor": 12880 or
 *     "amount": "128.80", "currency": "CNY", "occurred_at": "2026-01-14T12:41:07+08:00",
 *     "body": anything }
 *
 * txn and event are required. txn and parent are one part each, whatever they hold: a '/' in them
 * is escaped. A member that is null counts as absent. body is carried for people and never looked
 * at.
 */
#ifndef CHANNEL_ENVELOPE_H
#define CHANNEL_ENVELOPE_H

#include <json-c/json_object.h>

#include "postonce/error.h"
#include "postonce/notification.h"

/* The member that is never looked at: json_body_parse_but() may leave it out. */
#define ENVELOPE_UNREAD "body"

/*
 * Fills notification from root; channel and tenant_id are the caller's, the envelope's tenant_id
 * replaces the latter. Key and fingerprint are left to the caller.
 * RECORD: WRONG_TYPE (a member of another JSON type, or root is no object), UNKNOWN_MEMBER,
 * CHANNEL_MISMATCH (the member channel is not notification->channel), TENANT_OUT_OF_RANGE (below
 * 1), TXN_EMPTY, EVENT_MISSING, EVENT_MALFORMED (no word [A-Z0-9_]{1,64}), AMOUNT_TWICE (amount and
 * amount_minor), CURRENCY_MISSING, AMOUNT_MISSING (a currency without an amount), and what fill.h
 * refuses.
 */
PO_MUST_USE enum po_class envelope_decode(struct json_object *root,
                                          struct po_notification *notification,
                                          struct po_error *error);

/* The member channel of an envelope; NULL: root is no object, has none, or it is no text. */
const char *envelope_channel(struct json_object *root);

#endif
