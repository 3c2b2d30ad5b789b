/*
 * From values of a body to members of a notification: the same checks for every way in, mapping
 * rules and plain envelope alike.
 *
 * value is borrowed from the tree; where it may be NULL (nothing there) the member stays as it is.
 * name is what stands for the value in complaints, a pointer or a member's name.
 */
#ifndef CHANNEL_FILL_H
#define CHANNEL_FILL_H

#include <stdbool.h>

#include <json-c/json_object.h>

#include "channel/moment.h"
#include "postonce/error.h"
#include "postonce/notification.h"

enum amount_format {
        AMOUNT_MINOR,   /* whole minor units */
        AMOUNT_DECIMAL, /* the currency's own unit, with decimals */
        AMOUNT_NUMBER,  /* the same; a JSON number with a fraction counts as it is written */
};

enum { AMOUNT_EXPONENT_ISO = -1 }; /* the channel's minor unit is that of ISO 4217 */

/* How a channel writes amounts. */
struct amount_form {
        enum amount_format format;
        enum po_amount_kind kind;
        bool flip;    /* what it writes with a minus is above zero */
        int exponent; /* decimals of what it counts where format is minor, 0 to 4 */
};

/*
 * Appends one part to txn, percent-encoded, after a '/' unless it is the first. RECORD: TXN_EMPTY
 * (NULL or the empty text), WRONG_TYPE, CONTROL_CHARACTER, PADDED_TEXT, KEY_TOO_LONG.
 */
PO_MUST_USE enum po_class fill_txn_part(char txn[PO_TXN_BYTES], struct json_object *value,
                                        const char *name, struct po_error *error);

/* value may be NULL. RECORD: ORDER_NO_TOO_LONG (over 64 bytes) and what value_take() refuses. */
PO_MUST_USE enum po_class fill_order_no(struct po_notification *notification,
                                        struct json_object *value, const char *name,
                                        struct po_error *error);

/* value may be NULL. RECORD: REFUND_NO_TOO_LONG (over 64 bytes) and what value_take() refuses. */
PO_MUST_USE enum po_class fill_refund_no(struct po_notification *notification,
                                         struct json_object *value, const char *name,
                                         struct po_error *error);

/* RECORD: CURRENCY_UNKNOWN: no active ISO 4217 code in upper case. */
PO_MUST_USE enum po_class fill_currency(struct po_notification *notification, const char *code,
                                        struct po_error *error);

/*
 * The amount, after fill_currency(), in minor units of ISO 4217 whatever the channel counts in;
 * minus (NULL: nothing) is taken off. RECORD: AMOUNT_NOT_EXACT
 * (a JSON number with a fraction or an exponent: whoever wrote it may have rounded; with
 * AMOUNT_NUMBER only one with an exponent is refused, as AMOUNT_MALFORMED), WRONG_TYPE,
 * AMOUNT_NOT_POSITIVE (0 is refused unless it is what is left: net), and what money.h refuses.
 */
PO_MUST_USE enum po_class fill_amount(struct po_notification *notification,
                                      const struct amount_form *form, struct json_object *value,
                                      struct json_object *minus, struct po_error *error);

/*
 * What the channel keeps of the amount, after fill_amount(); of form only how it is written counts.
 * value may be NULL: nothing. RECORD: FEE_WITHOUT_AMOUNT (there is none, or it is no amount of this
 * movement alone), FEE_OUT_OF_RANGE (below zero or above the amount), and what is refused of an
 * amount.
 */
PO_MUST_USE enum po_class fill_fee(struct po_notification *notification,
                                   const struct amount_form *form, struct json_object *value,
                                   struct po_error *error);

/* value may be NULL. RECORD: TIME_MALFORMED. */
PO_MUST_USE enum po_class fill_occurred_at(struct po_notification *notification,
                                           const struct moment_form *form,
                                           struct json_object *value, struct po_error *error);

#endif
