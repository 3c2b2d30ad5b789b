/*
 * A JSON body as a tree of values. All bodies become such a tree, whatever they are written in; the
 * rules see nothing else.
 */
#ifndef CHANNEL_JSON_BODY_H
#define CHANNEL_JSON_BODY_H

#include <stddef.h>

#include <json-c/json_object.h>

#include "base/cleanup.h"
#include "postonce/error.h"

struct json_body; /* a parser, reused from record to record */

/* SYSTEMIC: no memory. */
PO_MUST_USE enum po_class json_body_open(struct json_body **body_out, struct po_error *error);
void json_body_close(struct json_body *body); /* takes NULL */

/*
 * Parses bytes into a tree that the caller puts with json_object_put() before the parser is closed.
 * The outermost value is an object or a list. length is at most VALUE_BYTES_MAX. RECORD: what
 * json_scan() refuses; DUPLICATE_MEMBER: an object has one name twice, also when the names are
 * equal only after their escapes; WRONG_TYPE: the outermost value is a scalar. BUG: no memory.
 */
PO_MUST_USE enum po_class json_body_parse(struct json_body *body, const char *bytes, size_t length,
                                          struct json_object **root_out, struct po_error *error);

/*
 * The same for a caller that reads nothing of the root's member unread: it is proven like the rest,
 * but what it holds, and whether it is there, the tree does not say.
 */
PO_MUST_USE enum po_class json_body_parse_but(struct json_body *body, const char *unread,
                                              const char *bytes, size_t length,
                                              struct json_object **root_out,
                                              struct po_error *error);

/* For CLEANUP() of a tree. */
static inline void json_root_put(struct json_object **root)
{
        json_object_put(*root);
}

#endif
