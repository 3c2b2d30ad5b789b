/*
 * Signatures over a record's raw bytes, looked at before anything in them is. What a gateway got as
 * HTTP headers stands in the record's headers; names count in any case.
 *
 *   hmac-sha256   of the body, in one header: a gateway of one's own
 *   rsa-sha256    of the body, in one header, in base64: Shouqianba's callbacks
 *   stripe        header Stripe-Signature: t=SECONDS,v1=HEX[,v1=HEX]; HMAC-SHA-256 of
 *                 "SECONDS.body"; SECONDS within the tolerance of the record's own time
 *   wechat-v3     headers Wechatpay-Timestamp, -Nonce, -Serial, -Signature; RSA-SHA-256 of
 *                 "TIMESTAMP\nNONCE\nbody\n", with the key of that serial
 *   alipay        in the form itself, over its bytes: verify_form.h
 *   wechat-v2     in the body, looked at as soon as it is a tree: verify_members.h
 *   adyen         in each item of the body: verify_items.h
 *
 * Pure: no clock. A record that is replayed carries its first time along.
 */
#ifndef CHANNEL_VERIFY_H
#define CHANNEL_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/types.h>

#include "base/record.h"
#include "channel/pointer.h"
#include "channel/secret_file.h"
#include "postonce/error.h"

enum { VERIFY_KEYS_MAX = 8 };

enum verify_op {
        VERIFY_NONE, /* nothing said, or said that somebody else does it */
        VERIFY_HMAC_SHA256,
        VERIFY_RSA_SHA256,
        VERIFY_STRIPE,
        VERIFY_WECHAT_V3,
        VERIFY_WECHAT_V2,
        VERIFY_ALIPAY,
        VERIFY_ADYEN,
};

struct verify_key {
        unsigned char secret[SECRET_BYTES_MAX]; /* of HMAC */
        size_t secret_bytes;
        const char *serial; /* of wechat-v3 */
        EVP_PKEY *public_key;
};

struct verify {
        enum verify_op op;
        bool is_open;          /* bodies are believed, and that is worth a warning */
        const char *missing;   /* is_open: the key that is not configured; NULL: no verify at all */
        const char *header;    /* hmac-sha256, rsa-sha256 */
        const char *prefix;    /* of these: in front of the signature ("sha256="), or NULL */
        bool base64;           /* hmac-sha256: else hexadecimal */
        int64_t tolerance_ms;  /* stripe */
        struct pointer unless; /* wechat-v2: a body that has this is not signed; may not be given */
        size_t keys_count;
        struct verify_key keys[VERIFY_KEYS_MAX]; /* any that fits will do */
};

/*
 * OK when one of the keys proves the record, or op is none that looks at the raw bytes. RECORD:
 * SIGNATURE_INVALID, whatever is wrong with it; the text says what, and never shows the signature.
 * Of alipay also what form_body.h refuses. BUG: OpenSSL fails, or no memory.
 */
PO_MUST_USE enum po_class verify_record(const struct verify *verify, const struct record *record,
                                        struct po_error *error);

/* Overwrites and frees the keys. */
void verify_reset(struct verify *verify);

#endif
