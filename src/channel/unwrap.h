/*
 * Unwrap steps: what stands in a body encrypted or as a text is put beside it as a tree, before
 * guards and rules look at it. Secrets stand in files, are read when the profile is loaded, and are
 * never part of an error.
 *
 *   aes-256-gcm          at: an object { ciphertext, nonce, associated_data }, ciphertext in base64
 *                        with the 16 bytes of its tag behind it (WeChat Pay v3's "resource")
 *   aes-256-ecb-md5key   at: a text in base64; PKCS#7; the key is the MD5 of the secret in lower
 *                        case hexadecimal (WeChat Pay v2's "req_info"). Such a text proves nothing
 *                        about who wrote it.
 *   base64               at: a text in base64
 *   url-decode           at: a text with percent escapes, '+' for a space
 *   parse                at: a text
 *   pick                 at: a list; of its first element for which "where" holds, the text or
 * number that "take" leads to, or what stands in the text behind the last "after"
 */
#ifndef CHANNEL_UNWRAP_H
#define CHANNEL_UNWRAP_H

#include <stdbool.h>
#include <stddef.h>

#include "channel/body.h"
#include "channel/condition.h"
#include "channel/pointer.h"
#include "postonce/error.h"

enum { UNWRAP_STEPS_MAX = 4, UNWRAP_KEYS_MAX = 4, UNWRAP_KEY_BYTES = 32 };

enum unwrap_op {
        UNWRAP_AES_256_GCM,
        UNWRAP_AES_256_ECB_MD5KEY,
        UNWRAP_BASE64,
        UNWRAP_URL_DECODE,
        UNWRAP_PARSE,
        UNWRAP_PICK,
};

struct unwrap_step {
        enum unwrap_op op;
        struct pointer at;
        struct pointer to;           /* a member of the body that is not there yet */
        enum body_kind then;         /* what is inside: json, form or xml ... */
        bool then_text;              /* ... or a text, which stays one */
        bool optional;               /* nothing to unwrap is no error */
        struct condition_list where; /* pick: of an element ("@/…") */
        struct pointer take;         /* pick: into the element that was found */
        const char *after;           /* pick: NULL: the whole text */
        size_t keys_count;
        unsigned char keys[UNWRAP_KEYS_MAX][UNWRAP_KEY_BYTES]; /* the first that fits counts */
};

struct unwrap_list {
        size_t count;
        struct unwrap_step items[UNWRAP_STEPS_MAX];
};

/*
 * Adds to root, the caller's. RECORD: UNWRAP_MISSING (nothing at "at"), UNWRAP_FAILED (no base64,
 * no key fits, no text in UTF-8, nothing behind "after", a member of another type or length),
 * MEMBER_RESERVED (the body has a member of its own where a step puts its result: it could pass for
 * one that was decrypted), WRONG_TYPE (root is no object), and what body_parse() refuses. BUG: no
 * memory, or OpenSSL lacks a cipher.
 */
PO_MUST_USE enum po_class unwrap_apply(const struct unwrap_list *list, struct body_parser *parser,
                                       struct json_object *root, struct po_error *error);

/* The key of aes-256-ecb-md5key from the secret. BUG: OpenSSL has no MD5. */
PO_MUST_USE enum po_class unwrap_md5key(const char *secret, size_t length,
                                        unsigned char key_out[UNWRAP_KEY_BYTES],
                                        struct po_error *error);

#endif
