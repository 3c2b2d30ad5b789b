/* The schema itself, on an empty database. */
#include "layer.h"

#include "base/clock.h"
#include "mysql/migrate.h"

static char *printed;
static size_t printed_bytes;

static enum po_class print(struct db *db)
{
        FILE *stream = open_memstream(&printed, &printed_bytes);
        enum po_class class = migrate_print(db, stream, &error);
        ck_assert_int_eq(fclose(stream), 0);
        return class;
}

START_TEST(an_empty_database_becomes_this_programs_schema)
{
        struct db *db = open_server();
        int version = -1;
        is_class(migrate_version(db, &version, &error), PO_OK);
        ck_assert_int_eq(version, 0);
        is_class(migrate_check(db, &error), PO_SYSTEMIC);
        has_text("run `postonce migrate`");
        is_class(migrate_apply(db, NULL, &error), PO_OK);
        is_class(migrate_version(db, &version, &error), PO_OK);
        ck_assert_int_eq(version, migrate_newest());
        is_class(migrate_check(db, &error), PO_OK);
        ck_assert_int_eq(
                number(db, "SELECT COUNT(*) FROM schema_version WHERE finished_at IS NOT NULL"),
                migrate_newest());
        ck_assert_int_eq(
                number(db, "SELECT (SELECT COUNT(*) FROM claim) + (SELECT COUNT(*) FROM outcome)"
                           " + (SELECT COUNT(*) FROM entry) + (SELECT COUNT(*) FROM outbox)"
                           " + (SELECT COUNT(*) FROM notify_claim)"),
                0);
        db_close(db);
}
END_TEST

START_TEST(a_second_run_changes_nothing)
{
        struct db *db = open_server();
        is_class(migrate_apply(db, NULL, &error), PO_OK);
        FILE *stream = open_memstream(&printed, &printed_bytes);
        is_class(migrate_apply(db, stream, &error), PO_OK);
        fclose(stream);
        ck_assert_ptr_nonnull(strstr(printed, "nothing to do"));
        is_class(print(db), PO_OK);
        ck_assert_str_eq(printed, "");
        db_close(db);
}
END_TEST

START_TEST(two_at_once_apply_it_once)
{
        pid_t children[3];
        for (size_t i = 0; i < 3; i++) {
                children[i] = fork();
                if (children[i] == 0)
                        _exit(migrate_apply(open_server(), NULL, &error) == PO_OK ? 0 : 1);
        }
        for (size_t i = 0; i < 3; i++) {
                int status;
                ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
                ck_assert_int_eq(status, 0);
        }
        struct db *db = open_server();
        is_class(migrate_check(db, &error), PO_OK);
        db_close(db);
}
END_TEST

START_TEST(another_migrate_at_work_is_waited_for)
{
        int ready[2];
        char byte = 1;
        ck_assert_int_eq(pipe(ready), 0);
        pid_t child = fork();
        if (child == 0) {
                struct db *holder = open_server();
                int64_t got = number(holder, "SELECT GET_LOCK(CONCAT('postonce-migrate-',"
                                             " LEFT(SHA2(DATABASE(), 256), 40)), 0)");
                if (got != 1 || write(ready[1], &byte, 1) != 1)
                        _exit(1);
                while (number(holder, "SELECT COUNT(*) FROM information_schema.processlist"
                                      " WHERE db = DATABASE() AND state = 'User lock'") == 0)
                        usleep(10000);
                _exit(0);
        }
        ck_assert_int_eq(read(ready[0], &byte, 1), 1);
        struct db *db = open_server();
        int status;
        is_class(migrate_apply(db, NULL, &error), PO_OK);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0); /* it saw the other one wait */
        db_close(db);
}
END_TEST

static void connecting_again_is(struct db *db, enum po_class kind, const char *text)
{
        db_disconnect(db);
        is_class(db_connect(db, &error), kind);
        if (kind != PO_OK)
                has_text(text);
        ck_assert(db_is_connected(db) == (kind == PO_OK));
}

START_TEST(every_connect_asks_whether_the_schema_is_one_to_work_with)
{
        struct db *root = open_server();
        struct db_options options = server_options();
        options.require_schema = true;
        struct db *db = open_db(&options);
        connecting_again_is(db, PO_SYSTEMIC, "version 0, this program needs");
        is_class(migrate_apply(root, NULL, &error), PO_OK);
        connecting_again_is(db, PO_OK, NULL);
        must(root, "INSERT INTO schema_version (version, oldest_worker, started_at, finished_at)"
                   " VALUES (900, 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))");
        connecting_again_is(db, PO_OK, NULL); /* it names us */
        must(root, "INSERT INTO schema_version (version, oldest_worker, started_at)"
                   " VALUES (901, 901, UTC_TIMESTAMP(6))");
        connecting_again_is(db, PO_SYSTEMIC, "asks for a program that knows 901");
        has_text("install a newer postonce");
        is_class(try(db, "SELECT 1"), PO_SYSTEMIC);
        must(root, "DELETE FROM schema_version WHERE version >= 900");
        connecting_again_is(db, PO_OK, NULL);
        must(root, "INSERT INTO schema_version (version, oldest_worker, started_at)"
                   " VALUES (900, 1, UTC_TIMESTAMP(6))");
        connecting_again_is(db, PO_OK, NULL); /* a migrate that lets us go on is at work */
        must(root, "DELETE FROM schema_version WHERE version >= 900");
        must(root, "UPDATE schema_version SET finished_at = NULL WHERE version = %d",
             migrate_newest());
        connecting_again_is(db, PO_SYSTEMIC, "was begun and not finished");
        must(root, "DELETE FROM schema_version WHERE version = %d", migrate_newest());
        connecting_again_is(db, PO_SYSTEMIC, "run `postonce migrate`");
        db_close(db);
        db_close(root);
}
END_TEST

START_TEST(tables_of_our_names_without_a_version_are_refused)
{
        struct db *db = open_server();
        must(db, "CREATE TABLE outcome (n INT) ENGINE=InnoDB");
        is_class(migrate_apply(db, NULL, &error), PO_SYSTEMIC);
        has_text("schema_version does not say");
        must(db, "DROP TABLE outcome");
        must(db, "CREATE TABLE somebody_elses (n INT) ENGINE=InnoDB");
        is_class(migrate_apply(db, NULL, &error), PO_OK);
        db_close(db);
}
END_TEST

/* A user that may do on the database what rights say, and no more. */
static struct db *open_with_rights(struct db *root, const char *rights)
{
        static struct db_options options;
        options = server_options();
        options.user = options.database;
        options.password = "first-Secret-1";
        must(root, "CREATE USER `%s` IDENTIFIED BY 'first-Secret-1'", options.user);
        must(root, "GRANT %s ON `%s`.* TO `%s`", rights, options.database, options.user);
        return open_db(&options);
}

static void drop_all_but_versions(struct db *db)
{
        char names[1024];
        struct sql sql = { 0 };
        sql_raw(&sql, "SELECT GROUP_CONCAT('`', table_name, '`') FROM information_schema.tables"
                      " WHERE table_schema = DATABASE() AND table_name <> 'schema_version'");
        is_class(db_query(db, &sql, &error), PO_OK);
        ck_assert(db_next_row(db));
        snprintf(names, sizeof names - 16, "%s", db_text(db, 0));
        db_rows_end(db);
        sql_free(&sql);
        must(db, "DROP TABLE %s", names);
}

START_TEST(a_half_applied_schema_is_refused_until_it_is_mended_as_told)
{
        struct db *root = open_server();
        struct db *db =
                open_with_rights(root, "SELECT, INSERT, UPDATE, DELETE, CREATE, REFERENCES, "
                                       "ALTER, INDEX");
        is_class(migrate_apply(db, NULL, &error), PO_SYSTEMIC); /* CREATE VIEW is denied */
        ck_assert_int_eq(error.code, 1142);
        has_text(".sql, statement ");
        is_class(migrate_check(root, &error), PO_SYSTEMIC);
        has_text("version 1 was begun and not finished");
        is_class(migrate_apply(root, NULL, &error), PO_SYSTEMIC);
        is_class(print(root), PO_SYSTEMIC);
        drop_all_but_versions(root);
        must(root, "DELETE FROM schema_version WHERE version = 1");
        is_class(migrate_apply(root, NULL, &error), PO_OK);
        is_class(migrate_check(db, &error), PO_OK);
        db_close(db);
        db_close(root);
}
END_TEST

START_TEST(a_user_without_the_right_to_create_leaves_nothing_behind)
{
        struct db *root = open_server();
        struct db *db = open_with_rights(root, "SELECT, INSERT, UPDATE, DELETE");
        is_class(migrate_apply(db, NULL, &error), PO_SYSTEMIC);
        ck_assert_int_eq(error.code, 1142);
        is_class(migrate_apply(root, NULL, &error), PO_OK);
        is_class(migrate_check(db, &error), PO_OK);
        db_close(db);
        db_close(root);
}
END_TEST

START_TEST(what_is_printed_makes_the_same_schema)
{
        struct db *db = open_server();
        is_class(print(db), PO_OK);
        ck_assert_int_eq(number(db, "SELECT COUNT(*) FROM information_schema.tables"
                                    " WHERE table_schema = DATABASE()"),
                         0);
        char *statement = printed, *end;
        while ((end = strstr(statement, ";\n")) != NULL) {
                *end = '\0';
                is_class(try(db, statement), PO_OK);
                statement = end + 2;
        }
        is_class(migrate_check(db, &error), PO_OK);
        db_close(db);
}
END_TEST

LAYER_MAIN("mysql migrate", an_empty_database_becomes_this_programs_schema,
           a_second_run_changes_nothing, two_at_once_apply_it_once,
           another_migrate_at_work_is_waited_for,
           every_connect_asks_whether_the_schema_is_one_to_work_with,
           tables_of_our_names_without_a_version_are_refused,
           a_half_applied_schema_is_refused_until_it_is_mended_as_told,
           a_user_without_the_right_to_create_leaves_nothing_behind,
           what_is_printed_makes_the_same_schema)
