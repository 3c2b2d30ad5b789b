/*
 * The one writer of SQL text. Fixed parts are literals of the source; every value goes through a
 * typed function, so no value can become syntax. The buffer grows once and is reused.
 *
 * The session is utf8mb4 with backslash escapes on (asserted at connect), so escaping is byte-wise:
 * NUL, \n, \r, \, ', ", ^Z. Binary goes as X'…'.
 */
#ifndef MYSQL_SQL_H
#define MYSQL_SQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sql {
        char *text; /* NUL-terminated */
        size_t length, capacity;
        bool failed; /* it is not whole: out of memory (db_exec and db_query answer SYSTEMIC), or */
        bool too_long; /* longer than any server takes (RECORD, STATEMENT_TOO_LARGE) */
};

void sql_reset(struct sql *sql); /* keeps the buffer */
void sql_free(struct sql *sql);  /* of a zeroed struct: nothing */

/* A literal piece of the statement. */
void sql_raw(struct sql *sql, const char *literal);
/* The same, of so many bytes. */
void sql_raw_bytes(struct sql *sql, const char *literal, size_t bytes);
void sql_integer(struct sql *sql, int64_t value);
/* 'escaped' or NULL for a NULL pointer. */
void sql_text(struct sql *sql, const char *text);
void sql_text_bytes(struct sql *sql, const char *text, size_t bytes);
/* X'…' (X'' for 0 bytes) or NULL for a NULL pointer. */
void sql_binary(struct sql *sql, const void *bytes, size_t count);
/*
 * µs since 1970 UTC as '2026-01-14 04:21:07.231000'; NULL for INT64_MIN. Years 1970–9999: any other
 * time becomes a literal that the server refuses for a time column (1292, RECORD).
 */
void sql_time(struct sql *sql, int64_t time_us);
/* An identifier in backticks; asserts [A-Za-z0-9_$-]{1,64}. */
void sql_name(struct sql *sql, const char *name);

#endif
