/*
 * How a shape's records are verified, from YAML; one of
 *
 *   verify: { op: hmac-sha256, header: x-signature, encoding: hex, prefix: "sha256=",
 *             key_file: keys/gateway }        # encoding: hex or base64; key_file may be a list
 *   verify: { op: stripe, key_file: keys/whsec, tolerance: 5m }
 *   verify: { op: wechat-v3, keys: { 5157F09EFDC096DE15EBE81A47057A72: keys/wechatpay.pem } }
 *   verify: { op: wechat-v2, key_file: keys/apiv2, unless: /req_info }   # refund notices have no
 * sign
 *
 * Public keys are PEM files, of a key or of a certificate. All files are relative to the profile's
 * folder and read when it is loaded.
 */
#ifndef CHANNEL_VERIFY_LOAD_H
#define CHANNEL_VERIFY_LOAD_H

#include "channel/verify.h"
#include "config/schema.h"

/* target: struct verify, zeroed. SYSTEMIC: what is wrong, with file:line:column. */
PO_MUST_USE enum po_class read_verify(const struct node *node, const struct field *field,
                                      void *target, struct po_error *error);

#endif
