#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "commands/claim_file.h"
#include "commands/command.h"
#include "commands/desk_command.h"
#include "commands/progress_bar.h"
#include "ledger/audit.h"
#include "ledger/imported.h"

enum { CHUNK_ROWS = 500, BOOKED_SHOWN_MAX = 20 };

struct import {
        const char *path;
        struct claim_defaults defaults;
        bool dry;
        struct imported_claim *rows;
        struct imported_claim **sorted;
        size_t lines; /* of the file, with rows */
        size_t fates[IMPORTED_BOOKED + 1];
};

static void cleanup_csv(struct csv **slot)
{
        csv_close(*slot);
}

/* The whole file, before anything of it is written. */
static enum po_class check_file(struct import *import, struct po_error *error)
{
        CLEANUP(cleanup_csv) struct csv *csv = NULL;
        struct imported_claim row;
        if (claim_file_open(&csv, import->path, &import->defaults, error) != PO_OK)
                return error->kind;
        for (bool there;;) {
                if (csv_next(csv, &there, error) != PO_OK)
                        return error->kind;
                if (!there)
                        return PO_OK;
                if (claim_file_row(csv, &import->defaults, &row, error) != PO_OK)
                        return error->kind;
                import->lines++;
        }
}

static enum po_class read_chunk(struct csv *csv, struct import *import, size_t *count_out,
                                struct po_error *error)
{
        *count_out = 0;
        while (*count_out < CHUNK_ROWS) {
                bool there;
                struct imported_claim *row = &import->rows[*count_out];
                if (csv_next(csv, &there, error) != PO_OK)
                        return error->kind;
                if (!there)
                        return PO_OK;
                if (claim_file_row(csv, &import->defaults, row, error) != PO_OK)
                        return error->kind;
                import->sorted[(*count_out)++] = row;
        }
        return PO_OK;
}

static void count_fates(struct import *import, size_t count, struct progress_bar *bar)
{
        for (size_t i = 0; i < count; i++) {
                const struct imported_claim *row = &import->rows[i];
                if (++import->fates[row->fate] > BOOKED_SHOWN_MAX || row->fate != IMPORTED_BOOKED)
                        continue;
                progress_bar_clear(bar);
                fprintf(stderr, "%s:%lld: %s of tenant %lld was posted here: booked twice\n",
                        import->path, (long long)row->line, row->notification.key,
                        (long long)row->notification.tenant_id);
        }
}

static enum po_class import_chunks(struct desk *desk, struct import *import, struct csv *csv,
                                   struct progress_bar *bar, struct po_error *error)
{
        for (size_t count;;) {
                if (read_chunk(csv, import, &count, error) != PO_OK)
                        return error->kind;
                if (count == 0)
                        return PO_OK;
                if (imported_settle(desk->db, &desk->sql, import->sorted, count, import->dry,
                                    error) != PO_OK)
                        return po_within(error, "%s, lines %lld to %lld", import->path,
                                         (long long)import->rows[0].line,
                                         (long long)import->rows[count - 1].line);
                count_fates(import, count, bar);
                progress_bar_show(bar, csv_bytes_done(csv));
        }
}

static enum po_class import_audited(struct desk *desk, struct import *import,
                                    struct po_error *error)
{
        CLEANUP(cleanup_csv) struct csv *csv = NULL;
        char what[256];
        if (check_file(import, error) != PO_OK ||
            claim_file_open(&csv, import->path, &import->defaults, error) != PO_OK)
                return error->kind;
        snprintf(what, sizeof what, "%zu lines of %s", import->lines, import->path);
        if (!import->dry && audit_insert(desk->db, &desk->sql, desk->who, "claim import", what,
                                         "an older table's rows are settled", error) != PO_OK)
                return error->kind;
        struct progress_bar bar;
        progress_bar_begin(&bar, "claim import", csv_bytes_all(csv));
        enum po_class kind = import_chunks(desk, import, csv, &bar, error);
        progress_bar_clear(&bar);
        return kind;
}

static enum po_class import_file(struct desk *desk, struct po_error *error)
{
        struct import *import = desk->own;
        if (import_audited(desk, import, error) != PO_OK)
                return error->kind;
        printf("%zu lines: %zu %s, %zu unfinished claims %s, %zu there already, %zu posted here "
               "before\n",
               import->lines, import->fates[IMPORTED_TAKEN],
               import->dry ? "would be taken over" : "taken over", import->fates[IMPORTED_SETTLED],
               import->dry ? "would be settled" : "settled", import->fates[IMPORTED_THERE],
               import->fates[IMPORTED_BOOKED]);
        desk->findings = import->fates[IMPORTED_BOOKED] > 0;
        return PO_OK;
}

static int command_import(int argc, char **argv)
{
        struct import import = { .defaults = { .tenant_id = 1 } };
        struct desk desk = { .own = &import };
        const struct option_row rows[] = {
                OPTION_ROW_CONFIG(&desk.config),
                OPTION_ROW_TEXT("channel", "LABEL",
                                "of rows that have txn and event and name no channel",
                                &import.defaults.channel),
                OPTION_ROW_TENANT("whose, where a row has no tenant_id (default: 1)",
                                  &import.defaults.tenant_id),
                OPTION_ROW_FLAG("dry-run",
                                "tells what would become of each row and changes nothing",
                                &import.dry),
                { .name = NULL },
        };
        const struct options options = {
                .command = "postonce claim import",
                .operands = "FILE.csv",
                .summary =
                        "Takes over the rows of an older idempotency table as settled claims, so "
                        "that a late re-push of\nwhat the old system booked posts nothing. "
                        "Columns by the header line: key, or channel, txn\nand event as they stand "
                        "in a key; and if you like tenant_id, order_no, amount (decimal),\n"
                        "currency, fingerprint (64 hexadecimal digits; without one anything "
                        "matches), created_at.\nThe whole file is checked before the first row is "
                        "written. What is settled stays as it is,\nso the same again does nothing; "
                        "exit 1 when a row was posted here, too.",
                .example = "postonce claim import old.csv --channel WECHAT --dry-run",
                .rows = rows,
        };
        int code;
        if (!desk_read(&desk, &options, argc, argv, &code))
                return code;
        import.path = desk.operands[0];
        import.rows = calloc(CHUNK_ROWS, sizeof *import.rows);
        import.sorted = calloc(CHUNK_ROWS, sizeof(struct imported_claim *));
        code = import.rows != NULL && import.sorted != NULL ? desk_run(&desk, import_file)
                                                            : EXIT_BUG;
        free(import.rows);
        free(import.sorted);
        return code;
}

int command_claim(int argc, char **argv)
{
        static const struct command commands[] = {
                { "import", "takes over an older idempotency table as settled claims",
                  command_import },
                { NULL, NULL, NULL },
        };
        const struct command_set claim = {
                .name = "postonce claim",
                .summary = "Claims: the receipts of what came in.",
                .commands = commands,
        };
        return command_dispatch(&claim, argc, argv);
}
