/*
 * Adyen's signature, which stands in each item of the body, in additionalData.hmacSignature: the
 * HMAC-SHA-256, in base64, of
 *
 *   pspReference:originalReference:merchantAccountCode:merchantReference:amount.value:
 *   amount.currency:eventCode:success
 *
 * What an item does not have is empty there. Adyen's libraries differ in whether '\' and ':' within
 * a value get a '\' in front: with them both count, but without them a ':' may stand in the
 * merchant's own reference only, so that nobody can move a value's end into its neighbour. Nothing
 * else of an item is signed, neither is "live".
 */
#ifndef CHANNEL_VERIFY_ITEMS_H
#define CHANNEL_VERIFY_ITEMS_H

#include <json-c/json_object.h>

#include "channel/pointer.h"
#include "channel/verify.h"
#include "postonce/error.h"

enum { SIGNED_ITEM_BYTES = 1024 };

/*
 * OK when op is another than adyen, or when every item of the list that each leads to (item: where
 * in its element, may not be given) is proven by one of the keys. A list that is not there proves
 * nothing, so it is the caller's to refuse. RECORD: SIGNATURE_INVALID. BUG: OpenSSL fails.
 */
PO_MUST_USE enum po_class verify_items(const struct verify *verify, const struct pointer *each,
                                       const struct pointer *item, struct json_object *root,
                                       struct po_error *error);

#endif
