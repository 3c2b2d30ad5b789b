/*
 * The tree of a JSON text, built while json_scan() looks at it: what the scan lets through is in
 * the tree, and nothing is read twice. json-c holds the tree; its own parser, which lets repeated
 * names, NaN and clamped integers through, is not used.
 *
 * A member of the root can be left unread: all of it is scanned, a name twice is refused, but its
 * texts and numbers, which may be most of the bytes, are not copied.
 */
#ifndef CHANNEL_JSON_TREE_H
#define CHANNEL_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json_object.h>

#include "base/limits.h"
#include "postonce/error.h"

enum {
        TREE_NAMES_MAX = 256, /* members' names that are kept from tree to tree; a power of 2 */
        TREE_NAME_BYTES = 48, /* longer ones are not kept */
};

/* Reused from tree to tree; zeroed at first. Its members are json_tree.c's own. */
struct json_tree {
        struct json_object *root;                   /* owns everything; NULL: nothing so far */
        struct json_object *levels[JSON_DEPTH_MAX]; /* lists and objects that are not ended */
        size_t depth;
        const char *name; /* of the member whose value comes next */
        size_t name_slot; /* where it is kept; TREE_NAMES_MAX: nowhere */
        size_t name_place;
        const char *unread; /* a member of the root whose texts and numbers nobody reads; or NULL */
        bool in_unread;     /* they are nulls in the tree, or not there at all */
        uint64_t seen[JSON_DEPTH_MAX]
                     [TREE_NAMES_MAX / 64]; /* kept names of each object's members */
        char *long_name;                    /* one that is not kept */
        char *plain;                        /* a text without its escapes */
        size_t plain_room;
        size_t names_count;
        struct {
                size_t length; /* 0: free */
                char text[TREE_NAME_BYTES];
        } names[TREE_NAMES_MAX];
};

/* Frees what is there, but for the names that are kept: back to nothing so far. */
void json_tree_reset(struct json_tree *tree);
/* Frees all of it. No tree that was taken may be looked at any more. */
void json_tree_close(struct json_tree *tree);

/*
 * One call a piece, in the order of the text, whose grammar and depth are the caller's matter. raw:
 * a string as it stands between its quotes, valid; escaped: there is a backslash in it.
 * BUG: no memory. RECORD: DUPLICATE_MEMBER, with the place of the second name.
 */
PO_MUST_USE enum po_class json_tree_begin(struct json_tree *tree, bool object,
                                          struct po_error *error);
void json_tree_end(struct json_tree *tree);
PO_MUST_USE enum po_class json_tree_name(struct json_tree *tree, const char *raw, size_t length,
                                         bool escaped, size_t place, struct po_error *error);
PO_MUST_USE enum po_class json_tree_text(struct json_tree *tree, const char *raw, size_t length,
                                         bool escaped, struct po_error *error);
/* As it is written; whole: without fraction and exponent, and an int64. */
PO_MUST_USE enum po_class json_tree_number(struct json_tree *tree, const char *raw, size_t length,
                                           bool whole, struct po_error *error);
/* "true", "false" or "null". */
PO_MUST_USE enum po_class json_tree_word(struct json_tree *tree, const char *word,
                                         struct po_error *error);

/* The tree, to be put by the caller before the struct is closed: it shares names with it. */
struct json_object *json_tree_take(struct json_tree *tree);

#endif
