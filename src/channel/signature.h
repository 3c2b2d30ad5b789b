/*
 * What the ways to verify have in common: what is signed, piece by piece, and whether one of the
 * keys proves it. No error ever shows a signature or a secret.
 */
#ifndef CHANNEL_SIGNATURE_H
#define CHANNEL_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>

#include "channel/verify.h"
#include "postonce/error.h"

enum { HMAC_BYTES = 32, SIGNED_PIECES_MAX = 8 };

/* Bytes within a header or a record. */
struct span {
        const char *bytes;
        size_t length;
};

/* What is signed: the pieces, one behind the other. */
struct message {
        size_t count;
        struct span pieces[SIGNED_PIECES_MAX];
};

enum rsa_digest { RSA_SHA256, RSA_SHA1 };

struct span span_of(const char *text);
void message_add(struct message *message, struct span piece);

/* RECORD with SIGNATURE_INVALID; what: a sentence without anything of the record in it. */
enum po_class signature_fail(struct po_error *error, const char *what);

/* 2 × count hexadecimal digits in any case as count bytes; false: it is something else. */
bool signature_from_hex(const struct span *text, unsigned char *bytes, size_t count);
/* An HMAC as it is written, in base64 or hexadecimal; false: it is something else. */
bool signature_read_hmac(const struct span *text, bool base64, unsigned char hmac_out[HMAC_BYTES]);

/* *proven_out becomes true when one of the keys gives this HMAC-SHA-256. BUG: OpenSSL fails. */
PO_MUST_USE enum po_class signature_check_hmac(const struct verify *verify,
                                               const struct message *message,
                                               const unsigned char hmac[HMAC_BYTES],
                                               bool *proven_out, struct po_error *error);

/*
 * *proven_out becomes true when one of the keys of that serial (NULL: any key) proves the
 * signature, which is text in base64. RECORD: it is no base64. BUG: OpenSSL fails.
 */
PO_MUST_USE enum po_class signature_check_rsa(const struct verify *verify,
                                              const struct span *serial, enum rsa_digest digest,
                                              const struct message *message,
                                              const struct span *text, bool *proven_out,
                                              struct po_error *error);

#endif
