#include "ledger/grants.h"
#include "mysql/migrate.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "commands/command.h"
#include "commands/options.h"
#include "commands/settings.h"

/* An ALTER of a large table takes its time; a worker's read time-out would cut it half-applied. */
enum { STATEMENT_MS = 24 * 60 * 60 * 1000 };

enum { SERVER_MYSQL, SERVER_MARIADB };
static const char *const server_words[] = {
        [SERVER_MYSQL] = "mysql",
        [SERVER_MARIADB] = "mariadb",
        NULL,
};

static void cleanup_sql(struct sql *sql)
{
        sql_free(sql);
}

static enum po_class migrate(struct db *db, bool dry_run, struct po_error *error)
{
        if (db_connect(db, error) != PO_OK)
                return error->kind;
        return dry_run ? migrate_print(db, stdout, error) : migrate_apply(db, stdout, error);
}

/* Nothing is run: whoever may grant has other rights than any of the three. */
static int print_grants(const struct settings *settings, bool mariadb,
                        const struct grants_users *users)
{
        CLEANUP(cleanup_sql) struct sql sql = { 0 };
        struct po_error error;
        if (grants_write(&sql, settings->mysql.database, mariadb, users, &error) != PO_OK)
                return command_fail(&error);
        fputs(sql.text, stdout);
        return EXIT_DONE;
}

static int run_migrate(struct settings *settings, bool dry_run)
{
        struct po_error error;
        struct db *db = NULL;
        settings->mysql.read_timeout_ms = STATEMENT_MS;
        enum po_class kind = db_open(&db, &settings->mysql, &error);
        if (kind == PO_OK)
                kind = migrate(db, dry_run, &error);
        db_close(db);
        return kind == PO_OK ? EXIT_DONE : command_fail(&error);
}

int command_migrate(int argc, char **argv)
{
        const char *config = NULL;
        bool dry_run = false, grants_only = false;
        int server = SERVER_MYSQL;
        struct grants_users users = { "postonce_owner", "postonce", "postonce_auditor" };
        const struct option_row rows[] = {
                OPTION_ROW_CONFIG(&config),
                OPTION_ROW_FLAG("dry-run", "print the SQL that would run, change nothing",
                                &dry_run),
                OPTION_ROW_FLAG("grants", "instead: print the GRANTs of three users, run nothing",
                                &grants_only),
                OPTION_ROW_CHOICE("server", "mysql|mariadb",
                                  "with --grants: MariaDB needs a few wider ones (default: mysql)",
                                  &server, server_words),
                OPTION_ROW_TEXT("owner", "USER[@HOST]",
                                "with --grants: who migrates and purges (default: postonce_owner)",
                                &users.owner),
                OPTION_ROW_TEXT("worker", "USER[@HOST]",
                                "with --grants: who runs (default: postonce)", &users.worker),
                OPTION_ROW_TEXT("auditor", "USER[@HOST]",
                                "with --grants: who only reads (default: postonce_auditor)",
                                &users.auditor),
                { .name = NULL },
        };
        const struct options options = {
                .command = "postonce migrate",
                .summary = "Creates or upgrades the tables in the configured database. Safe to run "
                           "again: it does\nnothing when they are up to date.",
                .example = "postonce migrate --dry-run\npostonce migrate\n"
                           "postonce migrate --grants | mysql -u root -p",
                .rows = rows,
        };
        int code;
        if (!options_read(&options, argc, argv, NULL, &code))
                return code;
        struct settings *settings;
        code = settings_open(config, &settings);
        if (code != EXIT_DONE)
                return code;
        code = grants_only ? print_grants(settings, server == SERVER_MARIADB, &users)
                           : run_migrate(settings, dry_run);
        settings_close(settings);
        return code;
}
