/* migrate.c over a database that is a list of statements: db.c and the schema are replaced here. */
#include "unit.h"

#include "mysql/migrate.h"

const struct migration migrations[] = {
        { 1, "001_first.sql",
          "-- oldest_worker: 1\n-- a comment; with an end;\n\nCREATE TABLE one (\n"
          "  -- inside;\n  n INT\n);  \nCREATE VIEW two AS\nSELECT n FROM one;\n" },
        { 2, "002_second.sql", "CREATE TABLE three (n INT);\n" },
        { 3, "003_third.sql", "-- oldest_worker: 2\nCREATE TABLE four (n INT);\n" },
        { 0, NULL, NULL },
};

/* The fake: what is in the database, what it was told, and where it fails. */
static struct {
        char log[65536];
        bool no_database, has_versions, locked, drops;
        int tables;
        struct {
                int version, oldest_worker;
                bool finished;
        } versions[8];
        size_t version_count;
        const char *refuses; /* a statement that holds this text fails */
        enum po_class class;
        int64_t cells[8][3];
        size_t rows, row;
} fake;

static struct po_error error;
static char *printed;
static size_t printed_bytes;

static void note(const char *text)
{
        size_t length = strlen(fake.log);
        snprintf(fake.log + length, sizeof fake.log - length, "%s\n", text);
}

static void answer(int64_t cell)
{
        fake.cells[0][0] = cell;
        fake.rows = 1;
}

enum po_class db_query(struct db *db, const struct sql *sql, struct po_error *failure)
{
        (void)db;
        fake.rows = fake.row = 0;
        if (strstr(sql->text, "GET_LOCK") != NULL) {
                note("lock");
                answer(!fake.locked);
        }
        if (strstr(sql->text, "RELEASE_LOCK") != NULL) {
                note("unlock");
                answer(1);
        }
        if (strstr(sql->text, "DATABASE() IS NOT NULL") != NULL)
                answer(!fake.no_database);
        if (strstr(sql->text, "table_name = 'schema_version'") != NULL)
                answer(fake.has_versions);
        if (strstr(sql->text, "table_name IN") != NULL) {
                unit_assert_in(sql->text, "('', 'one', 'two', 'three', 'four')");
                answer(fake.tables);
        }
        if (strstr(sql->text, "FROM schema_version") != NULL)
                for (; fake.rows < fake.version_count; fake.rows++) {
                        fake.cells[fake.rows][0] = fake.versions[fake.rows].version;
                        fake.cells[fake.rows][1] = fake.versions[fake.rows].oldest_worker;
                        fake.cells[fake.rows][2] = !fake.versions[fake.rows].finished;
                }
        (void)failure;
        return PO_OK;
}

enum po_class db_exec(struct db *db, const struct sql *sql, struct db_result *result_out,
                      struct po_error *failure)
{
        (void)db;
        note(sql->text);
        if (fake.refuses != NULL && strstr(sql->text, fake.refuses) != NULL)
                return po_fail(failure, fake.class, 1, "refused");
        if (strstr(sql->text, "INSERT INTO schema_version") != NULL)
                fake.version_count++;
        if (result_out != NULL)
                result_out->affected_rows = 1;
        return PO_OK;
}

bool db_next_row(struct db *db)
{
        (void)db;
        return fake.row++ < fake.rows;
}

void db_rows_end(struct db *db)
{
        (void)db;
}

bool db_is_null(const struct db *db, unsigned column)
{
        (void)db;
        (void)column;
        return false;
}

int64_t db_integer(struct db *db, unsigned column)
{
        (void)db;
        return fake.cells[fake.row - 1][column];
}

bool db_is_connected(const struct db *db)
{
        (void)db;
        return !fake.drops;
}

void db_disconnect(struct db *db)
{
        (void)db;
        note("disconnect");
}

static void is_at(int version, int oldest_worker, bool finished)
{
        fake.has_versions = true;
        fake.tables = 2;
        fake.versions[fake.version_count].version = version;
        fake.versions[fake.version_count].oldest_worker = oldest_worker;
        fake.versions[fake.version_count++].finished = finished;
}

static enum po_class apply(void)
{
        FILE *stream = open_memstream(&printed, &printed_bytes);
        enum po_class class = migrate_apply(NULL, stream, &error);
        fclose(stream);
        return class;
}

START_TEST(an_empty_database_is_at_version_0)
{
        int version = -1;
        ck_assert_int_eq(migrate_version(NULL, &version, &error), PO_OK);
        ck_assert_int_eq(version, 0);
        ck_assert_int_eq(migrate_newest(), 3);
}
END_TEST

START_TEST(an_empty_database_gets_every_statement_in_order)
{
        ck_assert_int_eq(apply(), PO_OK);
        const char *table = strstr(fake.log, "CREATE TABLE IF NOT EXISTS schema_version");
        ck_assert_ptr_nonnull(table);
        ck_assert_ptr_nonnull(strstr(
                table,
                "INSERT INTO schema_version (version, oldest_worker, started_at) VALUES (1, 1, "
                "UTC_TIMESTAMP(6))\n"
                "CREATE TABLE one (\n  n INT\n)\n"
                "CREATE VIEW two AS\nSELECT n FROM one\n"
                "UPDATE schema_version SET finished_at = UTC_TIMESTAMP(6) WHERE finished_at IS NULL "
                "AND version = 1\n"
                "INSERT INTO schema_version (version, oldest_worker, started_at) VALUES (2, 2, "
                "UTC_TIMESTAMP(6))\n"
                "CREATE TABLE three (n INT)\n"
                "UPDATE schema_version SET finished_at = UTC_TIMESTAMP(6) WHERE finished_at IS NULL "
                "AND version = 2\n"
                "INSERT INTO schema_version (version, oldest_worker, started_at) VALUES (3, 2, "
                "UTC_TIMESTAMP(6))\n"
                "CREATE TABLE four (n INT)\n"
                "UPDATE schema_version SET finished_at = UTC_TIMESTAMP(6) WHERE finished_at IS NULL "
                "AND version = 3\n"
                "unlock\n"));
        ck_assert_int_eq(strncmp(fake.log, "lock\n", 5), 0);
        ck_assert_str_eq(printed, "applied 001_first.sql: the schema is at version 1\n"
                                  "applied 002_second.sql: the schema is at version 2\n"
                                  "applied 003_third.sql: the schema is at version 3\n");
}
END_TEST

START_TEST(only_what_is_missing_is_applied)
{
        is_at(1, 1, true);
        is_at(2, 2, true);
        ck_assert_int_eq(apply(), PO_OK);
        unit_assert_not_in(fake.log, "CREATE TABLE one");
        unit_assert_not_in(fake.log, "CREATE TABLE three");
        unit_assert_not_in(fake.log, "IF NOT EXISTS schema_version");
        unit_assert_in(fake.log, "CREATE TABLE four");
}
END_TEST

START_TEST(a_database_that_has_everything_is_left_alone)
{
        is_at(3, 2, true);
        ck_assert_int_eq(apply(), PO_OK);
        ck_assert_str_eq(fake.log, "lock\nunlock\n");
        ck_assert_str_eq(printed, "the schema is at version 3: nothing to do\n");
}
END_TEST

START_TEST(a_half_applied_schema_is_refused_with_the_mend)
{
        int version;
        is_at(1, 1, true);
        is_at(2, 2, false);
        ck_assert_int_eq(migrate_version(NULL, &version, &error), PO_SYSTEMIC);
        unit_assert_in(error.text, "version 2 was begun and not finished");
        unit_assert_in(error.text, "002_second.sql");
        unit_assert_in(error.text, "DELETE FROM schema_version WHERE version = 2");
        ck_assert_int_eq(apply(), PO_SYSTEMIC);
        ck_assert_str_eq(fake.log, "lock\nunlock\n");
        ck_assert_int_eq(migrate_check(NULL, &error), PO_SYSTEMIC);
        ck_assert_int_eq(migrate_print(NULL, stdout, &error), PO_SYSTEMIC);
}
END_TEST

START_TEST(our_tables_without_a_version_are_refused)
{
        int version;
        fake.tables = 1;
        ck_assert_int_eq(migrate_version(NULL, &version, &error), PO_SYSTEMIC);
        unit_assert_in(error.text, "schema_version");
        fake.has_versions = true; /* there, and empty */
        ck_assert_int_eq(apply(), PO_SYSTEMIC);
        ck_assert_str_eq(fake.log, "lock\nunlock\n");
}
END_TEST

START_TEST(no_selected_database_is_refused)
{
        fake.no_database = true;
        ck_assert_int_eq(migrate_check(NULL, &error), PO_SYSTEMIC);
        unit_assert_in(error.text, "mysql.database");
}
END_TEST

START_TEST(a_second_migrate_waits_and_gives_up)
{
        fake.locked = true;
        ck_assert_int_eq(apply(), PO_SYSTEMIC);
        unit_assert_in(error.text, "another `postonce migrate`");
        ck_assert_str_eq(fake.log, "lock\nlock\nlock\nlock\nlock\nlock\nlock\nlock\nlock\nlock\n");
}
END_TEST

START_TEST(a_statement_that_fails_is_named_and_leaves_its_version_begun)
{
        fake.refuses = "CREATE VIEW";
        fake.class = PO_BUG;
        ck_assert_int_eq(apply(), PO_BUG);
        ck_assert_str_eq(error.text, "001_first.sql, statement 2: refused");
        unit_assert_not_in(fake.log, "finished_at = UTC_TIMESTAMP");
        unit_assert_not_in(fake.log, "DELETE");
        unit_assert_not_in(fake.log, "CREATE TABLE three");
        unit_assert_in(fake.log, "unlock");
}
END_TEST

START_TEST(a_first_statement_that_is_refused_takes_its_version_back)
{
        fake.refuses = "CREATE TABLE one";
        fake.class = PO_SYSTEMIC;
        ck_assert_int_eq(apply(), PO_SYSTEMIC);
        unit_assert_in(fake.log,
                       "DELETE FROM schema_version WHERE finished_at IS NULL AND version = 1");
}
END_TEST

START_TEST(a_first_statement_whose_answer_is_lost_leaves_its_version_begun)
{
        fake.refuses = "CREATE TABLE one";
        fake.class = PO_TRANSIENT;
        fake.drops = true;
        ck_assert_int_eq(apply(), PO_TRANSIENT);
        unit_assert_not_in(fake.log, "DELETE");
}
END_TEST

START_TEST(an_older_schema_is_refused_by_a_worker)
{
        ck_assert_int_eq(migrate_check(NULL, &error), PO_SYSTEMIC);
        unit_assert_in(error.text, "version 0, this program needs 3: run `postonce migrate`");
        is_at(2, 2, true);
        ck_assert_int_eq(migrate_check(NULL, &error), PO_SYSTEMIC);
        fake.version_count = 0;
        is_at(3, 2, true);
        ck_assert_int_eq(migrate_check(NULL, &error), PO_OK);
}
END_TEST

START_TEST(a_newer_schema_says_whether_it_bears_this_worker)
{
        is_at(4, 3, true);
        ck_assert_int_eq(migrate_check(NULL, &error), PO_OK);
        ck_assert_int_eq(apply(), PO_OK);
        is_at(5, 4, true);
        ck_assert_int_eq(migrate_check(NULL, &error), PO_SYSTEMIC);
        unit_assert_in(error.text, "install a newer postonce");
        is_at(6, 1, true); /* what 5 asked for still holds */
        ck_assert_int_eq(migrate_check(NULL, &error), PO_SYSTEMIC);
        ck_assert_int_eq(apply(), PO_SYSTEMIC);
}
END_TEST

START_TEST(printing_changes_nothing_and_shows_everything)
{
        FILE *stream = open_memstream(&printed, &printed_bytes);
        ck_assert_int_eq(migrate_print(NULL, stream, &error), PO_OK);
        fclose(stream);
        ck_assert_str_eq(fake.log, "");
        static const char *const pieces[] = {
                "CREATE TABLE IF NOT EXISTS schema_version",
                "-- 001_first.sql\n",
                "VALUES (1, 1, ",
                "CREATE TABLE one (",
                "AND version = 1;\n",
                "-- 003_third.sql\n",
                "CREATE TABLE four",
                "AND version = 3;\n",
        };
        const char *at = printed;
        for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
                at = strstr(at, pieces[i]);
                ck_assert_msg(at != NULL, "%s", pieces[i]);
        }
}
END_TEST

UNIT_MAIN("migrate", an_empty_database_is_at_version_0,
          an_empty_database_gets_every_statement_in_order, only_what_is_missing_is_applied,
          a_database_that_has_everything_is_left_alone,
          a_half_applied_schema_is_refused_with_the_mend, our_tables_without_a_version_are_refused,
          no_selected_database_is_refused, a_second_migrate_waits_and_gives_up,
          a_statement_that_fails_is_named_and_leaves_its_version_begun,
          a_first_statement_that_is_refused_takes_its_version_back,
          a_first_statement_whose_answer_is_lost_leaves_its_version_begun,
          an_older_schema_is_refused_by_a_worker, a_newer_schema_says_whether_it_bears_this_worker,
          printing_changes_nothing_and_shows_everything)
