#include "ledger/pause.h"

#include <stdio.h>
#include <string.h>

#include "channel/decode.h"
#include "commands/command.h"
#include "commands/desk_command.h"

typedef enum po_class (*pause_act)(struct db *db, struct sql *sql, const char *channel,
                                   const char *who, const char *why, struct po_error *error);

struct pause_command {
        const char *command, *summary, *example, *done;
        pause_act act;
        const char *channel; /* of the command line; NULL: the whole intake */
};

/* As it stands in the notifications: another spelling would pause nothing, an empty one all. */
static bool is_label(const char *text)
{
        size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        return length > 0 && length < PO_CHANNEL_BYTES && text[length] == '\0';
}

/* A word mistyped in a hurry pauses nothing: said, not refused, since the workers' profiles may be
 * others. */
static void note_unknown(const struct settings *settings, const char *channel)
{
        struct po_error error;
        struct decoder *decoder = NULL;
        if (decoder_open(&decoder, settings->directory, settings->channels.items,
                         settings->channels.count, &error) != PO_OK)
                fprintf(stderr, "postonce: whether a profile makes %s is not known: %s\n", channel,
                        error.text);
        else if (!decoder_has_label(decoder, channel))
                fprintf(stderr, "postonce: no profile makes %s: is it spelt as in the keys?\n",
                        channel);
        decoder_close(decoder);
}

static enum po_class act(struct desk *desk, struct po_error *error)
{
        const struct pause_command *command = desk->own;
        const char *channel = command->channel != NULL ? command->channel : PAUSE_ALL;
        if (command->act(desk->db, &desk->sql, channel, desk->who, desk->why, error) != PO_OK)
                return error->kind;
        if (command->channel != NULL)
                note_unknown(desk->settings, channel);
        printf("%s %s\n", channel[0] != '\0' ? channel : "intake", command->done);
        return PO_OK;
}

static int act_on_pause(struct pause_command *command, int argc, char **argv)
{
        struct desk desk = { .own = command };
        const struct option_row rows[] = {
                OPTION_ROW_CONFIG(&desk.config),
                OPTION_ROW_TEXT("channel", "LABEL", "only this channel (default: the whole intake)",
                                &command->channel),
                OPTION_ROW_WHY(&desk.why),
                { .name = NULL },
        };
        const struct options options = {
                .command = command->command,
                .summary = command->summary,
                .example = command->example,
                .rows = rows,
        };
        int code;
        if (!desk_read(&desk, &options, argc, argv, &code))
                return code;
        if (command->channel != NULL && !is_label(command->channel))
                return options_refuse(&options, "--channel: a label is a word of A-Z, 0-9 and _");
        return desk_run(&desk, act);
}

int command_pause(int argc, char **argv)
{
        struct pause_command command = {
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
        struct pause_command command = {
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
