#include "channel/verify.h"

#include <string.h>
#include <strings.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include "base/cleanup.h"
#include "channel/base64.h"

enum { HMAC_BYTES = 32, SIGNATURE_BYTES_MAX = 1024, SECONDS_DIGITS_MAX = 12 };

#define MS_PER_SECOND INT64_C(1000)

/* Bytes within a header or a record. */
struct span {
        const char *bytes;
        size_t length;
};

/* What is signed, piece by piece. */
struct message {
        size_t count;
        struct span pieces[6];
};

static enum po_class fail_signature(struct po_error *error, const char *what)
{
        return po_refuse(error, "SIGNATURE_INVALID", "%s", what);
}

static enum po_class fail_openssl(struct po_error *error)
{
        return po_fail(error, PO_BUG, 0, "OpenSSL cannot verify");
}

static struct span span_of(const char *text)
{
        return (struct span){ text, strlen(text) };
}

static bool span_starts(const struct span *span, const char *prefix)
{
        return strlen(prefix) <= span->length && memcmp(span->bytes, prefix, strlen(prefix)) == 0;
}

/* The last header of that name, in any case; false: none, or it is empty. */
static bool header_take(const struct record *record, const char *name, struct span *span_out)
{
        for (size_t i = record->headers_count; i > 0; i--) {
                const struct record_header *header = &record->headers[i - 1];
                if (strcasecmp(header->name, name) != 0)
                        continue;
                *span_out = (struct span){ header->value, header->value_bytes };
                return header->value != NULL && header->value_bytes > 0;
        }
        return false;
}

static void message_add(struct message *message, struct span piece)
{
        message->pieces[message->count++] = piece;
}

static struct span record_body(const struct record *record)
{
        return (struct span){ record->value, record->value_bytes };
}

static void mac_slot_free(EVP_MAC **slot)
{
        EVP_MAC_free(*slot);
}

static void mac_context_slot_free(EVP_MAC_CTX **slot)
{
        EVP_MAC_CTX_free(*slot);
}

static void digest_slot_free(EVP_MD_CTX **slot)
{
        EVP_MD_CTX_free(*slot);
}

static enum po_class hmac_compute(const struct verify_key *key, const struct message *message,
                                  unsigned char hmac_out[HMAC_BYTES], struct po_error *error)
{
        char digest[] = "SHA256";
        const OSSL_PARAM params[] = {
                OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                OSSL_PARAM_construct_end(),
        };
        CLEANUP(mac_slot_free) EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
        CLEANUP(mac_context_slot_free)
        EVP_MAC_CTX *context = mac != NULL ? EVP_MAC_CTX_new(mac) : NULL;
        if (context == NULL || EVP_MAC_init(context, key->secret, key->secret_bytes, params) != 1)
                return fail_openssl(error);
        for (size_t i = 0; i < message->count; i++)
                if (EVP_MAC_update(context, (const unsigned char *)message->pieces[i].bytes,
                                   message->pieces[i].length) != 1)
                        return fail_openssl(error);
        size_t length;
        if (EVP_MAC_final(context, hmac_out, &length, HMAC_BYTES) != 1 || length != HMAC_BYTES)
                return fail_openssl(error);
        return PO_OK;
}

static int hex_digit(char byte)
{
        if (byte >= '0' && byte <= '9')
                return byte - '0';
        byte |= 0x20;
        return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

static bool hex_decode(const struct span *text, unsigned char hmac_out[HMAC_BYTES])
{
        if (text->length != 2 * (size_t)HMAC_BYTES)
                return false;
        for (size_t i = 0; i < HMAC_BYTES; i++) {
                int high = hex_digit(text->bytes[2 * i]), low = hex_digit(text->bytes[2 * i + 1]);
                if (high < 0 || low < 0)
                        return false;
                hmac_out[i] = (unsigned char)(high * 16 + low);
        }
        return true;
}

static bool signature_decode(const struct span *text, bool base64,
                             unsigned char hmac_out[HMAC_BYTES])
{
        unsigned char bytes[HMAC_BYTES + 1];
        size_t length;
        if (!base64)
                return hex_decode(text, hmac_out);
        if (base64_room(text->length) > sizeof bytes ||
            !base64_decode(text->bytes, text->length, bytes, &length) || length != HMAC_BYTES)
                return false;
        memcpy(hmac_out, bytes, HMAC_BYTES);
        return true;
}

/* Whether one of the keys gives this HMAC. */
static enum po_class hmac_check(const struct verify *verify, const struct message *message,
                                const unsigned char hmac[HMAC_BYTES], bool *proven_out,
                                struct po_error *error)
{
        for (size_t i = 0; i < verify->keys_count && !*proven_out; i++) {
                unsigned char computed[HMAC_BYTES];
                enum po_class kind = hmac_compute(&verify->keys[i], message, computed, error);
                if (kind != PO_OK)
                        return kind;
                *proven_out = CRYPTO_memcmp(computed, hmac, HMAC_BYTES) == 0;
        }
        return PO_OK;
}

static enum po_class verify_hmac(const struct verify *verify, const struct record *record,
                                 struct po_error *error)
{
        struct span text;
        unsigned char hmac[HMAC_BYTES];
        struct message message = { 0 };
        bool proven = false;
        if (!header_take(record, verify->header, &text))
                return fail_signature(error, "the header with the signature is not there");
        if (verify->prefix != NULL) {
                if (!span_starts(&text, verify->prefix))
                        return fail_signature(error, "the signature has another beginning");
                text.bytes += strlen(verify->prefix);
                text.length -= strlen(verify->prefix);
        }
        if (!signature_decode(&text, verify->base64, hmac))
                return fail_signature(error, "the signature is not written as it must be");
        message_add(&message, record_body(record));
        enum po_class kind = hmac_check(verify, &message, hmac, &proven, error);
        if (kind != PO_OK)
                return kind;
        return proven ? PO_OK : fail_signature(error, "no key gives this signature");
}

/* The next "name=value" of a list with commas; false at its end. */
static bool pair_take(struct span *list, struct span *pair_out)
{
        if (list->length == 0)
                return false;
        const char *comma = memchr(list->bytes, ',', list->length);
        size_t length = comma != NULL ? (size_t)(comma - list->bytes) : list->length;
        *pair_out = (struct span){ list->bytes, length };
        size_t used = comma != NULL ? length + 1 : length;
        list->bytes += used;
        list->length -= used;
        return true;
}

static bool seconds_read(const struct span *text, int64_t *seconds_out)
{
        *seconds_out = 0;
        if (text->length == 0 || text->length > SECONDS_DIGITS_MAX)
                return false;
        for (size_t i = 0; i < text->length; i++) {
                if (text->bytes[i] < '0' || text->bytes[i] > '9')
                        return false;
                *seconds_out = *seconds_out * 10 + (text->bytes[i] - '0');
        }
        return true;
}

/* A record without a time of its own (a file that is tried) is not judged by it. */
static bool time_is_near(const struct verify *verify, const struct record *record, int64_t seconds)
{
        int64_t difference_ms = record->timestamp_ms - seconds * MS_PER_SECOND;
        return record->timestamp_ms < 0 ||
               (difference_ms <= verify->tolerance_ms && difference_ms >= -verify->tolerance_ms);
}

static enum po_class verify_stripe(const struct verify *verify, const struct record *record,
                                   struct po_error *error)
{
        struct span header, pair, stamp = { 0 };
        int64_t seconds;
        if (!header_take(record, "stripe-signature", &header))
                return fail_signature(error, "the header Stripe-Signature is not there");
        for (struct span list = header; stamp.length == 0 && pair_take(&list, &pair);)
                if (span_starts(&pair, "t="))
                        stamp = (struct span){ pair.bytes + 2, pair.length - 2 };
        if (!seconds_read(&stamp, &seconds))
                return fail_signature(error, "Stripe-Signature names no time");
        if (!time_is_near(verify, record, seconds))
                return fail_signature(error, "it was signed too long before or after the record");

        struct message message = { 0 };
        message_add(&message, stamp);
        message_add(&message, span_of("."));
        message_add(&message, record_body(record));
        bool proven = false;
        while (!proven && pair_take(&header, &pair)) {
                unsigned char hmac[HMAC_BYTES];
                struct span text = { pair.bytes + 3, pair.length - 3 };
                if (!span_starts(&pair, "v1=") || !hex_decode(&text, hmac))
                        continue;
                enum po_class kind = hmac_check(verify, &message, hmac, &proven, error);
                if (kind != PO_OK)
                        return kind;
        }
        return proven ? PO_OK : fail_signature(error, "no key gives one of its signatures");
}

static const struct verify_key *key_find(const struct verify *verify, const struct span *serial)
{
        for (size_t i = 0; i < verify->keys_count; i++)
                if (strlen(verify->keys[i].serial) == serial->length &&
                    memcmp(verify->keys[i].serial, serial->bytes, serial->length) == 0)
                        return &verify->keys[i];
        return NULL;
}

static enum po_class rsa_check(const struct verify_key *key, const struct message *message,
                               const unsigned char *signature, size_t length,
                               struct po_error *error)
{
        CLEANUP(digest_slot_free) EVP_MD_CTX *context = EVP_MD_CTX_new();
        if (context == NULL ||
            EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key->public_key) != 1)
                return fail_openssl(error);
        for (size_t i = 0; i < message->count; i++)
                if (EVP_DigestVerifyUpdate(context, message->pieces[i].bytes,
                                           message->pieces[i].length) != 1)
                        return fail_openssl(error);
        /* Below zero is a signature of the wrong length, say: not proven either. */
        return EVP_DigestVerifyFinal(context, signature, length) == 1
                       ? PO_OK
                       : fail_signature(error, "the key of its serial does not prove it");
}

static enum po_class verify_wechat(const struct verify *verify, const struct record *record,
                                   struct po_error *error)
{
        struct span stamp, nonce, serial, text;
        if (!header_take(record, "wechatpay-timestamp", &stamp) ||
            !header_take(record, "wechatpay-nonce", &nonce) ||
            !header_take(record, "wechatpay-serial", &serial) ||
            !header_take(record, "wechatpay-signature", &text))
                return fail_signature(error, "a header Wechatpay-… is not there");
        /* What WeChat sends to see whether anybody verifies at all. */
        if (span_starts(&text, "WECHATPAY/SIGNTEST/"))
                return fail_signature(error, "a probe of WeChat's, which a gateway must refuse");
        const struct verify_key *key = key_find(verify, &serial);
        if (key == NULL)
                return fail_signature(error, "there is no key of its serial");
        unsigned char signature[SIGNATURE_BYTES_MAX];
        size_t length;
        if (base64_room(text.length) > sizeof signature ||
            !base64_decode(text.bytes, text.length, signature, &length))
                return fail_signature(error, "the signature is no base64");

        struct message message = { 0 };
        message_add(&message, stamp);
        message_add(&message, span_of("\n"));
        message_add(&message, nonce);
        message_add(&message, span_of("\n"));
        message_add(&message, record_body(record));
        message_add(&message, span_of("\n"));
        return rsa_check(key, &message, signature, length, error);
}

static enum po_class op_verify(const struct verify *verify, const struct record *record,
                               struct po_error *error)
{
        switch (verify->op) {
        case VERIFY_NONE:
        case VERIFY_WECHAT_V2:

                return PO_OK;
        case VERIFY_HMAC_SHA256:
                return verify_hmac(verify, record, error);
        case VERIFY_STRIPE:
                return verify_stripe(verify, record, error);
        case VERIFY_WECHAT_V3:
                return verify_wechat(verify, record, error);
        }
        return fail_signature(error, "there is no way to verify it");
}

enum po_class verify_record(const struct verify *verify, const struct record *record,
                            struct po_error *error)
{
        enum po_class kind = op_verify(verify, record, error);
        /* OpenSSL's queue of errors is the thread's: whoever speaks TLS on it would read ours. */
        if (kind != PO_OK)
                ERR_clear_error();
        return kind;
}

void verify_reset(struct verify *verify)
{
        for (size_t i = 0; i < verify->keys_count; i++) {
                OPENSSL_cleanse(verify->keys[i].secret, sizeof verify->keys[i].secret);
                EVP_PKEY_free(verify->keys[i].public_key);
        }
        *verify = (struct verify){ 0 };
}
