#include <stdio.h>
#include <string.h>

#include "commands/command.h"
#include "commands/desk_command.h"
#include "ledger/discard.h"
#include "ledger/parked.h"

static enum po_class list(struct desk *desk, struct po_error *error)
{
        static const struct table_column columns[] = {
                { "tenant_id", TABLE_NUMBER }, { "key", TABLE_TEXT },
                { "order_no", TABLE_TEXT },    { "reason", TABLE_TEXT },
                { "tries", TABLE_NUMBER },     { "first_parked_at", TABLE_TEXT },
                { "due_at", TABLE_TEXT },      { NULL, TABLE_TEXT },
        };
        if (parked_list(desk->db, &desk->sql, desk->limit, error) != PO_OK)
                return error->kind;
        return desk_print_rows(desk, "parked", columns, error);
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
                .command = "postonce park list",
                .summary = "Shows what is parked: why, how often it was tried, when it is due.",
                .example = "postonce park list",
                .rows = rows,
        };
        return desk_command(&desk, &options, argc, argv, list);
}

/* The claim of the key that was typed. */
static enum po_class find_claim(struct desk *desk, int64_t *claim_id_out, struct po_error *error)
{
        bool found;
        const char *key = desk->operands[0];
        if (claim_find(desk->db, &desk->sql, desk->tenant, key, claim_id_out, &found, error) !=
            PO_OK)
                return error->kind;
        if (!found)
                return po_refuse(error, "KEY_UNKNOWN", "no claim %s of tenant %lld", key,
                                 (long long)desk->tenant);
        return PO_OK;
}

static enum po_class release(struct desk *desk, struct po_error *error)
{
        int64_t claim_id;
        if (find_claim(desk, &claim_id, error) != PO_OK)
                return error->kind;
        return parked_release(desk->db, &desk->sql, claim_id, desk->operands[0], desk->who,
                              desk->why, error);
}

static enum po_class discard(struct desk *desk, struct po_error *error)
{
        int64_t claim_id;
        if (find_claim(desk, &claim_id, error) != PO_OK)
                return error->kind;
        return claim_discard(desk->db, &desk->sql, claim_id, desk->operands[0], "park discard",
                             desk->who, desk->why, error);
}

static int act_on_parked(const struct options *named, desk_act act, int argc, char **argv)
{
        struct desk desk = { .tenant = 1 };
        const struct option_row rows[] = {
                OPTION_ROW_CONFIG(&desk.config),
                OPTION_ROW_TENANT("whose key (default: 1)", &desk.tenant),
                OPTION_ROW_WHY(&desk.why),
                { .name = NULL },
        };
        struct options options = *named;
        options.operands = "KEY";
        options.rows = rows;
        return desk_command(&desk, &options, argc, argv, act);
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
