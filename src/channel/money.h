/*
 * Amounts: text to whole minor units, digit by digit. Never through floating point, never rounded.
 *
 * Zero and negative amounts parse: whether they mean something is the caller's matter (a total less
 * what is left of it may be zero before it is checked). Nothing else than an optional '-' and
 * digits is taken: no '+', no spaces, no grouping, no exponent.
 */
#ifndef CHANNEL_MONEY_H
#define CHANNEL_MONEY_H

#include <stddef.h>
#include <stdint.h>

#include "postonce/error.h"

/*
 * The largest amount of one notification: 2^53 - 1 minor units, 90 million million in a currency
 * with two decimals. Far above any payment, and small enough that amounts in the outbox's JSON stay
 * exact for every reader (RFC 8259 section 6) and that no thousand hostile records bring a balance
 * near the end of BIGINT, which would stop every worker.
 */
#define MONEY_MINOR_MAX INT64_C(9007199254740991)

/*
 * "128.80" with the currency's exponent 2 is 12880. RECORD: AMOUNT_MALFORMED, AMOUNT_TOO_PRECISE
 * (a digit other than 0 below the minor unit), AMOUNT_OUT_OF_RANGE (beyond MONEY_MINOR_MAX).
 */
PO_MUST_USE enum po_class money_parse_decimal(const char *text, size_t length, int exponent,
                                              int64_t *minor_out, struct po_error *error);

enum { MONEY_TEXT_BYTES = 32 };

/* The way back: 12880 with exponent 2 is "128.80"; any 64-bit amount, its sign in front. */
void money_print(char text_out[MONEY_TEXT_BYTES], int64_t minor, int exponent);

/*
 * "12880" is 12880. RECORD: AMOUNT_NOT_INTEGER (it has a fraction: the channel counts in another
 * unit than its profile says), AMOUNT_MALFORMED, AMOUNT_OUT_OF_RANGE.
 */
PO_MUST_USE enum po_class money_parse_minor(const char *text, size_t length, int64_t *minor_out,
                                            struct po_error *error);

/*
 * An amount that counts units of 10^-from as one that counts units of 10^-to: 12880 of exponent 2
 * is 128800 of exponent 3, and 1288 of exponent 1. RECORD: AMOUNT_TOO_PRECISE (a digit other than 0
 * would be lost), AMOUNT_OUT_OF_RANGE.
 */
PO_MUST_USE enum po_class money_shift(int64_t minor, int from, int to, int64_t *minor_out,
                                      struct po_error *error);

#endif
