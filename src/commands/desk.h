/*
 * What the commands of an operator work at: what the command line says, and the configuration, the
 * rules and the database, opened and closed as one.
 */
#ifndef COMMANDS_DESK_H
#define COMMANDS_DESK_H

#include "commands/parts.h"
#include "commands/table.h"
#include "mysql/db.h"

struct desk {
        /* The command's, before it opens; what it does not use stays 0. */
        const char *config; /* NULL: the places where it is looked for */
        int format;         /* enum table_format */
        int64_t tenant, limit;
        const char *why; /* for the audit */
        char **operands;
        void *own;               /* what only this command has */
        int64_t read_timeout_ms; /* the database may take so long for an answer; 0: as configured */

        bool findings; /* the command's, while it acts: somebody must look at what it found */

        /* desk_open()'s. */
        struct settings *settings;
        struct rules *rules;
        struct db *db;
        struct sql sql;
        char who[64]; /* for the audit */
};

/* EXIT_DONE, or the exit code to end with; what is wrong is said. desk_close() follows either way.
 */
int desk_open(struct desk *desk);
void desk_close(struct desk *desk);

#endif
