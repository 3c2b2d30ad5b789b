/*
 * One YAML file as a tree of nodes that know where they stand.
 *
 * libyaml's events underneath, and less than YAML allows: one document a file, no aliases, no merge
 * keys, no tags, texts as keys. (Not its document API: that one forgets where an alias stands, and
 * nothing stops it in a file of opening brackets, whose scan takes libyaml hours.) Repeated keys of
 * a map are refused while loading. Nodes and texts live as long as their document. Every complaint
 * reads "file:line:column: what is wrong", lines and columns (in characters) counted from 1, class
 * SYSTEMIC.
 */
#ifndef CONFIG_DOCUMENT_H
#define CONFIG_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "postonce/error.h"

struct document;
struct node;

enum node_kind { NODE_TEXT, NODE_LIST, NODE_MAP };

enum {
        DOCUMENT_BYTES_MAX = 1024 * 1024,
        DOCUMENT_NODES_MAX = 20000, /* keys count as well */
        DOCUMENT_DEPTH_MAX = 32,
};

/*
 * Reads and checks a file of at most DOCUMENT_BYTES_MAX. SYSTEMIC: not there, not readable, not
 * YAML, empty, or beyond a bound. *document_out is NULL unless OK.
 */
PO_MUST_USE enum po_class document_load(struct document **document_out, const char *path,
                                        struct po_error *error);
/* The same from memory; name stands in complaints for the file. text is copied. */
PO_MUST_USE enum po_class document_parse(struct document **document_out, const char *name,
                                         const char *text, size_t text_bytes,
                                         struct po_error *error);
void document_close(struct document *document); /* takes NULL */
const struct node *document_root(const struct document *document);
/* The file's name as it was given to load or parse. */
const char *document_name(const struct document *document);

enum node_kind node_kind(const struct node *node);
/* The scalar's text; asserts NODE_TEXT. */
const char *node_text(const struct node *node);
/* True for a scalar written without quotes (so that "5" and 5 can be told apart). */
bool node_is_plain(const struct node *node);
/* Elements of a list, or pairs of a map. */
size_t node_count(const struct node *node);
const struct node *node_at(const struct node *node, size_t index);  /* list element / map value */
const struct node *node_key(const struct node *node, size_t index); /* map key, a NODE_TEXT */
/* Where it stands in its file, counted from 1. */
size_t node_line(const struct node *node);
/* A map's member or NULL. */
const struct node *node_member(const struct node *map, const char *name);

/* Fills error with "file:line:column: …", class SYSTEMIC, and returns it. */
enum po_class node_fail(const struct node *node, struct po_error *error, const char *format, ...)
        PO_FORMAT(3, 4);

/* The document that a node belongs to. */
const struct document *node_document(const struct node *node);
/* A NUL-terminated copy of text that lives as long as the node's document; NULL: out of memory. */
char *node_keep(const struct node *node, const char *text, size_t text_bytes);
/* Zeroed memory that lives as long, aligned for anything; NULL: out of memory. */
void *node_room(const struct node *node, size_t bytes);
/*
 * Parses a text that is in no file (a default), as document_parse() does, into a tree that lives
 * as long as the document of near. name stands in its complaints for the file.
 */
PO_MUST_USE enum po_class node_aside(const struct node *near, const char *name, const char *text,
                                     const struct node **root_out, struct po_error *error);

#endif
