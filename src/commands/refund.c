#include <stdio.h>
#include <string.h>

#include "base/csv.h"
#include "commands/command.h"
#include "commands/desk_command.h"
#include "commands/order_file.h"
#include "commands/table.h"
#include "ledger/refund_reserve.h"

#define NO_REGISTERING_RULE                                                                        \
        "no event has refund: { create: … }: the configuration does not say which orders take "  \
        "refunds"

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

static enum po_class print_refund(const struct refund *refund, enum table_format format,
                                  struct po_error *error)
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
        char tenant[24], amount[24], reserved[24];
        snprintf(tenant, sizeof tenant, "%lld", (long long)refund->tenant_id);
        snprintf(amount, sizeof amount, "%lld", (long long)refund->amount_minor);
        snprintf(reserved, sizeof reserved, "%lld", (long long)refund->reserved);
        struct table *table = table_open("refunds", columns);
        table_row(table, tenant, refund->refund_no, refund->order_no, refund->status, amount,
                  refund->currency, reserved, refund->channel, refund->txn,
                  refund->registered ? "REGISTERED" : "NOTICE");
        return table_show(table, format, error);
}

static enum po_class register_one(struct desk *desk, struct po_error *error)
{
        struct refund refund;
        bool again;
        const struct event_rule *rule = rules_registering(desk->rules);
        if (parse(desk->operands[0], desk->own, desk->tenant, &refund, error) != PO_OK)
                return error->kind;
        if (rule == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, NO_REGISTERING_RULE);
        if (refund_reserve(desk->db, &desk->sql, rule, &refund, &again, error) != PO_OK)
                return error->kind;
        return print_refund(&refund, (enum table_format)desk->format, error);
}

static int command_register(int argc, char **argv)
{
        struct order_text text = { .currency = "CNY" };
        struct desk desk = { .tenant = 1, .own = &text };
        const struct option_row rows[] = {
                OPTION_ROW_CONFIG(&desk.config),
                OPTION_ROW_OUTPUT(&desk.format),
                OPTION_ROW_TEXT("order", "NO", "the paid order", &text.order_no),
                OPTION_ROW_TEXT("amount", "DECIMAL",
                                "what goes back, in the currency's main unit: 28.80", &text.amount),
                OPTION_ROW_TEXT("currency", "CODE", "ISO 4217 code (default: CNY)", &text.currency),
                OPTION_ROW_TENANT("whose order (default: 1)", &desk.tenant),
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
        };
        int code;
        if (!desk_read(&desk, &options, argc, argv, &code))
                return code;
        if (text.order_no == NULL || text.amount == NULL)
                return options_refuse(&options, "expected --order NO and --amount DECIMAL");
        return desk_run(&desk, register_one);
}

enum refund_column {
        COLUMN_REFUND_NO,
        COLUMN_ORDER_NO,
        COLUMN_AMOUNT,
        COLUMN_CURRENCY,
        COLUMN_TENANT
};
static const char *const refund_columns[] = { "refund_no", "order_no",  "amount",
                                              "currency",  "tenant_id", NULL };

static enum po_class parse_row(const struct csv *csv, int64_t tenant_id, struct refund *refund_out,
                               struct po_error *error)
{
        const struct order_text text = {
                .order_no = csv_field(csv, COLUMN_ORDER_NO),
                .amount = csv_field(csv, COLUMN_AMOUNT),
                .currency = csv_field(csv, COLUMN_CURRENCY),
                .tenant_id = csv_field(csv, COLUMN_TENANT),
        };
        if (parse(csv_field(csv, COLUMN_REFUND_NO), &text, tenant_id, refund_out, error) != PO_OK)
                return csv_within(csv, error);
        return PO_OK;
}

struct refund_import {
        struct desk *desk;
        bool dry; /* the rows are only checked */
        const struct event_rule *rule;
        size_t registered, again, refused;
};

/* What the books refuse is told and the file goes on: the other refunds are not its fault. */
static enum po_class import_row(struct refund_import *import, const struct csv *csv,
                                struct po_error *error)
{
        struct refund refund;
        bool again;
        struct desk *desk = import->desk;
        if (parse_row(csv, desk->tenant, &refund, error) != PO_OK)
                return error->kind;
        if (import->dry)
                return PO_OK;
        if (refund_reserve(desk->db, &desk->sql, import->rule, &refund, &again, error) == PO_OK) {
                import->registered += !again;
                import->again += again;
                return PO_OK;
        }
        csv_within(csv, error);
        if (error->kind != PO_RECORD)
                return error->kind;
        fprintf(stderr, "postonce: %s\n", error->text);
        import->refused++;
        return PO_OK;
}

static enum po_class import_rows(struct refund_import *import, struct po_error *error)
{
        struct csv *csv;
        bool there = true;
        enum po_class kind =
                csv_open(&csv, import->desk->operands[0], refund_columns, COLUMN_TENANT, error);
        while (kind == PO_OK && there) {
                kind = csv_next(csv, &there, error);
                if (kind == PO_OK && there)
                        kind = import_row(import, csv, error);
        }
        csv_close(csv);
        return kind;
}

/* The whole file is checked before anything of it is written. */
static enum po_class import_file(struct desk *desk, struct po_error *error)
{
        struct refund_import check = { .desk = desk, .dry = true };
        struct refund_import import = { .desk = desk, .rule = rules_registering(desk->rules) };
        if (import.rule == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, NO_REGISTERING_RULE);
        if (import_rows(&check, error) != PO_OK || import_rows(&import, error) != PO_OK)
                return error->kind;
        printf("%zu refunds registered, %zu were there, %zu refused\n", import.registered,
               import.again, import.refused);
        desk->findings = import.refused > 0;
        return PO_OK;
}

static int command_import(int argc, char **argv)
{
        struct desk desk = { .tenant = 1 };
        const struct option_row rows[] = {
                OPTION_ROW_CONFIG(&desk.config),
                OPTION_ROW_TENANT(
                        "whose refunds, where the file has no column tenant_id (default: 1)",
                        &desk.tenant),
                { .name = NULL },
        };
        const struct options options = {
                .command = "postonce refund import",
                .operands = "FILE.csv",
                .summary = "Registers the refunds of a CSV file with a header line: refund_no, "
                           "order_no, amount (decimal,\nmain unit), currency, and if you like "
                           "tenant_id. The whole file is checked before the first\nis registered; "
                           "what the books refuse is named by its line, the others are registered "
                           "(exit 1\nthen); running it again does nothing.",
                .example = "postonce refund import refunds.csv",
                .rows = rows,
        };
        return desk_command(&desk, &options, argc, argv, import_file);
}

static enum po_class show(struct desk *desk, struct po_error *error)
{
        struct refund refund;
        const char *refund_no = desk->operands[0];
        if (strlen(refund_no) >= REFUND_NO_BYTES)
                return po_refuse(error, "REFUND_UNKNOWN", "no number is that long");
        if (refund_read(desk->db, &desk->sql, desk->tenant, refund_no, &refund, error) != PO_OK)
                return error->kind;
        if (!refund.exists)
                return po_refuse(error, "REFUND_UNKNOWN", "no refund %s of tenant %lld", refund_no,
                                 (long long)desk->tenant);
        return print_refund(&refund, (enum table_format)desk->format, error);
}

static int command_show(int argc, char **argv)
{
        struct desk desk = { .tenant = 1 };
        const struct option_row rows[] = {
                OPTION_ROW_CONFIG(&desk.config),
                OPTION_ROW_OUTPUT(&desk.format),
                OPTION_ROW_TENANT("whose refund (default: 1)", &desk.tenant),
                { .name = NULL },
        };
        const struct options options = {
                .command = "postonce refund show",
                .operands = "REFUND_NO",
                .summary = "Shows a refund: its state, what is reserved for it, and the movement "
                           "of money that posted it.",
                .example = "postonce refund show RF-1 -o json",
                .rows = rows,
        };
        return desk_command(&desk, &options, argc, argv, show);
}

static const struct command refund_commands[] = {
        { "register", "reserves a refund before the channel is asked", command_register },
        { "import", "reserves the refunds of a CSV file", command_import },
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
