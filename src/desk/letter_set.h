/*
 * The letter ids of this run: the same letter may stand in the topic twice, close together, when a
 * worker died between acknowledgement and row. Bounded: when it is full, the older half is
 * forgotten, so it holds at least LETTER_SET_IDS latest ones.
 */
#ifndef DESK_LETTER_SET_H
#define DESK_LETTER_SET_H

#include <stdbool.h>

#include "postonce/error.h"

enum { LETTER_SET_IDS = 65536 };

struct letter_set;

PO_MUST_USE enum po_class letter_set_open(struct letter_set **set_out, struct po_error *error);
void letter_set_close(struct letter_set *set); /* takes NULL */

/* True when id (a UUID as text) is new, and remembers it. "" is always new. */
bool letter_set_add(struct letter_set *set, const char *id);

#endif
