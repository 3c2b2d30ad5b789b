/* A record's headers as an object of texts, for pointers "#/name". */
#ifndef CHANNEL_HEADER_TREE_H
#define CHANNEL_HEADER_TREE_H

#include <json-c/json_object.h>

#include "base/record.h"
#include "postonce/error.h"

/*
 * The tree is the caller's, to be put with json_object_put(). Of headers with one name the last
 * counts (Kafka's rule), also when it has no value; one that is no UTF-8 or holds a NUL is left
 * out, as if it were not there: what depends on it is refused then. BUG: no memory.
 */
PO_MUST_USE enum po_class header_tree(const struct record *record, struct json_object **tree_out,
                                      struct po_error *error);

#endif
