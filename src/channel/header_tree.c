#include "channel/header_tree.h"

#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "channel/json_body.h"
#include "channel/utf8.h"

static bool value_is_text(const struct record_header *header)
{
        return header->value != NULL && memchr(header->value, 0, header->value_bytes) == NULL &&
               utf8_check(header->value, header->value_bytes) == header->value_bytes;
}

enum po_class header_tree(const struct record *record, struct json_object **tree_out,
                          struct po_error *error)
{
        CLEANUP(json_root_put) struct json_object *tree = json_object_new_object();
        if (tree == NULL)
                return po_fail(error, PO_BUG, 0, "no memory for the headers");
        for (size_t i = 0; i < record->headers_count; i++) {
                const struct record_header *header = &record->headers[i];
                if (!value_is_text(header)) {
                        json_object_object_del(tree, header->name);
                        continue;
                }
                struct json_object *text =
                        json_object_new_string_len(header->value, (int)header->value_bytes);
                if (text == NULL || json_object_object_add(tree, header->name, text) != 0) {
                        json_object_put(text);
                        return po_fail(error, PO_BUG, 0, "no memory for the headers");
                }
        }
        *tree_out = MOVE(tree);
        return PO_OK;
}
