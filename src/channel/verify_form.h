/*
 * Alipay's signature, which stands in the form itself: over "a=1&b=2" of all fields but sign and
 * sign_type, in the order of their names' bytes, decoded but in the character set that they came
 * in; in base64, with RSA and SHA-256 (sign_type RSA2), or SHA-1 (sign_type RSA).
 *
 * Of fields without a value Alipay's own libraries take some into the text and some not, so both
 * count: a field more or less without a value changes nothing that a rule can see.
 */
#ifndef CHANNEL_VERIFY_FORM_H
#define CHANNEL_VERIFY_FORM_H

#include "base/record.h"
#include "channel/verify.h"
#include "postonce/error.h"

enum { VERIFY_FIELDS_MAX = 256 };

/* For verify_record(), which says what it returns. */
PO_MUST_USE enum po_class verify_form(const struct verify *verify, const struct record *record,
                                      struct po_error *error);

#endif
