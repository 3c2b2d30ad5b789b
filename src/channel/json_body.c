#include "channel/json_body.h"

#include <assert.h>
#include <stdlib.h>

#include <json-c/json_object_iterator.h>
#include <json-c/json_tokener.h>

#include "base/limits.h"
#include "channel/json_scan.h"

struct json_body {
        struct json_tokener *tokener;
};

enum po_class json_body_open(struct json_body **body_out, struct po_error *error)
{
        struct json_body *body = calloc(1, sizeof *body);
        /* json-c counts a level for the scalar inside and one for itself. */
        struct json_tokener *tokener = json_tokener_new_ex(JSON_DEPTH_MAX + 2);
        if (body == NULL || tokener == NULL) {
                if (tokener != NULL)
                        json_tokener_free(tokener);
                free(body);
                return po_fail(error, PO_SYSTEMIC, 0, "no memory for a JSON parser");
        }
        json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
        body->tokener = tokener;
        *body_out = body;
        return PO_OK;
}

void json_body_close(struct json_body *body)
{
        if (body == NULL)
                return;
        json_tokener_free(body->tokener);
        free(body);
}

/* Members of all objects in the tree; its depth is bounded by the scan. */
static size_t members_count(struct json_object *value)
{
        size_t count = 0;
        if (json_object_is_type(value, json_type_array)) {
                size_t length = json_object_array_length(value);
                for (size_t i = 0; i < length; i++)
                        count += members_count(json_object_array_get_idx(value, i));
                return count;
        }
        if (!json_object_is_type(value, json_type_object))
                return 0;
        struct json_object_iterator at = json_object_iter_begin(value);
        struct json_object_iterator end = json_object_iter_end(value);
        for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at))
                count += 1 + members_count(json_object_iter_peek_value(&at));
        return count;
}

enum po_class json_body_parse(struct json_body *body, const char *bytes, size_t length,
                              struct json_object **root_out, struct po_error *error)
{
        assert(length <= VALUE_BYTES_MAX);
        struct json_scan scan;
        if (json_scan(bytes, length, &scan, error) != PO_OK)
                return error->kind;
        if (bytes[scan.begin] != '{' && bytes[scan.begin] != '[')
                return po_refuse(error, "WRONG_TYPE", "the value is neither an object nor a list");

        json_tokener_reset(body->tokener);
        CLEANUP(json_root_put)
        struct json_object *root = json_tokener_parse_ex(body->tokener, bytes + scan.begin,
                                                         (int)(scan.end - scan.begin));
        if (root == NULL)
                return po_fail(error, PO_BUG, 0, "json-c refuses what the scan let through: %s",
                               json_tokener_error_desc(json_tokener_get_error(body->tokener)));

        /* json-c keeps the last of equal names, so that each repetition is missing in the tree. */
        if (members_count(root) != scan.members)
                return po_refuse(error, "DUPLICATE_MEMBER", "an object has one member twice");
        *root_out = MOVE(root);
        return PO_OK;
}
