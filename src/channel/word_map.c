#include "channel/word_map.h"

#include <string.h>

#include "channel/condition_load.h"
#include "channel/value.h"

bool word_is_label(const char *word)
{
        static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
        return word[0] != '\0' && word[strspn(word, letters)] == '\0';
}

/* target: struct word_map. */
static enum po_class read_names(const struct node *node, const struct field *field, void *target,
                                struct po_error *error)
{
        struct word_map *map = target;
        if (node_kind(node) != NODE_MAP || node_count(node) == 0 || node_count(node) > WORD_MAP_MAX)
                return node_fail(node, error,
                                 "%s wants 1 to %d pairs of the channel's word and ours",
                                 field->name, WORD_MAP_MAX);
        for (; map->names_count < node_count(node); map->names_count++) {
                const struct node *value = node_at(node, map->names_count);
                const char *word;
                enum po_class kind = schema_text(value, &word, error);
                if (kind != PO_OK)
                        return kind;
                if (!word_is_label(word))
                        return node_fail(value, error, "our words are of A-Z, 0-9 and _");
                map->names[map->names_count].text = node_text(node_key(node, map->names_count));
                map->names[map->names_count].word = word;
        }
        return PO_OK;
}

enum po_class word_map_read(const struct node *node, size_t word_bytes, struct word_map *map_out,
                            struct po_error *error)
{
        static const struct field fields[] = {
                { .name = "at",
                  .kind = FIELD_CUSTOM,
                  .offset = offsetof(struct word_map, at),
                  .required = true,
                  .reader = read_pointer,
                  .help = "pointer to the channel's word" },
                { .name = "map",
                  .kind = FIELD_CUSTOM,
                  .offset = 0,
                  .required = true,
                  .reader = read_names,
                  .help = "the channel's words and what they stand for; any other is refused" },
                { 0 },
        };
        enum po_class kind = schema_read(node, fields, map_out, error);
        if (kind != PO_OK)
                return kind;
        for (size_t i = 0; i < map_out->names_count; i++)
                if (strlen(map_out->names[i].word) >= word_bytes)
                        return node_fail(node_member(node, "map"), error,
                                         "our words have at most %zu bytes", word_bytes - 1);
        return PO_OK;
}

const char *word_map_find(const struct word_map *map, const struct scope *scope)
{
        struct value_text text;
        struct json_object *value = pointer_find(&map->at, scope);
        if (value == NULL || !value_written(value, &text))
                return NULL;
        for (size_t i = 0; i < map->names_count; i++)
                if (strlen(map->names[i].text) == text.length &&
                    memcmp(map->names[i].text, text.bytes, text.length) == 0)
                        return map->names[i].word;
        return NULL;
}
