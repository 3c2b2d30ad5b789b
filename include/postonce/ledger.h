/*
 * A connection to the database of postonce's ledger, for another program: refunds are registered
 * (refund.h) and notifications claimed (claim.h) through it.
 *
 * Its tables are made by `postonce migrate`; nothing here changes them. The session is the
 * workers' own: READ COMMITTED, strict, UTC, with a lock wait of 5 s, all of it set and read back
 * at each connect, and so is the version of the tables. A connection that died between two calls is
 * opened anew by the next one.
 *
 * A ledger is used by one thread at a time. The program must ignore SIGPIPE: a write to a server
 * that is gone raises it. Nothing is written to standard output, nor to standard error but for one
 * line where a row of the database is not what its column says.
 */
#ifndef POSTONCE_LEDGER_H
#define POSTONCE_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "postonce/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the database is. Zeroed members: as said. */
struct po_database {
        const char *host;          /* NULL with socket */
        int64_t port;              /* 0: 3306 */
        const char *socket;        /* NULL: TCP */
        const char *user;          /* needs what docs/operations.md gives a worker */
        const char *password;      /* NULL: password_file, or none */
        const char *password_file; /* NULL: none; read at every connect */
        const char *database;      /* [A-Za-z0-9_$-], at most 64 bytes */
        /* NULL: none. With tls_ca the server's certificate and name are verified. */
        const char *tls_ca, *tls_cert, *tls_key;
        /* Whole seconds, rounded up. 0: 5 s, 60 s, 60 s. */
        int64_t connect_timeout_ms, read_timeout_ms, write_timeout_ms;
        /* Do not refuse a server that may lose commits in a crash (innodb_flush_log_at_trx_commit,
         * sync_binlog): what was registered there may be forgotten. */
        bool accept_data_loss;
};

struct po_ledger;

/*
 * Connects. database and its strings must outlive the ledger, which the caller closes.
 * rules_path: the workers' configuration file, of which `orders` and `events` are read: they say
 * which orders take a refund. NULL: none is registered through this ledger.
 * On any class but OK *ledger_out is NULL. TRANSIENT: the server is away. SYSTEMIC: any other error
 * while connecting, a setting or a version of the tables that the promises cannot rest on, a wrong
 * file (with file:line:column), no memory.
 */
PO_MUST_USE enum po_class po_ledger_open(struct po_ledger **ledger_out,
                                         const struct po_database *database, const char *rules_path,
                                         struct po_error *error);
void po_ledger_close(struct po_ledger *ledger); /* takes NULL */

#ifdef __cplusplus
}
#endif

#endif
