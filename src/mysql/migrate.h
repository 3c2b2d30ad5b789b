/*
 * Brings a database to this program's schema: numbered files of schema/, built into the program.
 *
 * A version is marked begun before its first statement and finished after its last (DDL commits by
 * itself on both servers); a version that was begun and not finished is refused with the mend.
 */
#ifndef MYSQL_MIGRATE_H
#define MYSQL_MIGRATE_H

#include <stdio.h>

#include "mysql/db.h"

struct migration {
        int version;      /* NNN of the file's name */
        const char *name; /* the file's name */
        /*
         * Its SQL. A statement ends with ';' at the end of a line; a comment is a line of its own.
         * "-- oldest_worker: N" before the first statement: programs whose newest version is N or
         * above can go on working (default: this version). schema_version is in no file: a version
         * is marked begun before its first statement, so that table comes before all.
         */
        const char *text;
};

/* Ascending by version, ends with version 0. Generated from schema/NNN_*.sql. */
extern const struct migration migrations[];

int migrate_newest(void);

/*
 * The database's version: 0 for one without any of our tables. SYSTEMIC: half-applied, or our
 * tables without schema_version; the text says how it is mended.
 */
PO_MUST_USE enum po_class migrate_version(struct db *db, int *version_out, struct po_error *error);

/*
 * Applies what is missing under an advisory lock (a second migrate waits at most 10 s, then
 * SYSTEMIC), telling each step on stream (may be NULL). A version whose first statement the server
 * refused is taken back, since nothing of it is there. On a large table a statement may take long:
 * open the connection with a read time-out to match.
 */
PO_MUST_USE enum po_class migrate_apply(struct db *db, FILE *stream, struct po_error *error);

/* Prints the SQL that migrate_apply would run; changes nothing. */
PO_MUST_USE enum po_class migrate_print(struct db *db, FILE *stream, struct po_error *error);

/* What schema_version says; 0: nothing. */
struct migrate_state {
        int version;       /* the newest that is finished */
        int half_applied;  /* one that was begun and not finished */
        int oldest_worker; /* what the versions above ours ask a program to know */
};

/* Whether this program can work with such a database. SYSTEMIC names the mend. */
PO_MUST_USE enum po_class migrate_judge(const struct migrate_state *state, struct po_error *error);

/*
 * For `run` and every command: OK when this program can work with the database's version: equal, or
 * newer with an oldest_worker that is not above ours. SYSTEMIC names the mend (`postonce migrate`).
 */
PO_MUST_USE enum po_class migrate_check(struct db *db, struct po_error *error);

#endif
