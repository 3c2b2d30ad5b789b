#include "desk/letter_set.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <uuid/uuid.h>

enum { SLOTS = 2 * LETTER_SET_IDS };

/* Open addressing, half full at most. The nil UUID marks a free slot; it is no letter's. */
struct generation {
        size_t count;
        uuid_t slots[SLOTS];
};

struct letter_set {
        struct generation *young, *old;
};

enum po_class letter_set_open(struct letter_set **set_out, struct po_error *error)
{
        struct letter_set *set = calloc(1, sizeof *set);
        *set_out = set;
        if (set != NULL) {
                set->young = calloc(1, sizeof *set->young);
                set->old = calloc(1, sizeof *set->old);
        }
        if (set == NULL || set->young == NULL || set->old == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "no memory for letter ids");
        return PO_OK;
}

void letter_set_close(struct letter_set *set)
{
        if (set == NULL)
                return;
        free(set->young);
        free(set->old);
        free(set);
}

/* The id's slot: where it stands, or would. The ids are digests, so any of their bytes is a hash.
 */
static unsigned char *slot_of(struct generation *generation, const uuid_t id)
{
        uint64_t hash;
        memcpy(&hash, id, sizeof hash);
        for (size_t step = 0;; step++) { /* ends: half of the slots are free */
                unsigned char *slot = generation->slots[(hash + step) % SLOTS];
                if (uuid_is_null(slot) || memcmp(slot, id, sizeof(uuid_t)) == 0)
                        return slot;
        }
}

bool letter_set_add(struct letter_set *set, const char *id)
{
        uuid_t binary;
        if (uuid_parse(id, binary) != 0 || uuid_is_null(binary))
                return true;
        unsigned char *slot = slot_of(set->young, binary);
        if (!uuid_is_null(slot) || !uuid_is_null(slot_of(set->old, binary)))
                return false;
        memcpy(slot, binary, sizeof binary);
        set->young->count++;
        if (set->young->count == LETTER_SET_IDS) {
                struct generation *emptied = set->old;
                set->old = set->young;
                set->young = emptied;
                memset(emptied, 0, sizeof *emptied);
        }
        return true;
}
