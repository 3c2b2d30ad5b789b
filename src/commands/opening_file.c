#include "commands/opening_file.h"

#include <string.h>

#include "channel/currency.h"
#include "channel/moment.h"
#include "channel/money.h"
#include "commands/order_file.h"

enum column { COLUMN_ACCOUNT, COLUMN_CURRENCY, COLUMN_AMOUNT, COLUMN_TENANT, COLUMN_EFFECTIVE_AT };
static const char *const column_names[] = { "account",   "currency",     "amount",
                                            "tenant_id", "effective_at", NULL };

enum po_class opening_file_open(struct csv **csv_out, const char *path, struct po_error *error)
{
        return csv_open(csv_out, path, column_names, COLUMN_TENANT, error);
}

static enum po_class read_amount(struct opening *opening, const char *text, struct po_error *error)
{
        int exponent;
        if (!currency_find(opening->currency, &exponent))
                return po_refuse(error, "CURRENCY_UNKNOWN",
                                 "currency must be an ISO 4217 code in upper case");
        if (money_parse_decimal(text, strlen(text), exponent, &opening->amount_minor, error) !=
            PO_OK)
                return po_within(error, "amount");
        return PO_OK;
}

static enum po_class read_time(struct opening *opening, const char *text, struct po_error *error)
{
        static const struct moment_form form = { .format = MOMENT_RFC3339 };
        if (text == NULL || text[0] == '\0')
                return PO_OK;
        if (moment_parse(&form, text, strlen(text), &opening->effective_at_us, error) != PO_OK)
                return po_within(error, "effective_at");
        return PO_OK;
}

enum po_class opening_file_row(const struct csv *csv, int64_t tenant_id,
                               struct opening *opening_out, struct po_error *error)
{
        *opening_out = (struct opening){
                .tenant_id = tenant_id,
                .account = csv_field(csv, COLUMN_ACCOUNT),
                .currency = csv_field(csv, COLUMN_CURRENCY),
                .effective_at_us = PO_TIME_UNKNOWN,
                .line = (int64_t)csv_line(csv),
        };
        if (tenant_parse(csv_field(csv, COLUMN_TENANT), &opening_out->tenant_id, error) == PO_OK &&
            read_amount(opening_out, csv_field(csv, COLUMN_AMOUNT), error) == PO_OK &&
            read_time(opening_out, csv_field(csv, COLUMN_EFFECTIVE_AT), error) == PO_OK &&
            opening_check(opening_out, error) == PO_OK)
                return PO_OK;
        return csv_within(csv, error);
}
