#include "base/csv.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

struct csv {
        const char *path;
        const char *const *names;
        size_t names_count;
        FILE *stream;
        int64_t bytes_done, bytes_all;
        size_t line_no;
        char *line;
        size_t line_capacity;
        size_t width;                   /* fields of the header */
        size_t places[CSV_COLUMNS_MAX]; /* of names, in the file; SIZE_MAX: not there */
        size_t fields_count;
        char *fields[CSV_COLUMNS_MAX];
};

enum po_class csv_within(const struct csv *csv, struct po_error *error)
{
        return po_within(error, "%s:%zu", csv->path, csv->line_no);
}

/*
 * Cuts the line in place into fields; "…" with "" for a quote. False: a quote that does not end.
 * Fields beyond the most columns that there may be are not cut: their number tells.
 */
static bool split_line(struct csv *csv)
{
        csv->fields_count = 0;
        for (char *at = csv->line;; at++) {
                char *write = at;
                if (csv->fields_count == CSV_COLUMNS_MAX)
                        return true;
                csv->fields[csv->fields_count++] = at;
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

/* Cuts the line's end off. A NUL would end the text early and hide what follows. */
static enum po_class trim_line(struct csv *csv, size_t length, struct po_error *error)
{
        if (memchr(csv->line, '\0', length) != NULL) {
                po_refuse(error, "CONTROL_CHARACTER", "the line has a NUL byte");
                return csv_within(csv, error);
        }
        if (length > 0 && csv->line[length - 1] == '\n')
                csv->line[--length] = '\0';
        if (length > 0 && csv->line[length - 1] == '\r')
                csv->line[--length] = '\0';
        return PO_OK;
}

/* The next line without its end. */
static enum po_class read_line(struct csv *csv, bool *line_out, struct po_error *error)
{
        ssize_t length = getline(&csv->line, &csv->line_capacity, csv->stream);
        *line_out = length >= 0;
        if (length < 0 && ferror(csv->stream))
                return po_fail(error, PO_SYSTEMIC, errno, "%s: %s", csv->path, strerror(errno));
        csv->line_no++;
        if (length < 0)
                return PO_OK;
        csv->bytes_done += length;
        return trim_line(csv, (size_t)length, error);
}

static enum po_class split(struct csv *csv, struct po_error *error)
{
        if (split_line(csv))
                return PO_OK;
        po_refuse(error, "MALFORMED_CSV", "a quote does not end where its field ends");
        return csv_within(csv, error);
}

static enum po_class refuse_column(const struct csv *csv, size_t place, struct po_error *error)
{
        char list[256] = "";
        size_t used = 0;
        for (size_t i = 0; i < csv->names_count && used < sizeof list; i++)
                used += (size_t)snprintf(list + used, sizeof list - used, "%s, ", csv->names[i]);
        po_refuse(error, "MALFORMED_CSV", "column %zu must be one of %seach once", place + 1, list);
        return csv_within(csv, error);
}

static enum po_class place_columns(struct csv *csv, size_t required, struct po_error *error)
{
        for (size_t i = 0; i < csv->names_count; i++)
                csv->places[i] = SIZE_MAX;
        for (size_t i = 0; i < csv->width; i++) {
                size_t known = 0;
                while (known < csv->names_count && strcmp(csv->names[known], csv->fields[i]) != 0)
                        known++;
                if (known == csv->names_count || csv->places[known] != SIZE_MAX)
                        return refuse_column(csv, i, error);
                csv->places[known] = i;
        }
        for (size_t i = 0; i < required; i++)
                if (csv->places[i] == SIZE_MAX) {
                        po_refuse(error, "MALFORMED_CSV", "the header has no column %s",
                                  csv->names[i]);
                        return csv_within(csv, error);
                }
        return PO_OK;
}

static enum po_class read_header(struct csv *csv, size_t required, struct po_error *error)
{
        static const char mark[] = "\xEF\xBB\xBF";
        bool there;
        if (read_line(csv, &there, error) != PO_OK)
                return error->kind;
        if (!there) {
                po_refuse(error, "MALFORMED_CSV", "the file is empty");
                return csv_within(csv, error);
        }
        if (strncmp(csv->line, mark, sizeof mark - 1) == 0)
                memmove(csv->line, csv->line + sizeof mark - 1,
                        strlen(csv->line) - (sizeof mark - 1) + 1);
        if (split(csv, error) != PO_OK)
                return error->kind;
        csv->width = csv->fields_count;
        return place_columns(csv, required, error);
}

static enum po_class open_file(struct csv *csv, struct po_error *error)
{
        struct stat status;
        csv->stream = fopen(csv->path, "re");
        if (csv->stream == NULL || fstat(fileno(csv->stream), &status) != 0)
                return po_fail(error, PO_SYSTEMIC, errno, "%s: %s", csv->path, strerror(errno));
        csv->bytes_all = status.st_size;
        return PO_OK;
}

enum po_class csv_open(struct csv **csv_out, const char *path, const char *const *names,
                       size_t required, struct po_error *error)
{
        *csv_out = NULL;
        struct csv *csv = calloc(1, sizeof *csv);
        if (csv == NULL)
                return po_fail(error, PO_SYSTEMIC, ENOMEM, "%s: out of memory", path);
        csv->path = path;
        csv->names = names;
        while (names[csv->names_count] != NULL)
                csv->names_count++;
        assert(csv->names_count <= CSV_COLUMNS_MAX && required <= csv->names_count);
        if (open_file(csv, error) != PO_OK || read_header(csv, required, error) != PO_OK) {
                csv_close(csv);
                return error->kind;
        }
        *csv_out = csv;
        return PO_OK;
}

void csv_close(struct csv *csv)
{
        if (csv == NULL)
                return;
        if (csv->stream != NULL)
                fclose(csv->stream);
        free(csv->line);
        free(csv);
}

enum po_class csv_next(struct csv *csv, bool *row_out, struct po_error *error)
{
        do {
                if (read_line(csv, row_out, error) != PO_OK)
                        return error->kind;
                if (!*row_out)
                        return PO_OK;
        } while (csv->line[0] == '\0');
        if (split(csv, error) != PO_OK)
                return error->kind;
        if (csv->fields_count == csv->width)
                return PO_OK;
        po_refuse(error, "MALFORMED_CSV", "expected %zu fields", csv->width);
        return csv_within(csv, error);
}

bool csv_has(const struct csv *csv, size_t column)
{
        assert(column < csv->names_count);
        return csv->places[column] != SIZE_MAX;
}

const char *csv_field(const struct csv *csv, size_t column)
{
        return csv_has(csv, column) ? csv->fields[csv->places[column]] : NULL;
}

size_t csv_line(const struct csv *csv)
{
        return csv->line_no;
}

int64_t csv_bytes_done(const struct csv *csv)
{
        return csv->bytes_done;
}

int64_t csv_bytes_all(const struct csv *csv)
{
        return csv->bytes_all;
}
