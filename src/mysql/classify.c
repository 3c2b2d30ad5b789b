#include "mysql/classify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOST   (MYSQL_CLOSES | MYSQL_COMMIT_OPEN)
#define CLOSES MYSQL_CLOSES
#define OPEN   MYSQL_COMMIT_OPEN
#define QUOTES MYSQL_QUOTES

/*
 * Ascending by number: looked up by bisection. 1180 and 1317 leave COMMIT open because on some
 * servers the transaction is in the binary log all the same.
 */
static const struct mysql_class classes[] = {
        { 1020, PO_TRANSIENT, 0, "another transaction changed the row (snapshot isolation)" },
        { 1021, PO_SYSTEMIC, 0, "the server's disk is full: make room, it goes on by itself" },
        { 1022, PO_EXISTS, 0, "a unique key holds this value already" },
        { 1028, PO_SYSTEMIC, 0, "the server could not sort: see its error log" },
        { 1030, PO_SYSTEMIC, 0, "the storage engine failed: see the server's error log" },
        { 1037, PO_SYSTEMIC, 0, "the server is out of memory: give it more, or lower its buffers" },
        { 1038, PO_SYSTEMIC, 0, "the server is out of sort memory: raise sort_buffer_size" },
        { 1040, PO_SYSTEMIC, 0,
          "too many connections: raise max_connections or run fewer workers" },
        { 1041, PO_SYSTEMIC, 0, "the server is out of memory: give it more, or lower its buffers" },
        { 1044, PO_SYSTEMIC, 0, "no access to this database: see docs/operations.md" },
        { 1045, PO_SYSTEMIC, 0, "refused: mend mysql.user, mysql.password or password_file" },
        { 1046, PO_SYSTEMIC, 0, "no database selected: set mysql.database" },
        { 1047, PO_TRANSIENT, 0, "the node is not ready for queries (Galera)" },
        { 1048, PO_RECORD, 0, "a value is missing where the table demands one" },
        { 1049, PO_SYSTEMIC, 0, "no such database: create it or mend mysql.database" },
        { 1053, PO_TRANSIENT, LOST, "the server is shutting down" },
        { 1054, PO_SYSTEMIC, 0, "a column is missing: run `postonce migrate`" },
        { 1062, PO_EXISTS, 0, "a unique key holds this value already" },
        { 1064, PO_BUG, QUOTES, "the server does not understand a statement of this program" },
        { 1114, PO_SYSTEMIC, 0, "a table or the tablespace is full: make room on the server" },
        { 1129, PO_SYSTEMIC, 0, "this host is blocked after failed connects: FLUSH HOSTS" },
        { 1130, PO_SYSTEMIC, 0, "this host may not connect: create the user for it" },
        { 1142, PO_SYSTEMIC, 0, "a right on a table is missing: see docs/operations.md" },
        { 1143, PO_SYSTEMIC, 0, "a right on a column is missing: see docs/operations.md" },
        { 1146, PO_SYSTEMIC, 0, "a table is missing: run `postonce migrate`" },
        { 1152, PO_TRANSIENT, LOST, "the server gave the connection up" },
        { 1153, PO_RECORD, 0, "the statement is larger than max_allowed_packet" },
        { 1158, PO_TRANSIENT, LOST, "the server could not read from the connection" },
        { 1159, PO_TRANSIENT, LOST, "the server waited too long for the rest of a statement" },
        { 1160, PO_TRANSIENT, LOST, "the server could not write to the connection" },
        { 1161, PO_TRANSIENT, LOST, "the server waited too long for its answer to be read" },
        { 1169, PO_EXISTS, 0, "a unique key holds this value already" },
        { 1180, PO_TRANSIENT, OPEN, "COMMIT failed on the server" },
        { 1184, PO_TRANSIENT, LOST, "the server gave the connection up" },
        { 1203, PO_TRANSIENT, 0, "this user has too many connections open" },
        { 1205, PO_TRANSIENT, 0, "waited too long for another transaction's lock" },
        { 1206, PO_TRANSIENT, 0, "the server's lock table is full" },
        { 1213, PO_TRANSIENT, 0, "deadlock: the server rolled this transaction back" },
        { 1226, PO_SYSTEMIC, 0, "the user's resource limit is used up: raise it" },
        { 1227, PO_SYSTEMIC, 0, "a privilege is missing: see docs/operations.md" },
        { 1235, PO_SYSTEMIC, 0, "this server's version cannot do it: see the versions in README" },
        { 1243, PO_TRANSIENT, CLOSES,
          "a prepared statement is gone: another server behind a proxy?" },
        { 1264, PO_RECORD, 0, "a number is out of its column's range" },
        { 1265, PO_RECORD, 0, "a value does not fit its column's type" },
        { 1290, PO_SYSTEMIC, CLOSES,
          "the server is read-only: mysql.host must lead to the writer" },
        { 1292, PO_RECORD, QUOTES, "a value is not of the type that its column demands" },
        { 1300, PO_RECORD, QUOTES, "a text is not valid UTF-8" },
        { 1317, PO_TRANSIENT, OPEN, "the statement was interrupted (KILL QUERY, shutdown)" },
        { 1356, PO_SYSTEMIC, 0, "a view's tables or rights are missing: run `postonce migrate`" },
        { 1366, PO_RECORD, QUOTES, "a text has characters that its column cannot hold" },
        { 1370, PO_SYSTEMIC, 0, "a right on a routine is missing: see docs/operations.md" },
        { 1406, PO_RECORD, 0, "a text is longer than its column" },
        { 1586, PO_EXISTS, 0, "a unique key holds this value already" },
        { 1615, PO_TRANSIENT, 0, "a prepared statement must be prepared again" },
        { 1690, PO_SYSTEMIC, 0, "a sum leaves the 64-bit range: see the account named" },
        { 1792, PO_SYSTEMIC, CLOSES,
          "the transaction is read-only: mysql.host must lead to the writer" },
        { 1836, PO_SYSTEMIC, CLOSES,
          "the server runs read-only: mysql.host must lead to the writer" },
        { 1927, PO_TRANSIENT, LOST, "the connection was killed" },
        { 1969, PO_TRANSIENT, 0, "the statement took longer than max_statement_time" },
        { 2002, PO_TRANSIENT, LOST, "the server is away: nothing answers on the socket" },
        { 2003, PO_TRANSIENT, LOST, "the server is away: nothing answers on this host and port" },
        { 2005, PO_TRANSIENT, LOST, "the server's host name cannot be resolved" },
        { 2006, PO_TRANSIENT, LOST, "the connection is lost" },
        { 2008, PO_SYSTEMIC, LOST, "this program is out of memory" },
        { 2012, PO_SYSTEMIC, LOST, "what answers on this port is no MySQL server" },
        { 2013, PO_TRANSIENT, LOST, "the connection was lost, or the answer took too long" },
        { 2014, PO_BUG, LOST, "statements and results are out of step" },
        { 2020, PO_RECORD, LOST, "the answer is larger than max_allowed_packet" },
        { 2026, PO_TRANSIENT, LOST, "TLS failed: see mysql.tls and the server's certificate" },
        { 2027, PO_TRANSIENT, LOST, "the server's answer is garbled" },
        { 2055, PO_TRANSIENT, LOST, "the connection was lost" },
        { 2059, PO_SYSTEMIC, LOST, "the client library lacks the user's authentication plugin" },
        { 2061, PO_SYSTEMIC, LOST, "the user's authentication fails, or needs mysql.tls" },
        { 3024, PO_TRANSIENT, 0, "the statement took longer than max_execution_time" },
        { 3100, PO_TRANSIENT, 0, "the replication group refused the transaction" },
        { 3101, PO_TRANSIENT, 0, "the replication group rolled this transaction back" },
        { 3168, PO_TRANSIENT, 0, "the server is not available yet" },
        { 3169, PO_TRANSIENT, LOST, "the session was killed" },
        { 3572, PO_TRANSIENT, 0, "another transaction holds the row (NOWAIT)" },
        { 3819, PO_RECORD, 0, "a CHECK of the table refuses the row" },
        { 4025, PO_RECORD, 0, "a CHECK of the table refuses the row" },
        { 4031, PO_TRANSIENT, LOST, "the server closed the connection after wait_timeout" },
};

static const struct mysql_class unknown_server = { 0, PO_BUG, OPEN | QUOTES,
                                                   "an error that this program does not know" };
static const struct mysql_class unknown_client = {
        0, PO_BUG, LOST, "an error of the client library that this program does not know"
};

/* Where nothing is open yet, only a server that is not there, or going, passes by itself. */
static const unsigned away[] = { 1053, 2002, 2003, 2005, 2006, 2013, 2055 };

const struct mysql_class *mysql_classes(size_t *count_out)
{
        *count_out = sizeof classes / sizeof classes[0];
        return classes;
}

static int compare_number(const void *wanted, const void *at)
{
        unsigned number = *(const unsigned *)wanted;
        const struct mysql_class *class = at;
        return (number > class->number) - (number < class->number);
}

const struct mysql_class *mysql_classify(unsigned number)
{
        const struct mysql_class *found =
                bsearch(&number, classes, sizeof classes / sizeof classes[0], sizeof classes[0],
                        compare_number);
        if (found != NULL)
                return found;
        return number >= 2000 && number < 3000 ? &unknown_client : &unknown_server;
}

enum po_class mysql_classify_connect(unsigned number)
{
        for (size_t i = 0; i < sizeof away / sizeof away[0]; i++)
                if (away[i] == number)
                        return PO_TRANSIENT;
        return PO_SYSTEMIC;
}

/* From the first quote to the last of the value (1366 names a column after it) nothing is shown. */
static void mask(char *masked, size_t capacity, const char *text)
{
        const char *first = strchr(text, '\'');
        const char *last = strrchr(text, '\'');
        for (const char *at = text; (at = strstr(at, "' for column")) != NULL; at++)
                last = at;
        if (first == NULL || last <= first) {
                snprintf(masked, capacity, "%s", text);
                return;
        }
        snprintf(masked, capacity, "%.*s'...%s", (int)(first - text), text, last);
}

enum po_class mysql_explain(struct po_error *error, unsigned number, enum po_class kind,
                            const char *server_text)
{
        const struct mysql_class *class = mysql_classify(number);
        char text[PO_ERROR_TEXT_BYTES];
        if ((class->flags & MYSQL_QUOTES) != 0)
                mask(text, sizeof text, server_text);
        else
                snprintf(text, sizeof text, "%s", server_text);
        if (kind == PO_SYSTEMIC || kind == PO_BUG)
                return po_fail(error, kind, (int)number, "MySQL %u: %s: %s", number, text,
                               class->meaning);
        return po_fail(error, kind, (int)number, "MySQL %u: %s", number, text);
}
