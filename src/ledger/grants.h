/*
 * Who may do what to which table: the one list of the rights that three database users need. The
 * owner creates and upgrades the tables, and purges. The worker is who runs workers, relays and the
 * operators' commands: to what proves something it can only add, without UPDATE and DELETE on
 * outcome and entry, and on MySQL with no other UPDATE of a claim than of what counts deliveries.
 * The auditor reads everything.
 */
#ifndef LEDGER_GRANTS_H
#define LEDGER_GRANTS_H

#include <stdbool.h>

#include "mysql/db.h"
#include "postonce/error.h"

struct grant {
        const char *table;   /* or view */
        const char *worker;  /* the worker's privileges on it; NULL: none */
        const char *mariadb; /* the same on MariaDB, where they must be others; NULL: the same */
};
/* A row for every table of schema/; ends with one without a name. A new table without its row
 * fails a test. */
extern const struct grant grants[];

struct grants_users {
        const char *owner, *worker, *auditor; /* NAME or NAME@HOST; host: '%' */
};

/*
 * The GRANT statements, one a line, each ended by ";\n", into sql; nothing is run. RECORD: a
 * database name that is none ([A-Za-z0-9_$-], up to 64).
 */
PO_MUST_USE enum po_class grants_write(struct sql *sql, const char *database, bool mariadb,
                                       const struct grants_users *users, struct po_error *error);

/*
 * Whether this connection's user may change what proves something. Asked by statements that find no
 * row, so whatever its rights come from. *what_out: the first such right ("UPDATE outcome"), or
 * NULL.
 */
PO_MUST_USE enum po_class grants_probe(struct db *db, struct sql *sql, const char **what_out,
                                       struct po_error *error);

#endif
