/* XML as it declares itself, and as bytes that were converted. */
#include "fuzz.h"

#include <string.h>

#include <json-c/json_object_iterator.h>

#include "channel/utf8.h"
#include "channel/xml_body.h"

static void look(struct json_object *value)
{
        if (json_object_is_type(value, json_type_string)) {
                const char *text = json_object_get_string(value);
                FUZZ_MUST(utf8_check(text, strlen(text)) ==
                          (size_t)json_object_get_string_len(value));
                return;
        }
        FUZZ_MUST(json_object_is_type(value, json_type_object));
        struct json_object_iterator at = json_object_iter_begin(value);
        struct json_object_iterator end = json_object_iter_end(value);
        for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
                const char *name = json_object_iter_peek_name(&at);
                struct json_object *child = json_object_iter_peek_value(&at);
                FUZZ_MUST(name[0] != '\0');
                look(child);
        }
}

void fuzz_xml(const uint8_t *bytes, size_t length)
{
        for (int converted = 0; converted < 2; converted++) {
                struct po_error error;
                struct json_object *root;
                enum po_class kind =
                        xml_body_parse((const char *)bytes, length, converted == 1, &root, &error);
                FUZZ_MUST(kind == PO_OK || (kind == PO_RECORD && error.reason != NULL));
                if (kind != PO_OK)
                        continue;
                look(root);
                json_object_put(root);
        }
}
