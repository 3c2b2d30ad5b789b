#include "config/document.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "base/cleanup.h"

/* What a document owns: freed together, never before. */
struct block {
        struct block *next;
        max_align_t bytes[];
};

struct document {
        struct block *blocks;
        const char *name;
        const struct node *root;
};

struct node {
        struct document *document;
        const char *name; /* of its file; another than the document's for node_aside() */
        size_t line, column;
        enum node_kind kind;
        bool plain;
        const char *text;
        size_t count;
        const struct node **items; /* a list's elements; or a map's key, value, key, value … */
};

/* One pass over libyaml's events. */
struct reader {
        struct document *document;
        const char *name;
        const char *text;
        size_t text_bytes;
        yaml_parser_t parser;
        size_t nodes;
        struct po_error *error;
};

/* What a list or map has before its end is seen. */
struct items {
        const struct node **nodes;
        size_t count, capacity;
};

static enum po_class fail_at(const char *name, size_t line, size_t column, struct po_error *error,
                             const char *format, ...) PO_FORMAT(5, 6);

static enum po_class fail_at(const char *name, size_t line, size_t column, struct po_error *error,
                             const char *format, ...)
{
        char what[PO_ERROR_TEXT_BYTES];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(what, sizeof what, format, arguments);
        va_end(arguments);
        return po_fail(error, PO_SYSTEMIC, 0, "%s:%zu:%zu: %s", name, line, column, what);
}

static enum po_class fail_memory(const char *name, struct po_error *error)
{
        return po_fail(error, PO_SYSTEMIC, ENOMEM, "%s: out of memory", name);
}

/* Zeroed memory that lives as long as the document; NULL when there is none. */
static void *document_keep(struct document *document, size_t bytes)
{
        struct block *block = calloc(1, sizeof *block + bytes);
        if (block == NULL)
                return NULL;
        block->next = document->blocks;
        document->blocks = block;
        return block->bytes;
}

static char *document_keep_text(struct document *document, const char *text, size_t text_bytes)
{
        char *copy = document_keep(document, text_bytes + 1);
        if (copy != NULL)
                memcpy(copy, text, text_bytes);
        return copy;
}

/* The complaint about a byte: libyaml gives its offset only. */
static enum po_class fail_byte(const char *name, const char *text, size_t offset,
                               struct po_error *error, const char *what)
{
        size_t line = 1, column = 1;
        for (size_t i = 0; i < offset; i++) {
                unsigned char byte = (unsigned char)text[i];
                if (byte == '\n') {
                        line++;
                        column = 1;
                } else if ((byte & 0xC0) != 0x80) { /* not a later byte of a character */
                        column++;
                }
        }
        return fail_at(name, line, column, error, "%s", what);
}

static enum po_class fail_parser(const struct reader *reader)
{
        const yaml_parser_t *parser = &reader->parser;
        if (parser->error == YAML_MEMORY_ERROR)
                return fail_memory(reader->name, reader->error);
        const char *problem = parser->problem != NULL ? parser->problem : "not YAML";
        if (parser->error == YAML_READER_ERROR)
                return fail_byte(reader->name, reader->text, parser->problem_offset, reader->error,
                                 problem);
        size_t line = parser->problem_mark.line + 1, column = parser->problem_mark.column + 1;
        if (parser->context == NULL)
                return fail_at(reader->name, line, column, reader->error, "%s", problem);
        return fail_at(reader->name, line, column, reader->error, "%s %s that begins in line %zu",
                       problem, parser->context, parser->context_mark.line + 1);
}

static enum po_class fail_event(const struct reader *reader, const yaml_event_t *event,
                                const char *what)
{
        return fail_at(reader->name, event->start_mark.line + 1, event->start_mark.column + 1,
                       reader->error, "%s", what);
}

/* Puts the next event in the place of the last one. */
static enum po_class next_event(struct reader *reader, yaml_event_t *event)
{
        yaml_event_delete(event);
        return yaml_parser_parse(&reader->parser, event) ? PO_OK : fail_parser(reader);
}

static void items_free(struct items *items)
{
        free(items->nodes);
}

static enum po_class items_add(struct items *items, const struct node *node,
                               const struct reader *reader)
{
        if (items->count == items->capacity) {
                size_t capacity = items->capacity == 0 ? 8 : 2 * items->capacity;
                void *nodes = realloc(items->nodes, capacity * sizeof *items->nodes);
                if (nodes == NULL)
                        return fail_memory(reader->name, reader->error);
                items->nodes = nodes;
                items->capacity = capacity;
        }
        items->nodes[items->count++] = node;
        return PO_OK;
}

/* items: of the map so far, whole pairs. */
static enum po_class check_key(const struct items *items, const struct node *key,
                               struct po_error *error)
{
        if (key->kind != NODE_TEXT)
                return node_fail(key, error, "a key must be a text");
        if (key->plain && key->text[0] == '\0')
                return node_fail(key, error, "a key is missing");
        if (key->plain && strcmp(key->text, "<<") == 0)
                return node_fail(key, error, "merge keys (<<) are not read: write it out");
        for (size_t i = 0; i < items->count; i += 2)
                if (strcmp(items->nodes[i]->text, key->text) == 0)
                        return node_fail(key, error,
                                         "key \"%.64s\" stands here again, first in line %zu",
                                         key->text, items->nodes[i]->line);
        return PO_OK;
}

static enum po_class read_node(struct reader *reader, const yaml_event_t *event, size_t depth,
                               const struct node **node_out);

static enum po_class read_item(struct reader *reader, const yaml_event_t *event, size_t depth,
                               bool is_key, struct items *items)
{
        const struct node *item;
        enum po_class kind = read_node(reader, event, depth, &item);
        if (kind == PO_OK && is_key)
                kind = check_key(items, item, reader->error);
        return kind == PO_OK ? items_add(items, item, reader) : kind;
}

static enum po_class read_items(struct reader *reader, size_t depth, struct node *node)
{
        CLEANUP(items_free) struct items items = { 0 };
        CLEANUP(yaml_event_delete) yaml_event_t event = { 0 };
        bool is_map = node->kind == NODE_MAP;
        for (;;) {
                enum po_class kind = next_event(reader, &event);
                if (kind != PO_OK)
                        return kind;
                if (event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT)
                        break;
                bool is_key = is_map && items.count % 2 == 0;
                kind = read_item(reader, &event, depth + 1, is_key, &items);
                if (kind != PO_OK)
                        return kind;
        }
        node->count = is_map ? items.count / 2 : items.count;
        if (items.count == 0)
                return PO_OK;
        node->items = document_keep(reader->document, items.count * sizeof *items.nodes);
        if (node->items == NULL)
                return fail_memory(reader->name, reader->error);
        memcpy(node->items, items.nodes, items.count * sizeof *items.nodes);
        return PO_OK;
}

static enum po_class read_text(struct reader *reader, const yaml_event_t *event, struct node *node)
{
        const char *text = (const char *)event->data.scalar.value;
        size_t text_bytes = event->data.scalar.length;
        if (memchr(text, '\0', text_bytes) != NULL)
                return fail_event(reader, event, "a text must not hold a NUL");

        node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        node->text = document_keep_text(reader->document, text, text_bytes);
        return node->text != NULL ? PO_OK : fail_memory(reader->name, reader->error);
}

static bool has_tag(const yaml_event_t *event)
{
        if (event->type == YAML_SCALAR_EVENT)
                return event->data.scalar.tag != NULL;
        if (event->type == YAML_SEQUENCE_START_EVENT)
                return event->data.sequence_start.tag != NULL;
        return event->data.mapping_start.tag != NULL;
}

/* The node that event begins. Recursion is bounded by DOCUMENT_DEPTH_MAX. */
static enum po_class read_node(struct reader *reader, const yaml_event_t *event, size_t depth,
                               const struct node **node_out)
{
        if (event->type == YAML_ALIAS_EVENT)
                return fail_event(reader, event, "aliases (*) are not read: write it out");
        if (has_tag(event))
                return fail_event(reader, event, "tags (!) are not read");
        if (depth > DOCUMENT_DEPTH_MAX)
                return fail_event(reader, event, "nested too deep");
        if (++reader->nodes > DOCUMENT_NODES_MAX)
                return fail_event(reader, event, "too many values for one file");

        struct node *node = document_keep(reader->document, sizeof *node);
        if (node == NULL)
                return fail_memory(reader->name, reader->error);
        *node_out = node;
        node->document = reader->document;
        node->name = reader->name;
        node->line = event->start_mark.line + 1;
        node->column = event->start_mark.column + 1;
        if (event->type == YAML_SCALAR_EVENT)
                return read_text(reader, event, node); /* NODE_TEXT is 0 */
        node->kind = event->type == YAML_SEQUENCE_START_EVENT ? NODE_LIST : NODE_MAP;
        return read_items(reader, depth, node);
}

static bool is_blank(const yaml_event_t *event)
{
        return event->type == YAML_STREAM_END_EVENT ||
               (event->type == YAML_SCALAR_EVENT && event->data.scalar.length == 0 &&
                event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE);
}

/* Start of stream, start of document, root …, end of document, end of stream. */
static enum po_class read_events(struct reader *reader, const struct node **root_out)
{
        CLEANUP(yaml_event_delete) yaml_event_t event = { 0 };
        for (int i = 0; i < 3; i++) {
                enum po_class kind = next_event(reader, &event);
                if (kind != PO_OK)
                        return kind;
                if (is_blank(&event))
                        return fail_at(reader->name, 1, 1, reader->error,
                                       "empty: nothing but blanks and comments");
        }
        enum po_class kind = read_node(reader, &event, 1, root_out);
        for (int i = 0; i < 2 && kind == PO_OK; i++)
                kind = next_event(reader, &event);
        if (kind == PO_OK && event.type != YAML_STREAM_END_EVENT)
                return fail_event(reader, &event, "a second document begins: one a file");
        return kind;
}

static enum po_class read_stream(struct reader *reader, const struct node **root_out)
{
        if (!yaml_parser_initialize(&reader->parser))
                return fail_memory(reader->name, reader->error);
        yaml_parser_set_input_string(&reader->parser, (const unsigned char *)reader->text,
                                     reader->text_bytes);
        yaml_parser_set_encoding(&reader->parser, YAML_UTF8_ENCODING);
        enum po_class kind = read_events(reader, root_out);
        yaml_parser_delete(&reader->parser);
        return kind;
}

static enum po_class document_read(struct document *document, const char *name, const char *text,
                                   size_t text_bytes, const struct node **root_out,
                                   struct po_error *error)
{
        if (text_bytes > DOCUMENT_BYTES_MAX)
                return po_fail(error, PO_SYSTEMIC, 0, "%s: larger than %d bytes", name,
                               (int)DOCUMENT_BYTES_MAX);
        const char *nul = memchr(text, '\0', text_bytes);
        if (nul != NULL)
                return fail_byte(name, text, (size_t)(nul - text), error, "a NUL byte: not a text");

        /* libyaml would count the byte-order mark as a column of the first line. */
        size_t mark_bytes = text_bytes >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
        struct reader reader = { .document = document,
                                 .name = name,
                                 .text = text + mark_bytes,
                                 .text_bytes = text_bytes - mark_bytes,
                                 .error = error };
        return read_stream(&reader, root_out);
}

static void close_slot(struct document **slot)
{
        document_close(*slot);
}

enum po_class document_parse(struct document **document_out, const char *name, const char *text,
                             size_t text_bytes, struct po_error *error)
{
        *document_out = NULL;
        CLEANUP(close_slot) struct document *document = calloc(1, sizeof *document);
        if (document == NULL)
                return fail_memory(name, error);
        document->name = document_keep_text(document, name, strlen(name));
        if (document->name == NULL)
                return fail_memory(name, error);

        enum po_class kind =
                document_read(document, document->name, text, text_bytes, &document->root, error);
        if (kind == PO_OK)
                *document_out = MOVE(document);
        return kind;
}

enum po_class document_load(struct document **document_out, const char *path,
                            struct po_error *error)
{
        *document_out = NULL;
        CLEANUP(cleanup_file) FILE *file = fopen(path, "rbe");
        if (file == NULL)
                return po_fail(error, PO_SYSTEMIC, errno, "%s: %s", path, strerror(errno));
        size_t capacity = DOCUMENT_BYTES_MAX + 1; /* one more tells that there is more */
        CLEANUP(cleanup_free) char *text = malloc(capacity);
        if (text == NULL)
                return fail_memory(path, error);

        errno = 0;
        size_t text_bytes = fread(text, 1, capacity, file);
        if (ferror(file))
                return po_fail(error, PO_SYSTEMIC, errno, "%s: %s", path, strerror(errno));
        return document_parse(document_out, path, text, text_bytes, error);
}

void document_close(struct document *document)
{
        if (document == NULL)
                return;
        for (struct block *block = document->blocks; block != NULL;) {
                struct block *next = block->next;
                free(block);
                block = next;
        }
        free(document);
}

const struct node *document_root(const struct document *document)
{
        return document->root;
}

const char *document_name(const struct document *document)
{
        return document->name;
}

size_t node_line(const struct node *node)
{
        return node->line;
}

enum node_kind node_kind(const struct node *node)
{
        return node->kind;
}

const char *node_text(const struct node *node)
{
        assert(node->kind == NODE_TEXT);
        return node->text;
}

bool node_is_plain(const struct node *node)
{
        return node->plain;
}

size_t node_count(const struct node *node)
{
        return node->count;
}

const struct node *node_at(const struct node *node, size_t index)
{
        assert(index < node->count);
        return node->items[node->kind == NODE_MAP ? 2 * index + 1 : index];
}

const struct node *node_key(const struct node *node, size_t index)
{
        assert(node->kind == NODE_MAP && index < node->count);
        return node->items[2 * index];
}

const struct node *node_member(const struct node *map, const char *name)
{
        assert(map->kind == NODE_MAP);
        for (size_t i = 0; i < map->count; i++)
                if (strcmp(map->items[2 * i]->text, name) == 0)
                        return map->items[2 * i + 1];
        return NULL;
}

enum po_class node_fail(const struct node *node, struct po_error *error, const char *format, ...)
{
        char what[PO_ERROR_TEXT_BYTES];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(what, sizeof what, format, arguments);
        va_end(arguments);
        return fail_at(node->name, node->line, node->column, error, "%s", what);
}

const struct document *node_document(const struct node *node)
{
        return node->document;
}

char *node_keep(const struct node *node, const char *text, size_t text_bytes)
{
        return document_keep_text(node->document, text, text_bytes);
}

void *node_room(const struct node *node, size_t bytes)
{
        return document_keep(node->document, bytes);
}

enum po_class node_aside(const struct node *near, const char *name, const char *text,
                         const struct node **root_out, struct po_error *error)
{
        const char *kept = node_keep(near, name, strlen(name));
        if (kept == NULL)
                return fail_memory(name, error);
        return document_read(near->document, kept, text, strlen(text), root_out, error);
}
