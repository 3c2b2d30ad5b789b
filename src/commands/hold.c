#include "ledger/hold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/command.h"
#include "commands/desk_command.h"

enum { DIGITS_MAX = 18 };

static enum po_class list(struct desk *desk, struct po_error *error)
{
        static const struct table_column columns[] = {
                { "topic", TABLE_TEXT },    { "partition", TABLE_NUMBER },
                { "offset", TABLE_NUMBER }, { "reason", TABLE_TEXT },
                { "tries", TABLE_NUMBER },  { "since", TABLE_TEXT },
                { "last_try", TABLE_TEXT }, { "decision", TABLE_TEXT },
                { "group", TABLE_TEXT },    { NULL, TABLE_TEXT },
        };
        if (holds_list(desk->db, &desk->sql, desk->limit, error) != PO_OK)
                return error->kind;
        return desk_print_rows(desk, "holds", columns, error);
}

static int command_list(int argc, char **argv)
{
        struct desk desk = { .limit = DESK_LIMIT_DEFAULT };
        const struct option_row rows[] = {
                OPTION_ROW_CONFIG(&desk.config),
                OPTION_ROW_OUTPUT(&desk.format),
                DESK_ROW_LIMIT(&desk.limit),
                { .name = NULL },
        };
        const struct options options = {
                .command = "postonce hold list",
                .summary = "Shows records that hold their partition since their third try: where, "
                           "why, since when.",
                .example = "postonce hold list",
                .rows = rows,
        };
        return desk_command(&desk, &options, argc, argv, list);
}

static bool parse_number(const char *text, int64_t *number_out)
{
        size_t length = strlen(text);
        if (length == 0 || length > DIGITS_MAX || strspn(text, "0123456789") != length)
                return false;
        *number_out = strtoll(text, NULL, 10);
        return true;
}

/* TOPIC PARTITION OFFSET */
static bool parse_place(char **operands, struct hold *hold)
{
        int64_t partition;
        if (strlen(operands[0]) >= sizeof hold->topic || !parse_number(operands[1], &partition) ||
            partition > INT32_MAX || !parse_number(operands[2], &hold->offset))
                return false;
        snprintf(hold->topic, sizeof hold->topic, "%s", operands[0]);
        hold->partition = (int32_t)partition;
        return true;
}

static enum po_class decide(struct desk *desk, struct po_error *error)
{
        struct hold *hold = desk->own;
        hold->group = settings_group(desk->settings);
        return hold_decide(desk->db, &desk->sql, hold, desk->who, desk->why, error);
}

static int act_on_hold(const struct options *named, enum hold_decision decision, int argc,
                       char **argv)
{
        struct hold hold = { .decision = decision };
        struct desk desk = { .own = &hold };
        const struct option_row rows[] = {
                OPTION_ROW_CONFIG(&desk.config),
                OPTION_ROW_WHY(&desk.why),
                { .name = NULL },
        };
        struct options options = *named;
        options.operands = "TOPIC PARTITION OFFSET";
        options.rows = rows;
        int code;
        if (!desk_read(&desk, &options, argc, argv, &code))
                return code;
        if (!parse_place(desk.operands, &hold))
                return options_refuse(&options,
                                      "TOPIC PARTITION OFFSET: as `hold list` shows them");
        return desk_run(&desk, decide);
}

static int command_release(int argc, char **argv)
{
        const struct options named = {
                .command = "postonce hold release",
                .summary = "Has a held record tried now instead of after its back-off.",
                .example = "postonce hold release callbacks 3 4711 --why 'order is there now'",
        };
        return act_on_hold(&named, HOLD_RELEASE, argc, argv);
}

static int command_skip(int argc, char **argv)
{
        const struct options named = {
                .command = "postonce hold skip",
                .summary = "Lets the partition pass a held record: what it claimed is settled as "
                           "DISCARDED and never\nposted. Within a second or two of its next try.",
                .example = "postonce hold skip callbacks 3 4711 --why 'booked by hand'",
        };
        return act_on_hold(&named, HOLD_SKIP, argc, argv);
}

int command_hold(int argc, char **argv)
{
        static const struct command commands[] = {
                { "list", "what holds its partition", command_list },
                { "release", "tries one now, audited", command_release },
                { "skip", "passes one without posting it, audited", command_skip },
                { NULL, NULL, NULL },
        };
        const struct command_set hold = {
                .name = "postonce hold",
                .summary = "Records that hold their partition.",
                .commands = commands,
        };
        return command_dispatch(&hold, argc, argv);
}
