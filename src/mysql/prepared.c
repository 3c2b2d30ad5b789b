#include "mysql/prepared.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mysql/classify.h"
#include "mysql/connection.h"

enum { VALUE_BYTES = 9, PARAMETER_BYTES = 3 }; /* what one takes beside its own bytes, at most */

struct prepared {
        struct db *db;
        struct sql text;
        MYSQL_STMT *statement; /* NULL: not made, or refused */
        uint64_t connection;   /* the session that was asked for it; 0: none */
};

enum po_class prepared_open(struct prepared **prepared_out, struct db *db, const struct sql *text,
                            struct po_error *error)
{
        struct prepared *prepared = calloc(1, sizeof *prepared);
        *prepared_out = prepared;
        if (prepared == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for a prepared statement");
        prepared->db = db;
        if (!text->failed)
                sql_raw(&prepared->text, text->text);
        if (text->failed || prepared->text.failed)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for a prepared statement");
        return PO_OK;
}

static void forget(struct prepared *prepared)
{
        if (prepared->statement != NULL)
                mysql_stmt_close(prepared->statement);
        prepared->statement = NULL;
        prepared->connection = 0;
}

void prepared_close(struct prepared *prepared)
{
        if (prepared == NULL)
                return;
        forget(prepared);
        sql_free(&prepared->text);
        free(prepared);
}

/* The library's error, then the statement is of no more use. */
static enum po_class fail(struct prepared *prepared, struct po_error *error)
{
        char text[256];
        unsigned number = mysql_stmt_errno(prepared->statement);
        snprintf(text, sizeof text, "%s", mysql_stmt_error(prepared->statement));
        return connection_failed(prepared->db, number, text, error);
}

/* A server that does not want to is no error: text says the same. */
static bool is_refusal(unsigned number)
{
        const struct mysql_class *class = mysql_classify(number);
        return (class->flags & MYSQL_CLOSES) == 0 && class->kind != PO_TRANSIENT;
}

static enum po_class ask(struct prepared *prepared, struct po_error *error)
{
        struct db *db = prepared->db;
        forget(prepared);
        prepared->statement = mysql_stmt_init(db->session.mysql);
        if (prepared->statement == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for a prepared statement");
        prepared->connection = db->connects;
        int answer =
                mysql_stmt_prepare(prepared->statement, prepared->text.text, prepared->text.length);
        connection_used(db);
        if (answer == 0)
                return PO_OK;
        if (!is_refusal(mysql_stmt_errno(prepared->statement)))
                return fail(prepared, error);
        mysql_stmt_close(prepared->statement);
        prepared->statement = NULL;
        return PO_OK;
}

enum po_class prepared_make(struct prepared *prepared, bool *made_out, struct po_error *error)
{
        struct db *db = prepared->db;
        *made_out = false;
        enum po_class kind = connection_check(db, error);
        if (kind == PO_OK)
                kind = connection_find(db, prepared->text.length, error);
        if (kind == PO_OK && prepared->connection != db->connects)
                kind = ask(prepared, error);
        *made_out = kind == PO_OK && prepared->statement != NULL;
        return connection_end(db, kind);
}

static bool make_room(struct db *db, size_t count)
{
        if (count <= db->binds_capacity)
                return true;
        MYSQL_BIND *binds = realloc(db->binds, count * sizeof *binds);
        if (binds == NULL)
                return false;
        db->binds = binds;
        db->binds_capacity = count;
        return true;
}

/* The library only reads what a bind of a parameter points at. */
static void bind_value(MYSQL_BIND *bind, const struct db_value *value)
{
        static const enum enum_field_types types[] = {
                [DB_INTEGER] = MYSQL_TYPE_LONGLONG, [DB_TEXT] = MYSQL_TYPE_STRING
        };
        bind->buffer_type = types[value->type];
        bind->is_null_value = value->is_null;
        bind->is_null = &bind->is_null_value; /* my_bool or bool, by library */
        if (value->type == DB_INTEGER) {
                bind->buffer = (void *)(uintptr_t)&value->integer;
                return;
        }
        bind->buffer = (void *)(uintptr_t)value->bytes;
        bind->buffer_length = value->count;
}

static size_t packet_bytes(struct db_values values)
{
        size_t bytes = values.count * (VALUE_BYTES + PARAMETER_BYTES);
        for (size_t i = 0; i < values.count; i++)
                if (values.first[i].type != DB_INTEGER)
                        bytes += values.first[i].count;
        return bytes;
}

static enum po_class bind_values(struct prepared *prepared, struct db_values values,
                                 struct db_values ending, struct po_error *error)
{
        struct db *db = prepared->db;
        size_t count = values.count + ending.count;
        assert(mysql_stmt_param_count(prepared->statement) == count);
        if (!make_room(db, count))
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for %zu parameters", count);
        memset(db->binds, 0, count * sizeof *db->binds);
        for (size_t i = 0; i < values.count; i++)
                bind_value(&db->binds[i], &values.first[i]);
        for (size_t i = 0; i < ending.count; i++)
                bind_value(&db->binds[values.count + i], &ending.first[i]);
        if (mysql_stmt_bind_param(prepared->statement, db->binds) != 0)
                return fail(prepared, error);
        return PO_OK;
}

static enum po_class run(struct prepared *prepared, struct db_values values,
                         struct db_values ending, struct db_result *result_out,
                         struct po_error *error)
{
        struct db *db = prepared->db;
        enum po_class kind = connection_check(db, error);
        if (kind == PO_OK)
                kind = connection_find(db, packet_bytes(values) + packet_bytes(ending), error);
        if (kind == PO_OK && prepared->connection != db->connects)
                kind = po_fail(error, PO_TRANSIENT, 0, "the connection was lost");
        if (kind == PO_OK)
                kind = bind_values(prepared, values, ending, error);
        if (kind != PO_OK)
                return kind;
        int answer = mysql_stmt_execute(prepared->statement);
        connection_used(db);
        if (answer != 0)
                return fail(prepared, error);
        *result_out =
                (struct db_result){ .affected_rows = mysql_stmt_affected_rows(prepared->statement),
                                    .insert_id = mysql_stmt_insert_id(prepared->statement) };
        return connection_prove(db, error);
}

enum po_class prepared_run(struct prepared *prepared, struct db_values values,
                           struct db_values ending, struct db_result *result_out,
                           struct po_error *error)
{
        return connection_end(prepared->db, run(prepared, values, ending, result_out, error));
}
