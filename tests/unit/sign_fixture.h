/*
 * For tests of signatures: keys that are made when the test runs, what they sign, and a verify that
 * was read from YAML beside them. Everything made here lives as long as the case's process.
 */
#ifndef SIGN_FIXTURE_H
#define SIGN_FIXTURE_H

#include "unit.h"

#include <stdbool.h>

#include <openssl/evp.h>
#include <openssl/pem.h>

#include "channel/verify_load.h"

enum { SIGN_TEXT_BYTES = 1024 };

static char sign_folder[] = "/tmp/test_signature.XXXXXX";
static struct verify verify;
static struct po_error error;

static inline void sign_path(const char *name, char path[128])
{
        if (strchr(sign_folder, 'X') != NULL && strstr(sign_folder, "XXXXXX") != NULL)
                ck_assert_ptr_nonnull(mkdtemp(sign_folder));
        snprintf(path, 128, "%s/%s", sign_folder, name);
}

static inline void sign_file(const char *name, const char *text)
{
        char path[128];
        sign_path(name, path);
        FILE *file = fopen(path, "w");
        ck_assert_ptr_nonnull(file);
        ck_assert_int_ge(fputs(text, file), 0);
        fclose(file);
}

/* A new key, whose public half becomes the file of that name. */
static inline EVP_PKEY *sign_key(const char *name)
{
        char path[128];
        EVP_PKEY *key = EVP_RSA_gen(1024);
        ck_assert_ptr_nonnull(key);
        sign_path(name, path);
        FILE *file = fopen(path, "w");
        ck_assert_ptr_nonnull(file);
        ck_assert_int_eq(PEM_write_PUBKEY(file, key), 1);
        fclose(file);
        return key;
}

static inline void sign_base64(const unsigned char *bytes, size_t length, char *text)
{
        EVP_EncodeBlock((unsigned char *)text, bytes, (int)length);
}

/* In base64. */
static inline const char *sign_rsa(EVP_PKEY *key, const EVP_MD *digest, const char *bytes,
                                   size_t length)
{
        static char text[SIGN_TEXT_BYTES];
        unsigned char signature[512];
        size_t signature_length = sizeof signature;
        EVP_MD_CTX *context = EVP_MD_CTX_new();
        ck_assert_int_eq(EVP_DigestSignInit(context, NULL, digest, NULL, key), 1);
        ck_assert_int_eq(EVP_DigestSign(context, signature, &signature_length,
                                        (const unsigned char *)bytes, length),
                         1);
        EVP_MD_CTX_free(context);
        sign_base64(signature, signature_length, text);
        return text;
}

/* In base64. */
static inline const char *sign_hmac(const void *secret, size_t secret_bytes, const char *text)
{
        static char base64[64];
        unsigned char hmac[32];
        size_t length;
        ck_assert_ptr_nonnull(EVP_Q_mac(NULL, "HMAC", NULL, "SHA256", NULL, secret, secret_bytes,
                                        (const unsigned char *)text, strlen(text), hmac,
                                        sizeof hmac, &length));
        sign_base64(hmac, length, base64);
        return base64;
}

static inline enum po_class sign_read(const char *text)
{
        static const struct field field = { .name = "verify" };
        char name[128];
        struct document *document;
        sign_path("profile.yaml", name);
        memset(&verify, 0, sizeof verify);
        ck_assert_int_eq(document_parse(&document, name, text, strlen(text), &error), PO_OK);
        return read_verify(document_root(document), &field, &verify, &error);
}

static inline void sign_load(const char *text)
{
        enum po_class kind = sign_read(text);
        ck_assert_msg(kind == PO_OK, "%s", error.text);
}

/* Percent-encoded, as a form's value. */
static inline const char *sign_escape(const char *text)
{
        static char escaped[3 * SIGN_TEXT_BYTES];
        size_t used = 0;
        for (; *text != '\0'; text++)
                used += (size_t)snprintf(escaped + used, sizeof escaped - used, "%%%02X",
                                         (unsigned)(unsigned char)*text);
        return escaped;
}

#endif
