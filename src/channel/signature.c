#include "channel/signature.h"

#include <assert.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/cleanup.h"
#include "channel/base64.h"

enum { SIGNATURE_BYTES_MAX = 1024 };

struct span span_of(const char *text)
{
        return (struct span){ text, strlen(text) };
}

void message_add(struct message *message, struct span piece)
{
        assert(message->count < SIGNED_PIECES_MAX);
        message->pieces[message->count++] = piece;
}

enum po_class signature_fail(struct po_error *error, const char *what)
{
        return po_refuse(error, "SIGNATURE_INVALID", "%s", what);
}

static enum po_class fail_openssl(struct po_error *error)
{
        return po_fail(error, PO_BUG, 0, "OpenSSL cannot verify");
}

static int hex_digit(char byte)
{
        if (byte >= '0' && byte <= '9')
                return byte - '0';
        byte |= 0x20;
        return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

bool signature_from_hex(const struct span *text, unsigned char *bytes, size_t count)
{
        if (text->length != 2 * count)
                return false;
        for (size_t i = 0; i < count; i++) {
                int high = hex_digit(text->bytes[2 * i]), low = hex_digit(text->bytes[2 * i + 1]);
                if (high < 0 || low < 0)
                        return false;
                bytes[i] = (unsigned char)(high * 16 + low);
        }
        return true;
}

bool signature_read_hmac(const struct span *text, bool base64, unsigned char hmac_out[HMAC_BYTES])
{
        unsigned char bytes[HMAC_BYTES + 1];
        size_t length;
        if (!base64)
                return signature_from_hex(text, hmac_out, HMAC_BYTES);
        if (base64_room(text->length) > sizeof bytes ||
            !base64_decode(text->bytes, text->length, bytes, &length) || length != HMAC_BYTES)
                return false;
        memcpy(hmac_out, bytes, HMAC_BYTES);
        return true;
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

enum po_class signature_check_hmac(const struct verify *verify, const struct message *message,
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

static enum po_class rsa_check(const struct verify_key *key, const EVP_MD *digest,
                               const struct message *message, const unsigned char *signature,
                               size_t length, bool *proven_out, struct po_error *error)
{
        CLEANUP(digest_slot_free) EVP_MD_CTX *context = EVP_MD_CTX_new();
        if (context == NULL ||
            EVP_DigestVerifyInit(context, NULL, digest, NULL, key->public_key) != 1)
                return fail_openssl(error);
        for (size_t i = 0; i < message->count; i++)
                if (EVP_DigestVerifyUpdate(context, message->pieces[i].bytes,
                                           message->pieces[i].length) != 1)
                        return fail_openssl(error);
        /* Below zero is a signature of the wrong length, say: not proven either. */
        *proven_out = EVP_DigestVerifyFinal(context, signature, length) == 1;
        return PO_OK;
}

static bool serial_fits(const struct verify_key *key, const struct span *serial)
{
        return serial == NULL || (strlen(key->serial) == serial->length &&
                                  memcmp(key->serial, serial->bytes, serial->length) == 0);
}

enum po_class signature_check_rsa(const struct verify *verify, const struct span *serial,
                                  enum rsa_digest digest, const struct message *message,
                                  const struct span *text, bool *proven_out, struct po_error *error)
{
        unsigned char signature[SIGNATURE_BYTES_MAX];
        size_t length;
        if (base64_room(text->length) > sizeof signature ||
            !base64_decode(text->bytes, text->length, signature, &length))
                return signature_fail(error, "the signature is no base64");
        const EVP_MD *md = digest == RSA_SHA1 ? EVP_sha1() : EVP_sha256();
        for (size_t i = 0; i < verify->keys_count && !*proven_out; i++) {
                if (!serial_fits(&verify->keys[i], serial))
                        continue;
                enum po_class kind = rsa_check(&verify->keys[i], md, message, signature, length,
                                               proven_out, error);
                if (kind != PO_OK)
                        return kind;
        }
        return PO_OK;
}
