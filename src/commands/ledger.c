#include "commands/ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/cleanup.h"
#include "channel/currency.h"
#include "channel/moment.h"
#include "channel/money.h"
#include "commands/command.h"
#include "commands/desk_command.h"
#include "ledger/book.h"

enum { NUMBER_BYTES = 24, LAST_MAX = 100000 };

/* As decimal, in the currency's main unit. */
static enum po_class print_money(char text_out[MONEY_TEXT_BYTES], int64_t minor,
                                 const char *currency, struct po_error *error)
{
        int exponent;
        if (!currency_find(currency, &exponent))
                return po_fail(error, PO_SYSTEMIC, 0, "currency %s is not known to this program",
                               currency);
        money_print(text_out, minor, exponent);
        return PO_OK;
}

static enum po_class add_balance(void *context, const struct book_balance *balance,
                                 struct po_error *error)
{
        char tenant[NUMBER_BYTES], minor[NUMBER_BYTES], amount[MONEY_TEXT_BYTES];
        snprintf(tenant, sizeof tenant, "%lld", (long long)balance->account.tenant_id);
        snprintf(minor, sizeof minor, "%lld", (long long)balance->amount_minor);
        if (print_money(amount, balance->amount_minor, balance->account.currency, error) != PO_OK)
                return error->kind;
        table_row(context, tenant, balance->account.code, balance->account.currency, amount, minor);
        return PO_OK;
}

static enum po_class print_balances(struct desk *desk, struct po_error *error)
{
        static const struct table_column columns[] = {
                { "tenant_id", TABLE_NUMBER },     { "account", TABLE_TEXT },
                { "currency", TABLE_TEXT },        { "balance", TABLE_DECIMAL },
                { "balance_minor", TABLE_NUMBER }, { NULL, TABLE_TEXT },
        };
        const int64_t *before_us = desk->own;
        struct table *table = table_open("balances", columns);
        if (book_balances(desk->db, &desk->sql, desk->tenant, *before_us, add_balance, table,
                          error) == PO_OK)
                return table_show(table, (enum table_format)desk->format, error);
        table_close(table);
        return error->kind;
}

static int command_balance(int argc, char **argv)
{
        static const struct moment_form form = { .format = MOMENT_RFC3339 };
        const char *as_of = NULL;
        int64_t before_us = PO_TIME_UNKNOWN;
        struct desk desk = { .own = &before_us, .read_timeout_ms = LEDGER_READ_TIMEOUT_MS };
        const struct option_row rows[] = {
                OPTION_ROW_CONFIG(&desk.config),
                OPTION_ROW_OUTPUT(&desk.format),
                OPTION_ROW_TENANT("only this tenant's (default: all)", &desk.tenant),
                OPTION_ROW_TEXT(
                        "as-of", "TIME",
                        "of what was settled before this time (RFC 3339), summed up from the "
                        "entries",
                        &as_of),
                { .name = NULL },
        };
        const struct options options = {
                .command = "postonce ledger balance",
                .summary = "Shows what stands on each account. Debits are positive. --as-of goes "
                           "by the time of settling:\nwhat comes late does not change a day that "
                           "was closed.",
                .example = "postonce ledger balance --tenant 1\n"
                           "postonce ledger balance --as-of 2026-02-01T00:00:00+08:00 -o json",
                .rows = rows,
        };
        int code;
        struct po_error error;
        if (!desk_read(&desk, &options, argc, argv, &code))
                return code;
        if (as_of != NULL && moment_parse(&form, as_of, strlen(as_of), &before_us, &error) != PO_OK)
                return options_refuse(&options, "--as-of: %s", error.text);
        return desk_run(&desk, print_balances);
}

/* The accounts of one name: one, or one a currency. */
struct wanted {
        const char *currency; /* NULL: the only one there is */
        int64_t last;
        struct book_account account;
        size_t count;
        char currencies[128];
};

static enum po_class want_account(void *context, const struct book_account *account,
                                  struct po_error *error)
{
        struct wanted *wanted = context;
        (void)error;
        if (wanted->currency != NULL && strcmp(wanted->currency, account->currency) != 0)
                return PO_OK;
        wanted->account = *account;
        wanted->count++;
        size_t used = strlen(wanted->currencies);
        snprintf(wanted->currencies + used, sizeof wanted->currencies - used, " %s",
                 account->currency);
        return PO_OK;
}

static enum po_class find_account(struct desk *desk, struct wanted *wanted, struct po_error *error)
{
        const char *code = desk->operands[0];
        if (book_accounts(desk->db, &desk->sql, desk->tenant, code, want_account, wanted, error) !=
            PO_OK)
                return error->kind;
        if (wanted->count == 0)
                return po_refuse(error, "ACCOUNT_UNKNOWN", "tenant %lld has no account %s%s%s",
                                 (long long)desk->tenant, code,
                                 wanted->currency != NULL ? " in " : "",
                                 wanted->currency != NULL ? wanted->currency : "");
        if (wanted->count > 1)
                return po_refuse(error, "ACCOUNT_AMBIGUOUS",
                                 "account %s has several currencies, say --currency:%s", code,
                                 wanted->currencies);
        return PO_OK;
}

struct line {
        struct book_entry entry;
        int64_t balance_minor; /* after it */
};

/* The last ones of an account's entries; those before are only summed up. */
struct statement {
        size_t capacity, count; /* of all: the last one stands at (count - 1) % capacity */
        struct line *lines;
        int64_t balance_minor;
};

static enum po_class add_line(void *context, const struct book_entry *entry, struct po_error *error)
{
        struct statement *statement = context;
        if (!checked_add(&statement->balance_minor, entry->amount_minor))
                return po_fail(error, PO_BUG, 0, "the entries of %s leave 64 bits",
                               entry->account.code);
        struct line *line = &statement->lines[statement->count++ % statement->capacity];
        line->entry = *entry;
        line->balance_minor = statement->balance_minor;
        return PO_OK;
}

static enum po_class add_row(struct table *table, const struct line *line, struct po_error *error)
{
        const struct book_entry *entry = &line->entry;
        char amount[MONEY_TEXT_BYTES], balance[MONEY_TEXT_BYTES];
        if (print_money(amount, entry->amount_minor, entry->account.currency, error) != PO_OK ||
            print_money(balance, line->balance_minor, entry->account.currency, error) != PO_OK)
                return error->kind;
        table_row(table, entry->settled_at, entry->effective_at, amount, balance, entry->verdict,
                  entry->order_no, entry->key);
        return PO_OK;
}

static enum po_class fill_table(const struct statement *statement, struct table *table,
                                struct po_error *error)
{
        size_t shown =
                statement->count < statement->capacity ? statement->count : statement->capacity;
        size_t first = statement->count - shown;
        if (first > 0) {
                const struct line *line = &statement->lines[first % statement->capacity];
                char before[MONEY_TEXT_BYTES], note[64];
                if (print_money(before, line->balance_minor - line->entry.amount_minor,
                                line->entry.account.currency, error) != PO_OK)
                        return error->kind;
                snprintf(note, sizeof note, "(brought forward: %zu entries)", first);
                table_row(table, "", "", "", before, "", "", note);
        }
        for (size_t i = first; i < statement->count; i++)
                if (add_row(table, &statement->lines[i % statement->capacity], error) != PO_OK)
                        return error->kind;
        return PO_OK;
}

static enum po_class print_statement(struct desk *desk, struct po_error *error)
{
        static const struct table_column columns[] = {
                { "settled_at", TABLE_TEXT }, { "effective_at", TABLE_TEXT },
                { "amount", TABLE_DECIMAL },  { "balance", TABLE_DECIMAL },
                { "verdict", TABLE_TEXT },    { "order_no", TABLE_TEXT },
                { "key", TABLE_TEXT },        { NULL, TABLE_TEXT },
        };
        struct wanted *wanted = desk->own;
        CLEANUP(cleanup_free) struct line *lines = calloc((size_t)wanted->last, sizeof *lines);
        if (lines == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for %lld entries",
                               (long long)wanted->last);
        struct statement statement = { .capacity = (size_t)wanted->last, .lines = lines };
        if (find_account(desk, wanted, error) != PO_OK ||
            book_statement(desk->db, &desk->sql, &wanted->account, add_line, &statement, error) !=
                    PO_OK)
                return error->kind;
        struct table *table = table_open("entries", columns);
        if (fill_table(&statement, table, error) == PO_OK)
                return table_show(table, (enum table_format)desk->format, error);
        table_close(table);
        return error->kind;
}

static int command_statement(int argc, char **argv)
{
        struct wanted wanted = { .last = 1000 };
        struct desk desk = { .tenant = 1,
                             .own = &wanted,
                             .read_timeout_ms = LEDGER_READ_TIMEOUT_MS };
        const struct option_row rows[] = {
                OPTION_ROW_CONFIG(&desk.config),
                OPTION_ROW_OUTPUT(&desk.format),
                OPTION_ROW_TENANT("whose account (default: 1)", &desk.tenant),
                OPTION_ROW_TEXT("currency", "CODE", "where the account has several",
                                &wanted.currency),
                OPTION_ROW_INTEGER("last", "N",
                                   "so many entries; those before are one line, brought forward "
                                   "(default: 1000)",
                                   &wanted.last, 1, LAST_MAX),
                { .name = NULL },
        };
        const struct options options = {
                .command = "postonce ledger statement",
                .operands = "ACCOUNT",
                .summary = "Shows an account's entries in the order in which they were settled, "
                           "each with the balance after\nit. It reads all entries of the ledger: "
                           "there is no index by account.",
                .example = "postonce ledger statement merchant:1:payable --last 50",
                .rows = rows,
        };
        return desk_command(&desk, &options, argc, argv, print_statement);
}

int command_ledger(int argc, char **argv)
{
        static const struct command commands[] = {
                { "balance", "what stands on each account, now or as of a time", command_balance },
                { "statement", "an account's entries with the balance after each",
                  command_statement },
                { "export", "all entries, for hledger or as CSV", ledger_export },
                { "open", "posts opening balances", ledger_open_balances },
                { NULL, NULL, NULL },
        };
        const struct command_set ledger = {
                .name = "postonce ledger",
                .summary = "The books: accounts, entries, balances.",
                .commands = commands,
        };
        return command_dispatch(&ledger, argc, argv);
}
