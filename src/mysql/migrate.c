#include "mysql/migrate.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

enum {
        LOCK_TRIES = 10, /* of a second each */
        TABLE_NAME_BYTES = 65,
};

#define CREATE_VERSIONS                                                                            \
        "CREATE TABLE IF NOT EXISTS schema_version (\n"                                            \
        "  version       INT NOT NULL,\n"                                                          \
        "  oldest_worker INT NOT NULL,\n"                                                          \
        "  started_at    DATETIME(6) NOT NULL,\n"                                                  \
        "  finished_at   DATETIME(6) NULL,\n"                                                      \
        "  PRIMARY KEY (version)\n"                                                                \
        ") ENGINE=InnoDB"

int migrate_newest(void)
{
        int newest = 0;
        for (const struct migration *at = migrations; at->version != 0; at++)
                newest = at->version;
        return newest;
}

static const struct migration *find_version(int version)
{
        for (const struct migration *at = migrations; at->version != 0; at++)
                if (at->version == version)
                        return at;
        return NULL;
}

static void forget_sql(struct sql *sql)
{
        sql_free(sql);
}

static enum po_class run(struct db *db, const char *statement, struct db_result *result_out,
                         struct po_error *error)
{
        CLEANUP(forget_sql) struct sql sql = { 0 };
        sql_raw(&sql, statement);
        return db_exec(db, &sql, result_out, error);
}

/* The first cell of the first row, which is an integer; 0 when there is none. */
static enum po_class ask(struct db *db, const struct sql *sql, int64_t *answer_out,
                         struct po_error *error)
{
        enum po_class class = db_query(db, sql, error);
        if (class != PO_OK)
                return class;
        *answer_out = db_next_row(db) && !db_is_null(db, 0) ? db_integer(db, 0) : 0;
        db_rows_end(db);
        return PO_OK;
}

/* Moves *cursor behind the line; *end_out: its end without blanks. False at the end of the text. */
static bool next_line(const char **cursor, const char **line_out, const char **end_out)
{
        if (**cursor == '\0')
                return false;
        const char *end = strchrnul(*cursor, '\n');
        *line_out = *cursor;
        *cursor = *end == '\n' ? end + 1 : end;
        while (end > *line_out && isspace((unsigned char)end[-1]))
                end--;
        *end_out = end;
        return true;
}

static bool is_comment_or_blank(const char *line, const char *end)
{
        while (line < end && isspace((unsigned char)*line))
                line++;
        return line == end || (end - line >= 2 && line[0] == '-' && line[1] == '-');
}

/* Writes the next statement, without its ';' and without comments. False when there is none. */
static bool next_statement(const char **cursor, struct sql *statement)
{
        const char *line, *end;
        sql_reset(statement);
        while (next_line(cursor, &line, &end)) {
                if (is_comment_or_blank(line, end))
                        continue;
                bool last = end[-1] == ';';
                CLEANUP(cleanup_free) char *piece = strndup(line, (size_t)(end - line) - last);
                if (piece == NULL) {
                        statement->failed = true;
                        return true;
                }
                if (statement->length > 0)
                        sql_raw(statement, "\n");
                sql_raw(statement, piece);
                if (last)
                        return true;
        }
        return statement->length > 0;
}

/* Stands in the file's head; without it only programs that know this very version can work. */
static int oldest_worker(const struct migration *migration)
{
        static const char mark[] = "-- oldest_worker:";
        const char *cursor = migration->text, *line, *end;
        while (next_line(&cursor, &line, &end) && is_comment_or_blank(line, end))
                if (strncmp(line, mark, sizeof mark - 1) == 0)
                        return (int)strtol(line + sizeof mark - 1, NULL, 10);
        return migration->version;
}

/* The name behind "CREATE TABLE" or "CREATE VIEW", or false. */
static bool created_name(const char *line, char name[TABLE_NAME_BYTES])
{
        static const char *const starts[] = { "CREATE TABLE ", "CREATE VIEW " };
        for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
                size_t start = strlen(starts[i]);
                if (strncmp(line, starts[i], start) != 0)
                        continue;
                size_t bytes = strspn(line + start, "abcdefghijklmnopqrstuvwxyz_0123456789");
                if (bytes == 0 || bytes >= TABLE_NAME_BYTES)
                        return false;
                memcpy(name, line + start, bytes);
                name[bytes] = '\0';
                return true;
        }
        return false;
}

/* How many of the tables that our files create are there; others may share the database. */
static enum po_class count_tables(struct db *db, int64_t *count_out, struct po_error *error)
{
        CLEANUP(forget_sql) struct sql sql = { 0 };
        sql_raw(&sql, "SELECT COUNT(*) FROM information_schema.tables"
                      " WHERE table_schema = DATABASE() AND table_name IN (''");
        for (const struct migration *at = migrations; at->version != 0; at++) {
                const char *cursor = at->text, *line, *end;
                char name[TABLE_NAME_BYTES];
                while (next_line(&cursor, &line, &end)) {
                        if (!created_name(line, name))
                                continue;
                        sql_raw(&sql, ", ");
                        sql_text(&sql, name);
                }
        }
        sql_raw(&sql, ")");
        return ask(db, &sql, count_out, error);
}

static enum po_class has_versions(struct db *db, bool *has_out, struct po_error *error)
{
        CLEANUP(forget_sql) struct sql sql = { 0 };
        sql_raw(&sql, "SELECT DATABASE() IS NOT NULL");
        int64_t answer;
        enum po_class class = ask(db, &sql, &answer, error);
        if (class != PO_OK)
                return class;
        if (answer == 0)
                return po_fail(error, PO_SYSTEMIC, 0, "no database selected: set mysql.database");

        sql_reset(&sql);
        sql_raw(&sql, "SELECT COUNT(*) FROM information_schema.tables"
                      " WHERE table_schema = DATABASE() AND table_name = 'schema_version'");
        class = ask(db, &sql, &answer, error);
        *has_out = answer != 0;
        return class;
}

static enum po_class read_versions(struct db *db, struct migrate_state *state,
                                   struct po_error *error)
{
        CLEANUP(forget_sql) struct sql sql = { 0 };
        sql_raw(&sql, "SELECT version, oldest_worker, finished_at IS NULL FROM schema_version"
                      " ORDER BY version");
        enum po_class class = db_query(db, &sql, error);
        if (class != PO_OK)
                return class;
        int newest = migrate_newest();
        while (db_next_row(db)) {
                int version = (int)db_integer(db, 0), oldest = (int)db_integer(db, 1);
                if (db_integer(db, 2) != 0)
                        state->half_applied = version;
                else
                        state->version = version;
                if (version > newest && oldest > state->oldest_worker)
                        state->oldest_worker = oldest;
        }
        db_rows_end(db);
        return PO_OK;
}

static enum po_class half_applied(int version, struct po_error *error)
{
        const struct migration *migration = find_version(version);
        return po_fail(
                error, PO_SYSTEMIC, 0,
                "schema version %d was begun and not finished (a migrate is running, or it was "
                "stopped). If none runs: drop what it made (%s) and `DELETE FROM schema_version "
                "WHERE version = %d`, or restore the backup; then run `postonce migrate`",
                version, migration != NULL ? migration->name : "a newer program's file", version);
}

static enum po_class read_state(struct db *db, struct migrate_state *state, struct po_error *error)
{
        *state = (struct migrate_state){ 0 };
        bool has = false;
        int64_t tables = 0;
        enum po_class class = has_versions(db, &has, error);
        if (class == PO_OK && has)
                class = read_versions(db, state, error);
        if (class != PO_OK)
                return class;
        if (state->half_applied != 0)
                return half_applied(state->half_applied, error);
        if (state->version != 0)
                return PO_OK;
        class = count_tables(db, &tables, error);
        if (class == PO_OK && tables != 0)
                return po_fail(
                        error, PO_SYSTEMIC, 0,
                        "the database has tables of postonce's names, and schema_version does "
                        "not say of which version: take an empty database, or restore the "
                        "backup with its schema_version");
        return class;
}

enum po_class migrate_version(struct db *db, int *version_out, struct po_error *error)
{
        struct migrate_state state;
        enum po_class class = read_state(db, &state, error);
        *version_out = state.version;
        return class;
}

/* A lock's name has at most 64 characters on MySQL, as many as a database's alone. */
#define LOCK_NAME "CONCAT('postonce-migrate-', LEFT(SHA2(DATABASE(), 256), 40))"

/* In steps of a second, so that no read time-out is reached. */
static enum po_class lock(struct db *db, struct po_error *error)
{
        CLEANUP(forget_sql) struct sql sql = { 0 };
        sql_raw(&sql, "SELECT GET_LOCK(" LOCK_NAME ", 1)");
        for (int try = 0; try < LOCK_TRIES; try++) {
                int64_t got = 0;
                enum po_class class = ask(db, &sql, &got, error);
                if (class != PO_OK || got == 1)
                        return class;
        }
        return po_fail(error, PO_SYSTEMIC, 0,
                       "another `postonce migrate` is at work on this database");
}

/* Its loss is no harm: the version's row was written, and the server frees it with the session. */
static void unlock(struct db *db)
{
        CLEANUP(forget_sql) struct sql sql = { 0 };
        struct po_error ignored;
        int64_t freed;
        sql_raw(&sql, "SELECT RELEASE_LOCK(" LOCK_NAME ")");
        if (ask(db, &sql, &freed, &ignored) != PO_OK)
                db_disconnect(db);
}

static void write_begin(struct sql *sql, const struct migration *migration)
{
        sql_raw(sql, "INSERT INTO schema_version (version, oldest_worker, started_at) VALUES (");
        sql_integer(sql, migration->version);
        sql_raw(sql, ", ");
        sql_integer(sql, oldest_worker(migration));
        sql_raw(sql, ", UTC_TIMESTAMP(6))");
}

static void write_finish(struct sql *sql, const struct migration *migration)
{
        sql_raw(sql, "UPDATE schema_version SET finished_at = UTC_TIMESTAMP(6)"
                     " WHERE finished_at IS NULL AND version = ");
        sql_integer(sql, migration->version);
}

static void take_back(struct db *db, const struct migration *migration)
{
        CLEANUP(forget_sql) struct sql sql = { 0 };
        struct po_error ignored;
        sql_raw(&sql, "DELETE FROM schema_version WHERE finished_at IS NULL AND version = ");
        sql_integer(&sql, migration->version);
        if (db_exec(db, &sql, NULL, &ignored) != PO_OK)
                db_disconnect(db); /* stays begun: migrate_version() tells the mend */
}

/* A refused first statement has done nothing; a lost connection does not tell whether it has. */
static enum po_class run_statements(struct db *db, const struct migration *migration,
                                    struct po_error *error)
{
        CLEANUP(forget_sql) struct sql sql = { 0 };
        const char *cursor = migration->text;
        for (unsigned number = 1; next_statement(&cursor, &sql); number++) {
                enum po_class class = db_exec(db, &sql, NULL, error);
                if (class == PO_OK)
                        continue;
                if (number == 1 && db_is_connected(db))
                        take_back(db, migration);
                return po_within(error, "%s, statement %u", migration->name, number);
        }
        return PO_OK;
}

static enum po_class apply_one(struct db *db, const struct migration *migration, FILE *stream,
                               struct po_error *error)
{
        CLEANUP(forget_sql) struct sql sql = { 0 };
        write_begin(&sql, migration);
        enum po_class class = db_exec(db, &sql, NULL, error);
        if (class != PO_OK)
                return po_within(error, "mark version %d begun", migration->version);
        class = run_statements(db, migration, error);
        if (class != PO_OK)
                return class;

        struct db_result result;
        sql_reset(&sql);
        write_finish(&sql, migration);
        class = db_exec(db, &sql, &result, error);
        if (class != PO_OK)
                return po_within(error, "mark version %d finished", migration->version);
        if (result.affected_rows != 1)
                return po_fail(error, PO_BUG, 0, "version %d was marked by somebody else meanwhile",
                               migration->version);
        if (stream != NULL)
                fprintf(stream, "applied %s: the schema is at version %d\n", migration->name,
                        migration->version);
        return PO_OK;
}

/* Reads the version again: while we waited for the lock another migrate may have done it all. */
static enum po_class apply_all(struct db *db, FILE *stream, struct po_error *error)
{
        int version;
        enum po_class class = migrate_version(db, &version, error);
        if (class == PO_OK && version == 0)
                class = run(db, CREATE_VERSIONS, NULL, error);
        if (class != PO_OK)
                return class;
        if (version >= migrate_newest()) {
                if (stream != NULL)
                        fprintf(stream, "the schema is at version %d: nothing to do\n", version);
                return migrate_check(db, error);
        }
        for (const struct migration *at = migrations; at->version != 0; at++) {
                if (at->version <= version)
                        continue;
                class = apply_one(db, at, stream, error);
                if (class != PO_OK)
                        return class;
        }
        return PO_OK;
}

enum po_class migrate_apply(struct db *db, FILE *stream, struct po_error *error)
{
        enum po_class class = lock(db, error);
        if (class != PO_OK)
                return class;
        class = apply_all(db, stream, error);
        unlock(db);
        return class;
}

enum po_class migrate_print(struct db *db, FILE *stream, struct po_error *error)
{
        CLEANUP(forget_sql) struct sql sql = { 0 };
        int version;
        enum po_class class = migrate_version(db, &version, error);
        if (class != PO_OK)
                return class;
        if (version == 0)
                fputs(CREATE_VERSIONS ";\n", stream);
        for (const struct migration *at = migrations; at->version != 0; at++) {
                if (at->version <= version)
                        continue;
                sql_reset(&sql);
                write_begin(&sql, at);
                sql_raw(&sql, ";\n");
                sql_raw(&sql, at->text);
                write_finish(&sql, at);
                sql_raw(&sql, ";\n");
                if (sql.failed)
                        return po_fail(error, PO_SYSTEMIC, 0, "out of memory");
                fprintf(stream, "\n-- %s\n%s", at->name, sql.text);
        }
        return PO_OK;
}

enum po_class migrate_judge(const struct migrate_state *state, struct po_error *error)
{
        int ours = migrate_newest();
        if (state->half_applied != 0)
                return half_applied(state->half_applied, error);
        if (state->version < ours)
                return po_fail(error, PO_SYSTEMIC, 0,
                               "the schema is at version %d, this program needs %d: run "
                               "`postonce migrate`",
                               state->version, ours);
        if (state->oldest_worker > ours)
                return po_fail(
                        error, PO_SYSTEMIC, 0,
                        "the schema is at version %d, which asks for a program that knows %d; "
                        "this one knows %d: install a newer postonce",
                        state->version, state->oldest_worker, ours);
        return PO_OK;
}

enum po_class migrate_check(struct db *db, struct po_error *error)
{
        struct migrate_state state;
        enum po_class class = read_state(db, &state, error);
        return class != PO_OK ? class : migrate_judge(&state, error);
}
