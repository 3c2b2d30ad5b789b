/* `check --sample`: what one payload becomes, or why it is refused. */
#ifndef COMMANDS_SAMPLE_H
#define COMMANDS_SAMPLE_H

#include "commands/options.h"
#include "commands/settings.h"

struct sample_request {
        const char *path;
        const char *channel;         /* as the topic would fix it, or NULL */
        struct option_texts headers; /* NAME=VALUE */
        bool explain;                /* show what was tried as well */
};

/*
 * Decodes the file's bytes as a record's value and prints its notifications, or the reason why it
 * is refused and the byte. Returns an exit code: EXIT_FINDINGS when refused.
 */
int sample_check(const struct settings *settings, const struct sample_request *request,
                 enum table_format format);

#endif
