/* 64-bit addition that says when it does not fit. */
#ifndef BASE_CHECKED_H
#define BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

/* *sum += addend; false (and *sum unchanged) when that would leave int64_t. */
static inline bool checked_add(int64_t *sum, int64_t addend)
{
        if (addend > 0 ? *sum > INT64_MAX - addend : *sum < INT64_MIN - addend)
                return false;
        *sum += addend;
        return true;
}

#endif
