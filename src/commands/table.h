/*
 * Rows of text as a table for people or as JSON for programs (libsmartcols).
 *
 * Out of memory is remembered, not reported at once: every function takes NULL and a table that
 * failed, and table_print() says so.
 */
#ifndef COMMANDS_TABLE_H
#define COMMANDS_TABLE_H

#include <stddef.h>
#include <stdio.h>

#include "postonce/error.h"

enum table_format { TABLE_FORMAT_TABLE, TABLE_FORMAT_JSON };
/* "table", "json", NULL: for OPTION_ROW_OUTPUT. */
extern const char *const table_format_words[];

enum table_kind {
        TABLE_TEXT,
        TABLE_NUMBER,  /* a decimal number as text; right-aligned, a number in JSON */
        TABLE_DECIMAL, /* an amount as text; right-aligned, a text in JSON, where it stays exact */
        TABLE_FLAG,    /* "yes" or "no"; true or false in JSON */
};

struct table_column {
        const char *name; /* lower case, words joined by _; in capitals in the table's head */
        enum table_kind kind;
};

struct table;

/* name: the member that holds the rows in JSON. columns: ends with one without a name; copied. */
struct table *table_open(const char *name, const struct table_column *columns);
void table_close(struct table *table); /* takes NULL */

/*
 * One row: a text (copied, UTF-8) for each column; NULL or "" is an empty cell, null in JSON.
 * Asserts that there are as many as columns. table_row(table, "a", "1") is the way to call it.
 */
void table_add(struct table *table, const char *const *texts, size_t count);
#define table_row(table, ...)                                                                      \
        table_add(table, (const char *const[]){ __VA_ARGS__ },                                     \
                  sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

size_t table_rows(const struct table *table);

/*
 * Prints all rows. A table without rows prints nothing, in JSON an empty list. Control characters
 * are shown escaped. SYSTEMIC: out of memory.
 */
PO_MUST_USE enum po_class table_print(struct table *table, FILE *stream, enum table_format format,
                                      struct po_error *error);

/* The same on standard output, and closes the table. */
PO_MUST_USE enum po_class table_show(struct table *table, enum table_format format,
                                     struct po_error *error);

/*
 * table_print() for several: one after the other with an empty line between those that have rows,
 * in JSON as the members of one object.
 */
PO_MUST_USE enum po_class tables_print(struct table *const *tables, size_t count, FILE *stream,
                                       enum table_format format, struct po_error *error);

#endif
