#include <stdio.h>
#include <string.h>

#include "commands/command.h"
#include "commands/desk.h"
#include "commands/options.h"
#include "commands/order_file.h"
#include "commands/table.h"
#include "ledger/refund_reserve.h"

/* What a person wrote, checked as `order register` checks it. */
static enum po_class parse(const char *refund_no, const struct order_text *text, int64_t tenant_id,
                           struct refund *refund_out, struct po_error *error)
{
        struct order order;
        memset(refund_out, 0, sizeof *refund_out);
        if (order_parse(text, tenant_id, "", &order, error) != PO_OK)
                return error->kind;
        size_t bytes = strlen(refund_no);
        if (bytes == 0 || bytes >= PO_ORDER_NO_BYTES || refund_no[0] == ' ' ||
            refund_no[bytes - 1] == ' ')
                return po_refuse(error, "REFUND_NO_MALFORMED",
                                 "a refund number has 1 to %d bytes and no space at either end",
                                 PO_ORDER_NO_BYTES - 1);
        refund_out->tenant_id = order.tenant_id;
        refund_out->amount_minor = order.amount_minor;
        snprintf(refund_out->refund_no, sizeof refund_out->refund_no, "%s", refund_no);
        memcpy(refund_out->order_no, order.order_no, sizeof refund_out->order_no);
        memcpy(refund_out->currency, order.currency, sizeof refund_out->currency);
        return PO_OK;
}

static struct table *refund_table_open(void)
{
        static const struct table_column columns[] = {
                { "tenant_id", TABLE_NUMBER },
                { "refund_no", TABLE_TEXT },
                { "order_no", TABLE_TEXT },
                { "status", TABLE_TEXT },
                { "amount_minor", TABLE_NUMBER },
                { "currency", TABLE_TEXT },
                { "reserved_minor", TABLE_NUMBER },
                { "channel", TABLE_TEXT },
                { "txn", TABLE_TEXT },
                { "origin", TABLE_TEXT },
                { NULL, TABLE_TEXT },
        };
        return table_open("refunds", columns);
}

static void refund_table_add(struct table *table, const struct refund *refund)
{
        char tenant[24], amount[24], reserved[24];
        snprintf(tenant, sizeof tenant, "%lld", (long long)refund->tenant_id);
        snprintf(amount, sizeof amount, "%lld", (long long)refund->amount_minor);
        snprintf(reserved, sizeof reserved, "%lld", (long long)refund->reserved);
        table_row(table, tenant, refund->refund_no, refund->order_no, refund->status, amount,
                  refund->currency, reserved, refund->channel, refund->txn,
                  refund->registered ? "REGISTERED" : "NOTICE");
}

static enum po_class print_refund(const struct refund *refund, enum table_format format,
                                  struct po_error *error)
{
        struct table *table = refund_table_open();
        refund_table_add(table, refund);
        enum po_class kind = table_print(table, stdout, format, error);
        table_close(table);
        return kind;
}

static enum po_class register_refund(struct desk *desk, struct refund *refund,
                                     enum table_format format, struct po_error *error)
{
        bool again;
        const struct event_rule *rule = rules_registering(desk->rules);
        if (rule == NULL)
                return po_fail(error, PO_SYSTEMIC, 0,
                               "no event has refund: { create: … }: the configuration does not say "
                               "which orders take refunds");
        if (refund_reserve(desk->db, &desk->sql, rule, refund, &again, error) != PO_OK)
                return error->kind;
        return print_refund(refund, format, error);
}

static int command_register(int argc, char **argv)
{
        const char *config = NULL, *amount = NULL, *order_no = NULL, *currency = "CNY";
        int format = TABLE_FORMAT_TABLE;
        int64_t tenant = 1;
        const struct option_row rows[] = {
                OPTION_ROW_CONFIG(&config),
                OPTION_ROW_OUTPUT(&format),
                { .name = "order",
                  .kind = OPTION_TEXT,
                  .argument = "NO",
                  .help = "the paid order",
                  .target = &order_no },
                { .name = "amount",
                  .kind = OPTION_TEXT,
                  .argument = "DECIMAL",
                  .help = "what goes back, in the currency's main unit: 28.80",
                  .target = &amount },
                { .name = "currency",
                  .kind = OPTION_TEXT,
                  .argument = "CODE",
                  .help = "ISO 4217 code (default: CNY)",
                  .target = &currency },
                { .name = "tenant",
                  .kind = OPTION_INTEGER,
                  .argument = "ID",
                  .help = "whose order (default: 1)",
                  .target = &tenant,
                  .min = 1,
                  .max = INT64_MAX },
                { .name = NULL },
        };
        const struct options options = {
                .command = "postonce refund register",
                .operands = "REFUND_NO",
                .summary = "Registers a refund before the channel is asked: reserves its amount on "
                           "the order, so that two\nat once cannot give back more than was paid. "
                           "The same again shows the first one; with another\norder, amount or "
                           "currency it is refused, and so is more than was paid.",
                .example =
                        "postonce refund register RF-1 --order R8-20260114-000731 --amount 28.80",
                .rows = rows,
                .operands_min = 1,
                .operands_max = 1,
        };
        int code, first;
        if (!options_read(&options, argc, argv, &first, &code))
                return code;
        if (order_no == NULL || amount == NULL)
                return options_refuse(&options, "expected --order NO and --amount DECIMAL");

        struct desk desk;
        code = desk_open(&desk, config);
        struct po_error error;
        if (code == EXIT_DONE) {
                struct refund refund;
                const struct order_text text = { order_no, amount, currency, NULL };
                if (parse(argv[first], &text, tenant, &refund, &error) != PO_OK ||
                    register_refund(&desk, &refund, (enum table_format)format, &error) != PO_OK)
                        code = command_fail(&error);
        }
        desk_close(&desk);
        return code;
}

static enum po_class show_refund(struct desk *desk, int64_t tenant, const char *refund_no,
                                 enum table_format format, struct po_error *error)
{
        struct refund refund;
        if (strlen(refund_no) >= REFUND_NO_BYTES)
                return po_refuse(error, "REFUND_UNKNOWN", "no number is that long");
        if (refund_read(desk->db, &desk->sql, tenant, refund_no, &refund, error) != PO_OK)
                return error->kind;
        if (!refund.exists)
                return po_refuse(error, "REFUND_UNKNOWN", "no refund %s of tenant %lld", refund_no,
                                 (long long)tenant);
        return print_refund(&refund, format, error);
}

static int command_show(int argc, char **argv)
{
        const char *config = NULL;
        int format = TABLE_FORMAT_TABLE;
        int64_t tenant = 1;
        const struct option_row rows[] = {
                OPTION_ROW_CONFIG(&config),
                OPTION_ROW_OUTPUT(&format),
                { .name = "tenant",
                  .kind = OPTION_INTEGER,
                  .argument = "ID",
                  .help = "whose refund (default: 1)",
                  .target = &tenant,
                  .min = 1,
                  .max = INT64_MAX },
                { .name = NULL },
        };
        const struct options options = {
                .command = "postonce refund show",
                .operands = "REFUND_NO",
                .summary = "Shows a refund: its state, what is reserved for it, and the movement "
                           "of money that posted it.",
                .example = "postonce refund show RF-1 -o json",
                .rows = rows,
                .operands_min = 1,
                .operands_max = 1,
        };
        int code, first;
        if (!options_read(&options, argc, argv, &first, &code))
                return code;
        struct desk desk;
        code = desk_open(&desk, config);
        struct po_error error;
        if (code == EXIT_DONE &&
            show_refund(&desk, tenant, argv[first], (enum table_format)format, &error) != PO_OK)
                code = command_fail(&error);
        desk_close(&desk);
        return code;
}

static const struct command refund_commands[] = {
        { "register", "reserves a refund before the channel is asked", command_register },
        { "show", "one refund", command_show },
        { NULL, NULL, NULL },
};

int command_refund(int argc, char **argv)
{
        const struct command_set refund = {
                .name = "postonce refund",
                .summary = "Refunds: what is to go back to payers.",
                .commands = refund_commands,
        };
        return command_dispatch(&refund, argc, argv);
}
