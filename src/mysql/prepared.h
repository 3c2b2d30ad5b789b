/*
 * Prepared statements with parameters, for what is sent again and again: the server parses them
 * once a connection. One whose connection has gone is prepared again by itself.
 */
#ifndef MYSQL_PREPARED_H
#define MYSQL_PREPARED_H

#include "mysql/db.h"

enum db_type { DB_INTEGER, DB_TEXT };

/* A parameter; the bytes are borrowed. */
struct db_value {
        enum db_type type; /* of a parameter always the same, also when it is NULL */
        bool is_null;
        int64_t integer;
        const void *bytes;
        size_t count;
};

struct prepared;
/* text is copied. SYSTEMIC: out of memory. Nothing is sent. */
PO_MUST_USE enum po_class prepared_open(struct prepared **prepared_out, struct db *db,
                                        const struct sql *text, struct po_error *error);
void prepared_close(struct prepared *prepared); /* takes NULL; before or after db_disconnect() */

/*
 * Whether the server has it prepared; the first call of a connection asks for that. False also when
 * the server will not (max_prepared_stmt_count, a proxy without the protocol), until the connection
 * is another one: send text then. Classes as db_exec().
 */
PO_MUST_USE enum po_class prepared_make(struct prepared *prepared, bool *made_out,
                                        struct po_error *error);

/* Parameters that follow each other in memory. */
struct db_values {
        const struct db_value *first;
        size_t count;
};

/*
 * Runs what prepared_make() said is made, as db_exec() does: the parameters of values, then those
 * of ending. TRANSIENT also when the connection is another one by now.
 */
PO_MUST_USE enum po_class prepared_run(struct prepared *prepared, struct db_values values,
                                       struct db_values ending, struct db_result *result_out,
                                       struct po_error *error);

#endif
