/*
 * Which of a row's values are one and the same in row after row: a tenant, a topic, a currency. A
 * prepared statement has those as literals, since a value that is sent costs MySQL 0.13 µs of CPU
 * and the worker's a tenth of that, whatever it is.
 *
 * A column is steady when STEADY_ROWS rows in a row had its value, and until one has another. So
 * what changes seldom costs few statements that are prepared anew, and what changes often none.
 */
#ifndef MYSQL_STEADY_H
#define MYSQL_STEADY_H

#include "mysql/prepared.h"

enum { STEADY_ROWS = 16384, STEADY_BYTES = 256 }; /* longer texts never are */

struct steady;
/* types: a letter a column, of which those in upper case may become steady; it must live as long.
 * SYSTEMIC: out of memory. */
PO_MUST_USE enum po_class steady_open(struct steady **steady_out, const char *types,
                                      struct po_error *error);
void steady_close(struct steady *steady); /* takes NULL */

/* Takes so many rows into account; true: other columns are steady than were before. */
bool steady_see(struct steady *steady, const struct db_value *rows, size_t count);

/* Of a steady column its value, which lives until the next steady_see(); else NULL. */
const struct db_value *steady_value(const struct steady *steady, size_t column);

/* Leaves in the rows what is not steady, without gaps; returns how many values are left. */
size_t steady_pick(const struct steady *steady, struct db_value *rows, size_t count);

#endif
