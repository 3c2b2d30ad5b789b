/* Connecting, and what a session is asserted to be. */
#include "layer.h"

static const char *plain_user(struct db *root)
{
        static const char *name;
        name = from_environment("POSTONCE_TEST_DATABASE");
        must(root, "CREATE USER `%s` IDENTIFIED BY 'first-Secret-1'", name);
        must(root, "GRANT SELECT, INSERT, UPDATE, DELETE ON `%s`.* TO `%s`", name, name);
        return name;
}

static void write_file(const char *path, const char *text)
{
        FILE *file = fopen(path, "w");
        ck_assert_ptr_nonnull(file);
        fputs(text, file);
        ck_assert_int_eq(fclose(file), 0);
}

static const char *in_temporary_folder(const char *name)
{
        static char path[512];
        snprintf(path, sizeof path, "%s/%s", from_environment("TMPDIR"), name);
        return path;
}

static void refused(const struct db_options *options, int code, const char *text)
{
        struct db *db = open_db(options);
        is_class(db_connect(db, &error), PO_SYSTEMIC);
        ck_assert_int_eq(error.code, code);
        has_text(text);
        ck_assert_ptr_null(strstr(error.text, options->password));
        ck_assert(!db_is_connected(db));
        db_close(db);
}

START_TEST(a_session_is_what_the_promises_rest_on)
{
        struct db *db = open_server();
        const char *isolation = db_is_mariadb(db)
                                        ? "SELECT @@tx_isolation = 'READ-COMMITTED'"
                                        : "SELECT @@transaction_isolation = 'READ-COMMITTED'";
        ck_assert_int_eq(number(db, isolation), 1);
        static const char *const truths[] = {
                "SELECT FIND_IN_SET('STRICT_ALL_TABLES', @@sql_mode) > 0",
                "SELECT FIND_IN_SET('NO_BACKSLASH_ESCAPES', @@sql_mode) = 0",
                "SELECT FIND_IN_SET('ANSI_QUOTES', @@sql_mode) = 0",
                "SELECT @@time_zone = '+00:00'",
                "SELECT @@collation_connection = 'utf8mb4_bin'",
                "SELECT @@character_set_client = 'utf8mb4'",
                "SELECT @@autocommit = 1",
                "SELECT @@innodb_lock_wait_timeout <= 5",
                "SELECT @@wait_timeout = 60",
                "SELECT @@net_write_timeout = 60",
                "SELECT @@unique_checks = 1",
        };
        for (size_t i = 0; i < sizeof truths / sizeof truths[0]; i++)
                ck_assert_msg(number(db, truths[i]) == 1, "%s", truths[i]);
        if (db_is_mariadb(db))
                ck_assert_int_eq(number(db, "SELECT @@in_predicate_conversion_threshold"), 0);
        ck_assert_int_eq((int64_t)db_packet_bytes(db), number(db, "SELECT @@max_allowed_packet"));
        ck_assert_int_eq(strstr(db_server_version(db), "MariaDB") != NULL, db_is_mariadb(db));
        db_close(db);
}
END_TEST

START_TEST(connecting_takes_four_round_trips)
{
        struct db *db = open_server();
        ck_assert_uint_eq(db_statements(db), 4);
        db_close(db);
}
END_TEST

START_TEST(a_user_with_rights_on_its_tables_only_can_connect)
{
        struct db *root = open_server();
        struct db_options options = server_options();
        options.user = plain_user(root);
        options.password = "first-Secret-1";
        options.require_durable = true;
        struct db *db = open_db(&options);
        is_class(db_connect(db, &error), PO_OK);
        db_close(db);
        db_close(root);
}
END_TEST

START_TEST(a_wrong_password_is_systemic_and_not_shown)
{
        struct db_options options = server_options();
        options.password = "not-The-One-2";
        refused(&options, 1045, "mysql.password");
}
END_TEST

START_TEST(a_database_that_is_not_there_is_systemic)
{
        struct db_options options = server_options();
        options.database = "postonce_no_such_database";
        refused(&options, 1049, "mysql.database");
}
END_TEST

START_TEST(a_changed_password_file_is_picked_up_at_the_next_connect)
{
        struct db *root = open_server();
        struct db_options options = server_options();
        options.user = plain_user(root);
        options.password = NULL;
        options.password_file = in_temporary_folder("password");
        write_file(options.password_file, "first-Secret-1\n");
        struct db *db = open_db(&options);
        is_class(db_connect(db, &error), PO_OK);
        must(root, "ALTER USER `%s` IDENTIFIED BY 'second-Secret-2'", options.user);
        db_disconnect(db);
        is_class(db_connect(db, &error), PO_SYSTEMIC);
        ck_assert_ptr_null(strstr(error.text, "first-Secret-1"));
        write_file(options.password_file, "second-Secret-2\r\n");
        is_class(db_connect(db, &error), PO_OK);
        db_close(db);
        db_close(root);
}
END_TEST

START_TEST(a_server_that_only_reads_is_refused)
{
        struct db *root = open_server();
        struct db_options options = server_options();
        must(root, "SET GLOBAL read_only = 1");
        refused(&options, 0, "read_only is 1, must be 0: this server cannot write");
        must(root, "SET GLOBAL read_only = 0");
        db_close(root);
}
END_TEST

START_TEST(a_connection_to_a_server_that_became_read_only_is_closed)
{
        struct db *root = open_server();
        struct db_options options = server_options();
        options.user = plain_user(root);
        options.password = "first-Secret-1";
        must(root, "CREATE TABLE t (n INT PRIMARY KEY) ENGINE=InnoDB");
        struct db *db = open_db(&options);
        must(db, "INSERT INTO t VALUES (1)");
        must(root, "SET GLOBAL read_only = 1");
        is_class(try(db, "INSERT INTO t VALUES (2)"), PO_SYSTEMIC);
        ck_assert_int_eq(error.code, 1290);
        ck_assert(!db_is_connected(db));
        is_class(try(db, "INSERT INTO t VALUES (2)"), PO_SYSTEMIC);
        has_text("read_only is 1");
        must(root, "SET GLOBAL read_only = 0");
        must(db, "INSERT INTO t VALUES (2)");
        db_close(db);
        db_close(root);
}
END_TEST

START_TEST(a_server_that_may_lose_commits_is_refused_unless_that_is_accepted)
{
        struct db *root = open_server();
        struct db_options options = server_options();
        options.require_durable = true;
        must(root, "SET GLOBAL innodb_flush_log_at_trx_commit = 2");
        refused(&options, 0, "innodb_flush_log_at_trx_commit is 2, must be 1");
        has_text("--accept-data-loss");
        options.accept_data_loss = true;
        struct db *accepting = open_db(&options);
        is_class(db_connect(accepting, &error), PO_OK);
        options.require_durable = options.accept_data_loss = false;
        struct db *command = open_db(&options);
        is_class(db_connect(command, &error), PO_OK);
        must(root, "SET GLOBAL innodb_flush_log_at_trx_commit = 1");
        db_close(command);
        db_close(accepting);
        db_close(root);
}
END_TEST

START_TEST(an_unsynced_binary_log_counts_only_where_there_is_one)
{
        struct db *root = open_server();
        struct db_options options = server_options();
        options.require_durable = true;
        must(root, "SET GLOBAL sync_binlog = 0");
        struct db *db = open_db(&options);
        enum po_class expected = number(root, "SELECT @@GLOBAL.log_bin") ? PO_SYSTEMIC : PO_OK;
        is_class(db_connect(db, &error), expected);
        if (expected != PO_OK)
                has_text("sync_binlog is 0, must be 1");
        must(root, "SET GLOBAL sync_binlog = 1");
        is_class(db_connect(db, &error), PO_OK);
        db_close(db);
        db_close(root);
}
END_TEST

START_TEST(a_connection_lost_while_its_session_is_set_is_transient)
{
        struct db_options options = server_options();
        options.port = strtol(from_environment("POSTONCE_TEST_PROXY_PORT"), NULL, 10);
        struct db *db = open_db(&options);
        is_class(db_connect(db, &error), PO_TRANSIENT);
        is_class(db_connect(db, &error), PO_OK);
        db_close(db);
}
END_TEST

static void wait_for_end(struct db *root, int64_t id)
{
        for (int i = 0; i < 500; i++) { /* the server closes it a moment later */
                char query[128];
                snprintf(query, sizeof query,
                         "SELECT COUNT(*) FROM information_schema.processlist WHERE id = %lld",
                         (long long)id);
                if (number(root, query) == 0)
                        return;
                usleep(20000);
        }
        ck_abort_msg("session %lld does not end", (long long)id);
}

static void kill_session(struct db *root, int64_t id)
{
        must(root, "KILL %lld", (long long)id);
        wait_for_end(root, id);
}

START_TEST(a_connection_found_dead_is_reopened_silently)
{
        struct db *root = open_server(), *db = open_server();
        int64_t id = number(db, "SELECT CONNECTION_ID()");
        kill_session(root, id);
        int64_t second = number(db, "SELECT CONNECTION_ID()");
        ck_assert_int_ne(second, id);
        kill_session(root, second);
        must(db, "CREATE TABLE t (n INT) ENGINE=InnoDB");
        kill_session(root, number(db, "SELECT CONNECTION_ID()"));
        is_class(db_begin(db, &error), PO_OK);
        must(db, "INSERT INTO t VALUES (1)");
        is_class(db_commit(db, &error), PO_OK);
        ck_assert_int_eq(number(db, "SELECT COUNT(*) FROM t"), 1);
        db_close(db);
        db_close(root);
}
END_TEST

START_TEST(a_connection_lost_inside_a_transaction_is_not_reopened)
{
        struct db *root = open_server(), *db = open_server();
        must(db, "CREATE TABLE t (n INT) ENGINE=InnoDB");
        int64_t id = number(db, "SELECT CONNECTION_ID()");
        is_class(db_begin(db, &error), PO_OK);
        must(db, "INSERT INTO t VALUES (1)");
        kill_session(root, id);
        is_class(try(db, "INSERT INTO t VALUES (2)"), PO_TRANSIENT);
        ck_assert(!db_is_connected(db));
        is_class(try(db, "INSERT INTO t VALUES (3)"), PO_BUG);
        is_class(db_commit(db, &error), PO_BUG);
        ck_assert(!db_is_connected(db));
        ck_assert_int_eq(number(db, "SELECT COUNT(*) FROM t"), 0);
        db_close(db);
        db_close(root);
}
END_TEST

START_TEST(wait_timeout_frees_the_locks_of_a_frozen_transaction)
{
        struct db_options options = server_options();
        options.wait_timeout_ms = 1000;
        struct db *frozen = open_db(&options), *other = open_server();
        must(other, "CREATE TABLE t (n INT PRIMARY KEY, v INT) ENGINE=InnoDB");
        must(other, "INSERT INTO t VALUES (1, 0)");
        is_class(db_begin(frozen, &error), PO_OK);
        must(frozen, "UPDATE t SET v = 1 WHERE n = 1");
        db_keep_alive(frozen);                              /* is of no effect in a transaction */
        must(other, "UPDATE t SET v = v + 10 WHERE n = 1"); /* waits for it, at most 5 s */
        is_class(db_commit(frozen, &error), PO_UNCERTAIN);
        ck_assert_int_eq(number(other, "SELECT v FROM t"), 10);
        db_close(frozen);
        db_close(other);
}
END_TEST

START_TEST(an_idle_connection_is_kept_alive_by_pings)
{
        struct db_options options = server_options();
        options.wait_timeout_ms = 2000;
        struct db *db = open_db(&options);
        int64_t id = number(db, "SELECT CONNECTION_ID()");
        uint64_t before = db_statements(db), calls = 0;
        while (db_statements(db) < before + 4) { /* each after a third of it: more than the whole */
                usleep(10000);
                db_keep_alive(db);
                ck_assert(db_is_connected(db));
                calls++;
        }
        ck_assert_int_eq(number(db, "SELECT CONNECTION_ID()"), id);
        ck_assert_uint_gt(calls, 8); /* not every call is a ping */
        db_close(db);
}
END_TEST

START_TEST(keep_alive_only_closes_a_dead_connection)
{
        struct db_options options = server_options();
        options.wait_timeout_ms = 1000;
        struct db *db = open_db(&options);
        struct db *root = open_server();
        wait_for_end(root, number(db, "SELECT CONNECTION_ID()"));
        db_close(root);
        db_keep_alive(db);
        ck_assert(!db_is_connected(db));
        is_class(db_connect(db, &error), PO_OK);
        db_close(db);
}
END_TEST

START_TEST(an_answer_that_takes_too_long_is_transient_and_closes)
{
        struct db_options options = server_options();
        options.read_timeout_ms = 1000;
        struct db *db = open_db(&options);
        struct sql sql = { 0 };
        sql_raw(&sql, "SELECT SLEEP(8)");
        is_class(db_query(db, &sql, &error), PO_TRANSIENT);
        ck_assert(!db_is_connected(db));
        sql_free(&sql);
        db_close(db);
}
END_TEST

LAYER_MAIN("mysql session", a_session_is_what_the_promises_rest_on,
           connecting_takes_four_round_trips, a_user_with_rights_on_its_tables_only_can_connect,
           a_wrong_password_is_systemic_and_not_shown, a_database_that_is_not_there_is_systemic,
           a_changed_password_file_is_picked_up_at_the_next_connect,
           a_server_that_only_reads_is_refused,
           a_connection_to_a_server_that_became_read_only_is_closed,
           a_server_that_may_lose_commits_is_refused_unless_that_is_accepted,
           an_unsynced_binary_log_counts_only_where_there_is_one,
           a_connection_lost_while_its_session_is_set_is_transient,
           a_connection_found_dead_is_reopened_silently,
           a_connection_lost_inside_a_transaction_is_not_reopened,
           wait_timeout_frees_the_locks_of_a_frozen_transaction,
           an_idle_connection_is_kept_alive_by_pings, keep_alive_only_closes_a_dead_connection,
           an_answer_that_takes_too_long_is_transient_and_closes)
