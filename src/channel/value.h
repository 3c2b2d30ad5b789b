/*
 * Values of a body's tree as text, checked as every text of a notification must be.
 */
#ifndef CHANNEL_VALUE_H
#define CHANNEL_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#include <json-c/json_object.h>

#include "base/print.h"
#include "postonce/error.h"

struct value_text {
        const char *bytes; /* in the tree, static, or digits; NUL-terminated */
        size_t length;
        char digits[INTEGER_TEXT_BYTES];
};

/*
 * A text, an integer (in digits) or true/false. False for anything else: lists, objects, NULL, and
 * numbers with a fraction or an exponent, whose text would be a matter of taste.
 */
bool value_text(struct json_object *value, struct value_text *text_out);

/* The same, but any number with a fraction or an exponent as it is written: for comparing only. */
bool value_written(struct json_object *value, struct value_text *text_out);

/*
 * The text of value, checked; name is the notification's member, for people.
 * RECORD: WRONG_TYPE (no value_text()), CONTROL_CHARACTER (C0, DEL or C1), PADDED_TEXT (a space at
 * either end: the database would not tell it from the text without).
 */
PO_MUST_USE enum po_class value_take(struct json_object *value, const char *name,
                                     struct value_text *text_out, struct po_error *error);

/* value_take() into buffer. RECORD, too, with reason too_long: capacity - 1 bytes are the most. */
PO_MUST_USE enum po_class value_copy(struct json_object *value, const char *name,
                                     const char *too_long, char *buffer, size_t capacity,
                                     struct po_error *error);

#endif
