#include "channel/form_body.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "channel/json_body.h"
#include "channel/json_scan.h"
#include "channel/utf8.h"

struct cursor {
        const char *bytes;
        size_t at, length;
};

static enum po_class fail_malformed(struct po_error *error, const char *what, size_t at)
{
        return po_refuse_at(error, "MALFORMED_FORM", at, "%s at byte %zu", what, at);
}

static enum po_class fail_memory(struct po_error *error)
{
        return po_fail(error, PO_BUG, 0, "no memory for a form");
}

static int hex_digit(char byte)
{
        if (byte >= '0' && byte <= '9')
                return byte - '0';
        byte |= 0x20;
        return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* The byte that the escape here stands for. */
static enum po_class escape_take(struct cursor *cursor, char *byte_out, struct po_error *error)
{
        const char *digits = cursor->bytes + cursor->at + 1;
        int high = -1, low = -1;
        if (cursor->length - cursor->at > 2) {
                high = hex_digit(digits[0]);
                low = hex_digit(digits[1]);
        }
        if (high < 0 || low < 0)
                return fail_malformed(error, "no two hexadecimal digits after '%'", cursor->at);
        if (high == 0 && low == 0)
                return po_refuse_at(error, "NUL_IN_TEXT", cursor->at, "an escaped NUL at byte %zu",
                                    cursor->at);
        *byte_out = (char)(high * 16 + low);
        cursor->at += 3;
        return PO_OK;
}

/* Up to end, which is not taken, or to '&' or the end of all. */
static enum po_class text_take(struct cursor *cursor, char end, struct form_fields *fields,
                               struct po_error *error)
{
        while (cursor->at < cursor->length) {
                char byte = cursor->bytes[cursor->at];
                if (byte == end || byte == '&')
                        break;
                if ((unsigned char)byte <= ' ' || byte == 0x7F)
                        return fail_malformed(error, "a bare space or control character",
                                              cursor->at);
                if (byte == '%') {
                        if (escape_take(cursor, &byte, error) != PO_OK)
                                return error->kind;
                } else {
                        cursor->at++;
                        byte = byte == '+' ? ' ' : byte;
                }
                fields->texts[fields->length++] = byte;
        }
        fields->texts[fields->length++] = '\0';
        return PO_OK;
}

/* "a=b&" becomes "a b ", never more. */
enum po_class form_fields_take(const char *bytes, size_t length, struct form_fields *fields,
                               struct po_error *error)
{
        struct cursor cursor = { .bytes = bytes, .length = length };
        for (;;) {
                size_t name = fields->length, start = cursor.at;
                if (text_take(&cursor, '=', fields, error) != PO_OK)
                        return error->kind;
                if (fields->texts[name] == '\0')
                        return fail_malformed(error, "a field without a name", start);
                if (cursor.at == length || bytes[cursor.at] != '=')
                        return fail_malformed(error, "a field without '='", start);
                cursor.at++;
                if (text_take(&cursor, '&', fields, error) != PO_OK)
                        return error->kind;
                if (cursor.at == length)
                        return PO_OK;
                cursor.at++;
        }
}

enum po_class form_text_decode(const char *bytes, size_t length, char *buffer, size_t *length_out,
                               struct po_error *error)
{
        struct cursor cursor = { .bytes = bytes, .length = length };
        struct form_fields field = { .texts = buffer };
        do {
                if (field.length > 0) /* what ended the piece before was a '&' */
                        field.texts[field.length - 1] = cursor.bytes[cursor.at++];
                if (text_take(&cursor, '&', &field, error) != PO_OK)
                        return error->kind;
        } while (cursor.at < length);
        *length_out = field.length - 1;
        return PO_OK;
}

/* The first one counts: a second is refused later on. */
static enum po_class charset_choose(const struct form_fields *fields, const struct charset_map *map,
                                    enum charset *charset_out, struct po_error *error)
{
        *charset_out = map->fallback;
        if (map->field == NULL)
                return PO_OK;
        const char *end = fields->texts + fields->length;
        for (const char *name = fields->texts; name < end;
             name = form_text_next(form_text_next(name))) {
                if (strcmp(name, map->field) != 0)
                        continue;
                if (!charset_find(form_text_next(name), charset_out))
                        return po_refuse(error, "CHARSET_UNKNOWN",
                                         "the character set that field %s names is not known",
                                         map->field);
                return PO_OK;
        }
        return PO_OK;
}

static enum po_class fields_convert(struct form_fields *fields, enum charset charset,
                                    struct charset_converter *converter, struct po_error *error)
{
        if (charset == CHARSET_UTF8) {
                if (utf8_check(fields->texts, fields->length) != fields->length)
                        return po_refuse(error, "INVALID_UTF8", "a field is no UTF-8");
                return PO_OK;
        }
        CLEANUP(cleanup_free) char *converted = malloc(charset_room(fields->length));
        if (converted == NULL)
                return fail_memory(error);
        size_t length;
        if (charset_convert(converter, fields->texts, fields->length, converted, &length, error) !=
            PO_OK)
                return error->kind;
        free(fields->texts);
        fields->texts = MOVE(converted);
        fields->length = length;
        return PO_OK;
}

static enum po_class tree_make(const struct form_fields *fields, struct json_object **root_out,
                               struct po_error *error)
{
        CLEANUP(json_root_put) struct json_object *root = json_object_new_object();
        if (root == NULL)
                return fail_memory(error);
        const char *end = fields->texts + fields->length;
        size_t count = 0;
        for (const char *name = fields->texts; name < end;
             name = form_text_next(form_text_next(name))) {
                if (++count > JSON_VALUES_MAX)
                        return po_refuse(error, "TOO_MANY_VALUES", "over %d fields",
                                         JSON_VALUES_MAX);
                if (json_object_object_get_ex(root, name, NULL))
                        return po_refuse(error, "DUPLICATE_FIELD",
                                         "field number %zu is there already", count);
                struct json_object *value = json_object_new_string(form_text_next(name));
                if (value == NULL || json_object_object_add(root, name, value) != 0) {
                        json_object_put(value);
                        return fail_memory(error);
                }
        }
        *root_out = MOVE(root);
        return PO_OK;
}

enum po_class form_body_parse(const char *bytes, size_t length, const struct charset_map *charset,
                              struct charset_converter *converter, struct json_object **root_out,
                              struct po_error *error)
{
        CLEANUP(cleanup_free) char *texts = malloc(length + 1);
        struct form_fields fields = { .texts = texts };
        enum charset chosen;
        if (texts == NULL)
                return fail_memory(error);
        enum po_class kind = form_fields_take(bytes, length, &fields, error);
        if (kind == PO_OK)
                kind = charset_choose(&fields, charset, &chosen, error);
        if (kind == PO_OK)
                kind = fields_convert(&fields, chosen, converter, error);
        texts = fields.texts; /* the conversion may have replaced it */
        return kind == PO_OK ? tree_make(&fields, root_out, error) : kind;
}
