#include "channel/unwrap.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/evp.h>

#include "base/cleanup.h"
#include "channel/base64.h"
#include "channel/form_body.h"
#include "channel/json_body.h"
#include "channel/utf8.h"
#include "channel/value.h"

enum { TAG_BYTES = 16, NONCE_BYTES = 12, MD5_BYTES = 16, BLOCK_BYTES = 16 };

/* What a step works on: bytes to decrypt, and what goes with them. */
struct sealed {
        unsigned char *bytes;
        size_t length;
        const char *nonce;
        const char *associated; /* NUL-terminated; may be empty */
};

static void cipher_slot_free(EVP_CIPHER_CTX **slot)
{
        EVP_CIPHER_CTX_free(*slot);
}

static enum po_class fail_step(const struct unwrap_step *step, const char *what,
                               struct po_error *error)
{
        return po_refuse(error, "UNWRAP_FAILED", "%s %s", step->at.source, what);
}

static enum po_class fail_memory(struct po_error *error)
{
        return po_fail(error, PO_BUG, 0, "no memory to unwrap");
}

enum po_class unwrap_md5key(const char *secret, size_t length,
                            unsigned char key_out[UNWRAP_KEY_BYTES], struct po_error *error)
{
        static const char hex[] = "0123456789abcdef";
        unsigned char digest[MD5_BYTES];
        if (EVP_Digest(secret, length, digest, NULL, EVP_md5(), NULL) != 1)
                return po_fail(error, PO_BUG, 0, "OpenSSL computes no MD5");
        for (size_t i = 0; i < MD5_BYTES; i++) {
                key_out[2 * i] = (unsigned char)hex[digest[i] >> 4];
                key_out[2 * i + 1] = (unsigned char)hex[digest[i] & 15];
        }
        return PO_OK;
}

/* True when the tag proves key, nonce, associated data and text. plain has the sealed length. */
static bool gcm_open(EVP_CIPHER_CTX *cipher, const struct sealed *sealed, const unsigned char *key,
                     unsigned char *plain, size_t *length_out)
{
        int length = (int)sealed->length - TAG_BYTES, done, last;
        void *tag = sealed->bytes + length;
        if (EVP_DecryptInit_ex(cipher, EVP_aes_256_gcm(), NULL, key,
                               (const unsigned char *)sealed->nonce) != 1 ||
            EVP_DecryptUpdate(cipher, NULL, &done, (const unsigned char *)sealed->associated,
                              (int)strlen(sealed->associated)) != 1 ||
            EVP_DecryptUpdate(cipher, plain, &done, sealed->bytes, length) != 1 ||
            EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_SET_TAG, TAG_BYTES, tag) != 1 ||
            EVP_DecryptFinal_ex(cipher, plain + done, &last) != 1)
                return false;
        *length_out = (size_t)(done + last);
        return true;
}

/* True when the padding is whole, which a wrong key brings about once in 256 times. */
static bool ecb_open(EVP_CIPHER_CTX *cipher, const struct sealed *sealed, const unsigned char *key,
                     unsigned char *plain, size_t *length_out)
{
        int done, last;
        if (EVP_DecryptInit_ex(cipher, EVP_aes_256_ecb(), NULL, key, NULL) != 1 ||
            EVP_DecryptUpdate(cipher, plain, &done, sealed->bytes, (int)sealed->length) != 1 ||
            EVP_DecryptFinal_ex(cipher, plain + done, &last) != 1)
                return false;
        *length_out = (size_t)(done + last);
        return true;
}

static bool bytes_take(const struct value_text *text, struct sealed *sealed)
{
        return base64_decode(text->bytes, text->length, sealed->bytes, &sealed->length);
}

static const char *member_text(struct json_object *object, const char *name)
{
        struct json_object *value;
        return json_object_object_get_ex(object, name, &value) &&
                               json_object_is_type(value, json_type_string)
                       ? json_object_get_string(value)
                       : NULL;
}

/* The object of aes-256-gcm; its ciphertext is left to the caller. */
static enum po_class resource_take(const struct unwrap_step *step, struct json_object *value,
                                   struct sealed *sealed, struct value_text *text_out,
                                   struct po_error *error)
{
        if (!json_object_is_type(value, json_type_object))
                return fail_step(step, "is no object", error);
        const char *algorithm = member_text(value, "algorithm");
        const char *ciphertext = member_text(value, "ciphertext");
        const char *associated = member_text(value, "associated_data");
        sealed->nonce = member_text(value, "nonce");
        sealed->associated = associated != NULL ? associated : "";
        if (algorithm != NULL && strcmp(algorithm, "AEAD_AES_256_GCM") != 0)
                return fail_step(step, "names another algorithm", error);
        if (ciphertext == NULL)
                return fail_step(step, "has no ciphertext", error);
        if (sealed->nonce == NULL || strlen(sealed->nonce) != NONCE_BYTES)
                return fail_step(step, "has no nonce of 12 bytes", error);
        text_out->bytes = ciphertext;
        text_out->length = strlen(ciphertext);
        return PO_OK;
}

static enum po_class sealed_check(const struct unwrap_step *step, const struct sealed *sealed,
                                  struct po_error *error)
{
        if (step->op == UNWRAP_AES_256_GCM && sealed->length < TAG_BYTES)
                return fail_step(step, "is shorter than its tag", error);
        if (step->op == UNWRAP_AES_256_ECB_MD5KEY &&
            (sealed->length == 0 || sealed->length % BLOCK_BYTES != 0))
                return fail_step(step, "has no whole number of blocks", error);
        return PO_OK;
}

static enum po_class plain_parse(const struct unwrap_step *step, struct body_parser *parser,
                                 const void *bytes, size_t length, struct json_object **tree_out,
                                 struct po_error *error)
{
        static const struct charset_map utf8 = { .fallback = CHARSET_UTF8 };
        if (step->then_text) {
                if (utf8_check(bytes, length) != length || memchr(bytes, '\0', length) != NULL)
                        return fail_step(step, "holds no text in UTF-8", error);
                *tree_out = json_object_new_string_len(bytes, (int)length);
                return *tree_out != NULL ? PO_OK : fail_memory(error);
        }
        enum po_class kind = body_parse(parser, step->then, &utf8, bytes, length, tree_out, error);
        return kind == PO_OK ? PO_OK : po_within(error, "what stands in %s", step->at.source);
}

/* Tries the keys in turn. */
static enum po_class sealed_open(const struct unwrap_step *step, struct body_parser *parser,
                                 const struct sealed *sealed, struct json_object **tree_out,
                                 struct po_error *error)
{
        /* ECB's last block goes through a buffer of its own length. */
        CLEANUP(cleanup_free) unsigned char *plain = malloc(sealed->length + BLOCK_BYTES);
        CLEANUP(cipher_slot_free) EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
        if (plain == NULL || cipher == NULL)
                return fail_memory(error);
        bool authentic = step->op == UNWRAP_AES_256_GCM;
        for (size_t i = 0; i < step->keys_count; i++) {
                size_t length;
                bool opened = authentic ? gcm_open(cipher, sealed, step->keys[i], plain, &length)
                                        : ecb_open(cipher, sealed, step->keys[i], plain, &length);
                EVP_CIPHER_CTX_reset(cipher);
                if (!opened) {
                        /* The thread's queue of errors: whoever speaks TLS on it would read ours.
                         */
                        ERR_clear_error();
                        continue;
                }
                enum po_class kind = plain_parse(step, parser, plain, length, tree_out, error);
                if (kind == PO_OK || kind == PO_BUG || authentic)
                        return kind;
        }
        return fail_step(step, "cannot be decrypted with any of the keys", error);
}

/* bytes has room for the text and a NUL. */
static enum po_class escapes_open(const struct unwrap_step *step, struct body_parser *parser,
                                  const struct value_text *text, char *bytes,
                                  struct json_object **tree_out, struct po_error *error)
{
        size_t length;
        if (form_text_decode(text->bytes, text->length, bytes, &length, error) != PO_OK)
                return po_within(error, "what stands in %s", step->at.source);
        return plain_parse(step, parser, bytes, length, tree_out, error);
}

static enum po_class step_open(const struct unwrap_step *step, struct body_parser *parser,
                               struct json_object *value, struct json_object **tree_out,
                               struct po_error *error)
{
        struct value_text text;
        struct sealed sealed = { 0 };
        if (step->op == UNWRAP_AES_256_GCM) {
                if (resource_take(step, value, &sealed, &text, error) != PO_OK)
                        return error->kind;
        } else if (!json_object_is_type(value, json_type_string) || !value_text(value, &text)) {
                return fail_step(step, "is no text", error);
        }
        if (step->op == UNWRAP_PARSE)
                return plain_parse(step, parser, text.bytes, text.length, tree_out, error);

        CLEANUP(cleanup_free) unsigned char *bytes = malloc(text.length + 1);
        if (bytes == NULL)
                return fail_memory(error);
        if (step->op == UNWRAP_URL_DECODE)
                return escapes_open(step, parser, &text, (char *)bytes, tree_out, error);
        sealed.bytes = bytes;
        if (!bytes_take(&text, &sealed))
                return fail_step(step, "is no base64", error);
        if (step->op == UNWRAP_BASE64)
                return plain_parse(step, parser, bytes, sealed.length, tree_out, error);
        if (sealed_check(step, &sealed, error) != PO_OK)
                return error->kind;
        return sealed_open(step, parser, &sealed, tree_out, error);
}

/* What pick takes out of the list; NULL: no element is the one. Borrowed. */
static struct json_object *pick_find(const struct unwrap_step *step, struct json_object *list)
{
        size_t length = json_object_array_length(list);
        for (size_t i = 0; i < length; i++) {
                const struct scope scope = { .item = json_object_array_get_idx(list, i) };
                if (conditions_fail(&step->where, &scope) == NULL)
                        return pointer_find(&step->take, &scope);
        }
        return NULL;
}

/* What stands behind the last "after"; NULL: nothing does. */
static const char *text_behind(const char *text, const char *after)
{
        const char *found = NULL;
        for (const char *at = text; (at = strstr(at, after)) != NULL; at++)
                found = at + strlen(after);
        return found != NULL && *found != '\0' ? found : NULL;
}

static enum po_class pick_take(const struct unwrap_step *step, struct json_object *value,
                               struct json_object **value_out, struct po_error *error)
{
        bool text = json_object_is_type(value, json_type_string);
        if (!text && (step->after != NULL || json_object_is_type(value, json_type_object) ||
                      json_object_is_type(value, json_type_array)))
                return fail_step(step, "has no text to take in the element that was picked", error);
        if (step->after == NULL) {
                *value_out = json_object_get(value);
                return PO_OK;
        }
        const char *behind = text_behind(json_object_get_string(value), step->after);
        if (behind == NULL)
                return fail_step(step, "has nothing behind what the text is cut at", error);
        *value_out = json_object_new_string(behind);
        return *value_out != NULL ? PO_OK : fail_memory(error);
}

/* What the step works on; NULL: there is nothing. */
static struct json_object *step_find(const struct unwrap_step *step, struct json_object *root)
{
        const struct scope scope = { .root = root };
        struct json_object *value = pointer_find(&step->at, &scope);
        if (step->op != UNWRAP_PICK)
                return value;
        return json_object_is_type(value, json_type_array) ? pick_find(step, value) : NULL;
}

static enum po_class step_apply(const struct unwrap_step *step, struct body_parser *parser,
                                struct json_object *root, struct po_error *error)
{
        struct json_object *value = step_find(step, root);
        if (value == NULL && step->optional)
                return PO_OK;
        if (value == NULL)
                return po_refuse(error, "UNWRAP_MISSING", "%s is absent or empty", step->at.source);
        struct json_object *tree;
        enum po_class kind = step->op == UNWRAP_PICK ? pick_take(step, value, &tree, error)
                                                     : step_open(step, parser, value, &tree, error);
        if (kind != PO_OK)
                return kind;
        if (json_object_object_add(root, step->to.names, tree) != 0) {
                json_object_put(tree);
                return fail_memory(error);
        }
        return PO_OK;
}

enum po_class unwrap_apply(const struct unwrap_list *list, struct body_parser *parser,
                           struct json_object *root, struct po_error *error)
{
        if (list->count > 0 && !json_object_is_type(root, json_type_object))
                return po_refuse(error, "WRONG_TYPE", "the body is no object");
        /* Before any step, since one that is optional may leave its member to whoever sent this. */
        for (size_t i = 0; i < list->count; i++)
                if (json_object_object_get_ex(root, list->items[i].to.names, NULL))
                        return po_refuse(error, "MEMBER_RESERVED",
                                         "the body has %s itself, where what is unwrapped goes",
                                         list->items[i].to.source);
        for (size_t i = 0; i < list->count; i++) {
                enum po_class kind = step_apply(&list->items[i], parser, root, error);
                if (kind != PO_OK)
                        return kind;
        }
        return PO_OK;
}
