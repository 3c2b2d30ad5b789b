#include <stdio.h>

#include "commands/desk_command.h"
#include "commands/journal.h"
#include "commands/ledger.h"
#include "ledger/book.h"

static enum po_class declare(void *context, const struct book_account *account,
                             struct po_error *error)
{
        return journal_declare(context, account, error);
}

static enum po_class write_entry(void *context, const struct book_entry *entry,
                                 struct po_error *error)
{
        return journal_entry(context, entry, error);
}

/* An account that is made between the two readings is used and not declared, which only hledger's
 * strict mode minds. */
static enum po_class export(struct desk *desk, struct po_error *error) {
        struct journal *journal = desk->own; journal->with_tenants = desk->tenant == 0;
        journal_begin(journal);
        if (book_accounts(desk->db, &desk->sql, desk->tenant, NULL, declare, journal, error) !=
            PO_OK) return error->kind;
        return book_entries(desk->db, &desk->sql, desk->tenant, write_entry, journal, error);
}

int ledger_export(int argc, char **argv)
{
        int format = JOURNAL_HLEDGER;
        struct journal journal = { .stream = stdout };
        struct desk desk = { .own = &journal, .read_timeout_ms = LEDGER_READ_TIMEOUT_MS };
        const struct option_row rows[] = {
                OPTION_ROW_CONFIG(&desk.config),
                OPTION_ROW_CHOICE("format", "hledger|csv",
                                  "hledger's journal, or CSV with a header line (default: hledger)",
                                  &format, journal_format_words),
                OPTION_ROW_TENANT(
                        "only this tenant's; without it hledger's account names begin with "
                        "tenant:ID",
                        &desk.tenant),
                { .name = NULL },
        };
        const struct options options = {
                .command = "postonce ledger export",
                .summary = "Writes all entries to standard output, as they are at one moment. In "
                           "hledger's journal each\nposting is a transaction on the channel's "
                           "day (UTC), its number the claim's, the key a tag.",
                .example = "postonce ledger export --tenant 1 >books.journal && "
                           "hledger -f books.journal balance",
                .rows = rows,
        };
        int code;
        if (!desk_read(&desk, &options, argc, argv, &code))
                return code;
        journal.format = (enum journal_format)format;
        return desk_run(&desk, export);
}
