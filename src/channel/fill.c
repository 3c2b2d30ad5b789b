#include "channel/fill.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "channel/currency.h"
#include "channel/money.h"
#include "channel/value.h"
#include "postonce/key.h"

enum po_class fill_txn_part(char txn[PO_TXN_BYTES], struct json_object *value, const char *name,
                            struct po_error *error)
{
        struct value_text text = { 0 };
        if (value != NULL && value_take(value, name, &text, error) != PO_OK)
                return error->kind;
        if (text.length == 0)
                return po_refuse(error, "TXN_EMPTY", "%s is absent or empty", name);

        size_t used = strlen(txn);
        if (used > 0 && used + 1 < PO_TXN_BYTES) {
                txn[used++] = '/';
                txn[used] = '\0';
        }
        return po_key_encode(txn, PO_TXN_BYTES, text.bytes, text.length, error);
}

enum po_class fill_order_no(struct po_notification *notification, struct json_object *value,
                            const char *name, struct po_error *error)
{
        if (value == NULL)
                return PO_OK;
        return value_copy(value, name, "ORDER_NO_TOO_LONG", notification->order_no,
                          sizeof notification->order_no, error);
}

enum po_class fill_refund_no(struct po_notification *notification, struct json_object *value,
                             const char *name, struct po_error *error)
{
        if (value == NULL)
                return PO_OK;
        return value_copy(value, name, "REFUND_NO_TOO_LONG", notification->refund_no,
                          sizeof notification->refund_no, error);
}

enum po_class fill_currency(struct po_notification *notification, const char *code,
                            struct po_error *error)
{
        int exponent;
        if (!currency_find(code, &exponent))
                return po_refuse(error, "CURRENCY_UNKNOWN", "the currency is no ISO 4217 code");
        memcpy(notification->currency, code, sizeof notification->currency);
        return PO_OK;
}

static enum po_class minor_read(const struct value_text *text, int channel_exponent, int exponent,
                                int64_t *minor_out, struct po_error *error)
{
        int64_t minor;
        if (money_parse_minor(text->bytes, text->length, &minor, error) != PO_OK)
                return error->kind;
        if (channel_exponent == AMOUNT_EXPONENT_ISO)
                channel_exponent = exponent;
        return money_shift(minor, channel_exponent, exponent, minor_out, error);
}

static enum po_class amount_read(struct json_object *value, const struct amount_form *form,
                                 const char *currency, int64_t *minor_out, struct po_error *error)
{
        struct value_text text;
        int exponent = 0;
        if (json_object_is_type(value, json_type_double) && form->format != AMOUNT_NUMBER)
                return po_refuse(error, "AMOUNT_NOT_EXACT",
                                 "the amount is a JSON number with a fraction or an exponent");
        if (!value_written(value, &text))
                return po_refuse(error, "WRONG_TYPE",
                                 "the amount is neither a text nor an integer");
        bool known = currency_find(currency, &exponent);
        assert(known);
        if (form->format == AMOUNT_MINOR)
                return minor_read(&text, form->exponent, exponent, minor_out, error);
        return money_parse_decimal(text.bytes, text.length, exponent, minor_out, error);
}

enum po_class fill_amount(struct po_notification *notification, const struct amount_form *form,
                          struct json_object *value, struct json_object *minus,
                          struct po_error *error)
{
        int64_t minor, minus_minor = 0, amount_minor;
        if (amount_read(value, form, notification->currency, &minor, error) != PO_OK)
                return error->kind;
        if (minus != NULL &&
            amount_read(minus, form, notification->currency, &minus_minor, error) != PO_OK)
                return error->kind;
        /* Each is within 2^53 on both sides of zero. */
        amount_minor = minor - minus_minor;
        if (form->flip)
                amount_minor = -amount_minor;
        if (amount_minor > MONEY_MINOR_MAX)
                return po_refuse(error, "AMOUNT_OUT_OF_RANGE", "the difference is out of range");
        /* Nothing is left of a payment that was refunded altogether. */
        bool may_be_zero = form->kind == PO_AMOUNT_NET;
        if (amount_minor < 0 || (amount_minor == 0 && !may_be_zero))
                return po_refuse(error, "AMOUNT_NOT_POSITIVE", "the amount is not above zero");
        notification->amount_kind = form->kind;
        notification->amount_minor = amount_minor;
        return PO_OK;
}

enum po_class fill_fee(struct po_notification *notification, const struct amount_form *form,
                       struct json_object *value, struct po_error *error)
{
        int64_t fee_minor;
        if (value == NULL)
                return PO_OK;
        if (notification->amount_kind != PO_AMOUNT_THIS)
                return po_refuse(error, "FEE_WITHOUT_AMOUNT", "a fee is taken off an amount");
        if (amount_read(value, form, notification->currency, &fee_minor, error) != PO_OK)
                return po_within(error, "the fee");
        if (fee_minor < 0 || fee_minor > notification->amount_minor)
                return po_refuse(error, "FEE_OUT_OF_RANGE",
                                 "the fee is below zero or above the amount");
        notification->fee_minor = fee_minor;
        return PO_OK;
}

enum po_class fill_occurred_at(struct po_notification *notification, const struct moment_form *form,
                               struct json_object *value, struct po_error *error)
{
        struct value_text text;
        if (value == NULL)
                return PO_OK;
        if (!value_text(value, &text))
                return po_refuse(error, "TIME_MALFORMED",
                                 "the time is neither a text nor an integer");
        return moment_parse(form, text.bytes, text.length, &notification->occurred_at_us, error);
}
