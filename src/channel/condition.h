/*
 * Conditions of the mapping language: of rules, of guards, of items to unroll, of shapes.
 */
#ifndef CHANNEL_CONDITION_H
#define CHANNEL_CONDITION_H

#include <stdbool.h>
#include <stddef.h>

#include "channel/pointer.h"
#include "channel/scope.h"

enum { CONDITIONS_MAX = 16, CONDITION_WORDS_MAX = 32 };

/* "Exists" means, here as in pointer.h: is there, is not null and not the empty text. */
enum condition_test {
        CONDITION_EQ,     /* is this text; numbers and true/false count as they are written */
        CONDITION_IN,     /* is one of these texts */
        CONDITION_PREFIX, /* starts with this text */
        CONDITION_EXISTS,
        CONDITION_ABSENT, /* does not exist */
        CONDITION_GT0,    /* is a decimal number above zero */
};

struct condition {
        struct pointer at;
        enum condition_test test;
        size_t words_count;
        const char *words[CONDITION_WORDS_MAX];
};

struct condition_list {
        size_t count;
        struct condition *items; /* live as long as the profile's document, like their texts */
};

/* The first condition that does not hold, or NULL: all of them do. */
const struct condition *conditions_fail(const struct condition_list *list,
                                        const struct scope *scope);

/* Whether one of them has a pointer that starts at origin ('/', '@' or '#'). */
bool conditions_start_at(const struct condition_list *list, char origin);

#endif
