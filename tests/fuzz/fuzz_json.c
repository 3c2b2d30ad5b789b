/* What the scan lets through json-c takes, and what is written from that tree reads as the same. */
#include "fuzz.h"

#include <string.h>

#include "channel/json_body.h"

static struct json_body *body;

static enum po_class parse(const char *bytes, size_t length, struct json_object **root_out)
{
        struct po_error error;
        if (body == NULL)
                FUZZ_MUST(json_body_open(&body, &error) == PO_OK);
        enum po_class kind = json_body_parse(body, bytes, length, root_out, &error);
        FUZZ_MUST(kind == PO_OK || kind == PO_RECORD);
        FUZZ_MUST(kind == PO_OK || (error.reason != NULL && error.place <= (int64_t)length));
        return kind;
}

void fuzz_json(const uint8_t *bytes, size_t length)
{
        struct json_object *root, *again;
        if (parse((const char *)bytes, length, &root) != PO_OK)
                return;
        const char *written = json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN);
        FUZZ_MUST(written != NULL && parse(written, strlen(written), &again) == PO_OK);
        FUZZ_MUST(json_object_equal(root, again));
        json_object_put(again);
        json_object_put(root);
}
