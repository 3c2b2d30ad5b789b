#include "channel/verify_load.h"

#include <string.h>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "channel/base64.h"
#include "channel/condition_load.h"
#include "channel/signature.h"

enum { PEM_BYTES_MAX = 16384, TOLERANCE_MAX_MS = 24 * 60 * 60 * 1000 };

/* Read from YAML, before the keys are read from their files. */
struct verify_source {
        struct verify verify;
        const struct node *key_file, *keys;
        bool may_lack_keys;
};

enum key_form { KEYS_NONE, KEYS_SECRET, KEYS_HEX_SECRET, KEYS_PUBLIC, KEYS_OF_SERIALS };

static const struct {
        const char *name;
        enum key_form keys;
} ops[] = {
        [VERIFY_NONE] = { "none", KEYS_NONE },
        [VERIFY_HMAC_SHA256] = { "hmac-sha256", KEYS_SECRET },
        [VERIFY_RSA_SHA256] = { "rsa-sha256", KEYS_PUBLIC },
        [VERIFY_STRIPE] = { "stripe", KEYS_SECRET },
        [VERIFY_WECHAT_V3] = { "wechat-v3", KEYS_OF_SERIALS },
        [VERIFY_WECHAT_V2] = { "wechat-v2", KEYS_SECRET },
        [VERIFY_ALIPAY] = { "alipay", KEYS_PUBLIC },
        [VERIFY_ADYEN] = { "adyen", KEYS_HEX_SECRET },
};

enum { OPS = sizeof ops / sizeof ops[0] };

/* context: the verify. */
static enum po_class secret_load(const struct node *node, void *context, struct po_error *error)
{
        struct verify *verify = context;
        struct verify_key *key = &verify->keys[verify->keys_count++];
        return secret_read(node, (char *)key->secret, &key->secret_bytes, error);
}

/* A secret that is written in hexadecimal. context: the verify. */
static enum po_class hex_secret_load(const struct node *node, void *context, struct po_error *error)
{
        struct verify *verify = context;
        struct verify_key *key = &verify->keys[verify->keys_count++];
        char text[SECRET_BYTES_MAX];
        size_t length;
        if (secret_read(node, text, &length, error) != PO_OK)
                return error->kind;
        key->secret_bytes = length / 2;
        bool read = signature_from_hex(&(struct span){ text, length }, key->secret, length / 2);
        OPENSSL_cleanse(text, sizeof text);
        return read ? PO_OK : node_fail(node, error, "the file holds no key in hexadecimal");
}

/* Base64 without anything around it, as consoles of channels show a key; NULL: it is not. */
static EVP_PKEY *bare_parse(const char *bytes, size_t length)
{
        unsigned char der[PEM_BYTES_MAX];
        const unsigned char *at = der;
        size_t der_length;
        while (length > 0 && (bytes[length - 1] == '\n' || bytes[length - 1] == '\r'))
                length--;
        if (!base64_decode(bytes, length, der, &der_length))
                return NULL;
        return d2i_PUBKEY(NULL, &at, (long)der_length);
}

/* Of a public key or a certificate; NULL: neither. */
static EVP_PKEY *key_parse(const char *bytes, size_t length)
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
        if (key == NULL)
                key = bare_parse(bytes, length);
        ERR_clear_error(); /* the thread's queue: whoever speaks TLS on it would read ours */
        return key;
}

/* context: the verify. */
static enum po_class public_key_load(const struct node *node, void *context, struct po_error *error)
{
        struct verify *verify = context;
        char text[PEM_BYTES_MAX];
        size_t length;
        if (secret_file_read(node, text, sizeof text, &length, error) != PO_OK)
                return error->kind;
        struct verify_key *key = &verify->keys[verify->keys_count++];
        key->public_key = key_parse(text, length);
        return key->public_key != NULL && EVP_PKEY_is_a(key->public_key, "RSA")
                       ? PO_OK
                       : node_fail(node, error, "the file holds no public RSA key or certificate");
}

static enum po_class serials_load(const struct node *node, struct verify *verify,
                                  struct po_error *error)
{
        if (node_kind(node) != NODE_MAP || node_count(node) == 0 ||
            node_count(node) > VERIFY_KEYS_MAX)
                return node_fail(node, error, "keys wants 1 to %d pairs of a serial and a file",
                                 VERIFY_KEYS_MAX);
        for (size_t i = 0; i < node_count(node); i++) {
                const char *serial;
                if (schema_text(node_key(node, i), &serial, error) != PO_OK ||
                    public_key_load(node_at(node, i), verify, error) != PO_OK)
                        return error->kind;
                verify->keys[i].serial = serial;
        }
        return PO_OK;
}

static enum po_class read_op(const struct node *node, const struct field *field, void *target,
                             struct po_error *error)
{
        const char *names[OPS + 1] = { NULL };
        (void)field;
        for (size_t i = 0; i < OPS; i++)
                names[i] = ops[i].name;
        size_t index;
        enum po_class kind = schema_choice(node, names, &index, error);
        if (kind == PO_OK)
                *(enum verify_op *)target = (enum verify_op)index;
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

static enum po_class read_without_keys(const struct node *node, const struct field *field,
                                       void *target, struct po_error *error)
{
        static const char *const answers[] = { "refuse", "warn", NULL };
        (void)field;
        size_t index;
        enum po_class kind = schema_choice(node, answers, &index, error);
        if (kind == PO_OK)
                *(bool *)target = index == 1;
        return kind;
}

static const struct field verify_fields[] = {
        { .name = "op",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct verify_source, verify.op),
          .required = true,
          .reader = read_op,
          .help = "hmac-sha256, rsa-sha256, stripe, wechat-v3, wechat-v2, alipay or adyen; none: "
                  "whoever writes to the topic has verified it" },
        { .name = "header",
          .kind = FIELD_TEXT,
          .offset = offsetof(struct verify_source, verify.header),
          .help = "hmac-sha256, rsa-sha256: the header with the signature" },
        { .name = "prefix",
          .kind = FIELD_TEXT,
          .offset = offsetof(struct verify_source, verify.prefix),
          .help = "hmac-sha256, rsa-sha256: what stands in front of it" },
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
          .help = "file with the secret or the public key, or a list of them" },
        { .name = "keys",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct verify_source, keys),
          .reader = read_node,
          .help = "wechat-v3: serials and their PEM files" },
        { .name = "without_keys",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct verify_source, may_lack_keys),
          .fallback = "refuse",
          .reader = read_without_keys,
          .help = "what becomes of the profile where a key's file is ${env:NAME} and there is no "
                  "such variable: refuse it, or warn and believe its bodies" },
        { 0 },
};

#define OP_BIT(op) (1U << (op))
enum {
        WITH_HEADER = OP_BIT(VERIFY_HMAC_SHA256) | OP_BIT(VERIFY_RSA_SHA256),
        WITH_FILE = WITH_HEADER | OP_BIT(VERIFY_STRIPE) | OP_BIT(VERIFY_WECHAT_V2) |
                    OP_BIT(VERIFY_ALIPAY) | OP_BIT(VERIFY_ADYEN),
        WITH_SERIALS = OP_BIT(VERIFY_WECHAT_V3),
};

/* Which op each member but "op" goes with, and whether it must be there. */
static enum po_class members_check(const struct node *node, enum verify_op op,
                                   struct po_error *error)
{
        static const struct {
                const char *name;
                unsigned ops, required; /* bits of enum verify_op */
        } members[] = {
                { "header", WITH_HEADER, WITH_HEADER },
                { "prefix", WITH_HEADER, 0 },
                { "encoding", OP_BIT(VERIFY_HMAC_SHA256), OP_BIT(VERIFY_HMAC_SHA256) },
                { "tolerance", OP_BIT(VERIFY_STRIPE), 0 },
                { "unless", OP_BIT(VERIFY_WECHAT_V2), 0 },
                { "key_file", WITH_FILE, WITH_FILE },
                { "keys", WITH_SERIALS, WITH_SERIALS },
                { "without_keys", WITH_FILE | WITH_SERIALS, 0 },
        };
        for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
                const struct node *member = node_member(node, members[i].name);
                if (member == NULL && (members[i].required & OP_BIT(op)) != 0)
                        return node_fail(node, error, "required member \"%s\" is missing",
                                         members[i].name);
                if (member != NULL && (members[i].ops & OP_BIT(op)) == 0)
                        return node_fail(member, error, "%s does not go with this op",
                                         members[i].name);
        }
        return PO_OK;
}

/* The first text of the node that names a variable which is not set; NULL: there is none. */
static const char *unset_find(const struct node *node)
{
        if (node_kind(node) == NODE_TEXT)
                return secret_is_unset(node_text(node)) ? node_text(node) : NULL;
        const char *unset = NULL;
        for (size_t i = 0; i < node_count(node) && unset == NULL; i++) {
                if (node_kind(node) == NODE_MAP)
                        unset = unset_find(node_key(node, i));
                if (unset == NULL)
                        unset = unset_find(node_at(node, i));
        }
        return unset;
}

static enum po_class keys_load(const struct verify_source *source, struct verify *verify,
                               struct po_error *error)
{
        static const secret_reader readers[] = {
                [KEYS_SECRET] = secret_load,
                [KEYS_HEX_SECRET] = hex_secret_load,
                [KEYS_PUBLIC] = public_key_load,
        };
        enum key_form form = ops[verify->op].keys;
        if (form == KEYS_NONE)
                return PO_OK;
        if (form == KEYS_OF_SERIALS)
                return serials_load(source->keys, verify, error);
        return secret_files_each(source->key_file, VERIFY_KEYS_MAX, readers[form], verify, error);
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
        const struct node *keys = source.keys != NULL ? source.keys : source.key_file;
        if (source.may_lack_keys)
                verify->missing = unset_find(keys);
        verify->is_open = verify->missing != NULL;
        return verify->is_open ? PO_OK : keys_load(&source, verify, error);
}
