/*
 * An XML body as a tree of objects and texts: <xml><a>1</a><b><c/></b></xml> is
 * {"a":"1","b":{"c":""}}. The outermost element's name is dropped, attributes, comments and
 * processing instructions are not looked at, texts are exact, with all their white space.
 *
 * No document type is let in at all: that is where external entities and entity bombs come from.
 */
#ifndef CHANNEL_XML_BODY_H
#define CHANNEL_XML_BODY_H

#include <stdbool.h>
#include <stddef.h>

#include <json-c/json_object.h>

#include "postonce/error.h"

/*
 * The tree is the caller's, to be put with json_object_put(). converted: the bytes are UTF-8
 * whatever the XML declaration says. length is at most 2 * VALUE_BYTES_MAX.
 * RECORD, with the place in the bytes:
 *   DOCTYPE_REFUSED    there is a <!DOCTYPE
 *   DUPLICATE_ELEMENT  an element has two children of one name
 *   MIXED_CONTENT      text between elements
 *   NESTING_TOO_DEEP   over JSON_DEPTH_MAX elements in one another
 *   TOO_MANY_VALUES    over JSON_VALUES_MAX elements
 *   TRAILING_BYTES     something behind the outermost element
 *   INVALID_UTF8, CHARSET_UNKNOWN (the declaration names another than UTF-8, UTF-16, ISO-8859-1 and
 *   US-ASCII), WRONG_TYPE (the outermost element holds no elements), MALFORMED_XML
 * BUG: no memory.
 */
PO_MUST_USE enum po_class xml_body_parse(const char *bytes, size_t length, bool converted,
                                         struct json_object **root_out, struct po_error *error);

#endif
