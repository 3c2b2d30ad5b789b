/* A pointer: its first line; the body that it leads through: the rest. */
#include "fuzz.h"

#include <string.h>

#include "channel/json_body.h"
#include "channel/pointer.h"

static struct json_object *body_of(const uint8_t *bytes, size_t length)
{
        static struct json_body *body;
        struct po_error error;
        struct json_object *root;
        if (body == NULL)
                FUZZ_MUST(json_body_open(&body, &error) == PO_OK);
        return json_body_parse(body, (const char *)bytes, length, &root, &error) == PO_OK ? root
                                                                                          : NULL;
}

void fuzz_pointer(const uint8_t *bytes, size_t length)
{
        const uint8_t *end = memchr(bytes, '\n', length);
        size_t text_length = end == NULL ? length : (size_t)(end - bytes);
        char *text = malloc(text_length + 1);
        FUZZ_MUST(text != NULL);
        if (text_length > 0)
                memcpy(text, bytes, text_length);
        text[text_length] = '\0';
        struct pointer pointer;
        if (pointer_compile(&pointer, text) == NULL) {
                FUZZ_MUST(pointer_is_given(&pointer) && strcmp(pointer.source, text) == 0);
                struct json_object *root =
                        end == NULL ? NULL : body_of(end + 1, length - text_length - 1);
                const struct scope scope = { .root = root, .item = root, .headers = root };
                struct json_object *found = pointer_find(&pointer, &scope);
                FUZZ_MUST(root != NULL || found == NULL);
                json_object_put(root);
        }
        free(text);
}
