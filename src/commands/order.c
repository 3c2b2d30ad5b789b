#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "commands/command.h"
#include "commands/desk_command.h"
#include "commands/order_file.h"
#include "commands/table.h"
#include "ledger/order.h"
#include "ledger/refund.h"

enum { REFUNDS_BYTES = 2048 }; /* an order's refunds in one cell; more are cut */

/* Inserts orders that were checked, and refuses those that are there with another amount. */
static enum po_class register_orders(struct desk *desk, const struct order *orders, size_t count,
                                     struct po_error *error)
{
        if (orders_register(desk->db, &desk->sql, orders, count, error) != PO_OK)
                return error->kind;
        for (size_t i = 0; i < count; i++) {
                struct order_id id = { orders[i].tenant_id, orders[i].order_no };
                struct order there;
                bool found;
                if (order_read(desk->db, &desk->sql, &id, &there, &found, error) != PO_OK)
                        return error->kind;
                if (!found || there.amount_minor != orders[i].amount_minor ||
                    strcmp(there.currency, orders[i].currency) != 0)
                        return po_refuse(error, "ORDER_DIFFERS",
                                         "order %s of tenant %lld is registered with %lld %s, not "
                                         "%lld %s",
                                         id.order_no, (long long)id.tenant_id,
                                         (long long)there.amount_minor, there.currency,
                                         (long long)orders[i].amount_minor, orders[i].currency);
        }
        return PO_OK;
}

static enum po_class register_one(struct desk *desk, struct po_error *error)
{
        const struct order_text *text = desk->own;
        struct order order;
        if (order_parse(text, desk->tenant, rules_initial(desk->rules), &order, error) != PO_OK)
                return error->kind;
        return register_orders(desk, &order, 1, error);
}

static int command_register(int argc, char **argv)
{
        struct order_text text = { .currency = "CNY" };
        struct desk desk = { .tenant = 1, .own = &text };
        const struct option_row rows[] = {
                OPTION_ROW_CONFIG(&desk.config),
                OPTION_ROW_TEXT("amount", "DECIMAL",
                                "what is to be paid, in the currency's main unit: 128.80",
                                &text.amount),
                OPTION_ROW_TEXT("currency", "CODE", "ISO 4217 code (default: CNY)", &text.currency),
                OPTION_ROW_TENANT("whose order (default: 1)", &desk.tenant),
                { .name = NULL },
        };
        const struct options options = {
                .command = "postonce order register",
                .operands = "NO",
                .summary = "Registers an order in the initial state. The same again does nothing; "
                           "the same number with\nanother amount is refused.",
                .example = "postonce order register R8-20260114-000731 --amount 128.80",
                .rows = rows,
        };
        int code;
        if (!desk_read(&desk, &options, argc, argv, &code))
                return code;
        if (text.amount == NULL)
                return options_refuse(&options, "expected --amount DECIMAL");
        text.order_no = desk.operands[0];
        return desk_run(&desk, register_one);
}

static enum po_class import_file(struct desk *desk, struct po_error *error)
{
        struct order_file file = { 0 };
        enum po_class kind = order_file_read(desk->operands[0], desk->tenant,
                                             rules_initial(desk->rules), &file, error);
        for (size_t done = 0; kind == PO_OK && done < file.count;) {
                size_t count = file.count - done;
                if (count > ORDER_FILE_CHUNK)
                        count = ORDER_FILE_CHUNK;
                kind = register_orders(desk, file.orders + done, count, error);
                done += count;
        }
        if (kind == PO_OK)
                printf("%zu orders are registered\n", file.count);
        order_file_free(&file);
        return kind;
}

static int command_import(int argc, char **argv)
{
        struct desk desk = { .tenant = 1 };
        const struct option_row rows[] = {
                OPTION_ROW_CONFIG(&desk.config),
                OPTION_ROW_TENANT(
                        "whose orders, where the file has no column tenant_id (default: 1)",
                        &desk.tenant),
                { .name = NULL },
        };
        const struct options options = {
                .command = "postonce order import",
                .operands = "FILE.csv",
                .summary =
                        "Registers the orders of a CSV file with a header line: order_no, amount "
                        "(decimal, main unit),\ncurrency, and if you like tenant_id. The whole "
                        "file is checked before the first row is\nwritten; running it again does "
                        "nothing.",
                .example = "postonce order import orders.csv",
                .rows = rows,
        };
        return desk_command(&desk, &options, argc, argv, import_file);
}

static enum po_class set(struct desk *desk, struct po_error *error)
{
        const struct order_id id = { desk->tenant, desk->operands[0] };
        const char *status = desk->operands[1];
        if (!states_have(rules_external(desk->rules), status))
                return po_refuse(error, "STATE_NOT_EXTERNAL",
                                 "%s is not in orders.external: only postings lead to it", status);
        return order_set(desk->db, &desk->sql, &id, status, desk->who, desk->why, error);
}

static int command_set(int argc, char **argv)
{
        struct desk desk = { .tenant = 1 };
        const struct option_row rows[] = {
                OPTION_ROW_CONFIG(&desk.config),
                OPTION_ROW_WHY(&desk.why),
                OPTION_ROW_TENANT("whose order (default: 1)", &desk.tenant),
                { .name = NULL },
        };
        const struct options options = {
                .command = "postonce order set",
                .operands = "NO STATE",
                .summary = "Sets an order to one of the states of orders.external, audited.",
                .example = "postonce order set R8-20260114-000731 SHIPPED --why 'parcel 4711'",
                .rows = rows,
        };
        return desk_command(&desk, &options, argc, argv, set);
}

static void add_refund(void *context, const struct refund *refund)
{
        struct text *text = context;
        text_format(text, "%s%s %s %lld", text->length == 0 ? "" : ", ", refund->refund_no,
                    refund->status, (long long)refund->amount_minor);
}

static enum po_class print_order(const struct order *order, const char *refunds,
                                 enum table_format format, struct po_error *error)
{
        static const struct table_column columns[] = {
                { "tenant_id", TABLE_NUMBER },      { "order_no", TABLE_TEXT },
                { "status", TABLE_TEXT },           { "amount_minor", TABLE_NUMBER },
                { "currency", TABLE_TEXT },         { "paid_channel", TABLE_TEXT },
                { "paid_txn", TABLE_TEXT },         { "paid_minor", TABLE_NUMBER },
                { "refunded_minor", TABLE_NUMBER }, { "reserved_minor", TABLE_NUMBER },
                { "refunds", TABLE_TEXT },          { NULL, TABLE_TEXT },
        };
        char tenant[24], amount[24], paid[24] = "", refunded[24], reserved[24];
        snprintf(tenant, sizeof tenant, "%lld", (long long)order->tenant_id);
        snprintf(amount, sizeof amount, "%lld", (long long)order->amount_minor);
        snprintf(refunded, sizeof refunded, "%lld", (long long)order->refunded);
        snprintf(reserved, sizeof reserved, "%lld", (long long)order->refund_reserved);
        if (order->paid_amount != 0)
                snprintf(paid, sizeof paid, "%lld", (long long)order->paid_amount);
        struct table *table = table_open("orders", columns);
        table_row(table, tenant, order->order_no, order->status, amount, order->currency,
                  order->paid_channel, order->paid_txn, paid, refunded, reserved, refunds);
        return table_show(table, format, error);
}

static enum po_class show(struct desk *desk, struct po_error *error)
{
        struct order order;
        bool found;
        char refunds[REFUNDS_BYTES];
        struct text text;
        const struct order_id id = { desk->tenant, desk->operands[0] };
        if (order_read(desk->db, &desk->sql, &id, &order, &found, error) != PO_OK)
                return error->kind;
        if (!found)
                return po_refuse(error, "ORDER_UNKNOWN", "no order %s of tenant %lld", id.order_no,
                                 (long long)id.tenant_id);
        text_init(&text, refunds, sizeof refunds);
        if (refunds_list(desk->db, &desk->sql, id.tenant_id, id.order_no, add_refund, &text,
                         error) != PO_OK)
                return error->kind;
        return print_order(&order, refunds, (enum table_format)desk->format, error);
}

static int command_show(int argc, char **argv)
{
        struct desk desk = { .tenant = 1 };
        const struct option_row rows[] = {
                OPTION_ROW_CONFIG(&desk.config),
                OPTION_ROW_OUTPUT(&desk.format),
                OPTION_ROW_TENANT("whose order (default: 1)", &desk.tenant),
                { .name = NULL },
        };
        const struct options options = {
                .command = "postonce order show",
                .operands = "NO",
                .summary = "Shows an order: its state, the payment that is recorded on it, and its "
                           "refunds.",
                .example = "postonce order show R8-20260114-000731 -o json",
                .rows = rows,
        };
        return desk_command(&desk, &options, argc, argv, show);
}

static const struct command order_commands[] = {
        { "register", "registers one order", command_register },
        { "import", "registers the orders of a CSV file", command_import },
        { "set", "sets a state that other systems own, audited", command_set },
        { "show", "one order", command_show },
        { NULL, NULL, NULL },
};

int command_order(int argc, char **argv)
{
        const struct command_set order = {
                .name = "postonce order",
                .summary = "Orders: what merchants expect to be paid.",
                .commands = order_commands,
        };
        return command_dispatch(&order, argc, argv);
}
