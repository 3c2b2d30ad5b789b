#include "channel/verify_members.h"

#include <stdlib.h>
#include <string.h>

#include <json-c/json_object_iterator.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/cleanup.h"
#include "channel/signature.h"

enum { DIGEST_BYTES_MAX = 32 };

struct member {
        const char *name, *value;
};

struct members {
        size_t count;
        struct member items[VERIFY_MEMBERS_MAX];
        const char *sign, *sign_type; /* NULL: absent or empty */
        size_t text_bytes;            /* of "name=value&" of all */
};

static enum po_class member_take(struct members *members, const char *name,
                                 struct json_object *value, struct po_error *error)
{
        if (!json_object_is_type(value, json_type_string))
                return signature_fail(error, "a member is no text");
        const char *text = json_object_get_string(value);
        if (text[0] == '\0')
                return PO_OK;
        if (strcmp(name, "sign") == 0) {
                members->sign = text;
                return PO_OK;
        }
        if (members->count == VERIFY_MEMBERS_MAX)
                return signature_fail(error, "there are too many members");
        if (strcmp(name, "sign_type") == 0)
                members->sign_type = text;
        members->items[members->count++] = (struct member){ name, text };
        members->text_bytes += strlen(name) + strlen(text) + 2;
        return PO_OK;
}

static int member_compare(const void *one, const void *other)
{
        return strcmp(((const struct member *)one)->name, ((const struct member *)other)->name);
}

static enum po_class members_take(struct members *members, struct json_object *root,
                                  struct po_error *error)
{
        if (!json_object_is_type(root, json_type_object))
                return signature_fail(error, "the body has no members");
        struct json_object_iterator at = json_object_iter_begin(root);
        struct json_object_iterator end = json_object_iter_end(root);
        for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at))
                if (member_take(members, json_object_iter_peek_name(&at),
                                json_object_iter_peek_value(&at), error) != PO_OK)
                        return error->kind;
        if (members->sign == NULL)
                return signature_fail(error, "there is no member sign");
        qsort(members->items, members->count, sizeof members->items[0], member_compare);
        return PO_OK;
}

static size_t piece_put(char *text, size_t used, const char *piece, size_t length)
{
        memcpy(text + used, piece, length);
        return used + length;
}

/* "a=1&b=2&key=", with room for the secret behind it; *length_out is without it. */
static char *text_make(const struct members *members, size_t *length_out)
{
        char *text = malloc(members->text_bytes + strlen("key=") + SECRET_BYTES_MAX);
        size_t used = 0;
        for (size_t i = 0; text != NULL && i < members->count; i++) {
                const struct member *member = &members->items[i];
                used = piece_put(text, used, member->name, strlen(member->name));
                used = piece_put(text, used, "=", 1);
                used = piece_put(text, used, member->value, strlen(member->value));
                used = piece_put(text, used, "&", 1);
        }
        if (text != NULL)
                used = piece_put(text, used, "key=", strlen("key="));
        *length_out = used;
        return text;
}

static bool digest_compute(const struct verify_key *key, bool hmac, const char *text, size_t length,
                           unsigned char digest[DIGEST_BYTES_MAX], size_t *digest_bytes_out)
{
        unsigned md5_bytes;
        if (hmac)
                return EVP_Q_mac(NULL, "HMAC", NULL, "SHA256", NULL, key->secret, key->secret_bytes,
                                 (const unsigned char *)text, length, digest, DIGEST_BYTES_MAX,
                                 digest_bytes_out) != NULL;
        if (EVP_Digest(text, length, digest, &md5_bytes, EVP_md5(), NULL) != 1)
                return false;
        *digest_bytes_out = md5_bytes;
        return true;
}

static bool sign_equals(const char *sign, const unsigned char *digest, size_t digest_bytes)
{
        static const char hex[] = "0123456789ABCDEF";
        char expected[2 * DIGEST_BYTES_MAX];
        for (size_t i = 0; i < digest_bytes; i++) {
                expected[2 * i] = hex[digest[i] >> 4];
                expected[2 * i + 1] = hex[digest[i] & 15];
        }
        return strlen(sign) == 2 * digest_bytes &&
               CRYPTO_memcmp(sign, expected, 2 * digest_bytes) == 0;
}

static enum po_class members_check(const struct verify *verify, const struct members *members,
                                   struct po_error *error)
{
        bool hmac = members->sign_type != NULL && strcmp(members->sign_type, "HMAC-SHA256") == 0;
        if (!hmac && members->sign_type != NULL && strcmp(members->sign_type, "MD5") != 0)
                return signature_fail(error, "sign_type is neither MD5 nor HMAC-SHA256");
        size_t length;
        CLEANUP(cleanup_free) char *text = text_make(members, &length);
        if (text == NULL)
                return po_fail(error, PO_BUG, 0, "no memory to verify");
        bool proven = false, computed = true;
        for (size_t i = 0; i < verify->keys_count && computed && !proven; i++) {
                const struct verify_key *key = &verify->keys[i];
                unsigned char digest[DIGEST_BYTES_MAX];
                size_t digest_bytes;
                memcpy(text + length, key->secret, key->secret_bytes);
                computed = digest_compute(key, hmac, text, length + key->secret_bytes, digest,
                                          &digest_bytes);
                proven = computed && sign_equals(members->sign, digest, digest_bytes);
        }
        OPENSSL_cleanse(text + length, SECRET_BYTES_MAX);
        if (!computed)
                return po_fail(error, PO_BUG, 0, "OpenSSL cannot verify");
        return proven ? PO_OK : signature_fail(error, "no key gives this sign");
}

enum po_class verify_members(const struct verify *verify, struct json_object *root,
                             struct po_error *error)
{
        const struct scope scope = { .root = root };
        struct members members = { 0 };
        if (verify->is_open || verify->op != VERIFY_WECHAT_V2 ||
            pointer_find(&verify->unless, &scope) != NULL)
                return PO_OK;
        if (members_take(&members, root, error) != PO_OK)
                return error->kind;
        return members_check(verify, &members, error);
}
