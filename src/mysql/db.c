#include "mysql/db.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/log.h"
#include "mysql/classify.h"
#include "mysql/connection.h"

enum { PACKET_MARGIN_BYTES = 1024 }; /* the command's own bytes, and the server's rounding */

enum po_class db_open(struct db **db_out, const struct db_options *options, struct po_error *error)
{
        struct db *db = calloc(1, sizeof *db);
        if (db == NULL)
                return po_fail(error, PO_SYSTEMIC, errno, "out of memory for a connection");
        db->options = *options;
        *db_out = db;
        return PO_OK;
}

void db_close(struct db *db)
{
        if (db == NULL)
                return;
        db_rows_end(db);
        db_disconnect(db);
        free(db->binds);
        free(db);
}

enum po_class db_connect(struct db *db, struct po_error *error)
{
        if (db->session.mysql != NULL)
                return PO_OK;
        assert(!db->in_transaction);
        struct session opened;
        enum po_class class = session_open(&opened, &db->options, error);
        db->statements += opened.round_trips;
        if (class != PO_OK)
                return class;
        db->session = opened;
        db->connects++;
        db->last_traffic_ms = clock_ms();
        return PO_OK;
}

void db_disconnect(struct db *db)
{
        mysql_close(db->session.mysql);
        db->session.mysql = NULL;
}

bool db_is_connected(const struct db *db)
{
        return db->session.mysql != NULL;
}

bool db_is_mariadb(const struct db *db)
{
        return db->session.is_mariadb;
}

const char *db_server_version(const struct db *db)
{
        return db->session.version;
}

size_t db_packet_bytes(const struct db *db)
{
        return db->session.packet_bytes;
}

uint64_t db_statements(const struct db *db)
{
        return db->statements;
}

static void drop_if_dead(struct db *db)
{
        db->statements++;
        db->last_traffic_ms = clock_ms();
        if (mysql_ping(db->session.mysql) != 0)
                db_disconnect(db);
}

void db_keep_alive(struct db *db)
{
        if (db->session.mysql == NULL || db->in_transaction)
                return;
        if (clock_ms() - db->last_traffic_ms >= db->options.wait_timeout_ms / 3)
                drop_if_dead(db);
}

static int socket_of(const struct db *db)
{
#ifdef LIBMARIADB
        return mysql_get_socket(db->session.mysql);
#else
        return db->session.mysql->net.fd;
#endif
}

/* Between statements a server has nothing to say but that it hung up. */
static bool has_unasked_answer(const struct db *db)
{
        struct pollfd server = { .fd = socket_of(db), .events = POLLIN };
        return poll(&server, 1, 0) != 0;
}

enum po_class connection_failed(struct db *db, unsigned number, const char *text,
                                struct po_error *error)
{
        const struct mysql_class *class = mysql_classify(number);
        mysql_explain(error, number, class->kind, text);
        if ((class->flags & MYSQL_CLOSES) != 0)
                db_disconnect(db);
        return class->kind;
}

static enum po_class fail(struct db *db, struct po_error *error)
{
        return connection_failed(db, mysql_errno(db->session.mysql), mysql_error(db->session.mysql),
                                 error);
}

void connection_used(struct db *db)
{
        db->statements++;
        db->last_traffic_ms = clock_ms();
}

static enum po_class send_text(struct db *db, const char *text, size_t length,
                               struct po_error *error)
{
        int sent = mysql_real_query(db->session.mysql, text, length);
        connection_used(db);
        return sent == 0 ? PO_OK : fail(db, error);
}

/* A connection to send on: the transaction's own, or outside of one any that lives. */
static enum po_class be_connected(struct db *db, struct po_error *error)
{
        if (db->in_transaction && db->session.mysql == NULL)
                return po_fail(error, PO_TRANSIENT, 0,
                               "the connection was lost inside a transaction");
        if (db->in_transaction)
                return PO_OK;
        if (db->session.mysql != NULL && has_unasked_answer(db))
                drop_if_dead(db);
        return db_connect(db, error);
}

enum po_class connection_check(struct db *db, struct po_error *error)
{
        assert(!db->streaming);
        bool cell_failed = db->cell_failed;
        db->cell_failed = false;
        if (cell_failed)
                return po_fail(error, PO_BUG, 0, "a cell read before was not an integer");
        if (db->failed)
                return po_fail(error, PO_BUG, 0,
                               "this transaction failed before: only rollback is left");
        return PO_OK;
}

enum po_class connection_find(struct db *db, size_t bytes, struct po_error *error)
{
        enum po_class class = be_connected(db, error);
        if (class != PO_OK)
                return class;
        if (bytes + PACKET_MARGIN_BYTES > db->session.packet_bytes)
                return po_refuse(error, "STATEMENT_TOO_LARGE",
                                 "a statement of %zu bytes, and max_allowed_packet is %zu", bytes,
                                 db->session.packet_bytes);
        return PO_OK;
}

static enum po_class send_statement(struct db *db, const struct sql *statement,
                                    struct po_error *error)
{
        enum po_class class = connection_check(db, error);
        if (class != PO_OK)
                return class;
        if (statement->too_long)
                return po_refuse(error, "STATEMENT_TOO_LARGE",
                                 "a statement longer than any server takes");
        if (statement->failed)
                return po_fail(error, PO_SYSTEMIC, ENOMEM, "out of memory for a statement");
        class = connection_find(db, statement->length, error);
        if (class != PO_OK)
                return class;
        return send_text(db, statement->text, statement->length, error);
}

enum po_class connection_prove(const struct db *db, struct po_error *error)
{
        bool server_in_transaction =
                (db->session.mysql->server_status & SERVER_STATUS_IN_TRANS) != 0;
        if (db->in_transaction == server_in_transaction)
                return PO_OK;
        return po_fail(error, PO_BUG, 0,
                       db->in_transaction ? "the statement ended the transaction by itself"
                                          : "the statement left a transaction open");
}

enum po_class connection_end(struct db *db, enum po_class class)
{
        if (class != PO_OK && db->in_transaction)
                db->failed = true;
        return class;
}

static enum po_class exec(struct db *db, const struct sql *statement, struct db_result *result_out,
                          struct po_error *error)
{
        enum po_class class = send_statement(db, statement, error);
        if (class != PO_OK)
                return class;
        if (mysql_field_count(db->session.mysql) != 0) {
                db_disconnect(db); /* rows that nobody reads would answer the next statement */
                return po_fail(error, PO_BUG, 0,
                               "a statement that must not return rows returned some");
        }
        if (result_out != NULL)
                *result_out =
                        (struct db_result){ .affected_rows = mysql_affected_rows(db->session.mysql),
                                            .insert_id = mysql_insert_id(db->session.mysql) };
        return connection_prove(db, error);
}

enum po_class db_exec(struct db *db, const struct sql *statement, struct db_result *result_out,
                      struct po_error *error)
{
        return connection_end(db, exec(db, statement, result_out, error));
}

static enum po_class query(struct db *db, const struct sql *statement, struct po_error *error)
{
        enum po_class class = send_statement(db, statement, error);
        if (class != PO_OK)
                return class;
        db->rows = mysql_store_result(db->session.mysql);
        if (db->rows == NULL && mysql_errno(db->session.mysql) != 0)
                return fail(db, error);
        if (db->rows == NULL)
                return po_fail(error, PO_BUG, 0, "a query returned no rows, not even none");
        db->columns = mysql_num_fields(db->rows);
        class = PO_OK;
        if (db->in_transaction) /* a locking read may open none; a plain one under autocommit
                                   neither */
                class = connection_prove(db, error);
        if (class != PO_OK)
                db_rows_end(db);
        return class;
}

enum po_class db_query(struct db *db, const struct sql *statement, struct po_error *error)
{
        assert(db->rows == NULL);
        return connection_end(db, query(db, statement, error));
}

enum po_class db_stream(struct db *db, const struct sql *statement, struct po_error *error)
{
        assert(db->rows == NULL && !db->in_transaction);
        enum po_class class = send_statement(db, statement, error);
        if (class != PO_OK)
                return class;
        db->rows = mysql_use_result(db->session.mysql);
        if (db->rows == NULL && mysql_errno(db->session.mysql) != 0)
                return fail(db, error);
        if (db->rows == NULL)
                return po_fail(error, PO_BUG, 0, "a query returned no rows, not even none");
        db->columns = mysql_num_fields(db->rows);
        db->streaming = true;
        db->stream_ended = false;
        return PO_OK;
}

/* The library would read the rest of a result that is freed early: cut, it reads nothing. */
static void abandon_stream(struct db *db)
{
        shutdown(socket_of(db), SHUT_RDWR);
        db_rows_end(db);
        db_disconnect(db);
}

enum po_class db_stream_end(struct db *db, struct po_error *error)
{
        assert(db->streaming);
        db->streaming = false;
        unsigned number = db->stream_ended ? mysql_errno(db->session.mysql) : 0;
        if (number != 0)
                mysql_explain(error, number, mysql_classify(number)->kind,
                              mysql_error(db->session.mysql));
        if (number != 0 || !db->stream_ended)
                abandon_stream(db);
        else
                db_rows_end(db);
        db->last_traffic_ms = clock_ms();
        return number != 0 ? error->kind : connection_check(db, error);
}

bool db_next_row(struct db *db)
{
        assert(db->rows != NULL);
        db->row = mysql_fetch_row(db->rows);
        db->stream_ended = db->row == NULL;
        db->lengths = db->row != NULL ? mysql_fetch_lengths(db->rows) : NULL;
        return db->row != NULL;
}

void db_rows_end(struct db *db)
{
        mysql_free_result(db->rows);
        db->rows = NULL;
        db->row = NULL;
        db->lengths = NULL;
        db->columns = 0;
}

size_t db_row_count(const struct db *db)
{
        assert(db->rows != NULL);
        return (size_t)mysql_num_rows(db->rows);
}

bool db_is_null(const struct db *db, unsigned column)
{
        assert(db->row != NULL && column < db->columns);
        return db->row[column] == NULL;
}

const char *db_text(const struct db *db, unsigned column)
{
        return db_is_null(db, column) ? "" : db->row[column];
}

size_t db_bytes(const struct db *db, unsigned column, const void **bytes_out)
{
        *bytes_out = db_text(db, column);
        return db->row[column] != NULL ? db->lengths[column] : 0;
}

int64_t db_integer(struct db *db, unsigned column)
{
        const char *text = db_text(db, column);
        const char *digits = text + (text[0] == '-');
        char *end;
        errno = 0;
        int64_t value = strtoll(text, &end, 10);
        if (digits[0] >= '0' && digits[0] <= '9' && *end == '\0' && errno == 0 &&
            strlen(text) == db->lengths[column])
                return value;
        log_error("not_an_integer", "column=%u null=%d", column, db_is_null(db, column));
        db->cell_failed = true;
        return 0;
}

enum po_class db_begin(struct db *db, struct po_error *error)
{
        static const char begin[] = "BEGIN";
        assert(!db->in_transaction);
        enum po_class class = connection_check(db, error);
        if (class == PO_OK)
                class = be_connected(db, error);
        if (class != PO_OK)
                return class;
        class = send_text(db, begin, sizeof begin - 1, error);
        if (class != PO_OK && db->session.mysql == NULL) { /* found dead: nothing was in it yet */
                class = db_connect(db, error);
                if (class == PO_OK)
                        class = send_text(db, begin, sizeof begin - 1, error);
        }
        db->in_transaction = class == PO_OK;
        return class;
}

static enum po_class commit(struct db *db, struct po_error *error)
{
        static const char statement[] = "COMMIT";
        enum po_class class = connection_check(db, error);
        if (class == PO_OK)
                class = be_connected(db, error);
        if (class == PO_OK)
                class = connection_prove(db, error);
        if (class != PO_OK)
                return class;
        class = send_text(db, statement, sizeof statement - 1, error);
        if (class == PO_OK ||
            (mysql_classify((unsigned)error->code)->flags & MYSQL_COMMIT_OPEN) == 0)
                return class;
        db_disconnect(db);
        error->kind = PO_UNCERTAIN;
        return po_within(error, "COMMIT may or may not have taken place");
}

enum po_class db_commit(struct db *db, struct po_error *error)
{
        assert(db->in_transaction);
        enum po_class class = commit(db, error);
        if (class == PO_OK)
                db->in_transaction = false;
        else
                db_rollback(db);
        return class;
}

void db_rollback(struct db *db)
{
        static const char rollback[] = "ROLLBACK";
        struct po_error ignored;
        db_rows_end(db);
        if (db->in_transaction && db->session.mysql != NULL &&
            send_text(db, rollback, sizeof rollback - 1, &ignored) != PO_OK)
                db_disconnect(db);
        db->in_transaction = false;
        db->failed = false;
        db->cell_failed = false;
}

enum po_class db_end(struct db *db, enum po_class kind, struct po_error *error)
{
        if (kind == PO_OK)
                return db_commit(db, error);
        db_rollback(db);
        return kind;
}

bool db_is_in_transaction(const struct db *db)
{
        return db->in_transaction;
}
