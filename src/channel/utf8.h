/* UTF-8 as Unicode defines it (table 3-7): no overlong forms, no surrogates, none past U+10FFFF. */
#ifndef CHANNEL_UTF8_H
#define CHANNEL_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the well-formed sequence above ASCII that starts at bytes, 0 if there is none. */
size_t utf8_length(const unsigned char *bytes, size_t length);

/* The place of the first byte that is no UTF-8, or length: all of it is. */
size_t utf8_check(const char *bytes, size_t length);

#endif
