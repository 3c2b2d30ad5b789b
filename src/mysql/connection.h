/*
 * What db.c and prepared.c share: one connection from the inside. For this folder only.
 */
#ifndef MYSQL_CONNECTION_H
#define MYSQL_CONNECTION_H

#include "mysql/db.h"
#include "mysql/session.h"

struct db {
        struct db_options options;
        struct session session; /* mysql is NULL while not connected */
        uint64_t connects;      /* sessions so far: what was prepared in another is gone */
        MYSQL_RES *rows;
        MYSQL_ROW row;
        unsigned long *lengths;
        unsigned columns;
        bool in_transaction;
        bool failed;      /* a statement of the transaction failed: nothing but rollback is left */
        bool cell_failed; /* db_integer() met something else since the last statement */
        bool streaming, stream_ended; /* rows are read from the server one by one; all were */
        int64_t last_traffic_ms;
        uint64_t statements;
        MYSQL_BIND *binds; /* scratch of db_execute() */
        size_t binds_capacity;
};

/* BUG: the transaction, or a cell that was read, failed before. */
PO_MUST_USE enum po_class connection_check(struct db *db, struct po_error *error);
/* A connection to send so many bytes on: the transaction's own, or outside of one any that lives.
 * RECORD, STATEMENT_TOO_LARGE: the server takes less. */
PO_MUST_USE enum po_class connection_find(struct db *db, size_t bytes, struct po_error *error);
/* A round trip was made. */
void connection_used(struct db *db);
/* Fills error from the library's number and text; closes a connection that is of no more use. */
PO_MUST_USE enum po_class connection_failed(struct db *db, unsigned number, const char *text,
                                            struct po_error *error);
/* BUG: the server does not see the transaction that this side believes in, or sees one. */
PO_MUST_USE enum po_class connection_prove(const struct db *db, struct po_error *error);
/* What every statement ends with: inside a transaction one failure ends it. Returns kind. */
PO_MUST_USE enum po_class connection_end(struct db *db, enum po_class kind);

#endif
