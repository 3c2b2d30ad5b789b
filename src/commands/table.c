#include "commands/table.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <libsmartcols.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

enum { COLUMN_NAME_BYTES = 64, COLUMNS_MAX = 32 };

const char *const table_format_words[] = {
        [TABLE_FORMAT_TABLE] = "table",
        [TABLE_FORMAT_JSON] = "json",
        NULL,
};

struct table {
        struct libscols_table *rows;
        struct libscols_column *columns[COLUMNS_MAX];
        char names[COLUMNS_MAX][COLUMN_NAME_BYTES];
        size_t columns_count;
        bool failed; /* out of memory */
};

static void column_add(struct table *table, const struct table_column *column)
{
        static const int json_types[] = {
                [TABLE_TEXT] = SCOLS_JSON_STRING,
                [TABLE_NUMBER] = SCOLS_JSON_NUMBER,
                [TABLE_DECIMAL] = SCOLS_JSON_STRING,
                [TABLE_FLAG] = SCOLS_JSON_BOOLEAN,
        };
        size_t i = table->columns_count;
        assert(i < COLUMNS_MAX && strlen(column->name) < COLUMN_NAME_BYTES);
        bool right = column->kind == TABLE_NUMBER || column->kind == TABLE_DECIMAL;
        struct libscols_column *added =
                scols_table_new_column(table->rows, column->name, 0, right ? SCOLS_FL_RIGHT : 0);
        if (added == NULL || scols_column_set_json_type(added, json_types[column->kind]) != 0) {
                table->failed = true;
                return;
        }
        snprintf(table->names[i], sizeof table->names[i], "%s", column->name);
        table->columns[table->columns_count++] = added;
}

struct table *table_open(const char *name, const struct table_column *columns)
{
        struct table *table = calloc(1, sizeof *table);
        if (table == NULL)
                return NULL;
        table->rows = scols_new_table();
        if (table->rows == NULL || scols_table_set_name(table->rows, name) != 0) {
                table->failed = true;
                return table;
        }
        for (; columns->name != NULL && !table->failed; columns++)
                column_add(table, columns);
        return table;
}

void table_close(struct table *table)
{
        if (table == NULL)
                return;
        scols_unref_table(table->rows);
        free(table);
}

void table_add(struct table *table, const char *const *texts, size_t count)
{
        if (table == NULL || table->failed)
                return;
        assert(count == table->columns_count);
        struct libscols_line *line = scols_table_new_line(table->rows, NULL);
        if (line == NULL) {
                table->failed = true;
                return;
        }
        for (size_t i = 0; i < count; i++)
                if (texts[i] != NULL && scols_line_set_data(line, i, texts[i]) != 0)
                        table->failed = true;
}

size_t table_rows(const struct table *table)
{
        if (table == NULL || table->rows == NULL)
                return 0;
        return scols_table_get_nlines(table->rows);
}

/* Capitals for people; members of JSON keep the names that programs know. */
static bool heads_set(struct table *table, enum table_format format)
{
        for (size_t i = 0; i < table->columns_count; i++) {
                char head[COLUMN_NAME_BYTES];
                snprintf(head, sizeof head, "%s", table->names[i]);
                for (char *at = head; format == TABLE_FORMAT_TABLE && *at != '\0'; at++)
                        *at = (char)toupper((unsigned char)*at);
                if (scols_cell_set_data(scols_column_get_header(table->columns[i]), head) != 0)
                        return false;
        }
        return true;
}

enum po_class table_print(struct table *table, FILE *stream, enum table_format format,
                          struct po_error *error)
{
        if (table == NULL || table->failed || !heads_set(table, format))
                return po_fail(error, PO_SYSTEMIC, ENOMEM, "print a table: out of memory");
        scols_table_enable_json(table->rows, format == TABLE_FORMAT_JSON);
        scols_table_set_stream(table->rows, stream);
        if (scols_print_table(table->rows) != 0)
                return po_fail(error, PO_SYSTEMIC, errno, "print a table: %s", strerror(errno));
        return PO_OK;
}

enum po_class table_show(struct table *table, enum table_format format, struct po_error *error)
{
        enum po_class kind = table_print(table, stdout, format, error);
        table_close(table);
        return kind;
}

/* What stands between the outermost braces of a printed table, into the object of all. */
static bool member_print(const char *printed, bool first, FILE *stream)
{
        const char *open = strchr(printed, '{'), *close = strrchr(printed, '}');
        if (open == NULL || close == NULL)
                return false;
        while (close > open + 1 && isspace((unsigned char)close[-1]))
                close--;
        return fprintf(stream, "%s%.*s", first ? "{" : ",", (int)(close - open - 1), open + 1) > 0;
}

enum po_class tables_print(struct table *const *tables, size_t count, FILE *stream,
                           enum table_format format, struct po_error *error)
{
        bool first = true;
        for (size_t i = 0; i < count; i++) {
                if (format == TABLE_FORMAT_TABLE && table_rows(tables[i]) == 0)
                        continue;
                CLEANUP(cleanup_free) char *printed = NULL;
                size_t printed_bytes = 0;
                FILE *memory = open_memstream(&printed, &printed_bytes);
                if (memory == NULL)
                        return po_fail(error, PO_SYSTEMIC, ENOMEM, "print a table: out of memory");
                enum po_class kind = table_print(tables[i], memory, format, error);
                if (fclose(memory) != 0 && kind == PO_OK)
                        kind = po_fail(error, PO_SYSTEMIC, ENOMEM, "print a table: out of memory");
                if (kind != PO_OK)
                        return kind;
                bool done = format == TABLE_FORMAT_JSON
                                    ? member_print(printed, first, stream)
                                    : fprintf(stream, "%s%s", first ? "" : "\n", printed) >= 0;
                if (!done)
                        return po_fail(error, PO_SYSTEMIC, errno, "print a table: %s",
                                       strerror(errno));
                first = false;
        }
        if (format == TABLE_FORMAT_JSON)
                fputs("\n}\n", stream);
        return PO_OK;
}
