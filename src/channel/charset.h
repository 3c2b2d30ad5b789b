/*
 * Character sets other than UTF-8, by iconv.
 *
 * GBK and GB2312 are read as GB18030, which holds all of both: what calls itself GB2312 in the wild
 * is GBK more often than not (https://encoding.spec.whatwg.org/#gbk-decoder does the same).
 */
#ifndef CHANNEL_CHARSET_H
#define CHANNEL_CHARSET_H

#include <stdbool.h>
#include <stddef.h>

#include "postonce/error.h"

enum charset { CHARSET_UTF8, CHARSET_GB18030 };

/* Of a profile: which character set its bodies are written in. */
struct charset_map {
        const char *field; /* the form's field that names it; NULL: none does */
        enum charset fallback;
        bool needs_converter; /* UTF-8 is not the only one there can be */
};

struct charset_converter;

/* UTF-8, GBK, GB2312, GB18030, in any case; false for another name. */
bool charset_find(const char *name, enum charset *charset_out);

/* SYSTEMIC: this machine's iconv does not know GB18030. */
PO_MUST_USE enum po_class charset_open(struct charset_converter **converter_out,
                                       struct po_error *error);
void charset_close(struct charset_converter *converter); /* takes NULL */

/* Bytes that any text of length bytes becomes at most. */
static inline size_t charset_room(size_t length)
{
        return 2 * length;
}

/*
 * Bytes in GB18030 into buffer, which has room for charset_room(length). NUL stays NUL, so that
 * several texts with a NUL behind each can be converted together.
 * RECORD: INVALID_GB18030, with the place in the bytes.
 */
PO_MUST_USE enum po_class charset_convert(struct charset_converter *converter, const char *bytes,
                                          size_t length, char *buffer, size_t *length_out,
                                          struct po_error *error);

#endif
