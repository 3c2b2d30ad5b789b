#include <stdio.h>
#include <string.h>

#include "commands/command.h"
#include "commands/desk.h"
#include "commands/options.h"
#include "ledger/discard.h"
#include "ledger/parked.h"

enum { LIST_DEFAULT = 100, LIST_MAX = 100000 };

static enum po_class print_list(struct desk *desk, int64_t limit, enum table_format format,
                                struct po_error *error)
{
        static const struct table_column columns[] = {
                { "tenant_id", TABLE_NUMBER }, { "key", TABLE_TEXT },
                { "order_no", TABLE_TEXT },    { "reason", TABLE_TEXT },
                { "tries", TABLE_NUMBER },     { "first_parked_at", TABLE_TEXT },
                { "due_at", TABLE_TEXT },      { NULL, TABLE_TEXT },
        };
        if (parked_list(desk->db, &desk->sql, limit, error) != PO_OK)
                return error->kind;
        struct table *table = table_open("parked", columns);
        while (db_next_row(desk->db))
                table_row(table, db_text(desk->db, 0), db_text(desk->db, 1), db_text(desk->db, 2),
                          db_text(desk->db, 3), db_text(desk->db, 4), db_text(desk->db, 5),
                          db_text(desk->db, 6));
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
                .command = "postonce park list",
                .summary = "Shows what is parked: why, how often it was tried, when it is due.",
                .example = "postonce park list",
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

static enum po_class release(struct desk *desk, int64_t claim_id, const char *key, const char *why,
                             struct po_error *error)
{
        return parked_release(desk->db, &desk->sql, claim_id, key, desk->who, why, error);
}

static enum po_class discard(struct desk *desk, int64_t claim_id, const char *key, const char *why,
                             struct po_error *error)
{
        return claim_discard(desk->db, &desk->sql, claim_id, key, "park discard", desk->who, why,
                             error);
}

typedef enum po_class (*park_act)(struct desk *desk, int64_t claim_id, const char *key,
                                  const char *why, struct po_error *error);

static enum po_class act_on_key(struct desk *desk, int64_t tenant, const char *key, const char *why,
                                park_act act, struct po_error *error)
{
        int64_t claim_id;
        bool found;
        if (claim_find(desk->db, &desk->sql, tenant, key, &claim_id, &found, error) != PO_OK)
                return error->kind;
        if (!found)
                return po_refuse(error, "KEY_UNKNOWN", "no claim %s of tenant %lld", key,
                                 (long long)tenant);
        return act(desk, claim_id, key, why, error);
}

static int act_on_parked(const struct options *named, park_act act, int argc, char **argv)
{
        const char *config = NULL, *why = NULL;
        int64_t tenant = 1;
        const struct option_row rows[] = {
                OPTION_ROW_CONFIG(&config),
                { .name = "tenant",
                  .kind = OPTION_INTEGER,
                  .argument = "ID",
                  .help = "whose key (default: 1)",
                  .target = &tenant,
                  .min = 1,
                  .max = INT64_MAX },
                { .name = "why",
                  .kind = OPTION_TEXT,
                  .argument = "TEXT",
                  .help = "the reason, kept in the audit",
                  .target = &why },
                { .name = NULL },
        };
        struct options options = *named;
        options.operands = "KEY";
        options.operands_min = options.operands_max = 1;
        options.rows = rows;
        int code, first;
        if (!options_read(&options, argc, argv, &first, &code))
                return code;
        if (why == NULL || why[0] == '\0')
                return options_refuse(&options, "expected --why TEXT");
        struct desk desk;
        struct po_error error;
        code = desk_open(&desk, config);
        if (code == EXIT_DONE && act_on_key(&desk, tenant, argv[first], why, act, &error) != PO_OK)
                code = command_fail(&error);
        desk_close(&desk);
        return code;
}

static int command_release(int argc, char **argv)
{
        const struct options named = {
                .command = "postonce park release",
                .summary = "Makes one parked notification due now; a worker tries it within a "
                           "second or two.",
                .example = "postonce park release SQB:7895010041237719:PAYMENT_RECEIVED --why "
                           "'order is there now'",
        };
        return act_on_parked(&named, release, argc, argv);
}

static int command_discard(int argc, char **argv)
{
        const struct options named = {
                .command = "postonce park discard",
                .summary = "Settles one parked notification as DISCARDED: it is never posted, and "
                           "later deliveries are\nduplicates of that.",
                .example = "postonce park discard SQB:7895010041237719:PAYMENT_RECEIVED --why "
                           "'test payment'",
        };
        return act_on_parked(&named, discard, argc, argv);
}

int command_park(int argc, char **argv)
{
        static const struct command commands[] = {
                { "list", "what is parked", command_list },
                { "release", "makes one due now, audited", command_release },
                { "discard", "settles one without posting it, audited", command_discard },
                { NULL, NULL, NULL },
        };
        const struct command_set park = {
                .name = "postonce park",
                .summary = "Parked notifications: what came too early, or waits for a resume.",
                .commands = commands,
        };
        return command_dispatch(&park, argc, argv);
}
