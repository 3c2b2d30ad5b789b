/*
 * `check --from-topic N`: what the records that are in the topics become. Joins no group, commits
 * nothing, asks no database.
 */
#ifndef COMMANDS_LIVE_H
#define COMMANDS_LIVE_H

#include <stdint.h>

#include "commands/settings.h"
#include "commands/table.h"

enum { LIVE_RECORDS_MAX = 1000000 };

/*
 * Decodes the last records of every configured topic, at most that many of each topic, and prints
 * counts by channel, outcome, event and reason with the places of a few. Returns an exit code:
 * EXIT_FINDINGS when one is refused.
 */
int live_check(const struct settings *settings, int64_t records, enum table_format format);

#endif
