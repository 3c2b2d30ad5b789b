/*
 * The key says what the business event is; the fingerprint says what it said.
 *
 * Both are pure functions of the normalised notification, so every delivery of one event, through
 * whichever path, gives the same key and the same fingerprint.
 */
#ifndef POSTONCE_KEY_H
#define POSTONCE_KEY_H

#include <stddef.h>

#include "postonce/error.h"
#include "postonce/notification.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Percent-encodes everything outside [A-Za-z0-9._~-] of text (bytes) and appends it to buffer,
 * a NUL-terminated string of capacity bytes. RECORD with reason KEY_TOO_LONG when it does not fit:
 * a key is refused, never cut, and buffer stays as it was.
 */
PO_MUST_USE enum po_class po_key_encode(char *buffer, size_t capacity, const char *text,
                                        size_t length, struct po_error *error);

/*
 * Fills notification->key from channel, txn (already encoded) and event, then
 * notification->fingerprint and its version (PO_FINGERPRINT_VERSION).
 * RECORD: an empty part (KEY_PART_EMPTY), a channel or event that is no word [A-Z0-9_] or a txn
 * that is not encoded (KEY_PART_MALFORMED), over 191 bytes (KEY_TOO_LONG). BUG: OpenSSL has no
 * SHA-256.
 */
PO_MUST_USE enum po_class po_key_seal(struct po_notification *notification, struct po_error *error);

#ifdef __cplusplus
}
#endif

#endif
