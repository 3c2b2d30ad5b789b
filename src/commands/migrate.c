#include "mysql/migrate.h"

#include <stdio.h>

#include "commands/command.h"
#include "commands/options.h"
#include "commands/settings.h"

/* An ALTER of a large table takes its time; a worker's read time-out would cut it half-applied. */
enum { STATEMENT_MS = 24 * 60 * 60 * 1000 };

static enum po_class migrate(struct db *db, bool dry_run, struct po_error *error)
{
        if (db_connect(db, error) != PO_OK)
                return error->kind;
        return dry_run ? migrate_print(db, stdout, error) : migrate_apply(db, stdout, error);
}

int command_migrate(int argc, char **argv)
{
        const char *config = NULL;
        bool dry_run = false;
        const struct option_row rows[] = {
                OPTION_ROW_CONFIG(&config),
                { .name = "dry-run",
                  .kind = OPTION_FLAG,
                  .help = "print the SQL that would run, change nothing",
                  .target = &dry_run },
                { .name = NULL },
        };
        const struct options options = {
                .command = "postonce migrate",
                .summary = "Creates or upgrades the tables in the configured database. Safe to run "
                           "again: it does\nnothing when they are up to date.",
                .example = "postonce migrate --dry-run\npostonce migrate",
                .rows = rows,
        };
        int code;
        if (!options_read(&options, argc, argv, NULL, &code))
                return code;
        struct settings *settings;
        code = settings_open(config, &settings);
        if (code != EXIT_DONE)
                return code;

        struct po_error error;
        struct db *db = NULL;
        settings->mysql.read_timeout_ms = STATEMENT_MS;
        enum po_class kind = db_open(&db, &settings->mysql, &error);
        if (kind == PO_OK)
                kind = migrate(db, dry_run, &error);
        db_close(db);
        settings_close(settings);
        return kind == PO_OK ? EXIT_DONE : command_fail(&error);
}
