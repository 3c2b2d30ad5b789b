/* `check --explain`: what the rule engine tried, as a table. */
#ifndef COMMANDS_EXPLAIN_H
#define COMMANDS_EXPLAIN_H

#include "channel/trace.h"
#include "commands/table.h"

struct explain {
        struct table *table;
        struct trace trace; /* for decoder_trace() */
        char item[24];      /* of a body that is a list: which one the next steps are about */
};

/* A table "tried". The struct must not move afterwards. */
void explain_open(struct explain *explain);
void explain_close(struct explain *explain);

#endif
