/* Numbers and times as text without printf: every record has several of them. */
#ifndef BASE_PRINT_H
#define BASE_PRINT_H

#include <stddef.h>
#include <stdint.h>

enum {
        INTEGER_TEXT_BYTES = 21, /* -9223372036854775808 and its NUL */
        TIME_TEXT_BYTES = 27,    /* 2026-01-14T04:21:07.231000 and its NUL */
};

/* In decimal digits, NUL-terminated; returns the length. */
size_t integer_print(char text_out[INTEGER_TEXT_BYTES], int64_t value);

/*
 * µs since 1970 UTC, of the years 1970–9999, to the microsecond; separator stands between date and
 * clock. NUL-terminated.
 */
void time_print(char text_out[TIME_TEXT_BYTES], int64_t time_us, char separator);

#endif
