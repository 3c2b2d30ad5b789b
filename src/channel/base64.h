/* Base64 as RFC 4648 section 4 has it: padded, without line breaks, no bits left over. */
#ifndef CHANNEL_BASE64_H
#define CHANNEL_BASE64_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes that length characters stand for at most. */
static inline size_t base64_room(size_t length)
{
        return length / 4 * 3;
}

/* Into buffer, which has room for base64_room(length) bytes. False: it is no base64. */
bool base64_decode(const char *text, size_t length, unsigned char *buffer, size_t *length_out);

#endif
