#include "commands/claim_file.h"

#include <stdio.h>
#include <string.h>

#include "channel/currency.h"
#include "channel/moment.h"
#include "channel/money.h"
#include "commands/order_file.h"
#include "postonce/key.h"

enum column {
        COLUMN_KEY,
        COLUMN_CHANNEL,
        COLUMN_TXN,
        COLUMN_EVENT,
        COLUMN_TENANT,
        COLUMN_ORDER_NO,
        COLUMN_AMOUNT,
        COLUMN_CURRENCY,
        COLUMN_FINGERPRINT,
        COLUMN_CREATED_AT,
};
static const char *const column_names[] = { "key",         "channel",    "txn",    "event",
                                            "tenant_id",   "order_no",   "amount", "currency",
                                            "fingerprint", "created_at", NULL };

static enum po_class check_columns(const struct csv *csv, const struct claim_defaults *defaults,
                                   struct po_error *error)
{
        bool key = csv_has(csv, COLUMN_KEY);
        bool parts = csv_has(csv, COLUMN_TXN) && csv_has(csv, COLUMN_EVENT) &&
                     (csv_has(csv, COLUMN_CHANNEL) || defaults->channel != NULL);
        bool any = csv_has(csv, COLUMN_TXN) || csv_has(csv, COLUMN_EVENT) ||
                   csv_has(csv, COLUMN_CHANNEL);
        if (key ? !any : parts)
                return PO_OK;
        po_refuse(error, "MALFORMED_CSV",
                  "the header must have either key, or txn, event and channel (or --channel)");
        return csv_within(csv, error);
}

enum po_class claim_file_open(struct csv **csv_out, const char *path,
                              const struct claim_defaults *defaults, struct po_error *error)
{
        if (csv_open(csv_out, path, column_names, 0, error) != PO_OK)
                return error->kind;
        if (check_columns(*csv_out, defaults, error) == PO_OK)
                return PO_OK;
        csv_close(*csv_out);
        *csv_out = NULL;
        return error->kind;
}

/* The field; "" where the file does not have it. */
static const char *field(const struct csv *csv, enum column column)
{
        const char *text = csv_field(csv, column);
        return text != NULL ? text : "";
}

static enum po_class copy_part(char *part_out, size_t capacity, const char *text, size_t length,
                               const char *name, struct po_error *error)
{
        if (length >= capacity)
                return po_refuse(error, "KEY_TOO_LONG", "%s has more than %zu bytes", name,
                                 capacity - 1);
        memcpy(part_out, text, length);
        part_out[length] = '\0';
        return PO_OK;
}

static enum po_class take_parts(struct po_notification *notification, const char *const parts[3],
                                const size_t lengths[3], struct po_error *error)
{
        if (copy_part(notification->channel, sizeof notification->channel, parts[0], lengths[0],
                      "channel", error) != PO_OK ||
            copy_part(notification->txn, sizeof notification->txn, parts[1], lengths[1], "txn",
                      error) != PO_OK ||
            copy_part(notification->event, sizeof notification->event, parts[2], lengths[2],
                      "event", error) != PO_OK)
                return error->kind;
        return po_key_seal(notification, error);
}

/* No part of a key has a ':' of its own. */
static enum po_class split_key(const char *key, struct po_notification *notification,
                               struct po_error *error)
{
        const char *first = strchr(key, ':');
        const char *last = strrchr(key, ':');
        if (first == NULL || first == last)
                return po_refuse(error, "KEY_PART_MALFORMED", "key must be channel:txn:event");
        const char *const parts[] = { key, first + 1, last + 1 };
        const size_t lengths[] = { (size_t)(first - key), (size_t)(last - first - 1),
                                   strlen(last + 1) };
        return take_parts(notification, parts, lengths, error);
}

static enum po_class read_key(const struct csv *csv, const struct claim_defaults *defaults,
                              struct po_notification *notification, struct po_error *error)
{
        if (csv_has(csv, COLUMN_KEY))
                return split_key(field(csv, COLUMN_KEY), notification, error);
        const char *channel = field(csv, COLUMN_CHANNEL);
        if (channel[0] == '\0' && defaults->channel != NULL)
                channel = defaults->channel;
        const char *const parts[] = { channel, field(csv, COLUMN_TXN), field(csv, COLUMN_EVENT) };
        const size_t lengths[] = { strlen(parts[0]), strlen(parts[1]), strlen(parts[2]) };
        return take_parts(notification, parts, lengths, error);
}

static enum po_class read_amount(const struct csv *csv, struct po_notification *notification,
                                 struct po_error *error)
{
        const char *amount = field(csv, COLUMN_AMOUNT), *currency = field(csv, COLUMN_CURRENCY);
        int exponent;
        if (amount[0] == '\0')
                return PO_OK;
        if (!currency_find(currency, &exponent))
                return po_refuse(error, "CURRENCY_UNKNOWN",
                                 "currency must be an ISO 4217 code in upper case");
        if (money_parse_decimal(amount, strlen(amount), exponent, &notification->amount_minor,
                                error) != PO_OK)
                return po_within(error, "amount");
        if (notification->amount_minor <= 0)
                return po_refuse(error, "AMOUNT_NOT_POSITIVE",
                                 "amount must be above zero, or empty");
        notification->amount_kind = PO_AMOUNT_THIS;
        snprintf(notification->currency, sizeof notification->currency, "%s", currency);
        return PO_OK;
}

static enum po_class read_order_no(const struct csv *csv, struct po_notification *notification,
                                   struct po_error *error)
{
        const char *order_no = field(csv, COLUMN_ORDER_NO);
        if (order_no[0] == '\0')
                return PO_OK;
        if (order_no_check(order_no, error) != PO_OK)
                return error->kind;
        snprintf(notification->order_no, sizeof notification->order_no, "%s", order_no);
        return PO_OK;
}

static int digit_of(char letter)
{
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *at = letter == '\0' ? NULL : strchr(digits, letter);
        return at == NULL ? -1 : (int)(at - digits) % 16;
}

static enum po_class read_fingerprint(const struct csv *csv, struct imported_claim *row,
                                      struct po_error *error)
{
        const char *text = field(csv, COLUMN_FINGERPRINT);
        if (text[0] == '\0')
                return PO_OK;
        bool good = strlen(text) == (size_t)2 * PO_FINGERPRINT_BYTES;
        for (size_t i = 0; good && i < PO_FINGERPRINT_BYTES; i++) {
                int high = digit_of(text[2 * i]), low = digit_of(text[2 * i + 1]);
                good = high >= 0 && low >= 0;
                if (good)
                        row->notification.fingerprint[i] = (unsigned char)(high << 4 | low);
        }
        if (!good)
                return po_refuse(error, "FINGERPRINT_MALFORMED",
                                 "fingerprint must be %d hexadecimal digits, or empty",
                                 2 * PO_FINGERPRINT_BYTES);
        row->has_fingerprint = true;
        return PO_OK;
}

static enum po_class read_created_at(const struct csv *csv, struct imported_claim *row,
                                     struct po_error *error)
{
        static const struct moment_form form = { .format = MOMENT_RFC3339 };
        const char *text = field(csv, COLUMN_CREATED_AT);
        row->created_at_us = PO_TIME_UNKNOWN;
        if (text[0] == '\0')
                return PO_OK;
        if (moment_parse(&form, text, strlen(text), &row->created_at_us, error) != PO_OK)
                return po_within(error, "created_at");
        return PO_OK;
}

enum po_class claim_file_row(const struct csv *csv, const struct claim_defaults *defaults,
                             struct imported_claim *row_out, struct po_error *error)
{
        memset(row_out, 0, sizeof *row_out);
        struct po_notification *notification = &row_out->notification;
        notification->tenant_id = defaults->tenant_id;
        notification->occurred_at_us = PO_TIME_UNKNOWN;
        row_out->line = (int64_t)csv_line(csv);
        if (read_key(csv, defaults, notification, error) == PO_OK &&
            tenant_parse(csv_field(csv, COLUMN_TENANT), &notification->tenant_id, error) == PO_OK &&
            read_order_no(csv, notification, error) == PO_OK &&
            read_amount(csv, notification, error) == PO_OK &&
            read_fingerprint(csv, row_out, error) == PO_OK &&
            read_created_at(csv, row_out, error) == PO_OK)
                return PO_OK;
        return csv_within(csv, error);
}
