/* What the commands of an operator open: configuration, rules, database; closed as one. */
#ifndef COMMANDS_DESK_H
#define COMMANDS_DESK_H

#include "commands/parts.h"
#include "mysql/db.h"

struct desk {
        struct settings *settings;
        struct rules *rules;
        struct db *db;
        struct sql sql;
        char who[64]; /* for the audit */
};

/* EXIT_DONE, or the exit code to end with; what is wrong is said. desk_close() follows either way.
 */
int desk_open(struct desk *desk, const char *config);
/* The same for long reading: the database may take that long for each answer. */
int desk_open_patient(struct desk *desk, const char *config, int64_t read_timeout_ms);
void desk_close(struct desk *desk);

#endif
