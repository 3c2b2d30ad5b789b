/*
 * What a scope owns it frees: CLEANUP(free_text) char *text = …;
 * Success moves it out with MOVE().
 */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>

#define CLEANUP(function) __attribute__((cleanup(function)))

/* The pointer's value, leaving NULL behind. */
static inline void *cleanup_move(void *slot)
{
        void **pointer = slot;
        void *value = *pointer;
        *pointer = NULL;
        return value;
}
#define MOVE(variable) cleanup_move(&(variable))

static inline void cleanup_free(void *slot)
{
        free(*(void **)slot);
}

static inline void cleanup_file(FILE **slot)
{
        if (*slot != NULL)
                fclose(*slot);
}

#endif
