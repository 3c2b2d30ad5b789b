/* A form in UTF-8, in GB18030, and with the charset in a field. */
#include "fuzz.h"

#include <string.h>

#include <json-c/json_object_iterator.h>

#include "channel/form_body.h"
#include "channel/utf8.h"

static struct charset_converter *converter;

static void parse(const struct charset_map *charset, const char *bytes, size_t length)
{
        struct po_error error;
        struct json_object *root;
        enum po_class kind = form_body_parse(bytes, length, charset, converter, &root, &error);
        FUZZ_MUST(kind == PO_OK || (kind == PO_RECORD && error.reason != NULL));
        if (kind != PO_OK)
                return;
        struct json_object_iterator at = json_object_iter_begin(root);
        struct json_object_iterator end = json_object_iter_end(root);
        for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
                const char *name = json_object_iter_peek_name(&at);
                struct json_object *value = json_object_iter_peek_value(&at);
                FUZZ_MUST(name[0] != '\0' && utf8_check(name, strlen(name)) == strlen(name));
                FUZZ_MUST(json_object_is_type(value, json_type_string));
                size_t value_length = (size_t)json_object_get_string_len(value);
                const char *text = json_object_get_string(value);
                FUZZ_MUST(strlen(text) == value_length);
                FUZZ_MUST(utf8_check(text, value_length) == value_length);
        }
        json_object_put(root);
}

void fuzz_form(const uint8_t *bytes, size_t length)
{
        static const struct charset_map maps[] = {
                { .fallback = CHARSET_UTF8 },
                { .fallback = CHARSET_GB18030, .needs_converter = true },
                { .field = "charset", .fallback = CHARSET_UTF8, .needs_converter = true },
        };
        struct po_error error;
        if (converter == NULL)
                FUZZ_MUST(charset_open(&converter, &error) == PO_OK);
        for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
                parse(&maps[i], (const char *)bytes, length);
}
