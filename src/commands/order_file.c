#include "commands/order_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "channel/currency.h"
#include "channel/money.h"

enum { COLUMNS_MAX = 16, TENANT_DIGITS_MAX = 18 };

enum column { COLUMN_ORDER_NO, COLUMN_AMOUNT, COLUMN_CURRENCY, COLUMN_TENANT, COLUMN_COUNT };
static const char *const column_names[COLUMN_COUNT] = { "order_no", "amount", "currency",
                                                        "tenant_id" };

static enum po_class check_order_no(const char *order_no, struct po_error *error)
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

static enum po_class parse_tenant(const char *text, int64_t *tenant_id, struct po_error *error)
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
        if (check_order_no(text->order_no, error) != PO_OK ||
            parse_tenant(text->tenant_id, &order_out->tenant_id, error) != PO_OK)
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

/* Cuts line in place into fields; "…" with "" for a quote. False: a quote that does not end. */
static bool split_line(char *line, char **fields, size_t *count_out)
{
        *count_out = 0;
        for (char *at = line;; at++) {
                char *write = at;
                if (*count_out == COLUMNS_MAX)
                        return true;
                fields[(*count_out)++] = at;
                if (*at == '"') {
                        for (at++; *at != '\0' && !(at[0] == '"' && at[1] != '"'); at++) {
                                at += *at == '"';
                                *write++ = *at;
                        }
                        if (*at == '\0')
                                return false;
                        at++;
                } else {
                        at += strcspn(at, ",");
                        write = at;
                }
                bool last = *at == '\0';
                if (!last && *at != ',')
                        return false;
                *write = '\0';
                if (last)
                        return true;
        }
}

/* An order and where it stands. */
struct row {
        struct order order;
        size_t line;
};

struct reader {
        const char *path;
        size_t line;
        size_t columns[COLUMN_COUNT]; /* places of the known columns */
        size_t width;
        size_t count, capacity;
        struct row *rows;
};

static enum po_class refuse(const struct reader *reader, struct po_error *error)
{
        return po_within(error, "%s:%zu", reader->path, reader->line);
}

static enum po_class split(const struct reader *reader, char *line, char **fields,
                           size_t *count_out, struct po_error *error)
{
        if (split_line(line, fields, count_out))
                return PO_OK;
        po_refuse(error, "MALFORMED_CSV", "a quote does not end where its field ends");
        return refuse(reader, error);
}

static enum po_class read_header(struct reader *reader, char *line, struct po_error *error)
{
        char *fields[COLUMNS_MAX];
        if (strncmp(line, "\xEF\xBB\xBF", 3) == 0)
                line += 3;
        for (size_t i = 0; i < COLUMN_COUNT; i++)
                reader->columns[i] = SIZE_MAX;
        if (split(reader, line, fields, &reader->width, error) != PO_OK)
                return error->kind;
        for (size_t i = 0; i < reader->width; i++) {
                size_t known = 0;
                while (known < COLUMN_COUNT && strcmp(column_names[known], fields[i]) != 0)
                        known++;
                if (known == COLUMN_COUNT || reader->columns[known] != SIZE_MAX) {
                        po_refuse(
                                error, "MALFORMED_CSV",
                                "column %zu must be one of order_no, amount, currency, tenant_id, "
                                "each once",
                                i + 1);
                        return refuse(reader, error);
                }
                reader->columns[known] = i;
        }
        for (size_t i = 0; i < COLUMN_TENANT; i++)
                if (reader->columns[i] == SIZE_MAX) {
                        po_refuse(error, "MALFORMED_CSV", "the header has no column %s",
                                  column_names[i]);
                        return refuse(reader, error);
                }
        return PO_OK;
}

static enum po_class read_row(const struct reader *reader, char *line, int64_t tenant_id,
                              const char *status, struct order *order_out, struct po_error *error)
{
        char *fields[COLUMNS_MAX];
        size_t count;
        if (split(reader, line, fields, &count, error) != PO_OK)
                return error->kind;
        if (count != reader->width) {
                po_refuse(error, "MALFORMED_CSV", "expected %zu fields", reader->width);
                return refuse(reader, error);
        }
        const struct order_text text = {
                .order_no = fields[reader->columns[COLUMN_ORDER_NO]],
                .amount = fields[reader->columns[COLUMN_AMOUNT]],
                .currency = fields[reader->columns[COLUMN_CURRENCY]],
                .tenant_id = reader->columns[COLUMN_TENANT] == SIZE_MAX
                                     ? NULL
                                     : fields[reader->columns[COLUMN_TENANT]],
        };
        if (order_parse(&text, tenant_id, status, order_out, error) != PO_OK)
                return refuse(reader, error);
        return PO_OK;
}

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
static enum po_class give_orders(struct reader *reader, struct order_file *file,
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
                reader->line = second->line;
                return refuse(reader, error);
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
        (*row_out)->line = reader->line;
        return PO_OK;
}

/* Cuts the line's end off. A NUL would end the text early and hide what follows. */
static enum po_class trim_line(const struct reader *reader, char *line, size_t length,
                               struct po_error *error)
{
        if (memchr(line, '\0', length) != NULL) {
                po_refuse(error, "CONTROL_CHARACTER", "the line has a NUL byte");
                return refuse(reader, error);
        }
        if (length > 0 && line[length - 1] == '\n')
                line[--length] = '\0';
        if (length > 0 && line[length - 1] == '\r')
                line[--length] = '\0';
        return PO_OK;
}

static enum po_class read_lines(struct reader *reader, FILE *stream, int64_t tenant_id,
                                const char *status, struct po_error *error)
{
        CLEANUP(cleanup_free) char *line = NULL;
        size_t line_bytes = 0;
        ssize_t length;
        for (reader->line = 1; (length = getline(&line, &line_bytes, stream)) >= 0;
             reader->line++) {
                if (trim_line(reader, line, (size_t)length, error) != PO_OK)
                        return error->kind;
                struct row *row = NULL;
                enum po_class kind;
                if (reader->line == 1)
                        kind = read_header(reader, line, error);
                else if (line[0] == '\0')
                        continue;
                else if ((kind = add_row(reader, &row, error)) == PO_OK)
                        kind = read_row(reader, line, tenant_id, status, &row->order, error);
                if (kind != PO_OK)
                        return kind;
        }
        if (ferror(stream))
                return po_fail(error, PO_SYSTEMIC, errno, "%s: %s", reader->path, strerror(errno));
        if (reader->line > 1)
                return PO_OK;
        po_refuse(error, "MALFORMED_CSV", "the file is empty");
        return refuse(reader, error);
}

enum po_class order_file_read(const char *path, int64_t tenant_id, const char *status,
                              struct order_file *file_out, struct po_error *error)
{
        memset(file_out, 0, sizeof *file_out);
        CLEANUP(cleanup_file) FILE *stream = fopen(path, "re");
        if (stream == NULL)
                return po_fail(error, PO_SYSTEMIC, errno, "%s: %s", path, strerror(errno));
        struct reader reader = { .path = path };
        enum po_class kind = read_lines(&reader, stream, tenant_id, status, error);
        if (kind == PO_OK)
                kind = give_orders(&reader, file_out, error);
        free(reader.rows);
        return kind;
}

void order_file_free(struct order_file *file)
{
        free(file->orders);
        memset(file, 0, sizeof *file);
}
