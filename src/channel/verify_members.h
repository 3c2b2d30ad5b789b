/*
 * Signatures that stand in the body itself, over its members: WeChat Pay v2. Looked at as soon as
 * the body is a tree, before anything else in it is.
 *
 *   wechat-v2   "a=1&b=2&key=SECRET" of all members that are not empty, but sign, in the order of
 * their names' bytes; MD5, or HMAC-SHA-256 if sign_type says so; in upper case hexadecimal
 */
#ifndef CHANNEL_VERIFY_MEMBERS_H
#define CHANNEL_VERIFY_MEMBERS_H

#include <json-c/json_object.h>

#include "channel/verify.h"
#include "postonce/error.h"

enum { VERIFY_MEMBERS_MAX = 256 };

/*
 * OK when one of the keys proves the body, when op is another than wechat-v2, or when the body has
 * what verify->unless points to. RECORD: SIGNATURE_INVALID. BUG: no memory, or OpenSSL fails.
 */
PO_MUST_USE enum po_class verify_members(const struct verify *verify, struct json_object *root,
                                         struct po_error *error);

#endif
