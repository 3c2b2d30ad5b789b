/* INSERT of many rows on real servers: prepared, as text, and both of them. */
#include "layer.h"

#include "mysql/bulk.h"
#include "mysql/prepared.h"
#include "mysql/steady.h"

enum { ALL_WIDTHS = BULK_MANY + BULK_SOME + 3 };

static const struct bulk_form FORM = {
        .insert = "INSERT INTO t (id, n, v, b, at) VALUES ",
        .row = "(?,?,?,UNHEX(?),?)",
        .types = "iitht",
        .ending = " ON DUPLICATE KEY UPDATE n = IF(t.v = ?, VALUES(n), t.n)",
};

static struct bulk *bulk;

static struct db *open_table(void)
{
        struct db *db = open_server();
        must(db,
             "CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT, v VARCHAR(300), b VARBINARY(300),"
             " at DATETIME(6), CHECK (n <> 999999)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4"
             " COLLATE=utf8mb4_bin");
        is_class(bulk_open(&bulk, db, &FORM, &error), PO_OK);
        return db;
}

static void add(int64_t id, int64_t n, const char *v)
{
        bulk_integer(bulk, id);
        bulk_integer(bulk, n);
        bulk_text(bulk, v);
        bulk_binary(bulk, "\0\xff'\\", 4);
        bulk_time(bulk, INT64_C(1768364467231000));
}

static void add_rows(int64_t first, size_t count)
{
        bulk_begin(bulk, "");
        for (size_t i = 0; i < count; i++)
                add(first + (int64_t)i, (int64_t)i, "it's \\ \xe6\x94\xaf");
}

START_TEST(every_row_comes_back_whichever_way_it_went)
{
        struct db *db = open_table();
        size_t statements;
        uint64_t before = db_statements(db);
        add_rows(1, ALL_WIDTHS);
        is_class(bulk_end(bulk, &error), PO_OK);
        /* Two were prepared, and sent; three rows went as text. */
        ck_assert_uint_eq(db_statements(db) - before, 5);
        const struct bulk_sent *sent = bulk_sent(bulk, &statements);
        ck_assert_uint_eq(statements, bulk_statements(ALL_WIDTHS));
        ck_assert_uint_eq(statements, 3);
        ck_assert_uint_eq(sent[0].rows, BULK_MANY);
        ck_assert_uint_eq(sent[1].rows, BULK_SOME);
        ck_assert_uint_eq(sent[2].rows, 3);
        ck_assert_uint_eq(bulk_affected(bulk), ALL_WIDTHS);
        ck_assert_int_eq(number(db, "SELECT COUNT(*) FROM t WHERE n = id - 1 AND"
                                    " v = 'it\\'s \\\\ \xe6\x94\xaf' AND b = X'00FF275C' AND"
                                    " at = '2026-01-14 04:21:07.231000'"),
                         ALL_WIDTHS);
        /* Prepared once a connection. */
        before = db_statements(db);
        add_rows(1000, ALL_WIDTHS);
        is_class(bulk_end(bulk, &error), PO_OK);
        ck_assert_uint_eq(db_statements(db) - before, 3);
        bulk_close(bulk);
        db_close(db);
}
END_TEST

START_TEST(a_null_keeps_the_parameters_type)
{
        struct db *db = open_table();
        for (int round = 0; round < 2; round++) {
                bulk_begin(bulk, "");
                for (int64_t i = 0; i < BULK_SOME; i++) {
                        if ((i + round) % 2 == 0) {
                                add(round * 100 + i, i, "v");
                                continue;
                        }
                        bulk_integer(bulk, round * 100 + i);
                        for (int column = 0; column < 4; column++)
                                bulk_null(bulk);
                }
                is_class(bulk_end(bulk, &error), PO_OK);
        }
        ck_assert_int_eq(number(db, "SELECT COUNT(*) FROM t WHERE n IS NULL AND v IS NULL AND"
                                    " b IS NULL AND at IS NULL"),
                         BULK_SOME);
        ck_assert_int_eq(number(db, "SELECT COUNT(*) FROM t WHERE v = 'v' AND at IS NOT NULL"),
                         BULK_SOME);
        bulk_close(bulk);
        db_close(db);
}
END_TEST

/* What orders are moved by: two a row that was as it was read, one a row that was not. */
START_TEST(a_conditional_update_counts_two_for_each_row_that_it_found_so)
{
        struct db *db = open_table();
        add_rows(1, ALL_WIDTHS);
        is_class(bulk_end(bulk, &error), PO_OK);
        must(db, "UPDATE t SET v = 'other' WHERE id IN (1, 100)");
        bulk_begin(bulk, "it's \\ \xe6\x94\xaf");
        for (int64_t id = 1; id <= ALL_WIDTHS; id++)
                add(id, -id, NULL);
        is_class(bulk_end(bulk, &error), PO_OK);
        ck_assert_uint_eq(bulk_affected(bulk), 2 * ALL_WIDTHS - 2);
        ck_assert_int_eq(number(db, "SELECT COUNT(*) FROM t WHERE n = -id"), ALL_WIDTHS - 2);
        bulk_close(bulk);
        db_close(db);
}
END_TEST

/* What a claim's read by numbers rests on: one statement's rows are numbered one by one from its
 * insert_id on, with gaps at most where a row was there. */
START_TEST(what_a_statement_inserts_is_numbered_from_its_insert_id_on)
{
        static const struct bulk_form numbered = { .insert = "INSERT INTO n (k) VALUES ",
                                                   .row = "(?)",
                                                   .types = "i",
                                                   .ending = " ON DUPLICATE KEY UPDATE"
                                                             " seen = seen + 1" };
        struct db *db = open_table();
        struct bulk *keys;
        size_t statements;
        must(db, "CREATE TABLE n (id BIGINT AUTO_INCREMENT PRIMARY KEY, k INT UNIQUE,"
                 " seen INT NOT NULL DEFAULT 1) ENGINE=InnoDB");
        must(db, "INSERT INTO n (k) VALUES (1), (100), (250), (257), (322)");
        int64_t before = number(db, "SELECT MAX(id) FROM n");
        is_class(bulk_open(&keys, db, &numbered, &error), PO_OK);
        bulk_begin(keys, NULL);
        for (int64_t key = 1; key <= ALL_WIDTHS; key++)
                bulk_integer(keys, key);
        is_class(bulk_end(keys, &error), PO_OK);
        const struct bulk_sent *sent = bulk_sent(keys, &statements);
        ck_assert_uint_eq(sent[0].result.affected_rows, BULK_MANY + 3);
        ck_assert_uint_eq(sent[1].result.affected_rows, BULK_SOME + 1);
        ck_assert_uint_eq(sent[2].result.affected_rows, 3 + 1);
        int64_t first = 1;
        for (size_t i = 0; i < statements; i++) {
                int64_t last = first + (int64_t)sent[i].rows - 1;
                int64_t id = (int64_t)sent[i].result.insert_id;
                char query[200];
                ck_assert_int_gt(id, before);
                snprintf(query, sizeof query,
                         "SELECT COUNT(*) FROM n WHERE seen = 1 AND k BETWEEN %lld AND %lld AND"
                         " (id < %lld OR id > %lld)",
                         (long long)first, (long long)last, (long long)id,
                         (long long)(id + last - first));
                ck_assert_int_eq(number(db, query), 0);
                first = last + 1;
        }
        bulk_close(keys);
        bulk_close(bulk);
        db_close(db);
}
END_TEST

/* What is the same in row after row is a literal of the statement, until it is another. */
START_TEST(steady_values_are_in_the_statement_and_arrive_all_the_same)
{
        static const struct bulk_form form = {
                .insert = "INSERT INTO s (id, n, v, w) VALUES ",
                .row = "(?,?,?,?)",
                .types = "iITT",
                .ending = "",
        };
        enum { ROWS = STEADY_ROWS + 3 * BULK_MANY, ODD = ROWS - 7 };
        struct db *db = open_table();
        struct bulk *steady;
        must(db, "CREATE TABLE s (id BIGINT PRIMARY KEY, n BIGINT, v VARCHAR(300), w VARCHAR(9))"
                 " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin");
        is_class(bulk_open(&steady, db, &form, &error), PO_OK);
        uint64_t before = db_statements(db);
        bulk_begin(steady, NULL);
        for (int64_t id = 1; id <= ROWS; id++) {
                bulk_integer(steady, id);
                bulk_integer(steady, -5);
                bulk_text(steady, id == ODD ? "odd" : "it's \\ ? \xe6\x94\xaf");
                bulk_null(steady);
        }
        is_class(bulk_end(steady, &error), PO_OK);
        /* Prepared at first, when values were steady, and when one was not any more. */
        ck_assert_uint_eq(db_statements(db) - before, ROWS / BULK_MANY + 3);
        ck_assert_int_eq(number(db, "SELECT COUNT(*) FROM s WHERE n = -5 AND w IS NULL AND"
                                    " v = 'it\\'s \\\\ ? \xe6\x94\xaf'"),
                         ROWS - 1);
        ck_assert_int_eq(number(db, "SELECT id FROM s WHERE v = 'odd'"), ODD);
        bulk_close(steady);
        bulk_close(bulk);
        db_close(db);
}
END_TEST

START_TEST(the_first_failure_ends_it_and_the_transaction)
{
        struct db *db = open_table();
        is_class(db_begin(db, &error), PO_OK);
        bulk_begin(bulk, "");
        for (int64_t id = 1; id <= ALL_WIDTHS; id++)
                add(id, id == BULK_MANY + 1 ? 999999 : 0, "v");
        is_class(bulk_end(bulk, &error), PO_RECORD);
        is_class(try(db, "DO 1"), PO_BUG);
        ck_assert_int_eq(db_end(db, PO_RECORD, &error), PO_RECORD);
        ck_assert_int_eq(number(db, "SELECT COUNT(*) FROM t"), 0);
        /* The statements are as good as before. */
        add_rows(1, ALL_WIDTHS);
        is_class(bulk_end(bulk, &error), PO_OK);
        ck_assert_int_eq(number(db, "SELECT COUNT(*) FROM t"), ALL_WIDTHS);
        bulk_close(bulk);
        db_close(db);
}
END_TEST

START_TEST(a_key_that_is_there_is_exists)
{
        static const struct bulk_form plain = {
                .insert = "INSERT INTO t (id) VALUES ", .row = "(?)", .types = "i", .ending = ""
        };
        struct db *db = open_table();
        struct bulk *ids;
        is_class(bulk_open(&ids, db, &plain, &error), PO_OK);
        bulk_begin(ids, NULL);
        must(db, "INSERT INTO t (id) VALUES (7)");
        for (int64_t id = 1; id <= BULK_SOME; id++)
                bulk_integer(ids, id);
        is_class(bulk_end(ids, &error), PO_EXISTS);
        ck_assert_int_eq(error.code, 1062);
        ck_assert_int_eq(number(db, "SELECT COUNT(*) FROM t"), 1);
        bulk_close(ids);
        bulk_close(bulk);
        db_close(db);
}
END_TEST

START_TEST(on_a_new_connection_it_is_prepared_again)
{
        struct db *db = open_table();
        add_rows(1, BULK_SOME);
        is_class(bulk_end(bulk, &error), PO_OK);
        db_disconnect(db);
        add_rows(1000, BULK_SOME);
        is_class(bulk_end(bulk, &error), PO_OK);
        ck_assert_int_eq(number(db, "SELECT COUNT(*) FROM t"), 2 * BULK_SOME);
        db_disconnect(db);
        bulk_close(bulk);
        db_close(db);
}
END_TEST

START_TEST(a_server_that_prepares_nothing_more_gets_text)
{
        struct db *db = open_table();
        must(db, "SET GLOBAL max_prepared_stmt_count = 0"); /* test_mysql_layer.py puts it back */
        add_rows(1, ALL_WIDTHS);
        is_class(bulk_end(bulk, &error), PO_OK);
        ck_assert_int_eq(number(db, "SELECT COUNT(*) FROM t"), ALL_WIDTHS);
        bulk_close(bulk);
        db_close(db);
}
END_TEST

START_TEST(rows_that_no_packet_holds_are_refused_unsent)
{
        struct db *db = open_table();
        is_class(db_connect(db, &error), PO_OK);
        size_t bytes = db_packet_bytes(db) / BULK_SOME + 1;
        char *text = malloc(bytes + 1);
        ck_assert_ptr_nonnull(text);
        memset(text, 'x', bytes);
        text[bytes] = '\0';
        bulk_begin(bulk, "");
        for (int64_t id = 0; id < BULK_SOME; id++)
                add(id, 0, text);
        free(text);
        uint64_t before = db_statements(db);
        is_class(bulk_end(bulk, &error), PO_RECORD);
        ck_assert_str_eq(error.reason, "STATEMENT_TOO_LARGE");
        ck_assert_uint_eq(db_statements(db) - before, 1); /* only prepared */
        must(db, "DO 1");
        bulk_close(bulk);
        db_close(db);
}
END_TEST

LAYER_MAIN("bulk", what_a_statement_inserts_is_numbered_from_its_insert_id_on,
           every_row_comes_back_whichever_way_it_went, a_null_keeps_the_parameters_type,
           a_conditional_update_counts_two_for_each_row_that_it_found_so,
           steady_values_are_in_the_statement_and_arrive_all_the_same,
           the_first_failure_ends_it_and_the_transaction, a_key_that_is_there_is_exists,
           on_a_new_connection_it_is_prepared_again, a_server_that_prepares_nothing_more_gets_text,
           rows_that_no_packet_holds_are_refused_unsent)
