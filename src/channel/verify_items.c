#include "channel/verify_items.h"

#include <string.h>

#include "channel/signature.h"
#include "channel/value.h"

enum { PATH_STEPS = 2 };

static const struct {
        const char *path[PATH_STEPS]; /* the second may be NULL */
        bool may_hold_colon;
} members[] = {
        { { "pspReference", NULL }, false },        { { "originalReference", NULL }, false },
        { { "merchantAccountCode", NULL }, false }, { { "merchantReference", NULL }, true },
        { { "amount", "value" }, false },           { { "amount", "currency" }, false },
        { { "eventCode", NULL }, false },           { { "success", NULL }, false },
};

enum { MEMBERS = sizeof members / sizeof members[0] };

/* What an item's signature is over. */
struct item_text {
        char bytes[SIGNED_ITEM_BYTES];
        size_t length;
        bool has_special; /* a '\' or ':' within a value */
        bool is_split;    /* a ':' where it could move a value's end */
};

static struct json_object *member_find(struct json_object *item, const char *const path[PATH_STEPS])
{
        struct json_object *value = item;
        for (size_t i = 0; i < PATH_STEPS && path[i] != NULL; i++)
                if (!json_object_is_type(value, json_type_object) ||
                    !json_object_object_get_ex(value, path[i], &value))
                        return NULL;
        return value;
}

static bool byte_put(struct item_text *text, char byte)
{
        if (text->length == sizeof text->bytes)
                return false;
        text->bytes[text->length++] = byte;
        return true;
}

static bool value_put(struct item_text *text, const struct value_text *value, bool escaped,
                      bool may_hold_colon)
{
        for (size_t i = 0; i < value->length; i++) {
                char byte = value->bytes[i];
                bool special = byte == ':' || byte == '\\';
                text->has_special = text->has_special || special;
                text->is_split = text->is_split || (byte == ':' && !may_hold_colon);
                if ((special && escaped && !byte_put(text, '\\')) || !byte_put(text, byte))
                        return false;
        }
        return true;
}

static enum po_class text_make(struct json_object *item, bool escaped, struct item_text *text,
                               struct po_error *error)
{
        text->length = 0;
        text->has_special = text->is_split = false;
        for (size_t i = 0; i < MEMBERS; i++) {
                struct json_object *value = member_find(item, members[i].path);
                struct value_text written = { .bytes = "" };
                if (value != NULL && !value_written(value, &written))
                        return signature_fail(error, "a signed member is no text");
                if ((i > 0 && !byte_put(text, ':')) ||
                    !value_put(text, &written, escaped, members[i].may_hold_colon))
                        return signature_fail(error, "the signed members are too long");
        }
        return PO_OK;
}

static enum po_class text_check(const struct verify *verify, const struct item_text *text,
                                const unsigned char hmac[HMAC_BYTES], bool *proven_out,
                                struct po_error *error)
{
        struct message message = { 0 };
        message_add(&message, (struct span){ text->bytes, text->length });
        return signature_check_hmac(verify, &message, hmac, proven_out, error);
}

static enum po_class item_check(const struct verify *verify, struct json_object *item,
                                struct po_error *error)
{
        static const char *const path[PATH_STEPS] = { "additionalData", "hmacSignature" };
        struct json_object *signature = member_find(item, path);
        struct item_text text;
        unsigned char hmac[HMAC_BYTES];
        bool proven = false;
        if (!json_object_is_type(signature, json_type_string))
                return signature_fail(error, "there is no hmacSignature");
        const struct span span = span_of(json_object_get_string(signature));
        if (!signature_read_hmac(&span, true, hmac))
                return signature_fail(error, "hmacSignature is not written as it must be");
        if (text_make(item, true, &text, error) != PO_OK ||
            text_check(verify, &text, hmac, &proven, error) != PO_OK)
                return error->kind;
        if (!proven && text.has_special && !text.is_split &&
            (text_make(item, false, &text, error) != PO_OK ||
             text_check(verify, &text, hmac, &proven, error) != PO_OK))
                return error->kind;
        return proven ? PO_OK : signature_fail(error, "no key gives this hmacSignature");
}

enum po_class verify_items(const struct verify *verify, const struct pointer *each,
                           const struct pointer *item, struct json_object *root,
                           struct po_error *error)
{
        const struct scope scope = { .root = root };
        if (verify->is_open || verify->op != VERIFY_ADYEN)
                return PO_OK;
        struct json_object *list = pointer_find(each, &scope);
        size_t length =
                json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
        for (size_t i = 0; i < length; i++) {
                struct json_object *element = json_object_array_get_idx(list, i);
                const struct scope inner = { .root = element };
                if (pointer_is_given(item))
                        element = pointer_find(item, &inner);
                if (item_check(verify, element, error) != PO_OK)
                        return po_within(error, "item %zu", i);
        }
        return PO_OK;
}
