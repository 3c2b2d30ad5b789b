/*
 * A channel's words and what they stand for here:
 *
 *   { at: /refund_status, map: { SUCCESS: REFUND_SUCCEEDED, CHANGE: REFUND_ABNORMAL } }
 */
#ifndef CHANNEL_WORD_MAP_H
#define CHANNEL_WORD_MAP_H

#include <stddef.h>

#include "channel/pointer.h"
#include "config/schema.h"
#include "postonce/error.h"

enum { WORD_MAP_MAX = 32 };

/* Texts live as long as the profile's document. */
struct word_map {
        struct pointer at;
        size_t names_count;
        struct {
                const char *text; /* the channel's word */
                const char *word; /* ours, [A-Z0-9_]+ */
        } names[WORD_MAP_MAX];
};

/*
 * Reads it from a map with "at" and "map"; our words have less than word_bytes bytes. map_out is
 * zeroed by the caller. SYSTEMIC: what is wrong, with file:line:column.
 */
PO_MUST_USE enum po_class word_map_read(const struct node *node, size_t word_bytes,
                                        struct word_map *map_out, struct po_error *error);

/* Our word, or NULL: there is nothing, or a word that the map lacks. Numbers and true/false count
 * as they are written. */
const char *word_map_find(const struct word_map *map, const struct scope *scope);

/* True for a word [A-Z0-9_]+, as channels and events are. */
bool word_is_label(const char *word);

#endif
