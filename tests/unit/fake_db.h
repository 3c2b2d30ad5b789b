/*
 * A database of the tests' own, linked instead of mysql/db.c and mysql/prepared.c: it remembers
 * every statement and answers by script. It keeps db.h's contract where callers rest on it: one
 * result at a time, db_begin() asserts that no transaction is open, and after a failure inside one
 * every statement and COMMIT is BUG until db_rollback().
 *
 * An answer is used once, by the next statement (BEGIN and COMMIT too) that holds its piece of
 * text. A statement without an answer succeeds: one affected row (an upsert that moves orders: two
 * a row), no rows.
 */
#ifndef FAKE_DB_H
#define FAKE_DB_H

#include "unit.h"

#include "mysql/db.h"

/* What orders_move() sends. */
#define FAKE_MOVE                                                                                  \
        "INSERT INTO payment_order (tenant_id, order_no, amount, currency, status, paid_channel"

enum { FAKE_PACKET_BYTES = 64 * 1024 }; /* its max_allowed_packet; larger statements pass */

/* A connection with an empty script and an empty memory. */
struct db *fake_db_open(void);

/* The next statement with that piece fails. 2006 and 2013 close the connection. */
void fake_fail(const char *piece, enum po_class kind, int code);
/* The next statement with that piece finds so many rows. */
void fake_affect(const char *piece, uint64_t rows);
/* The next query with that piece gets the rows that fake_row() adds after it. */
void fake_rows(const char *piece);
/* One row of the answer that was scripted last, a text or NULL a cell. The texts must live. */
#define fake_row(...)                                                                              \
        fake_row_add((const char *const[]){ __VA_ARGS__ },                                         \
                     sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))
void fake_row_add(const char *const *cells, size_t count);

/* A cell of count bytes, NULs among them; the bytes must live. */
const char *fake_binary(const void *bytes, size_t count);

/*
 * Asserts that the statements since the last call start with these texts, one for one in this
 * order; every answer of the script must be used by then.
 */
#define fake_saw(...)                                                                              \
        fake_saw_all((const char *const[]){ __VA_ARGS__ },                                         \
                     sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))
void fake_saw_all(const char *const *starts, size_t count);
void fake_saw_nothing(void);
/* The last statement that starts so, whether seen or not; fails when there is none. */
const char *fake_statement(const char *start);
size_t fake_count(const char *start);
/* Whether the last statement that starts so stood between BEGIN and COMMIT. */
bool fake_was_in_transaction(const char *start);

#endif
