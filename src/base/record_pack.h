/*
 * A whole record as bytes, for a column of a table: a parked record, the body of a letter that was
 * too large for its topic. Null and empty, the headers' order and duplicates survive.
 *
 * Layout, numbers big-endian, lengths in bytes:
 *
 *   4  "POR1"
 *   4  number of headers
 *   4  partition
 *   8  offset
 *   8  timestamp in ms, -1: none
 *   .  topic: name
 *   .  key: bytes
 *   .  value: bytes
 *   .  of each header: name, bytes
 *
 *   name   4 length, the text, a NUL that the length does not count
 *   bytes  4 length, the bytes; length ffffffff: null
 *
 * slot and epoch are the moment's and are not kept.
 */
#ifndef BASE_RECORD_PACK_H
#define BASE_RECORD_PACK_H

#include "base/record.h"
#include "postonce/error.h"

/* What record_pack() writes. */
size_t record_pack_bytes(const struct record *record);

/* buffer has room for record_pack_bytes(); topic and header names are not NULL. */
void record_pack(const struct record *record, unsigned char *buffer);

/* How many headers stand in packed bytes, to size `headers` by; 0 for what cannot be a record. */
size_t record_pack_headers(const unsigned char *bytes, size_t count);

/*
 * Everything in *record_out leads into bytes and headers (room for headers_max; NULL if 0), which
 * the caller keeps. slot and epoch are 0. BUG: not a packed record, cut short, followed by more, or
 * with more headers than headers_max; *record_out is then not to be used.
 */
PO_MUST_USE enum po_class record_unpack(const unsigned char *bytes, size_t count,
                                        struct record *record_out, struct record_header *headers,
                                        size_t headers_max, struct po_error *error);

#endif
