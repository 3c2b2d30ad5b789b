#include "ledger/hold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/command.h"
#include "commands/desk.h"
#include "commands/options.h"

enum { LIST_DEFAULT = 100, LIST_MAX = 100000, DIGITS_MAX = 18 };

static enum po_class print_list(struct desk *desk, int64_t limit, enum table_format format,
                                struct po_error *error)
{
        static const struct table_column columns[] = {
                { "topic", TABLE_TEXT },    { "partition", TABLE_NUMBER },
                { "offset", TABLE_NUMBER }, { "reason", TABLE_TEXT },
                { "tries", TABLE_NUMBER },  { "since", TABLE_TEXT },
                { "last_try", TABLE_TEXT }, { "decision", TABLE_TEXT },
                { "group", TABLE_TEXT },    { NULL, TABLE_TEXT },
        };
        if (holds_list(desk->db, &desk->sql, limit, error) != PO_OK)
                return error->kind;
        struct table *table = table_open("holds", columns);
        while (db_next_row(desk->db))
                table_row(table, db_text(desk->db, 0), db_text(desk->db, 1), db_text(desk->db, 2),
                          db_text(desk->db, 3), db_text(desk->db, 4), db_text(desk->db, 5),
                          db_text(desk->db, 6), db_text(desk->db, 7), db_text(desk->db, 8));
        db_rows_end(desk->db);
        enum po_class kind = table_print(table, stdout, format, error);
        table_close(table);
        return kind;
}

static int command_list(int argc, char **argv)
{
        const char *config = NULL;
        int format = TABLE_FORMAT_TABLE;
        int64_t limit = LIST_DEFAULT;
        const struct option_row rows[] = {
                OPTION_ROW_CONFIG(&config),
                OPTION_ROW_OUTPUT(&format),
                { .name = "limit",
                  .kind = OPTION_INTEGER,
                  .argument = "N",
                  .help = "at most so many, oldest first (default: 100)",
                  .target = &limit,
                  .min = 1,
                  .max = LIST_MAX },
                { .name = NULL },
        };
        const struct options options = {
                .command = "postonce hold list",
                .summary = "Shows records that hold their partition since their third try: where, "
                           "why, since when.",
                .example = "postonce hold list",
                .rows = rows,
        };
        int code;
        if (!options_read(&options, argc, argv, NULL, &code))
                return code;
        struct desk desk;
        struct po_error error;
        code = desk_open(&desk, config);
        if (code == EXIT_DONE &&
            print_list(&desk, limit, (enum table_format)format, &error) != PO_OK)
                code = command_fail(&error);
        desk_close(&desk);
        return code;
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

static int decide(const struct options *named, enum hold_decision decision, int argc, char **argv)
{
        const char *config = NULL, *why = NULL;
        const struct option_row rows[] = {
                OPTION_ROW_CONFIG(&config),
                { .name = "why",
                  .kind = OPTION_TEXT,
                  .argument = "TEXT",
                  .help = "the reason, kept in the audit",
                  .target = &why },
                { .name = NULL },
        };
        struct options options = *named;
        options.operands = "TOPIC PARTITION OFFSET";
        options.operands_min = options.operands_max = 3;
        options.rows = rows;
        int code, first;
        if (!options_read(&options, argc, argv, &first, &code))
                return code;
        if (why == NULL || why[0] == '\0')
                return options_refuse(&options, "expected --why TEXT");
        struct hold hold = { .decision = decision };
        if (!parse_place(argv + first, &hold))
                return options_refuse(&options,
                                      "TOPIC PARTITION OFFSET: as `hold list` shows them");
        struct desk desk;
        struct po_error error;
        code = desk_open(&desk, config);
        hold.group = code == EXIT_DONE ? settings_group(desk.settings) : NULL;
        if (code == EXIT_DONE &&
            hold_decide(desk.db, &desk.sql, &hold, desk.who, why, &error) != PO_OK)
                code = command_fail(&error);
        desk_close(&desk);
        return code;
}

static int command_release(int argc, char **argv)
{
        const struct options named = {
                .command = "postonce hold release",
                .summary = "Has a held record tried now instead of after its back-off.",
                .example = "postonce hold release callbacks 3 4711 --why 'order is there now'",
        };
        return decide(&named, HOLD_RELEASE, argc, argv);
}

static int command_skip(int argc, char **argv)
{
        const struct options named = {
                .command = "postonce hold skip",
                .summary = "Lets the partition pass a held record: what it claimed is settled as "
                           "DISCARDED and never\nposted. Within a second or two of its next try.",
                .example = "postonce hold skip callbacks 3 4711 --why 'booked by hand'",
        };
        return decide(&named, HOLD_SKIP, argc, argv);
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
