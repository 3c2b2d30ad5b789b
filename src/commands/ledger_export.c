#include <stdio.h>

#include "commands/command.h"
#include "commands/journal.h"
#include "commands/ledger.h"
#include "commands/options.h"
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
static enum po_class export(struct desk *desk, struct journal *journal, int64_t tenant,
                            struct po_error *error) {
        journal_begin(journal); if (book_accounts(desk->db, &desk->sql, tenant, NULL, declare,
                                                  journal, error) != PO_OK) return error->kind;
        return book_entries(desk->db, &desk->sql, tenant, write_entry, journal, error);
}

int ledger_export(int argc, char **argv)
{
        const char *config = NULL;
        int format = JOURNAL_HLEDGER;
        int64_t tenant = 0;
        const struct option_row rows[] = {
                OPTION_ROW_CONFIG(&config),
                { .name = "format",
                  .kind = OPTION_CHOICE,
                  .argument = "hledger|csv",
                  .help = "hledger's journal, or CSV with a header line (default: hledger)",
                  .target = &format,
                  .words = journal_format_words },
                { .name = "tenant",
                  .kind = OPTION_INTEGER,
                  .argument = "ID",
                  .help = "only this tenant's; without it hledger's account names begin with "
                          "tenant:ID",
                  .target = &tenant,
                  .min = 1,
                  .max = INT64_MAX },
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
        if (!options_read(&options, argc, argv, NULL, &code))
                return code;
        struct desk desk;
        struct po_error error;
        struct journal journal = { .stream = stdout,
                                   .format = (enum journal_format)format,
                                   .with_tenants = tenant == 0 };
        code = ledger_desk_open(&desk, config);
        if (code == EXIT_DONE && export(&desk, &journal, tenant, &error) != PO_OK)
                code = command_fail(&error);
        desk_close(&desk);
        return code;
}
