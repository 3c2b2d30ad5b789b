/*
 * INSERT of many rows, in as few statements and with as little work for the server as there is:
 * every full BULK_MANY rows, then every full BULK_SOME, through a prepared statement of that width
 * (parsing the text of as many rows is a third of MySQL's work for them, and half of MariaDB's),
 * the rest as one statement of text. Few rows are one statement of text.
 */
#ifndef MYSQL_BULK_H
#define MYSQL_BULK_H

#include "mysql/db.h"

enum { BULK_MANY = 256, BULK_SOME = 64 };

/* The statement's constant parts; they must live as long as the bulk. */
struct bulk_form {
        const char *insert; /* "INSERT INTO t (a, b, made_at) VALUES " */
        const char *row;    /* "(?,?,UTC_TIMESTAMP(6))" */
        /* Of each '?' of the row: i integer, t text, h hexadecimal. In upper case: often the same
         * in all rows, see steady.h. */
        const char *types;
        const char *ending; /* " ON DUPLICATE KEY UPDATE …" or ""; a '?' in it is one text */
};

struct bulk;
PO_MUST_USE enum po_class bulk_open(struct bulk **bulk_out, struct db *db,
                                    const struct bulk_form *form, struct po_error *error);
void bulk_close(struct bulk *bulk); /* takes NULL */

/*
 * No rows yet. ending: for each '?' of the form's ending, NULL when there is none; it must live
 * until bulk_end(). Rows that are added are sent as soon as there are BULK_MANY, so that memory
 * holds no more: several statements belong into a transaction that is open by then.
 */
void bulk_begin(struct bulk *bulk, const char *ending);
/* The next value of the row, in the order of types (asserted); the bytes are copied. NULL pointers
 * are NULL. */
void bulk_integer(struct bulk *bulk, int64_t value);
void bulk_text(struct bulk *bulk, const char *text);
/*
 * Of type h: as hexadecimal text, for `UNHEX(?)`. (The bytes of a binary parameter stand in the
 * text that MySQL shows of a running statement, and SHOW PROCESSLIST fails on what is no UTF-8:
 * 3854.)
 */
void bulk_binary(struct bulk *bulk, const void *bytes, size_t count);
void bulk_time(struct bulk *bulk, int64_t time_us); /* of type t; as sql_time() */
void bulk_null(struct bulk *bulk);                  /* of whatever type */
size_t bulk_rows(const struct bulk *bulk);          /* that were added */
/* How many statements so many rows become. */
size_t bulk_statements(size_t rows);

/* What one of the statements did. */
struct bulk_sent {
        size_t rows;
        struct db_result result;
};

/*
 * Sends what is left, and nothing after the first failure, which is answered with db_exec()'s
 * classes; SYSTEMIC also for want of memory.
 */
PO_MUST_USE enum po_class bulk_end(struct bulk *bulk, struct po_error *error);
/* Of the last bulk_end(): the sum of affected rows, and each statement. */
uint64_t bulk_affected(const struct bulk *bulk);
const struct bulk_sent *bulk_sent(const struct bulk *bulk, size_t *count_out);

#endif
