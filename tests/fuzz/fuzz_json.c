/*
 * What is let through, json-c's own parser takes for the same; and what is written from the tree
 * reads as the same.
 */
#include "fuzz.h"

#include <string.h>

#include <json-c/json_tokener.h>

#include "base/limits.h"
#include "channel/json_body.h"

static struct json_body *body;

/* A member that is left unread is let through, and refused, for what it would be otherwise. */
static void parse_unread(const char *bytes, size_t length, enum po_class kind)
{
        struct po_error error;
        struct json_object *root;
        FUZZ_MUST(json_body_parse_but(body, "a", bytes, length, &root, &error) == kind);
        if (kind == PO_OK)
                json_object_put(root);
}

static enum po_class parse(const char *bytes, size_t length, struct json_object **root_out)
{
        struct po_error error;
        if (body == NULL)
                FUZZ_MUST(json_body_open(&body, &error) == PO_OK);
        enum po_class kind = json_body_parse(body, bytes, length, root_out, &error);
        FUZZ_MUST(kind == PO_OK || kind == PO_RECORD);
        FUZZ_MUST(kind == PO_OK || (error.reason != NULL && error.place <= (int64_t)length));
        parse_unread(bytes, length, kind);
        return kind;
}

/* A byte-order mark is let through in front; json-c knows none. */
static void compare(const char *bytes, size_t length, const char *written)
{
        size_t mark = length >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
        struct json_tokener *tokener = json_tokener_new_ex(JSON_DEPTH_MAX + 2);
        FUZZ_MUST(tokener != NULL);
        struct json_object *theirs =
                json_tokener_parse_ex(tokener, bytes + mark, (int)(length - mark));
        FUZZ_MUST(theirs != NULL);
        const char *text = json_object_to_json_string_ext(theirs, JSON_C_TO_STRING_PLAIN);
        /* json-c takes the escaped pair of U+1DE00, and of all whose low 16 bits look like half of
         * one, for a half and puts U+FFFD. */
        FUZZ_MUST(strcmp(text, written) == 0 || strstr(text, "\xEF\xBF\xBD") != NULL);
        json_object_put(theirs);
        json_tokener_free(tokener);
}

void fuzz_json(const uint8_t *bytes, size_t length)
{
        struct json_object *root, *again;
        if (parse((const char *)bytes, length, &root) != PO_OK)
                return;
        const char *written = json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN);
        FUZZ_MUST(written != NULL);
        compare((const char *)bytes, length, written);
        FUZZ_MUST(parse(written, strlen(written), &again) == PO_OK);
        FUZZ_MUST(strcmp(json_object_to_json_string_ext(again, JSON_C_TO_STRING_PLAIN), written) ==
                  0);
        json_object_put(again);
        json_object_put(root);
}
