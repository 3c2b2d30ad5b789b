#include "channel/value.h"

#include <string.h>

static void text_set(struct value_text *text, const char *bytes, size_t length)
{
        text->bytes = bytes;
        text->length = length;
}

bool value_text(struct json_object *value, struct value_text *text_out)
{
        switch (json_object_get_type(value)) {
        case json_type_string:
                text_set(text_out, json_object_get_string(value),
                         (size_t)json_object_get_string_len(value));
                return true;
        case json_type_int:
                text_set(text_out, text_out->digits,
                         integer_print(text_out->digits, json_object_get_int64(value)));
                return true;
        case json_type_boolean:
                if (json_object_get_boolean(value))
                        text_set(text_out, "true", 4);
                else
                        text_set(text_out, "false", 5);
                return true;
        default:
                return false;
        }
}

bool value_written(struct json_object *value, struct value_text *text_out)
{
        if (json_object_get_type(value) != json_type_double)
                return value_text(value, text_out);
        /* json-c keeps the source of such a number and gives it back. */
        const char *written = json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN);
        if (written == NULL)
                return false;
        text_set(text_out, written, strlen(written));
        return true;
}

/* C0, DEL, and C1 in its UTF-8 form C2 80 … C2 9F. */
static bool has_control(const char *bytes, size_t length)
{
        for (size_t i = 0; i < length; i++) {
                unsigned char byte = (unsigned char)bytes[i];
                if (byte < 0x20 || byte == 0x7F)
                        return true;
                if (byte == 0xC2 && i + 1 < length && (unsigned char)bytes[i + 1] < 0xA0)
                        return true;
        }
        return false;
}

enum po_class value_take(struct json_object *value, const char *name, struct value_text *text_out,
                         struct po_error *error)
{
        if (!value_text(value, text_out))
                return po_refuse(error, "WRONG_TYPE", "%s is neither a text nor an integer", name);
        if (has_control(text_out->bytes, text_out->length))
                return po_refuse(error, "CONTROL_CHARACTER", "%s holds a control character", name);
        if (text_out->length > 0 &&
            (text_out->bytes[0] == ' ' || text_out->bytes[text_out->length - 1] == ' '))
                return po_refuse(error, "PADDED_TEXT", "%s starts or ends with a space", name);
        return PO_OK;
}

enum po_class value_copy(struct json_object *value, const char *name, const char *too_long,
                         char *buffer, size_t capacity, struct po_error *error)
{
        struct value_text text;
        if (value_take(value, name, &text, error) != PO_OK)
                return error->kind;
        if (text.length >= capacity)
                return po_refuse(error, too_long, "%s has %zu bytes, %zu are the most", name,
                                 text.length, capacity - 1);
        memcpy(buffer, text.bytes, text.length + 1);
        return PO_OK;
}
