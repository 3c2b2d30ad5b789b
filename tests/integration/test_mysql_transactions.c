/* Transactions, and what becomes of them when something fails. */
#include "layer.h"

START_TEST(a_transaction_is_there_after_commit_and_not_before)
{
        struct db *db = open_server(), *other = open_server();
        must(db, "CREATE TABLE t (n INT) ENGINE=InnoDB");
        uint64_t before = db_statements(db);
        is_class(db_begin(db, &error), PO_OK);
        must(db, "INSERT INTO t VALUES (1)");
        ck_assert_int_eq(number(other, "SELECT COUNT(*) FROM t"), 0);
        is_class(db_commit(db, &error), PO_OK);
        ck_assert_uint_eq(db_statements(db) - before, 3);
        ck_assert_int_eq(number(other, "SELECT COUNT(*) FROM t"), 1);
        is_class(db_begin(db, &error), PO_OK);
        must(db, "INSERT INTO t VALUES (2)");
        db_rollback(db);
        db_rollback(db);
        is_class(db_begin(db, &error), PO_OK);
        must(db, "INSERT INTO t VALUES (3)");
        db_close(db);
        ck_assert_int_eq(number(other, "SELECT SUM(n) FROM t"), 1);
        db_close(other);
}
END_TEST

START_TEST(a_transaction_ends_as_its_statements_went)
{
        struct db *db = open_server();
        must(db, "CREATE TABLE t (n INT PRIMARY KEY) ENGINE=InnoDB");
        is_class(db_begin(db, &error), PO_OK);
        is_class(db_end(db, try(db, "INSERT INTO t VALUES (1)"), &error), PO_OK);
        is_class(db_begin(db, &error), PO_OK);
        must(db, "INSERT INTO t VALUES (2)");
        is_class(db_end(db, try(db, "INSERT INTO t VALUES (1)"), &error), PO_EXISTS);
        ck_assert(!db_is_in_transaction(db));
        ck_assert_int_eq(number(db, "SELECT COUNT(*) FROM t"), 1);
        db_close(db);
}
END_TEST

START_TEST(a_failed_transaction_can_only_be_rolled_back)
{
        struct db *db = open_server();
        must(db, "CREATE TABLE t (n INT PRIMARY KEY) ENGINE=InnoDB");
        is_class(db_begin(db, &error), PO_OK);
        must(db, "INSERT INTO t VALUES (1)");
        is_refused(db, "INSERT INTO t VALUES (1)", PO_EXISTS, 1062);
        is_refused(db, "INSERT INTO t VALUES (2)", PO_BUG, 0);
        is_class(db_commit(db, &error), PO_BUG);
        ck_assert_int_eq(number(db, "SELECT COUNT(*) FROM t"), 0);
        is_class(db_begin(db, &error), PO_OK);
        must(db, "INSERT INTO t VALUES (3)");
        is_class(db_commit(db, &error), PO_OK);
        ck_assert_int_eq(number(db, "SELECT COUNT(*) FROM t"), 1);
        db_close(db);
}
END_TEST

START_TEST(a_statement_that_ends_its_transaction_is_a_bug)
{
        struct db *db = open_server();
        is_class(db_begin(db, &error), PO_OK);
        is_class(try(db, "CREATE TABLE t (n INT) ENGINE=InnoDB"), PO_BUG);
        db_rollback(db);
        is_class(try(db, "START TRANSACTION"), PO_BUG);
        db_close(db);
}
END_TEST

START_TEST(beginning_inside_a_transaction_aborts)
{
        pid_t child = fork();
        if (child == 0) {
                struct db *db = open_server();
                if (db_begin(db, &error) != PO_OK)
                        _exit(1);
                fclose(stderr);
                _exit(db_begin(db, &error) == PO_OK ? 2 : 3);
        }
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
END_TEST

START_TEST(waiting_too_long_for_a_lock_is_transient_and_ends_the_unit)
{
        struct db *holder = open_server(), *db = open_server();
        must(db, "CREATE TABLE t (n INT PRIMARY KEY, v INT) ENGINE=InnoDB");
        must(db, "INSERT INTO t VALUES (1, 0), (2, 0)");
        must(db, "SET SESSION innodb_lock_wait_timeout = 1");
        is_class(db_begin(holder, &error), PO_OK);
        must(holder, "UPDATE t SET v = 1 WHERE n = 1");
        is_class(db_begin(db, &error), PO_OK);
        must(db, "UPDATE t SET v = 2 WHERE n = 2");
        is_refused(db, "UPDATE t SET v = 2 WHERE n = 1", PO_TRANSIENT, 1205);
        is_class(db_commit(db, &error), PO_BUG);
        is_class(db_commit(holder, &error), PO_OK);
        ck_assert_int_eq(number(db, "SELECT SUM(v) FROM t"), 1);
        db_close(db);
        db_close(holder);
}
END_TEST

/* Locks one row, says so, locks the other; 0: done, 1: the deadlock's victim, 2: anything else. */
static int cross(struct db *db, int first, int told, int heard)
{
        char statement[64], byte = 1;
        snprintf(statement, sizeof statement, "UPDATE t SET v = v + 1 WHERE n = %d", first);
        if (db_begin(db, &error) != PO_OK || try(db, statement) != PO_OK)
                return 2;
        if (write(told, &byte, 1) != 1 || read(heard, &byte, 1) != 1)
                return 2;
        snprintf(statement, sizeof statement, "UPDATE t SET v = v + 1 WHERE n = %d", 3 - first);
        enum po_class class = try(db, statement);
        if (class == PO_OK)
                return db_commit(db, &error) == PO_OK ? 0 : 2;
        bool victim = class == PO_TRANSIENT && error.code == 1213 && try(db, "DO 1") == PO_BUG;
        db_rollback(db);
        return victim ? 1 : 2;
}

START_TEST(a_deadlock_has_one_victim_and_it_is_transient)
{
        struct db *setup = open_server();
        must(setup, "CREATE TABLE t (n INT PRIMARY KEY, v INT) ENGINE=InnoDB");
        must(setup, "INSERT INTO t VALUES (1, 0), (2, 0)");
        int to_child[2], to_parent[2], status;
        ck_assert_int_eq(pipe(to_child), 0);
        ck_assert_int_eq(pipe(to_parent), 0);
        pid_t child = fork();
        if (child == 0)
                _exit(cross(open_server(), 2, to_parent[1], to_child[0]));
        int ours = cross(open_server(), 1, to_child[1], to_parent[0]);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFEXITED(status));
        ck_assert_int_eq(ours + WEXITSTATUS(status), 1);
        ck_assert_int_eq(number(setup, "SELECT SUM(v) FROM t"), 2);
        db_close(setup);
}
END_TEST

static struct db *open_proxy(void)
{
        static struct db_options options;
        options = server_options();
        options.port = strtol(from_environment("POSTONCE_TEST_PROXY_PORT"), NULL, 10);
        return open_db(&options);
}

/* What COMMIT, struck by the proxy, leaves behind. */
static int64_t rows_after_struck_commit(void)
{
        struct db *db = open_proxy(), *other = open_server();
        must(other, "CREATE TABLE t (n INT PRIMARY KEY) ENGINE=InnoDB");
        is_class(db_begin(db, &error), PO_OK);
        must(db, "INSERT INTO t VALUES (1)");
        is_class(db_commit(db, &error), PO_UNCERTAIN);
        ck_assert(!db_is_connected(db));
        db_rollback(db);
        is_class(db_begin(db, &error), PO_OK);
        must(db, "INSERT INTO t VALUES (2)"); /* and on a new connection it goes on */
        db_rollback(db);
        int64_t rows = number(other, "SELECT COUNT(*) FROM t");
        db_close(db);
        db_close(other);
        return rows;
}

START_TEST(a_commit_whose_reply_is_lost_is_uncertain_and_took_place)
{
        ck_assert_int_eq(rows_after_struck_commit(), 1);
}
END_TEST

START_TEST(a_commit_that_is_lost_is_uncertain_and_did_not_take_place)
{
        ck_assert_int_eq(rows_after_struck_commit(), 0);
}
END_TEST

START_TEST(a_lost_reply_outside_a_transaction_is_transient)
{
        struct db *db = open_proxy();
        must(db, "CREATE TABLE t (n INT PRIMARY KEY) ENGINE=InnoDB");
        is_class(try(db, "INSERT INTO t VALUES (1)"), PO_TRANSIENT);
        ck_assert(!db_is_connected(db));
        is_refused(db, "INSERT INTO t VALUES (1)", PO_EXISTS, 1062);
        db_close(db);
}
END_TEST

START_TEST(a_begin_that_is_lost_is_sent_again)
{
        struct db *db = open_proxy();
        must(db, "CREATE TABLE t (n INT PRIMARY KEY) ENGINE=InnoDB");
        is_class(db_begin(db, &error), PO_OK);
        must(db, "INSERT INTO t VALUES (1)");
        is_class(db_commit(db, &error), PO_OK);
        ck_assert_int_eq(number(db, "SELECT COUNT(*) FROM t"), 1);
        db_close(db);
}
END_TEST

LAYER_MAIN("mysql transactions", a_transaction_is_there_after_commit_and_not_before,
           a_transaction_ends_as_its_statements_went, a_failed_transaction_can_only_be_rolled_back,
           a_statement_that_ends_its_transaction_is_a_bug, beginning_inside_a_transaction_aborts,
           waiting_too_long_for_a_lock_is_transient_and_ends_the_unit,
           a_deadlock_has_one_victim_and_it_is_transient,
           a_commit_whose_reply_is_lost_is_uncertain_and_took_place,
           a_commit_that_is_lost_is_uncertain_and_did_not_take_place,
           a_lost_reply_outside_a_transaction_is_transient, a_begin_that_is_lost_is_sent_again)
