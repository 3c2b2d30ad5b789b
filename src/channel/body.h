/*
 * Bodies of all kinds: bytes in, one kind of tree out. The rules see nothing else.
 */
#ifndef CHANNEL_BODY_H
#define CHANNEL_BODY_H

#include <stdbool.h>
#include <stddef.h>

#include <json-c/json_object.h>

#include "channel/charset.h"
#include "postonce/error.h"

enum body_kind {
        BODY_JSON,
        BODY_FORM,
        BODY_XML,
        BODY_ENVELOPE,    /* JSON of postonce's own form; see envelope.h */
        BODY_CLOUDEVENTS, /* read with the record's headers; see cloudevent.h */
};

struct body_parser; /* what is reused from record to record */

/* converter: some profile's charset needs one. SYSTEMIC: no memory, or iconv knows no GB18030. */
PO_MUST_USE enum po_class body_open(struct body_parser **parser_out, bool converter,
                                    struct po_error *error);
void body_close(struct body_parser *parser); /* takes NULL */

/*
 * Parses length bytes, VALUE_BYTES_MAX at most, of any kind but CloudEvents into a tree that the
 * caller puts with json_object_put(). RECORD and BUG: what json_body.h, form_body.h and xml_body.h
 * say.
 */
PO_MUST_USE enum po_class body_parse(struct body_parser *parser, enum body_kind kind,
                                     const struct charset_map *charset, const char *bytes,
                                     size_t length, struct json_object **root_out,
                                     struct po_error *error);

#endif
