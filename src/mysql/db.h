/*
 * One connection to MySQL or MariaDB, its session settings asserted, its errors classified.
 *
 * Nothing reconnects inside a transaction. Outside of one, a connection found dead is reopened
 * silently by the next db_begin(), db_exec() or db_query(); one that dies under a statement is not,
 * since the statement may have run. On any error the caller's unit is over: db_rollback() and start
 * again. After 1213 the transaction is gone and a further statement would commit by itself, 1205
 * undoes one statement only: so after a failure inside a transaction every statement, and COMMIT,
 * is BUG until db_rollback(). The only place with <mysql.h> is this folder.
 *
 * The program must ignore SIGPIPE (OpenSSL's writes to a dead connection raise it).
 */
#ifndef MYSQL_DB_H
#define MYSQL_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mysql/sql.h"
#include "postonce/error.h"

struct db;

struct db_options {
        const char *host; /* NULL with socket */
        int64_t port;
        const char *socket; /* NULL: TCP */
        const char *user;
        const char *password;      /* NULL: password_file, or none */
        const char *password_file; /* read at every connect: a changed secret is picked up */
        const char *database;      /* NULL: none selected */
        /* NULL: none. With tls_ca the server's certificate and name are verified; any asks for TLS.
         */
        const char *tls_ca, *tls_cert, *tls_key;
        /*
         * Whole seconds, rounded up; below max.poll.interval.ms. Oracle's library tries a read up
         * to three times. A statement that takes longer than read_timeout_ms is a lost connection.
         */
        int64_t connect_timeout_ms, read_timeout_ms, write_timeout_ms;
        int64_t wait_timeout_ms; /* the session's: frees a frozen worker's locks; whole seconds */
        bool accept_data_loss;   /* do not refuse innodb_flush_log_at_trx_commit != 1 … */
        bool require_durable;    /* …which only `run` asks about */
        bool require_schema;     /* every connect asks for the schema's version: migrate_judge() */
};

/* Remembers the options (the strings must outlive it); connects at first use. */
PO_MUST_USE enum po_class db_open(struct db **db_out, const struct db_options *options,
                                  struct po_error *error);
void db_close(struct db *db); /* takes NULL */

/*
 * Connects if it is not, and asserts the session (DESIGN 6): strict sql_mode, READ COMMITTED,
 * utf8mb4 / utf8mb4_bin, UTC, lock wait ≤ 5 s, short wait_timeout, read_only off, unique_checks on,
 * max_allowed_packet read, and with require_schema a schema that this program can work with.
 * TRANSIENT: server away (2002, 2003, 2005, 2006, 2013, 2055, 1053).
 * SYSTEMIC: any other error while connecting, or a setting that breaks a promise.
 */
PO_MUST_USE enum po_class db_connect(struct db *db, struct po_error *error);
void db_disconnect(struct db *db);
bool db_is_connected(const struct db *db);
/*
 * Pings when a third of wait_timeout passed without traffic; a dead connection is only closed. Does
 * nothing inside a transaction, which wait_timeout is there to end.
 */
void db_keep_alive(struct db *db);

/* Of the last successful connect; false, "" and 0 before. */
bool db_is_mariadb(const struct db *db);
const char *db_server_version(const struct db *db);
size_t db_packet_bytes(const struct db *db); /* max_allowed_packet */

/* What a statement did. */
struct db_result {
        uint64_t affected_rows; /* CLIENT_FOUND_ROWS: rows found by an UPDATE, changed or not */
        uint64_t insert_id;
};

/*
 * Runs one statement without a result set; autocommitted unless between db_begin and db_commit.
 * RECORD with reason STATEMENT_TOO_LARGE: larger than max_allowed_packet, not sent (the server's
 * own answer looks like a lost connection), or statement->too_long: half of it may fit. EXISTS:
 * 1062. SYSTEMIC: statement->failed for want of memory, and after
 * 1290, 1792 and 1836, which close the connection so that the name is resolved again. BUG: the
 * transaction ended by itself (DDL inside it), or a cell of the last result was no integer. Other
 * classes: classify.h. result_out may be NULL.
 */
PO_MUST_USE enum po_class db_exec(struct db *db, const struct sql *statement,
                                  struct db_result *result_out, struct po_error *error);

/*
 * Runs a query and buffers its rows; only one result is open at a time (asserted): ends with
 * db_rows_end(). db_exec() may run meanwhile. Classes as db_exec().
 */
PO_MUST_USE enum po_class db_query(struct db *db, const struct sql *statement,
                                   struct po_error *error);
/* True while there is a row; cells are read with db_text() and friends until the next call. */
bool db_next_row(struct db *db);
void db_rows_end(struct db *db);
/*
 * db_query() for a result of any size: its rows come one at a time while they are read, all of one
 * statement's view of the tables. Outside of a transaction, and no other statement until
 * db_stream_end() (both asserted). There db_next_row() is false also when the stream broke, which
 * db_stream_end() tells; a reader that stops before the end closes the connection. The server gives
 * up on a reader that takes nothing for net_write_timeout.
 */
PO_MUST_USE enum po_class db_stream(struct db *db, const struct sql *statement,
                                    struct po_error *error);
PO_MUST_USE enum po_class db_stream_end(struct db *db, struct po_error *error);
size_t db_row_count(const struct db *db);
bool db_is_null(const struct db *db, unsigned column);
const char *db_text(const struct db *db, unsigned column); /* "" for NULL; NUL-terminated */
size_t db_bytes(const struct db *db, unsigned column, const void **bytes_out);
/*
 * 0 when the cell is not a decimal integer of 64 bits, or NULL: logged, and the next statement or
 * COMMIT is BUG, so that nothing is committed that was computed from it.
 */
int64_t db_integer(struct db *db, unsigned column);

/*
 * A transaction. db_begin asserts that none is open: the claim is committed before, on its own
 * (REQUIRES_NEW). It reopens a dead connection. db_commit ends the transaction, whatever it
 * answers: UNCERTAIN when the answer to COMMIT was lost or does not tell; any other class: it is
 * rolled back. db_rollback never fails for the caller: a connection that cannot roll back is
 * closed. It also ends an open result, and outside of a transaction it does nothing else.
 */
PO_MUST_USE enum po_class db_begin(struct db *db, struct po_error *error);
PO_MUST_USE enum po_class db_commit(struct db *db, struct po_error *error);
void db_rollback(struct db *db);
/*
 * What db_begin() of the same function began ends here, with what its statements came to: COMMIT
 * when kind is OK, else ROLLBACK. Returns kind, or db_commit()'s answer.
 */
PO_MUST_USE enum po_class db_end(struct db *db, enum po_class kind, struct po_error *error);
bool db_is_in_transaction(const struct db *db);

/* Round trips since db_open, those of connecting and pings too, for the test that counts them. */
uint64_t db_statements(const struct db *db);

#endif
