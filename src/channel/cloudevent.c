#include "channel/cloudevent.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <json-c/json_object_iterator.h>

#include "base/cleanup.h"
#include "channel/base64.h"
#include "channel/header_tree.h"
#include "channel/json_body.h"

struct media_type {
        const char *text; /* not NUL-terminated */
        size_t length;    /* up to parameters and white space */
};

static const struct charset_map utf8 = { .fallback = CHARSET_UTF8 };

static enum po_class fail_memory(struct po_error *error)
{
        return po_fail(error, PO_BUG, 0, "no memory for a CloudEvent");
}

static enum po_class fail_malformed(const char *what, struct po_error *error)
{
        return po_refuse(error, "CLOUDEVENT_MALFORMED", "%s", what);
}

static struct media_type media_type(const char *text, size_t length)
{
        struct media_type type = { .text = text };
        while (type.length < length && memchr("; \t", text[type.length], 3) == NULL)
                type.length++;
        return type;
}

static bool type_is(const struct media_type *type, const char *name)
{
        return strlen(name) == type->length && strncasecmp(type->text, name, type->length) == 0;
}

static bool type_ends(const struct media_type *type, const char *suffix)
{
        size_t length = strlen(suffix);
        return length < type->length &&
               strncasecmp(type->text + type->length - length, suffix, length) == 0;
}

/* Of data; no type at all means JSON. */
static enum po_class data_kind(const struct media_type *type, enum body_kind *kind_out,
                               struct po_error *error)
{
        if (type->length == 0 || type_is(type, "application/json") || type_is(type, "text/json") ||
            type_ends(type, "+json"))
                *kind_out = BODY_JSON;
        else if (type_is(type, "application/x-www-form-urlencoded"))
                *kind_out = BODY_FORM;
        else if (type_is(type, "application/xml") || type_is(type, "text/xml") ||
                 type_ends(type, "+xml"))
                *kind_out = BODY_XML;
        else
                return po_refuse(error, "CONTENT_TYPE_UNKNOWN",
                                 "the data is neither JSON nor form nor XML");
        return PO_OK;
}

static const char *member_text(struct json_object *root, const char *name)
{
        struct json_object *value;
        return json_object_object_get_ex(root, name, &value) &&
                               json_object_is_type(value, json_type_string)
                       ? json_object_get_string(value)
                       : NULL;
}

static enum po_class attributes_check(struct json_object *root, struct po_error *error)
{
        static const char *const required[] = { "id", "source", "type" };
        const char *version = member_text(root, "specversion");
        if (version == NULL || strcmp(version, "1.0") != 0)
                return fail_malformed("specversion is not 1.0", error);
        for (size_t i = 0; i < sizeof required / sizeof required[0]; i++) {
                const char *text = member_text(root, required[i]);
                if (text == NULL || text[0] == '\0')
                        return po_refuse(error, "CLOUDEVENT_MALFORMED",
                                         "attribute %s is absent or empty", required[i]);
        }
        return PO_OK;
}

/* Puts the parsed data into the root. */
static enum po_class data_add(struct body_parser *parser, const struct charset_map *charset,
                              const struct media_type *type, const void *bytes, size_t length,
                              struct json_object *root, struct po_error *error)
{
        enum body_kind kind = BODY_JSON;
        struct json_object *data;
        if (data_kind(type, &kind, error) != PO_OK ||
            body_parse(parser, kind, kind == BODY_JSON ? &utf8 : charset, bytes, length, &data,
                       error) != PO_OK)
                return po_within(error, "the event's data");
        if (json_object_object_add(root, "data", data) != 0) {
                json_object_put(data);
                return fail_memory(error);
        }
        return PO_OK;
}

static enum po_class base64_add(struct body_parser *parser, const struct charset_map *charset,
                                const struct media_type *type, struct json_object *value,
                                struct json_object *root, struct po_error *error)
{
        if (!json_object_is_type(value, json_type_string))
                return fail_malformed("data_base64 is no text", error);
        size_t text_length = (size_t)json_object_get_string_len(value), length;
        CLEANUP(cleanup_free) unsigned char *bytes = malloc(base64_room(text_length) + 1);
        if (bytes == NULL)
                return fail_memory(error);
        if (!base64_decode(json_object_get_string(value), text_length, bytes, &length))
                return fail_malformed("data_base64 is no base64", error);
        return data_add(parser, charset, type, bytes, length, root, error);
}

/* Data that is a text of another type than JSON is a body of its own. */
static enum po_class structured_data(struct body_parser *parser, const struct charset_map *charset,
                                     struct json_object *root, struct po_error *error)
{
        struct json_object *data = NULL, *encoded = NULL;
        const char *name = member_text(root, "datacontenttype");
        struct media_type type =
                media_type(name != NULL ? name : "", name != NULL ? strlen(name) : 0);
        bool plain = json_object_object_get_ex(root, "data", &data);
        if (json_object_object_get_ex(root, "data_base64", &encoded))
                return plain ? fail_malformed("both data and data_base64 are there", error)
                             : base64_add(parser, charset, &type, encoded, root, error);
        enum body_kind kind = BODY_JSON;
        if (!plain)
                return PO_OK;
        if (data_kind(&type, &kind, error) != PO_OK)
                return error->kind;
        if (kind == BODY_JSON || !json_object_is_type(data, json_type_string))
                return PO_OK;
        /* The text must outlive its own replacement. */
        CLEANUP(json_root_put) struct json_object *text = json_object_get(data);
        return data_add(parser, kind == BODY_FORM ? charset : &utf8, &type,
                        json_object_get_string(text), (size_t)json_object_get_string_len(text),
                        root, error);
}

static enum po_class structured_read(struct body_parser *parser, const struct charset_map *charset,
                                     const struct record *record, struct json_object **root_out,
                                     struct po_error *error)
{
        CLEANUP(json_root_put) struct json_object *root = NULL;
        if (body_parse(parser, BODY_JSON, &utf8, record->value, record->value_bytes, &root,
                       error) != PO_OK)
                return error->kind;
        if (!json_object_is_type(root, json_type_object))
                return fail_malformed("a CloudEvent is an object", error);
        if (attributes_check(root, error) != PO_OK ||
            structured_data(parser, charset, root, error) != PO_OK)
                return error->kind;
        *root_out = MOVE(root);
        return PO_OK;
}

/* Headers "ce_name" become members "name". */
static enum po_class attributes_add(const struct record *record, struct json_object *root,
                                    struct po_error *error)
{
        CLEANUP(json_root_put) struct json_object *headers = NULL;
        if (header_tree(record, &headers, error) != PO_OK)
                return error->kind;
        struct json_object_iterator at = json_object_iter_begin(headers);
        struct json_object_iterator end = json_object_iter_end(headers);
        for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
                const char *name = json_object_iter_peek_name(&at);
                if (strncmp(name, "ce_", 3) != 0)
                        continue;
                struct json_object *value = json_object_get(json_object_iter_peek_value(&at));
                if (json_object_object_add(root, name + 3, value) != 0) {
                        json_object_put(value);
                        return fail_memory(error);
                }
        }
        return PO_OK;
}

static enum po_class binary_read(struct body_parser *parser, const struct charset_map *charset,
                                 const struct record *record, const struct media_type *type,
                                 struct json_object **root_out, struct po_error *error)
{
        CLEANUP(json_root_put) struct json_object *root = json_object_new_object();
        if (root == NULL)
                return fail_memory(error);
        if (attributes_add(record, root, error) != PO_OK ||
            attributes_check(root, error) != PO_OK ||
            data_add(parser, charset, type, record->value, record->value_bytes, root, error) !=
                    PO_OK)
                return error->kind;
        *root_out = MOVE(root);
        return PO_OK;
}

enum po_class cloudevent_read(struct body_parser *parser, const struct charset_map *charset,
                              const struct record *record, struct json_object **root_out,
                              struct po_error *error)
{
        static const char structured[] = "application/cloudevents";
        const struct record_header *header = record_header(record, "content-type");
        bool typed = header != NULL && header->value != NULL;
        struct media_type type =
                media_type(typed ? header->value : "", typed ? header->value_bytes : 0);
        if (type_is(&type, structured) || type_is(&type, "application/cloudevents+json"))
                return structured_read(parser, charset, record, root_out, error);
        if (type.length >= strlen(structured) &&
            strncasecmp(type.text, structured, strlen(structured)) == 0)
                return po_refuse(error, "CONTENT_TYPE_UNKNOWN",
                                 "of CloudEvents in structured mode JSON is read, and no batches");
        if (record_header(record, "ce_specversion") == NULL)
                return po_refuse(error, "NOT_A_CLOUDEVENT",
                                 "neither content-type nor ce_specversion says CloudEvent");
        return binary_read(parser, charset, record, &type, root_out, error);
}
