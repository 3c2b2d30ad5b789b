/* A command of an operator from its command line to its exit code. */
#ifndef COMMANDS_DESK_COMMAND_H
#define COMMANDS_DESK_COMMAND_H

#include "commands/desk.h"
#include "commands/options.h"

enum { DESK_LIMIT_DEFAULT = 100, DESK_LIMIT_MAX = 100000 };

#define DESK_ROW_LIMIT(variable)                                                                   \
        OPTION_ROW_INTEGER("limit", "N", "at most so many, oldest first (default: 100)", variable, \
                           1, DESK_LIMIT_MAX)

/* What the command does at the open desk. */
typedef enum po_class (*desk_act)(struct desk *desk, struct po_error *error);

/*
 * Reads the command line (options' rows lead into desk), opens the desk, acts, closes. Returns the
 * exit code; what went wrong is said.
 */
int desk_command(struct desk *desk, const struct options *options, int argc, char **argv,
                 desk_act act);

/* Its two halves, for commands that check more of the command line in between. desk_read(): false:
 * end with *code_out, as options_read(). */
bool desk_read(struct desk *desk, const struct options *options, int argc, char **argv,
               int *code_out);
int desk_run(struct desk *desk, desk_act act);

/* Prints the rows that the database has ready, a column each. Reads them to their end. */
PO_MUST_USE enum po_class desk_print_rows(struct desk *desk, const char *name,
                                          const struct table_column *columns,
                                          struct po_error *error);

#endif
