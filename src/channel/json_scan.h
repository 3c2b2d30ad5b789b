/*
 * A strict scan of JSON bytes (RFC 8259); it builds the tree as it goes (json_tree.h).
 *
 * json-c's own parser lets through, even when strict (0.16), what would make two transactions look
 * like one: repeated members, NaN, integers that it clamps, texts cut at a NUL. What this scan lets
 * through means one thing only. A byte order mark in front is stepped over, as RFC 8259 section 8.1
 * allows.
 */
#ifndef CHANNEL_JSON_SCAN_H
#define CHANNEL_JSON_SCAN_H

#include <stddef.h>

#include "postonce/error.h"

enum { JSON_VALUES_MAX = 65536 }; /* of one record: bounds the tree at about 50 MB */

struct json_tree;

struct json_scan {
        size_t begin, end; /* the value without byte order mark and surrounding white space */
        size_t members;    /* of all objects together, repeated ones counted each time */
        size_t values;     /* of all kinds together, the outermost included */
};

/*
 * tree: reset; is built as far as the text was let through. NULL: nothing is built.
 * RECORD, with the offset of the byte in the text and never the byte itself:
 *   MALFORMED_JSON       breaks the grammar (NaN, comments, single quotes, leading zeros …)
 *   TRUNCATED_JSON       ends before the value does
 *   TRAILING_BYTES       something other than white space after the value
 *   INVALID_UTF8         in a string: overlong, surrogate, beyond U+10FFFF, cut
 *   NUL_IN_TEXT          \u0000
 *   LONE_SURROGATE       half of a \uD800…\uDFFF pair
 *   NUMBER_OUT_OF_RANGE  an integer that is no int64
 *   NESTING_TOO_DEEP     over JSON_DEPTH_MAX lists and objects in one another
 *   TOO_MANY_VALUES      over JSON_VALUES_MAX
 *   DUPLICATE_MEMBER     only where a tree is built: json_tree.h, and BUG as it says
 */
PO_MUST_USE enum po_class json_scan(const char *bytes, size_t length, struct json_tree *tree,
                                    struct json_scan *scan_out, struct po_error *error);

#endif
