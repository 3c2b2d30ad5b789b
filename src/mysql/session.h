/*
 * Opens a MySQL session and proves that it is what the promises rest on (DESIGN 6): settings are
 * set, then read back and judged, since a proxy or a server may have thought otherwise.
 */
#ifndef MYSQL_SESSION_H
#define MYSQL_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <mysql.h>

#include "mysql/db.h"

enum { SERVER_VERSION_BYTES = 64 };

struct session {
        MYSQL *mysql; /* the caller's, to be closed with mysql_close(); NULL: not connected */
        bool is_mariadb;
        char version[SERVER_VERSION_BYTES];
        size_t packet_bytes; /* max_allowed_packet */
        unsigned round_trips;
};

/*
 * TRANSIENT: server away. SYSTEMIC: any other error, or a setting that breaks a promise; the text
 * names it, its value and the mend. The password, and the memory it was in, are gone afterwards but
 * for the library's own copy.
 */
PO_MUST_USE enum po_class session_open(struct session *session, const struct db_options *options,
                                       struct po_error *error);

/* How a setting's value is judged. */
enum judge { JUDGE_EQUALS, JUDGE_AT_MOST, JUDGE_OFF };

/* True when value, as the server printed it (NULL: SQL NULL), is what is wanted. */
bool session_value_holds(enum judge judge, const char *value, const char *wanted);

/* Which servers know a variable; VERSION() tells which one this is. */
enum server_kind { SERVER_MYSQL = 1, SERVER_MARIADB_10 = 2, SERVER_MARIADB_11 = 4 };
enum server_kind session_server_kind(const char *version);

#endif
