/* Text into a buffer of the caller, never beyond it: what does not fit is cut and remembered. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "postonce/error.h"

struct text {
        char *buffer; /* always NUL-terminated */
        size_t length, capacity;
        bool cut;
};

/* text into a buffer of capacity bytes, 1 at least: what does not fit is cut. */
void text_copy(char *buffer, size_t capacity, const char *text);

/* capacity includes the NUL and is at least 1. */
void text_init(struct text *text, char *buffer, size_t capacity);
void text_put(struct text *text, const char *piece);
void text_format(struct text *text, const char *format, ...) PO_FORMAT(2, 3);
void text_put_integer(struct text *text, int64_t value);
/* piece as a JSON string with its quotes (RFC 8259; UTF-8 is passed as it is). */
void text_put_json(struct text *text, const char *piece);
/* µs since 1970 UTC, of the years 1970–9999, as "2026-01-14T04:21:07.231000Z" (RFC 3339), bare. */
void text_put_time(struct text *text, int64_t time_us);

#endif
