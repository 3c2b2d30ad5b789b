/* Values there and back, and the classes of errors. */
#include "layer.h"

enum { TEXT_BYTES = 24 };

static struct sql sql;

/* Writes bytes as a text literal into a BLOB; true when they came back, false when refused. */
static bool comes_back(struct db *db, const char *bytes, size_t count)
{
        sql_reset(&sql);
        sql_raw(&sql, "REPLACE INTO t (id, b) VALUES (1, ");
        sql_text_bytes(&sql, bytes, count);
        sql_raw(&sql, ")");
        enum po_class class = db_exec(db, &sql, NULL, &error);
        if (class != PO_OK) {
                is_class(class, PO_RECORD);
                return false;
        }
        const void *found;
        sql_reset(&sql);
        sql_raw(&sql, "SELECT b FROM t WHERE id = 1");
        is_class(db_query(db, &sql, &error), PO_OK);
        ck_assert(db_next_row(db));
        ck_assert_uint_eq(db_bytes(db, 0, &found), count);
        ck_assert(memcmp(found, bytes, count) == 0);
        ck_assert(!db_next_row(db));
        db_rows_end(db);
        return true;
}

START_TEST(every_byte_of_a_text_comes_back)
{
        struct db *db = open_server();
        must(db, "CREATE TABLE t (id INT PRIMARY KEY, b BLOB, v VARCHAR(300)) ENGINE=InnoDB"
                 " DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin");
        char ascii[128];
        for (int i = 0; i < 128; i++) {
                ascii[i] = (char)i;
                ck_assert(comes_back(db, &ascii[i], 1));
        }
        ck_assert(comes_back(db, ascii, sizeof ascii));
        ck_assert(comes_back(db, "", 0));
        static const char words[] = "\xe6\x94\xaf\xe4\xbb\x98'\\\xf0\x9f\x92\xb0\"%_";
        ck_assert(comes_back(db, words, sizeof words - 1));

        sql_reset(&sql);
        sql_raw(&sql, "INSERT INTO t (id, v) VALUES (2, ");
        sql_text(&sql, words);
        sql_raw(&sql, ")");
        is_class(db_exec(db, &sql, NULL, &error), PO_OK);
        sql_reset(&sql);
        sql_raw(&sql, "SELECT v, b, LENGTH(v) FROM t WHERE v = ");
        sql_text(&sql, words);
        is_class(db_query(db, &sql, &error), PO_OK);
        ck_assert(db_next_row(db));
        ck_assert_str_eq(db_text(db, 0), words);
        ck_assert(db_is_null(db, 1) && !db_is_null(db, 0));
        ck_assert_str_eq(db_text(db, 1), "");
        ck_assert_int_eq(db_integer(db, 2), sizeof words - 1);
        db_rows_end(db);
        db_close(db);
}
END_TEST

START_TEST(bytes_that_are_no_utf_8_come_back_or_are_refused_and_never_become_syntax)
{
        struct db *db = open_server();
        must(db, "CREATE TABLE t (id INT PRIMARY KEY, b BLOB) ENGINE=InnoDB");
        static const char alphabet[] = { '\'',   '\\',   '\0',   '"',    'a',    'n',
                                         '\n',   '\x1a', '\x80', '\xbf', '\xc3', '\xe4',
                                         '\xf0', '\xff', ' ',    ';' };
        unsigned state = 20260114;
        for (int round = 0; round < 1000; round++) {
                char bytes[TEXT_BYTES];
                size_t count = 0;
                do {
                        state = state * 1664525 + 1013904223;
                        bytes[count++] = alphabet[state >> 28];
                } while (count < TEXT_BYTES && (state >> 20) % 16 != 0);
                (void)comes_back(db, bytes, count);
        }
        ck_assert_int_eq(number(db, "SELECT COUNT(*) FROM t"), 1);
        db_close(db);
}
END_TEST

START_TEST(every_byte_of_a_binary_comes_back)
{
        struct db *db = open_server();
        must(db, "CREATE TABLE t (b VARBINARY(256), nothing VARBINARY(9), none BLOB, h BINARY(32))"
                 " ENGINE=InnoDB");
        unsigned char bytes[256];
        for (int i = 0; i < 256; i++)
                bytes[i] = (unsigned char)i;
        sql_raw(&sql, "INSERT INTO t VALUES (");
        sql_binary(&sql, bytes, sizeof bytes);
        sql_raw(&sql, ", ");
        sql_binary(&sql, bytes, 0);
        sql_raw(&sql, ", ");
        sql_binary(&sql, NULL, 0);
        sql_raw(&sql, ", ");
        sql_binary(&sql, bytes + 100, 32);
        sql_raw(&sql, ")");
        is_class(db_exec(db, &sql, NULL, &error), PO_OK);
        sql_reset(&sql);
        sql_raw(&sql, "SELECT b, nothing, none, h FROM t WHERE h = ");
        sql_binary(&sql, bytes + 100, 32);
        is_class(db_query(db, &sql, &error), PO_OK);
        ck_assert_uint_eq(db_row_count(db), 1);
        ck_assert(db_next_row(db));
        const void *found;
        ck_assert_uint_eq(db_bytes(db, 0, &found), 256);
        ck_assert(memcmp(found, bytes, 256) == 0);
        ck_assert(!db_is_null(db, 1));
        ck_assert_uint_eq(db_bytes(db, 1, &found), 0);
        ck_assert(db_is_null(db, 2));
        ck_assert_uint_eq(db_bytes(db, 3, &found), 32);
        ck_assert(memcmp(found, bytes + 100, 32) == 0);
        db_close(db);
}
END_TEST

START_TEST(integers_and_times_come_back_exactly)
{
        struct db *db = open_server();
        must(db, "CREATE TABLE t (n BIGINT, at DATETIME(6)) ENGINE=InnoDB");
        static const int64_t values[] = { 0, -1, INT64_MAX, INT64_MIN };
        static const char *const times[] = { "1970-01-01 00:00:00.000000",
                                             "2026-01-14 04:21:07.231000",
                                             "9999-12-31 23:59:59.999999", "" };
        static const int64_t time_us[] = { 0, INT64_C(1768364467231000),
                                           INT64_C(253402300799999999), INT64_MIN };
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
                sql_reset(&sql);
                sql_raw(&sql, "INSERT INTO t VALUES (");
                sql_integer(&sql, values[i]);
                sql_raw(&sql, ", ");
                sql_time(&sql, time_us[i]);
                sql_raw(&sql, ")");
                is_class(db_exec(db, &sql, NULL, &error), PO_OK);
                sql_reset(&sql);
                sql_raw(&sql, "SELECT n, at FROM t WHERE n = ");
                sql_integer(&sql, values[i]);
                is_class(db_query(db, &sql, &error), PO_OK);
                ck_assert(db_next_row(db));
                ck_assert_int_eq(db_integer(db, 0), values[i]);
                ck_assert_str_eq(db_text(db, 1), times[i]);
                db_rows_end(db);
        }
        sql_reset(&sql);
        sql_raw(&sql, "INSERT INTO t VALUES (7, ");
        sql_time(&sql, INT64_MAX);
        sql_raw(&sql, ")");
        is_class(db_exec(db, &sql, NULL, &error), PO_RECORD);
        ck_assert_int_eq(error.code, 1292);
        db_close(db);
}
END_TEST

START_TEST(a_cell_that_is_no_integer_fails_the_next_statement)
{
        struct db *db = open_server();
        static const char *const queries[] = { "SELECT 'x'",  "SELECT NULL",
                                               "SELECT ''",   "SELECT 1.5",
                                               "SELECT ' 1'", "SELECT 9223372036854775808" };
        for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
                ck_assert_int_eq(number(db, queries[i]), 0);
                is_class(try(db, "DO 1"), PO_BUG);
                must(db, "DO 1");
        }
        is_class(db_begin(db, &error), PO_OK);
        must(db, "DO 1");
        ck_assert_int_eq(number(db, "SELECT 'x'"), 0);
        is_class(db_commit(db, &error), PO_BUG);
        ck_assert_int_eq(number(db, "SELECT SUM(1)"), 1);
        db_close(db);
}
END_TEST

START_TEST(the_servers_own_errors_have_their_class)
{
        struct db *db = open_server();
        must(db, "CREATE TABLE t (n INT PRIMARY KEY, s VARCHAR(4) CHARACTER SET ascii NOT NULL,"
                 " b BIGINT NOT NULL DEFAULT 9223372036854775807, at DATETIME(6) NULL,"
                 " CONSTRAINT positive CHECK (n > 0)) ENGINE=InnoDB");
        must(db, "INSERT INTO t (n, s) VALUES (1, 'a')");
        is_refused(db, "INSERT INTO t (n, s) VALUES (1, 'b')", PO_EXISTS, 1062);
        is_refused(db, "INSERT INTO t (n, s) VALUES (2, 'abcde')", PO_RECORD, 1406);
        is_refused(db, "INSERT INTO t (n, s) VALUES (2, NULL)", PO_RECORD, 1048);
        is_refused(db, "INSERT INTO t (n, s) VALUES (99999999999, '')", PO_RECORD, 1264);
        is_refused(db, "INSERT INTO t (n, s) VALUES ('x', '')", PO_RECORD, 1366);
        is_refused(db, "INSERT INTO t (n, s) VALUES (2, '\xe6\x94\xaf')", PO_RECORD, 1366);
        is_refused(db, "INSERT INTO t (n, s, at) VALUES (2, '', '2026-02-30')", PO_RECORD, 1292);
        is_refused(db, "INSERT INTO t (n, s) VALUES (0, '')", PO_RECORD,
                   db_is_mariadb(db) ? 4025 : 3819);
        is_refused(db, "UPDATE t SET b = b + 1", PO_SYSTEMIC, 1690);
        has_text("`b`");
        is_refused(db, "INSERT INTO absent VALUES (1)", PO_SYSTEMIC, 1146);
        has_text("run `postonce migrate`");
        is_refused(db, "INSERT INTO t (absent) VALUES (1)", PO_SYSTEMIC, 1054);
        is_refused(db, "INSERT INTO t (n, s) VALUES (2, 'SECRET'", PO_BUG, 1064);
        ck_assert_ptr_null(strstr(error.text, "SECRET"));
        ck_assert_int_eq(number(db, "SELECT COUNT(*) FROM t"), 1);
        db_close(db);
}
END_TEST

START_TEST(rows_found_count_as_affected_changed_or_not)
{
        struct db *db = open_server();
        struct db_result result;
        must(db, "CREATE TABLE t (n INT AUTO_INCREMENT PRIMARY KEY, v INT) ENGINE=InnoDB");
        sql_raw(&sql, "INSERT INTO t (v) VALUES (5), (6)");
        is_class(db_exec(db, &sql, &result, &error), PO_OK);
        ck_assert_uint_eq(result.affected_rows, 2);
        ck_assert_uint_eq(result.insert_id, 1);
        sql_reset(&sql);
        sql_raw(&sql, "UPDATE t SET v = 5 WHERE v = 5");
        is_class(db_exec(db, &sql, &result, &error), PO_OK);
        ck_assert_uint_eq(result.affected_rows, 1);
        db_close(db);
}
END_TEST

START_TEST(a_statement_that_returns_rows_is_not_for_exec_nor_the_other_way_round)
{
        struct db *db = open_server();
        is_class(try(db, "SELECT 1"), PO_BUG);
        sql_raw(&sql, "DO 1");
        is_class(db_query(db, &sql, &error), PO_BUG);
        ck_assert_int_eq(number(db, "SELECT 2"), 2);
        is_class(try(db, "DO 1; DO 2"), PO_BUG);
        ck_assert_int_eq(number(db, "SELECT 3"), 3);
        db_close(db);
}
END_TEST

static void write_length_of(struct db *db, size_t statement_bytes)
{
        static const char start[] = "SELECT LENGTH('", end[] = "')";
        size_t bytes = statement_bytes - strlen(start) - strlen(end);
        char *text = malloc(bytes);
        ck_assert_ptr_nonnull(text);
        memset(text, 'x', bytes);
        sql_reset(&sql);
        sql_raw(&sql, "SELECT LENGTH(");
        sql_text_bytes(&sql, text, bytes);
        sql_raw(&sql, ")");
        free(text);
        ck_assert(!sql.failed);
        ck_assert_uint_eq(sql.length, statement_bytes);
        (void)db;
}

START_TEST(a_statement_beyond_the_packet_is_refused_before_it_is_sent)
{
        struct db *db = open_server();
        size_t limit = db_packet_bytes(db) - 1024;
        uint64_t before = db_statements(db);
        write_length_of(db, limit + 1);
        is_class(db_query(db, &sql, &error), PO_RECORD);
        ck_assert_str_eq(error.reason, "STATEMENT_TOO_LARGE");
        ck_assert_uint_eq(db_statements(db), before);
        ck_assert(db_is_connected(db));
        write_length_of(db, limit);
        is_class(db_query(db, &sql, &error), PO_OK);
        ck_assert(db_next_row(db));
        ck_assert_int_eq(db_integer(db, 0), (int64_t)limit - 17);
        db_close(db);
        sql_free(&sql);
}
END_TEST

static void stream(struct db *db, const char *text)
{
        sql_reset(&sql);
        sql_raw(&sql, text);
        is_class(db_stream(db, &sql, &error), PO_OK);
}

#define MANY_ROWS                                                                                  \
        "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 300)"          \
        " SELECT a.i * 1000 + b.i, REPEAT('x', 100) FROM n a JOIN n b"

START_TEST(a_stream_gives_every_row_and_leaves_the_connection_in_order)
{
        struct db *db = open_server();
        uint64_t rows = 0;
        stream(db, MANY_ROWS);
        while (db_next_row(db))
                rows += db_integer(db, 0) > 0;
        is_class(db_stream_end(db, &error), PO_OK);
        ck_assert_uint_eq(rows, 90000);
        ck_assert(db_is_connected(db));
        stream(db, "SELECT 1 FROM DUAL WHERE 1 = 0");
        ck_assert(!db_next_row(db));
        is_class(db_stream_end(db, &error), PO_OK);
        db_close(db);
}
END_TEST

START_TEST(a_stream_left_early_closes_the_connection_and_the_next_statement_opens_it)
{
        struct db *db = open_server();
        stream(db, MANY_ROWS);
        ck_assert(db_next_row(db));
        is_class(db_stream_end(db, &error), PO_OK);
        ck_assert(!db_is_connected(db));
        stream(db, "SELECT 7");
        ck_assert(db_next_row(db));
        ck_assert_int_eq(db_integer(db, 0), 7);
        ck_assert(!db_next_row(db));
        is_class(db_stream_end(db, &error), PO_OK);
        db_close(db);
}
END_TEST

START_TEST(a_stream_that_breaks_says_so_at_its_end)
{
        struct db *db = open_server(), *other = open_server();
        stream(db, "SELECT CONNECTION_ID()");
        ck_assert(db_next_row(db));
        int64_t id = db_integer(db, 0);
        ck_assert(!db_next_row(db));
        is_class(db_stream_end(db, &error), PO_OK);

        stream(db, MANY_ROWS);
        ck_assert(db_next_row(db));
        sql_reset(&sql);
        sql_raw(&sql, "KILL ");
        sql_integer(&sql, id);
        is_class(db_exec(other, &sql, NULL, &error), PO_OK);
        uint64_t rows = 1;
        while (db_next_row(db))
                rows++;
        is_class(db_stream_end(db, &error), PO_TRANSIENT);
        ck_assert_uint_lt(rows, 90000);
        ck_assert(!db_is_connected(db));
        db_close(db);
        db_close(other);
}
END_TEST

LAYER_MAIN("mysql statements", a_stream_gives_every_row_and_leaves_the_connection_in_order,
           a_stream_left_early_closes_the_connection_and_the_next_statement_opens_it,
           a_stream_that_breaks_says_so_at_its_end, every_byte_of_a_text_comes_back,
           bytes_that_are_no_utf_8_come_back_or_are_refused_and_never_become_syntax,
           every_byte_of_a_binary_comes_back, integers_and_times_come_back_exactly,
           a_cell_that_is_no_integer_fails_the_next_statement,
           the_servers_own_errors_have_their_class, rows_found_count_as_affected_changed_or_not,
           a_statement_that_returns_rows_is_not_for_exec_nor_the_other_way_round,
           a_statement_beyond_the_packet_is_refused_before_it_is_sent)
