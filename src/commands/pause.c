#include "ledger/pause.h"

#include <stdio.h>
#include <string.h>

#include "commands/command.h"
#include "commands/desk.h"
#include "commands/options.h"

typedef enum po_class (*pause_act)(struct db *db, struct sql *sql, const char *channel,
                                   const char *who, const char *why, struct po_error *error);

struct pause_command {
        const char *command, *summary, *example, *done;
        pause_act act;
};

/* As it stands in the notifications: another spelling would pause nothing, an empty one all. */
static bool is_label(const char *text)
{
        size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        return length > 0 && length < PO_CHANNEL_BYTES && text[length] == '\0';
}

static int act_on_pause(const struct pause_command *command, int argc, char **argv)
{
        const char *config = NULL, *label = NULL, *why = NULL;
        const struct option_row rows[] = {
                OPTION_ROW_CONFIG(&config),
                { .name = "channel",
                  .kind = OPTION_TEXT,
                  .argument = "LABEL",
                  .help = "only this channel (default: the whole intake)",
                  .target = &label },
                { .name = "why",
                  .kind = OPTION_TEXT,
                  .argument = "TEXT",
                  .help = "the reason, kept in the audit",
                  .target = &why },
                { .name = NULL },
        };
        const struct options options = {
                .command = command->command,
                .summary = command->summary,
                .example = command->example,
                .rows = rows,
        };
        int code;
        if (!options_read(&options, argc, argv, NULL, &code))
                return code;
        if (why == NULL || why[0] == '\0')
                return options_refuse(&options, "expected --why TEXT");
        if (label != NULL && !is_label(label))
                return options_refuse(&options, "--channel: a label is a word of A-Z, 0-9 and _");
        const char *channel = label != NULL ? label : PAUSE_ALL;
        struct desk desk;
        struct po_error error;
        code = desk_open(&desk, config);
        if (code == EXIT_DONE) {
                if (command->act(desk.db, &desk.sql, channel, desk.who, why, &error) == PO_OK)
                        printf("%s %s\n", channel[0] != '\0' ? channel : "intake", command->done);
                else
                        code = command_fail(&error);
        }
        desk_close(&desk);
        return code;
}

int command_pause(int argc, char **argv)
{
        const struct pause_command command = {
                .command = "postonce pause",
                .summary = "Stops the intake of every worker within two seconds, durably, or that "
                           "of one channel: its\nnotifications are then claimed and parked until "
                           "`postonce resume`.",
                .example = "postonce pause --why 'database move'\n"
                           "postonce pause --channel WECHAT --why 'wrong amounts since 14:00'",
                .done = "paused",
                .act = pause_set,
        };
        return act_on_pause(&command, argc, argv);
}

int command_resume(int argc, char **argv)
{
        const struct pause_command command = {
                .command = "postonce resume",
                .summary = "Ends a pause, or the stop by the flood guard. What was parked because "
                           "of it is due at once.",
                .example = "postonce resume --why 'moved'\n"
                           "postonce resume --channel WECHAT --why 'fixed at the channel'",
                .done = "resumed",
                .act = pause_clear,
        };
        return act_on_pause(&command, argc, argv);
}
