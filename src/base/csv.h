/*
 * Reads a CSV file with a header line (RFC 4180, but that a field ends with its line), one row at a
 * time, so that memory does not grow with the file. An empty line is no row; a byte order mark and
 * CR LF are taken.
 */
#ifndef BASE_CSV_H
#define BASE_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "postonce/error.h"

enum { CSV_COLUMNS_MAX = 16 };

struct csv;

/*
 * names: every column that there may be, NULL at the end; of them the first `required` must be
 * there. Opens the file and reads its header. SYSTEMIC: it cannot be read. RECORD (MALFORMED_CSV,
 * CONTROL_CHARACTER) with "path:line: ": empty, a column missing, unknown or twice. path and names
 * must outlive it. *csv_out is NULL unless OK.
 */
PO_MUST_USE enum po_class csv_open(struct csv **csv_out, const char *path, const char *const *names,
                                   size_t required, struct po_error *error);
void csv_close(struct csv *csv); /* takes NULL */

/* The next row; *row_out is false at the end of the file. RECORD, as above: too few fields … */
PO_MUST_USE enum po_class csv_next(struct csv *csv, bool *row_out, struct po_error *error);

/* Of the row in hand, until the next call: the field of names[column]; NULL: no such column. */
const char *csv_field(const struct csv *csv, size_t column);
/* Whether the file has names[column]. */
bool csv_has(const struct csv *csv, size_t column);
size_t csv_line(const struct csv *csv);
/* Puts "path:line: " in front of an error that the row in hand is at fault for. */
enum po_class csv_within(const struct csv *csv, struct po_error *error);

/* For a progress bar: bytes read, and of the file when it was opened. */
int64_t csv_bytes_done(const struct csv *csv);
int64_t csv_bytes_all(const struct csv *csv);

#endif
