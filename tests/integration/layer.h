/*
 * What the C tests on a real server share. test_mysql_layer.py runs each case by itself, with a
 * fresh database, on every server there is:
 *
 *   POSTONCE_TEST_MYSQL_HOST _PORT _USER _PASSWORD   the server; the user may do everything
 *   POSTONCE_TEST_DATABASE                           an empty database
 *   POSTONCE_TEST_PROXY_PORT                         a proxy that strikes at a statement of this
 * case
 */
#ifndef LAYER_H
#define LAYER_H

#include <check.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mysql/db.h"

/* Each case is a Check case of its own name, so that CK_RUN_CASE can choose it. */
#define LAYER_MAIN(title, ...)                                                                     \
        int main(void)                                                                             \
        {                                                                                          \
                const TTest *const cases[] = { __VA_ARGS__ };                                      \
                Suite *suite = suite_create(title);                                                \
                signal(SIGPIPE, SIG_IGN);                                                          \
                for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {                      \
                        TCase *tcase = tcase_create(cases[i]->name);                               \
                        tcase_set_timeout(tcase, 60);                                              \
                        tcase_add_test(tcase, cases[i]);                                           \
                        suite_add_tcase(suite, tcase);                                             \
                }                                                                                  \
                SRunner *runner = srunner_create(suite);                                           \
                srunner_run_all(runner, CK_VERBOSE);                                               \
                int failed = srunner_ntests_failed(runner);                                        \
                srunner_free(runner);                                                              \
                return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;                                  \
        }

static struct po_error error;

static inline const char *from_environment(const char *name)
{
        const char *value = getenv(name);
        ck_assert_msg(value != NULL, "%s is not set: run test_mysql_layer.py", name);
        return value;
}

static inline struct db_options server_options(void)
{
        return (struct db_options){
                .host = from_environment("POSTONCE_TEST_MYSQL_HOST"),
                .port = strtol(from_environment("POSTONCE_TEST_MYSQL_PORT"), NULL, 10),
                .user = from_environment("POSTONCE_TEST_MYSQL_USER"),
                .password = from_environment("POSTONCE_TEST_MYSQL_PASSWORD"),
                .database = from_environment("POSTONCE_TEST_DATABASE"),
                .connect_timeout_ms = 5000,
                .read_timeout_ms = 20000,
                .write_timeout_ms = 20000,
                .wait_timeout_ms = 60000,
        };
}

static inline struct db *open_db(const struct db_options *options)
{
        struct db *db;
        ck_assert_int_eq(db_open(&db, options, &error), PO_OK);
        return db;
}

static inline struct db *open_server(void)
{
        const struct db_options options = server_options();
        struct db *db = open_db(&options);
        ck_assert_msg(db_connect(db, &error) == PO_OK, "%s", error.text);
        return db;
}

#define is_class(actual, expected) is_class_at(__LINE__, actual, expected)
static inline void is_class_at(int line, enum po_class actual, enum po_class expected)
{
        ck_assert_msg(actual == expected, "line %d: %s, not %s: %s", line, po_class_name(actual),
                      po_class_name(expected), actual != PO_OK ? error.text : "");
        if (actual != PO_OK)
                ck_assert_int_eq(error.kind, actual);
}

static inline void has_text(const char *needle)
{
        ck_assert_msg(strstr(error.text, needle) != NULL, "\"%s\" is not in \"%s\"", needle,
                      error.text);
}

static inline enum po_class try(struct db *db, const char *statement)
{
        struct sql sql = { 0 };
        sql_raw(&sql, statement);
        enum po_class class = db_exec(db, &sql, NULL, &error);
        sql_free(&sql);
        return class;
}

static inline void is_refused(struct db *db, const char *statement, enum po_class kind, int code)
{
        is_class(try(db, statement), kind);
        ck_assert_msg(error.code == code, "%s: %d %s", statement, error.code, error.text);
}

static inline void must(struct db *db, const char *format, ...) PO_FORMAT(2, 3);
static inline void must(struct db *db, const char *format, ...)
{
        char statement[1024];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(statement, sizeof statement, format, arguments);
        va_end(arguments);
        enum po_class class = try(db, statement);
        ck_assert_msg(class == PO_OK, "%s: %s", statement, error.text);
}

static inline int64_t number(struct db *db, const char *query)
{
        struct sql sql = { 0 };
        sql_raw(&sql, query);
        enum po_class class = db_query(db, &sql, &error);
        ck_assert_msg(class == PO_OK, "%s: %s", query, error.text);
        ck_assert(db_next_row(db));
        int64_t value = db_integer(db, 0);
        db_rows_end(db);
        sql_free(&sql);
        return value;
}

#endif
