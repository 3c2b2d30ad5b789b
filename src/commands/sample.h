/* `check --sample`: what one payload becomes, or why it is refused. */
#ifndef COMMANDS_SAMPLE_H
#define COMMANDS_SAMPLE_H

#include "commands/options.h"
#include "commands/settings.h"

/*
 * Decodes path's bytes as a record's value and prints its notifications. channel: as the topic
 * would fix it, or NULL. headers: NAME=VALUE texts. Returns an exit code: EXIT_FINDINGS when
 * refused.
 */
int sample_check(const struct settings *settings, const char *path, const char *channel,
                 const struct option_texts *headers, enum table_format format);

#endif
