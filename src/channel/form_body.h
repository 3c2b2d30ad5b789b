/*
 * A body of application/x-www-form-urlencoded as an object of texts.
 *
 * Strict where browsers are lenient, since a field that two readers take differently can be made to
 * hide an amount: every field has a name and a '=', none comes twice, escapes are whole.
 */
#ifndef CHANNEL_FORM_BODY_H
#define CHANNEL_FORM_BODY_H

#include <stddef.h>
#include <string.h>

#include <json-c/json_object.h>

#include "channel/charset.h"
#include "postonce/error.h"

/* Fields, each "name NUL value NUL" (no text holds a NUL of its own), in their character set. */
struct form_fields {
        char *texts;
        size_t length;
};

static inline const char *form_text_next(const char *text)
{
        return text + strlen(text) + 1;
}

/*
 * Takes the escapes apart, before any character set is looked at. fields->texts has room for
 * length + 1 bytes, fields->length is 0. RECORD: MALFORMED_FORM and NUL_IN_TEXT as below.
 */
PO_MUST_USE enum po_class form_fields_take(const char *bytes, size_t length,
                                           struct form_fields *fields, struct po_error *error);

/*
 * One text with percent escapes, '+' for a space, into buffer, which has room for length + 1 bytes
 * and is ended with a NUL. RECORD: MALFORMED_FORM, NUL_IN_TEXT. A bare '&' stands for itself.
 */
PO_MUST_USE enum po_class form_text_decode(const char *bytes, size_t length, char *buffer,
                                           size_t *length_out, struct po_error *error);

/*
 * The tree is the caller's, to be put with json_object_put(). The character set is that of the
 * bytes behind the percent escapes; converter may be NULL where charset does not need one.
 * RECORD: MALFORMED_FORM (a bad escape, a field without name or '=', a bare space or control
 * character), NUL_IN_TEXT (%00), DUPLICATE_FIELD, TOO_MANY_VALUES, CHARSET_UNKNOWN, INVALID_UTF8,
 * INVALID_GB18030. BUG: no memory.
 */
PO_MUST_USE enum po_class form_body_parse(const char *bytes, size_t length,
                                          const struct charset_map *charset,
                                          struct charset_converter *converter,
                                          struct json_object **root_out, struct po_error *error);

#endif
