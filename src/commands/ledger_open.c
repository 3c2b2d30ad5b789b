#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "commands/command.h"
#include "commands/desk_command.h"
#include "commands/ledger.h"
#include "commands/opening_file.h"
#include "commands/progress_bar.h"
#include "ledger/audit.h"

/* A row's texts, which the file's next row takes away. */
struct row {
        char account[ACCOUNT_CODE_BYTES];
        char currency[PO_CURRENCY_BYTES];
};

struct opening_run {
        const char *path, *counter;
        int64_t tenant;
        struct ledger *ledger;
        struct opening openings[OPENING_ROWS_MAX];
        struct row rows[OPENING_ROWS_MAX];
        size_t lines;
        size_t fates[OPENING_DIFFERS + 1];
};

static void cleanup_csv(struct csv **slot)
{
        csv_close(*slot);
}

/* Up to OPENING_ROWS_MAX rows, each checked. */
static enum po_class read_rows(struct opening_run *run, struct csv *csv, size_t *count_out,
                               struct po_error *error)
{
        for (*count_out = 0; *count_out < OPENING_ROWS_MAX; (*count_out)++) {
                bool there;
                struct opening *opening = &run->openings[*count_out];
                struct row *row = &run->rows[*count_out];
                if (csv_next(csv, &there, error) != PO_OK)
                        return error->kind;
                if (!there)
                        return PO_OK;
                if (opening_file_row(csv, run->tenant, opening, error) != PO_OK)
                        return error->kind;
                snprintf(row->account, sizeof row->account, "%s", opening->account);
                snprintf(row->currency, sizeof row->currency, "%s", opening->currency);
                opening->account = row->account;
                opening->currency = row->currency;
        }
        return PO_OK;
}

/* The whole file, before anything of it is posted. */
static enum po_class check_file(struct opening_run *run, struct po_error *error)
{
        CLEANUP(cleanup_csv) struct csv *csv = NULL;
        if (opening_file_open(&csv, run->path, error) != PO_OK)
                return error->kind;
        for (size_t count = OPENING_ROWS_MAX; count == OPENING_ROWS_MAX; run->lines += count)
                if (read_rows(run, csv, &count, error) != PO_OK)
                        return error->kind;
        return PO_OK;
}

static void tell_fates(struct opening_run *run, size_t count, struct progress_bar *bar)
{
        for (size_t i = 0; i < count; i++) {
                const struct opening *opening = &run->openings[i];
                run->fates[opening->fate]++;
                if (opening->fate != OPENING_DIFFERS)
                        continue;
                progress_bar_clear(bar);
                fprintf(stderr,
                        "%s:%lld: account %s %s of tenant %lld has another opening balance\n",
                        run->path, (long long)opening->line, opening->account, opening->currency,
                        (long long)opening->tenant_id);
        }
}

static enum po_class post_file(struct opening_run *run, struct po_error *error)
{
        CLEANUP(cleanup_csv) struct csv *csv = NULL;
        struct progress_bar bar;
        if (opening_file_open(&csv, run->path, error) != PO_OK)
                return error->kind;
        progress_bar_begin(&bar, "ledger open", csv_bytes_all(csv));
        enum po_class kind = PO_OK;
        for (size_t count = OPENING_ROWS_MAX; kind == PO_OK && count == OPENING_ROWS_MAX;) {
                kind = read_rows(run, csv, &count, error);
                if (kind == PO_OK)
                        kind = openings_post(run->ledger, run->counter, run->openings, count,
                                             error);
                if (kind == PO_OK)
                        tell_fates(run, count, &bar);
                progress_bar_show(&bar, csv_bytes_done(csv));
        }
        progress_bar_clear(&bar);
        return kind;
}

static enum po_class post_audited(struct desk *desk, struct opening_run *run,
                                  struct po_error *error)
{
        char what[256];
        if (check_file(run, error) != PO_OK ||
            ledger_open(&run->ledger, desk->db, desk->rules, OPENING_ROWS_MAX, error) != PO_OK)
                return error->kind;
        snprintf(what, sizeof what, "%zu balances of %s against %s", run->lines, run->path,
                 run->counter);
        if (audit_insert(desk->db, &desk->sql, desk->who, "ledger open", what, "opening balances",
                         error) != PO_OK)
                return error->kind;
        return post_file(run, error);
}

static enum po_class open_balances(struct desk *desk, struct po_error *error)
{
        struct opening_run *run = desk->own;
        enum po_class kind = post_audited(desk, run, error);
        ledger_close(run->ledger);
        if (kind != PO_OK)
                return kind;
        printf("%zu opening balances: %zu posted, %zu there already, %zu refused\n", run->lines,
               run->fates[OPENING_POSTED], run->fates[OPENING_THERE], run->fates[OPENING_DIFFERS]);
        desk->findings = run->fates[OPENING_DIFFERS] > 0;
        return PO_OK;
}

int ledger_open_balances(int argc, char **argv)
{
        const char *counter = "equity:opening";
        struct desk desk = { .tenant = 1 };
        const struct option_row rows[] = {
                OPTION_ROW_CONFIG(&desk.config),
                OPTION_ROW_TEXT("counter", "ACCOUNT",
                                "the other side of every entry (default: equity:opening)",
                                &counter),
                OPTION_ROW_TENANT("whose, where a row has no tenant_id (default: 1)", &desk.tenant),
                { .name = NULL },
        };
        const struct options options = {
                .command = "postonce ledger open",
                .operands = "FILE.csv",
                .summary = "Posts opening balances: account, currency, amount (decimal, debits "
                           "positive, credits with a minus),\nand if you like tenant_id and "
                           "effective_at (RFC 3339). The whole file is checked before the first\n"
                           "is posted. An account has one a tenant and currency: the same again "
                           "does nothing, another\namount is refused.",
                .example = "postonce ledger open opening.csv",
                .rows = rows,
        };
        int code;
        if (!desk_read(&desk, &options, argc, argv, &code))
                return code;
        struct opening_run *run = calloc(1, sizeof *run);
        if (run == NULL)
                return EXIT_BUG;
        run->path = desk.operands[0];
        run->counter = counter;
        run->tenant = desk.tenant;
        desk.own = run;
        code = desk_run(&desk, open_balances);
        free(run);
        return code;
}
