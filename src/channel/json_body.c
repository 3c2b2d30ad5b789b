#include "channel/json_body.h"

#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "channel/json_scan.h"
#include "channel/json_tree.h"

struct json_body {
        struct json_tree tree;
};

enum po_class json_body_open(struct json_body **body_out, struct po_error *error)
{
        struct json_body *body = calloc(1, sizeof *body);
        if (body == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "no memory for a JSON parser");
        *body_out = body;
        return PO_OK;
}

void json_body_close(struct json_body *body)
{
        if (body == NULL)
                return;
        json_tree_close(&body->tree);
        free(body);
}

enum po_class json_body_parse(struct json_body *body, const char *bytes, size_t length,
                              struct json_object **root_out, struct po_error *error)
{
        return json_body_parse_but(body, NULL, bytes, length, root_out, error);
}

enum po_class json_body_parse_but(struct json_body *body, const char *unread, const char *bytes,
                                  size_t length, struct json_object **root_out,
                                  struct po_error *error)
{
        assert(length <= VALUE_BYTES_MAX);
        body->tree.unread = unread;
        struct json_scan scan;
        enum po_class kind = json_scan(bytes, length, &body->tree, &scan, error);
        if (kind == PO_OK && bytes[scan.begin] != '{' && bytes[scan.begin] != '[')
                kind = po_refuse(error, "WRONG_TYPE", "the value is neither an object nor a list");
        if (kind == PO_OK)
                *root_out = json_tree_take(&body->tree);
        json_tree_reset(&body->tree);
        return kind;
}
