#include "commands/order_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "channel/currency.h"
#include "channel/money.h"

enum { TENANT_DIGITS_MAX = 18 };

enum column { COLUMN_ORDER_NO, COLUMN_AMOUNT, COLUMN_CURRENCY, COLUMN_TENANT };
static const char *const column_names[] = { "order_no", "amount", "currency", "tenant_id", NULL };

enum po_class order_no_check(const char *order_no, struct po_error *error)
{
        size_t length = strlen(order_no);
        if (length == 0 || length >= PO_ORDER_NO_BYTES)
                return po_refuse(error, "ORDER_NO_TOO_LONG", "order_no must have 1…%d bytes",
                                 PO_ORDER_NO_BYTES - 1);
        if (order_no[0] == ' ' || order_no[length - 1] == ' ')
                return po_refuse(error, "PADDED_TEXT", "order_no has a space at an end");
        for (size_t i = 0; i < length; i++)
                if ((unsigned char)order_no[i] < 0x20 || order_no[i] == 0x7f)
                        return po_refuse(error, "CONTROL_CHARACTER",
                                         "order_no has a control character");
        return PO_OK;
}

enum po_class tenant_parse(const char *text, int64_t *tenant_id, struct po_error *error)
{
        if (text == NULL || text[0] == '\0')
                return PO_OK;
        size_t length = strlen(text);
        if (length > TENANT_DIGITS_MAX || strspn(text, "0123456789") != length)
                return po_refuse(error, "WRONG_TYPE", "tenant_id must be a whole number");
        *tenant_id = strtoll(text, NULL, 10);
        if (*tenant_id < 1)
                return po_refuse(error, "WRONG_TYPE", "tenant_id must be 1 or more");
        return PO_OK;
}

enum po_class order_parse(const struct order_text *text, int64_t tenant_id, const char *status,
                          struct order *order_out, struct po_error *error)
{
        int exponent;
        memset(order_out, 0, sizeof *order_out);
        order_out->tenant_id = tenant_id;
        if (order_no_check(text->order_no, error) != PO_OK ||
            tenant_parse(text->tenant_id, &order_out->tenant_id, error) != PO_OK)
                return error->kind;
        if (!currency_find(text->currency, &exponent))
                return po_refuse(error, "CURRENCY_UNKNOWN",
                                 "currency must be an ISO 4217 code in upper case");
        if (money_parse_decimal(text->amount, strlen(text->amount), exponent,
                                &order_out->amount_minor, error) != PO_OK)
                return po_within(error, "amount");
        if (order_out->amount_minor <= 0)
                return po_refuse(error, "AMOUNT_NOT_POSITIVE", "amount must be above zero");
        snprintf(order_out->order_no, sizeof order_out->order_no, "%s", text->order_no);
        snprintf(order_out->currency, sizeof order_out->currency, "%s", text->currency);
        snprintf(order_out->status, sizeof order_out->status, "%s", status);
        return PO_OK;
}

/* An order and where it stands. */
struct row {
        struct order order;
        size_t line;
};

struct reader {
        struct csv *csv;
        size_t count, capacity;
        struct row *rows;
};

static int compare_ids(const struct row *a, const struct row *b)
{
        struct order_id a_id = { a->order.tenant_id, a->order.order_no };
        struct order_id b_id = { b->order.tenant_id, b->order.order_no };
        return order_id_compare(&a_id, &b_id);
}

static int compare_rows(const void *left, const void *right)
{
        const struct row *a = left, *b = right;
        int by_id = compare_ids(a, b);
        return by_id != 0 ? by_id : a->line < b->line ? -1 : a->line > b->line;
}

/* Sorts the rows and hands their orders over. */
static enum po_class give_orders(struct reader *reader, const char *path, struct order_file *file,
                                 struct po_error *error)
{
        if (reader->count == 0)
                return PO_OK;
        qsort(reader->rows, reader->count, sizeof *reader->rows, compare_rows);
        for (size_t i = 1; i < reader->count; i++) {
                const struct row *first = &reader->rows[i - 1], *second = &reader->rows[i];
                if (compare_ids(first, second) != 0)
                        continue;
                po_refuse(error, "ORDER_TWICE", "order %s of tenant %lld stands in line %zu, too",
                          second->order.order_no, (long long)second->order.tenant_id, first->line);
                return po_within(error, "%s:%zu", path, second->line);
        }
        file->orders = calloc(reader->count, sizeof *file->orders);
        if (file->orders == NULL)
                return po_fail(error, PO_SYSTEMIC, ENOMEM, "out of memory for the orders");
        for (; file->count < reader->count; file->count++)
                file->orders[file->count] = reader->rows[file->count].order;
        return PO_OK;
}

static enum po_class add_row(struct reader *reader, struct row **row_out, struct po_error *error)
{
        if (reader->count == reader->capacity) {
                size_t more = reader->capacity == 0 ? 1024 : reader->capacity * 2;
                struct row *rows = realloc(reader->rows, more * sizeof *rows);
                if (rows == NULL)
                        return po_fail(error, PO_SYSTEMIC, ENOMEM, "out of memory for the orders");
                reader->rows = rows;
                reader->capacity = more;
        }
        *row_out = &reader->rows[reader->count++];
        (*row_out)->line = csv_line(reader->csv);
        return PO_OK;
}

static enum po_class read_row(const struct csv *csv, int64_t tenant_id, const char *status,
                              struct order *order_out, struct po_error *error)
{
        const struct order_text text = {
                .order_no = csv_field(csv, COLUMN_ORDER_NO),
                .amount = csv_field(csv, COLUMN_AMOUNT),
                .currency = csv_field(csv, COLUMN_CURRENCY),
                .tenant_id = csv_field(csv, COLUMN_TENANT),
        };
        if (order_parse(&text, tenant_id, status, order_out, error) != PO_OK)
                return csv_within(csv, error);
        return PO_OK;
}

static enum po_class read_rows(struct reader *reader, int64_t tenant_id, const char *status,
                               struct po_error *error)
{
        for (bool there;;) {
                struct row *row = NULL;
                if (csv_next(reader->csv, &there, error) != PO_OK)
                        return error->kind;
                if (!there)
                        return PO_OK;
                if (add_row(reader, &row, error) != PO_OK ||
                    read_row(reader->csv, tenant_id, status, &row->order, error) != PO_OK)
                        return error->kind;
        }
}

enum po_class order_file_read(const char *path, int64_t tenant_id, const char *status,
                              struct order_file *file_out, struct po_error *error)
{
        memset(file_out, 0, sizeof *file_out);
        struct reader reader = { 0 };
        enum po_class kind = csv_open(&reader.csv, path, column_names, COLUMN_TENANT, error);
        if (kind == PO_OK)
                kind = read_rows(&reader, tenant_id, status, error);
        if (kind == PO_OK)
                kind = give_orders(&reader, path, file_out, error);
        free(reader.rows);
        csv_close(reader.csv);
        return kind;
}

void order_file_free(struct order_file *file)
{
        free(file->orders);
        memset(file, 0, sizeof *file);
}
