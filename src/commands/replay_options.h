/* The command line of `postonce replay`, read and checked. */
#ifndef COMMANDS_REPLAY_OPTIONS_H
#define COMMANDS_REPLAY_OPTIONS_H

#include "commands/options.h"
#include "desk/letter_filter.h"

struct replay_request {
        const char *config;
        int format;        /* enum table_format */
        const char *topic; /* NULL: dead_letter.topic */
        const char *group; /* NULL: "<group.id>.replay" */
        const char *to, *why;
        struct option_texts reasons, channels, keys;
        const char *from_time, *to_time;
        int64_t partition;              /* -1: all */
        int64_t from_offset, to_offset; /* -1: not given */
        bool from_beginning, again, commit, dry_run;
        int64_t rate, limit, max_replays, stop_after;
        struct letter_filter filter; /* of the above; leads into request and argv */
};

/* False: end with *code_out, all is said (as options_read()). */
bool replay_request_read(struct replay_request *request, int argc, char **argv, int *code_out);

/* The filter as one line for the audit: "reason=NO_RULE channel=SQB"; "" without a condition. */
void replay_request_describe(const struct replay_request *request, char *buffer, size_t capacity);

#endif
