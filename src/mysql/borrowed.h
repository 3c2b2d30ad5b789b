/*
 * Statements on a connection that another program opened and keeps: inside its transaction, under
 * its session settings. Nothing is connected, closed, begun or ended here.
 */
#ifndef MYSQL_BORROWED_H
#define MYSQL_BORROWED_H

#include <stdbool.h>
#include <stdint.h>

#include "mysql/sql.h"
#include "postonce/error.h"

/*
 * mysql: a MYSQL *. The statements must be free of quoted text that may hold more than plain ASCII
 * letters and digits (sql_binary() serves): nobody knows how this session reads an escape.
 * Classes: classify.h; one error in a transaction is its end, which is the other program's to see
 * to.
 */
PO_MUST_USE enum po_class borrowed_exec(void *mysql, const struct sql *statement,
                                        uint64_t *affected_out, struct po_error *error);

/* How many rows a query has. */
PO_MUST_USE enum po_class borrowed_count(void *mysql, const struct sql *statement,
                                         uint64_t *rows_out, struct po_error *error);

/* Whether a transaction is open, as the server said with its last answer that was no error. */
bool borrowed_is_in_transaction(void *mysql);

#endif
