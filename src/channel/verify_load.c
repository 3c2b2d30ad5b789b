#include "channel/verify_load.h"

#include <string.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "channel/condition_load.h"

enum { PEM_BYTES_MAX = 16384, TOLERANCE_MAX_MS = 24 * 60 * 60 * 1000 };

/* Read from YAML, before the keys are read from their files. */
struct verify_source {
        struct verify verify;
        const struct node *key_file, *keys;
};

static enum po_class secrets_load(const struct node *node, struct verify *verify,
                                  struct po_error *error)
{
        bool list = node_kind(node) == NODE_LIST;
        size_t count = list ? node_count(node) : 1;
        if (count == 0 || count > VERIFY_KEYS_MAX)
                return node_fail(node, error, "key_file wants 1 to %d files", VERIFY_KEYS_MAX);
        for (size_t i = 0; i < count; i++) {
                struct verify_key *key = &verify->keys[verify->keys_count++];
                enum po_class kind = secret_read(list ? node_at(node, i) : node,
                                                 (char *)key->secret, &key->secret_bytes, error);
                if (kind != PO_OK)
                        return kind;
        }
        return PO_OK;
}

/* Of a public key or a certificate; NULL: neither. */
static EVP_PKEY *pem_parse(const char *bytes, size_t length)
{
        BIO *bio = BIO_new_mem_buf(bytes, (int)length);
        if (bio == NULL)
                return NULL;
        EVP_PKEY *key = PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL);
        if (key == NULL && BIO_reset(bio) == 1) {
                X509 *certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);
                key = certificate != NULL ? X509_get_pubkey(certificate) : NULL;
                X509_free(certificate);
        }
        BIO_free(bio);
        ERR_clear_error(); /* the thread's queue: whoever speaks TLS on it would read ours */
        return key;
}

static enum po_class public_keys_load(const struct node *node, struct verify *verify,
                                      struct po_error *error)
{
        if (node_kind(node) != NODE_MAP || node_count(node) == 0 ||
            node_count(node) > VERIFY_KEYS_MAX)
                return node_fail(node, error, "keys wants 1 to %d pairs of a serial and a file",
                                 VERIFY_KEYS_MAX);
        for (size_t i = 0; i < node_count(node); i++) {
                char pem[PEM_BYTES_MAX];
                size_t length;
                enum po_class kind =
                        secret_file_read(node_at(node, i), pem, sizeof pem, &length, error);
                if (kind != PO_OK)
                        return kind;
                EVP_PKEY *public_key = pem_parse(pem, length);
                bool rsa = public_key != NULL && EVP_PKEY_is_a(public_key, "RSA");
                struct verify_key *key = &verify->keys[verify->keys_count++];
                key->public_key = public_key;
                key->serial = node_text(node_key(node, i));
                if (!rsa)
                        return node_fail(node_at(node, i), error,
                                         "the file holds no RSA key or certificate in PEM");
        }
        return PO_OK;
}

static enum po_class read_op(const struct node *node, const struct field *field, void *target,
                             struct po_error *error)
{
        static const char *const ops[] = { "hmac-sha256", "stripe", "wechat-v3", "wechat-v2",
                                           NULL };
        (void)field;
        size_t index;
        enum po_class kind = schema_choice(node, ops, &index, error);
        if (kind == PO_OK)
                *(enum verify_op *)target = (enum verify_op)(VERIFY_HMAC_SHA256 + index);
        return kind;
}

static enum po_class read_encoding(const struct node *node, const struct field *field, void *target,
                                   struct po_error *error)
{
        static const char *const encodings[] = { "hex", "base64", NULL };
        (void)field;
        size_t index;
        enum po_class kind = schema_choice(node, encodings, &index, error);
        if (kind == PO_OK)
                *(bool *)target = index == 1;
        return kind;
}

static enum po_class read_node(const struct node *node, const struct field *field, void *target,
                               struct po_error *error)
{
        (void)field;
        (void)error;
        *(const struct node **)target = node;
        return PO_OK;
}

static const struct field verify_fields[] = {
        { .name = "op",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct verify_source, verify.op),
          .required = true,
          .reader = read_op,
          .help = "hmac-sha256, stripe, wechat-v3 or wechat-v2" },
        { .name = "header",
          .kind = FIELD_TEXT,
          .offset = offsetof(struct verify_source, verify.header),
          .help = "hmac-sha256: the header with the signature" },
        { .name = "prefix",
          .kind = FIELD_TEXT,
          .offset = offsetof(struct verify_source, verify.prefix),
          .help = "hmac-sha256: what stands in front of it" },
        { .name = "encoding",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct verify_source, verify.base64),
          .reader = read_encoding,
          .help = "hmac-sha256: hex or base64" },
        { .name = "tolerance",
          .kind = FIELD_DURATION,
          .offset = offsetof(struct verify_source, verify.tolerance_ms),
          .min = 1000,
          .max = TOLERANCE_MAX_MS,
          .fallback = "5m",
          .help = "stripe: how far the time of signing may be from the record's" },
        { .name = "unless",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct verify_source, verify.unless),
          .reader = read_pointer,
          .help = "wechat-v2: bodies that have this are not signed" },
        { .name = "key_file",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct verify_source, key_file),
          .reader = read_node,
          .help = "hmac-sha256, stripe, wechat-v2: file with the secret, or a list of them" },
        { .name = "keys",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct verify_source, keys),
          .reader = read_node,
          .help = "wechat-v3: serials and their PEM files" },
        { 0 },
};

/* Which op each member but "op" goes with, and whether it must be there. */
static enum po_class members_check(const struct node *node, enum verify_op op,
                                   struct po_error *error)
{
        static const struct {
                const char *name;
                unsigned ops, required; /* bits of enum verify_op */
        } members[] = {
                { "header", 1U << VERIFY_HMAC_SHA256, 1U << VERIFY_HMAC_SHA256 },
                { "prefix", 1U << VERIFY_HMAC_SHA256, 0 },
                { "encoding", 1U << VERIFY_HMAC_SHA256, 1U << VERIFY_HMAC_SHA256 },
                { "tolerance", 1U << VERIFY_STRIPE, 0 },
                { "unless", 1U << VERIFY_WECHAT_V2, 0 },
                { "key_file",
                  1U << VERIFY_HMAC_SHA256 | 1U << VERIFY_STRIPE | 1U << VERIFY_WECHAT_V2,
                  1U << VERIFY_HMAC_SHA256 | 1U << VERIFY_STRIPE | 1U << VERIFY_WECHAT_V2 },
                { "keys", 1U << VERIFY_WECHAT_V3, 1U << VERIFY_WECHAT_V3 },
        };
        for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
                const struct node *member = node_member(node, members[i].name);
                if (member == NULL && (members[i].required & 1U << op) != 0)
                        return node_fail(node, error, "required member \"%s\" is missing",
                                         members[i].name);
                if (member != NULL && (members[i].ops & 1U << op) == 0)
                        return node_fail(member, error, "%s does not go with this op",
                                         members[i].name);
        }
        return PO_OK;
}

enum po_class read_verify(const struct node *node, const struct field *field, void *target,
                          struct po_error *error)
{
        struct verify_source source = { 0 };
        struct verify *verify = target;
        (void)field;
        if (schema_read(node, verify_fields, &source, error) != PO_OK ||
            members_check(node, source.verify.op, error) != PO_OK)
                return error->kind;
        *verify = source.verify;
        return source.keys != NULL ? public_keys_load(source.keys, verify, error)
                                   : secrets_load(source.key_file, verify, error);
}
