#include "mysql/borrowed.h"

#include <errno.h>
#include <mysql.h>

#include "mysql/classify.h"

static enum po_class fail(MYSQL *mysql, struct po_error *error)
{
        unsigned number = mysql_errno(mysql);
        return mysql_explain(error, number, mysql_classify(number)->kind, mysql_error(mysql));
}

static enum po_class send(MYSQL *mysql, const struct sql *statement, struct po_error *error)
{
        if (statement->failed)
                return po_fail(error, PO_SYSTEMIC, ENOMEM, "out of memory for a statement");
        if (mysql_real_query(mysql, statement->text, statement->length) != 0)
                return fail(mysql, error);
        return PO_OK;
}

enum po_class borrowed_exec(void *mysql, const struct sql *statement, uint64_t *affected_out,
                            struct po_error *error)
{
        if (send(mysql, statement, error) != PO_OK)
                return error->kind;
        *affected_out = mysql_affected_rows(mysql);
        return PO_OK;
}

enum po_class borrowed_count(void *mysql, const struct sql *statement, uint64_t *rows_out,
                             struct po_error *error)
{
        if (send(mysql, statement, error) != PO_OK)
                return error->kind;
        MYSQL_RES *rows = mysql_store_result(mysql);
        if (rows == NULL && mysql_errno(mysql) != 0)
                return fail(mysql, error);
        if (rows == NULL)
                return po_fail(error, PO_BUG, 0, "a query returned no rows, not even none");
        *rows_out = mysql_num_rows(rows);
        mysql_free_result(rows);
        return PO_OK;
}

bool borrowed_is_in_transaction(void *mysql)
{
        const MYSQL *connection = mysql;
        return (connection->server_status & SERVER_STATUS_IN_TRANS) != 0;
}
