#include "mysql/steady.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct column {
        size_t rows; /* in a row that had this value, STEADY_ROWS at most */
        struct db_value value;
        char bytes[STEADY_BYTES]; /* value.bytes */
};

struct steady {
        const char *types;
        size_t columns_count;
        struct column columns[];
};

enum po_class steady_open(struct steady **steady_out, const char *types, struct po_error *error)
{
        size_t count = strlen(types);
        struct steady *steady = calloc(1, sizeof *steady + count * sizeof steady->columns[0]);
        *steady_out = steady;
        if (steady == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for %zu columns", count);
        steady->types = types;
        steady->columns_count = count;
        return PO_OK;
}

void steady_close(struct steady *steady)
{
        free(steady);
}

static bool are_equal(const struct db_value *a, const struct db_value *b)
{
        if (a->is_null || b->is_null || a->type != b->type)
                return a->is_null && b->is_null;
        if (a->type == DB_INTEGER)
                return a->integer == b->integer;
        return a->count == b->count && memcmp(a->bytes, b->bytes, a->count) == 0;
}

static bool is_steady(const struct column *column)
{
        return column->rows >= STEADY_ROWS;
}

static void begin_with(struct column *column, const struct db_value *value)
{
        column->rows = 0;
        column->value = *value;
        if (value->is_null || value->type == DB_INTEGER)
                return;
        if (value->count <= sizeof column->bytes)
                memcpy(column->bytes, value->bytes, value->count);
        else
                column->value.count = SIZE_MAX; /* equal to none */
        column->value.bytes = column->bytes;
}

/* values: the column's of all rows, stride apart. */
static void see_column(struct column *column, const struct db_value *values, size_t count,
                       size_t stride)
{
        const struct db_value *last = &values[(count - 1) * stride];
        for (size_t row = 0; row < count; row++) {
                if (are_equal(&column->value, &values[row * stride]))
                        continue;
                begin_with(column, last); /* the next rows are like these, if any are */
                return;
        }
        column->rows += column->rows < STEADY_ROWS ? count : 0;
}

bool steady_see(struct steady *steady, const struct db_value *rows, size_t count)
{
        bool changed = false;
        for (size_t i = 0; i < steady->columns_count; i++) {
                struct column *column = &steady->columns[i];
                bool was_steady = is_steady(column);
                if (!isupper((unsigned char)steady->types[i]))
                        continue;
                see_column(column, rows + i, count, steady->columns_count);
                changed |= was_steady != is_steady(column);
        }
        return changed;
}

const struct db_value *steady_value(const struct steady *steady, size_t column)
{
        return is_steady(&steady->columns[column]) ? &steady->columns[column].value : NULL;
}

size_t steady_pick(const struct steady *steady, struct db_value *rows, size_t count)
{
        size_t kept = 0, columns = steady->columns_count;
        for (size_t row = 0; row < count; row++)
                for (size_t i = 0; i < columns; i++)
                        if (!is_steady(&steady->columns[i]))
                                rows[kept++] = rows[row * columns + i];
        return kept;
}
