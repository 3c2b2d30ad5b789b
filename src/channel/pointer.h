/*
 * Pointers of the mapping language: RFC 6901 ("/a/b~1c/0"), with alternatives "/a|/b": the first
 * that leads to something. A member name with '|' in it cannot be reached. "/…" starts at the body,
 * "@/…" at the item of the list that is unrolled, "#/name" is a header of the record.
 */
#ifndef CHANNEL_POINTER_H
#define CHANNEL_POINTER_H

#include <stdbool.h>
#include <stdint.h>

#include "channel/scope.h"

enum { POINTER_BYTES = 256, POINTER_PATHS_MAX = 4, POINTER_STEPS_MAX = 16 };

/* Compiled once, when the profile is loaded; the members are pointer.c's own. */
struct pointer {
        const char *source;                  /* as it was written; for people */
        char names[POINTER_BYTES];           /* the steps' names, unescaped, each with its NUL */
        uint8_t step[POINTER_STEPS_MAX];     /* where in names */
        uint8_t path_end[POINTER_PATHS_MAX]; /* which step ends this alternative */
        uint8_t paths;                       /* 0: there is no pointer */
        char origin[POINTER_PATHS_MAX];      /* '/', '@' or '#' */
};

/*
 * Returns NULL, or what is wrong with the text (static). Kept by reference: text must outlive the
 * pointer. The empty pointer, which means the whole document, is refused: no rule needs it.
 */
const char *pointer_compile(struct pointer *pointer_out, const char *text);

static inline bool pointer_is_given(const struct pointer *pointer)
{
        return pointer->paths > 0;
}

/* Whether an alternative starts at origin: '/', '@' or '#'. */
bool pointer_starts_at(const struct pointer *pointer, char origin);

/*
 * What the first alternative leads to that exists, is not null and not the empty text; NULL when
 * none does. Borrowed from the scope's trees.
 */
struct json_object *pointer_find(const struct pointer *pointer, const struct scope *scope);

#endif
