#include "config/schema.h"

#include <assert.h>
#include <string.h>

#include "config/nearest.h"
#include "config/scalar.h"

enum {
        FIELDS_MAX = 64, /* of one table */
        HINT_BYTES = 384,
        NAME_SHOWN_BYTES = 65, /* of an unknown member */
        DEFAULT_NAME_BYTES = 96,
        HELP_INDENT = 2,
        HELP_COLUMN = 36, /* where "# help" begins, if there is room */
};

static const struct field *field_find(const struct field *fields, const char *name)
{
        for (; fields->name != NULL; fields++)
                if (strcmp(fields->name, name) == 0)
                        return fields;
        return NULL;
}

static enum po_class fail_unknown(const struct node *key, const struct field *fields,
                                  struct po_error *error)
{
        const char *names[FIELDS_MAX + 1] = { NULL };
        for (size_t i = 0; fields[i].name != NULL; i++) {
                assert(i < FIELDS_MAX);
                names[i] = fields[i].name;
        }
        char hint[HINT_BYTES], name[NAME_SHOWN_BYTES];
        snprintf(name, sizeof name, "%s", node_text(key));
        if (strchr(node_text(key), ':') != NULL) {
                /* { password:secret } is one key: what is behind the colon is not shown. */
                name[strcspn(name, ":")] = '\0';
                return node_fail(key, error, "unknown member \"%s:…\": no space after the colon?",
                                 name);
        }
        nearest_hint(hint, sizeof hint, node_text(key), names);
        return node_fail(key, error, "unknown member \"%s\"; %s", name, hint);
}

static enum po_class field_read(const struct node *node, const struct field *field, void *target,
                                struct po_error *error)
{
        void *place = (char *)target + field->offset;
        if (field->kind == FIELD_CUSTOM)
                return field->reader(node, field, place, error);
        if (field->kind != FIELD_SECTION)
                return scalar_read(node, field, place, error);
        if (node_kind(node) != NODE_MAP)
                return scalar_fail(node, field, error, "must be a map of members (or left out)");
        return schema_read(node, field->section, place, error);
}

/* The fallback is read as if it stood in the file. near: whose document owns what comes of it. */
static enum po_class field_default(const struct node *near, const struct field *field, void *target,
                                   struct po_error *error)
{
        if (field->kind == FIELD_SECTION) {
                for (const struct field *inner = field->section; inner->name != NULL; inner++) {
                        enum po_class kind =
                                field_default(near, inner, (char *)target + field->offset, error);
                        if (kind != PO_OK)
                                return kind;
                }
                return PO_OK;
        }
        if (field->fallback == NULL)
                return PO_OK;

        const struct node *node;
        char name[DEFAULT_NAME_BYTES];
        snprintf(name, sizeof name, "(default of %s)", field->name);
        enum po_class kind = node_aside(near, name, field->fallback, &node, error);
        return kind != PO_OK ? kind : field_read(node, field, target, error);
}

enum po_class schema_read(const struct node *map, const struct field *fields, void *target,
                          struct po_error *error)
{
        if (node_kind(map) != NODE_MAP)
                return node_fail(map, error, "must be a map of members");
        for (size_t i = 0; i < node_count(map); i++)
                if (field_find(fields, node_text(node_key(map, i))) == NULL)
                        return fail_unknown(node_key(map, i), fields, error);

        for (const struct field *field = fields; field->name != NULL; field++) {
                const struct node *node = node_member(map, field->name);
                if (node == NULL && field->required)
                        return node_fail(map, error, "required member \"%s\" is missing",
                                         field->name);
                enum po_class kind = node != NULL ? field_read(node, field, target, error)
                                                  : field_default(map, field, target, error);
                if (kind != PO_OK)
                        return kind;
        }
        return PO_OK;
}

static enum po_class words_add(const struct node *node, char *array, size_t item_bytes,
                               size_t count, struct po_error *error)
{
        char *item = array + count * item_bytes;
        enum po_class kind = schema_word(node, item, item_bytes, error);
        if (kind != PO_OK)
                return kind;
        for (size_t i = 0; i < count; i++)
                if (strcmp(array + i * item_bytes, item) == 0)
                        return node_fail(node, error, "\"%s\" stands in the list already",
                                         node_text(node));
        return PO_OK;
}

enum po_class schema_words(const struct node *node, bool single_allowed, void *array,
                           size_t item_bytes, size_t max, size_t *count_out, struct po_error *error)
{
        *count_out = 0;
        if (single_allowed && node_kind(node) == NODE_TEXT) {
                enum po_class kind = words_add(node, array, item_bytes, 0, error);
                *count_out = kind == PO_OK;
                return kind;
        }
        if (node_kind(node) != NODE_LIST)
                return node_fail(node, error, "must be a list of words");
        if (node_count(node) > max)
                return node_fail(node, error, "%zu words; at most %zu are allowed",
                                 node_count(node), max);
        for (size_t i = 0; i < node_count(node); i++) {
                enum po_class kind = words_add(node_at(node, i), array, item_bytes, i, error);
                if (kind != PO_OK)
                        return kind;
        }
        *count_out = node_count(node);
        return PO_OK;
}

static const char *default_shown(const struct field *field)
{
        return field->secret ? NULL : field->fallback;
}

/* Whether the line of a field stands in the output, or is commented out. */
static bool line_stands(const struct field *field)
{
        if (field->required || default_shown(field) != NULL)
                return true;
        if (field->kind != FIELD_SECTION)
                return false;
        bool any = false;
        for (const struct field *inner = field->section; inner->name != NULL; inner++) {
                if (inner->required)
                        return false; /* left out, the section asks for nothing */
                any = any || line_stands(inner);
        }
        return any;
}

/* "# required: meaning (1 to 5000 records)", as much of it as there is. */
static void help_comment(const struct field *field, FILE *stream)
{
        const char *before = " # ";
        if (field->required) {
                fprintf(stream, "%srequired", before);
                before = field->help != NULL ? ": " : " ";
        }
        if (field->help != NULL) {
                fprintf(stream, "%s%s", before, field->help);
                before = " ";
        }
        if (field->kind == FIELD_INTEGER || field->kind == FIELD_DURATION) {
                char range[SCALAR_RANGE_BYTES];
                scalar_range(range, field);
                fprintf(stream, "%s(%s)", before, range);
        }
        for (size_t i = 0; field->words != NULL && field->words[i] != NULL; i++)
                fprintf(stream, "%s%s%s", i == 0 ? before : " | ", i == 0 ? "(" : "",
                        field->words[i]);
        fputs(field->words != NULL ? ")" : "", stream);
}

static bool has_comment(const struct field *field)
{
        return field->required || field->help != NULL || field->words != NULL ||
               field->kind == FIELD_INTEGER || field->kind == FIELD_DURATION;
}

static void help_lines(const struct field *fields, int indent, bool stands, FILE *stream)
{
        for (const struct field *field = fields; field->name != NULL; field++) {
                bool own = stands && line_stands(field);
                const char *value = default_shown(field);
                int used = fprintf(stream, "%*s%s%s:%s%s", indent, "", own ? "" : "# ", field->name,
                                   value != NULL ? " " : "", value != NULL ? value : "");
                if (has_comment(field)) {
                        fprintf(stream, "%*s", used < HELP_COLUMN ? HELP_COLUMN - used : 0, "");
                        help_comment(field, stream);
                }
                fputc('\n', stream);
                if (field->kind == FIELD_SECTION)
                        help_lines(field->section, indent + HELP_INDENT, own, stream);
        }
}

void schema_help(const struct field *fields, int indent, FILE *stream)
{
        help_lines(fields, indent, true, stream);
}
