/* Prepared statements where no server is; with one: tests/integration/test_mysql_bulk.c. */
#include "unit.h"

#include <signal.h>

#include "mysql/prepared.h"

static struct po_error error;
static struct db *db;
static struct prepared *prepared;

static void start(void)
{
        static struct db_options options = { .host = "127.0.0.1",
                                             .port = 1, /* nobody listens */
                                             .user = "u",
                                             .connect_timeout_ms = 2000,
                                             .read_timeout_ms = 2000,
                                             .write_timeout_ms = 2000,
                                             .wait_timeout_ms = 30000 };
        struct sql text = { 0 };
        signal(SIGPIPE, SIG_IGN);
        ck_assert_int_eq(db_open(&db, &options, &error), PO_OK);
        sql_raw(&text, "INSERT INTO t VALUES (?)");
        ck_assert_int_eq(prepared_open(&prepared, db, &text, &error), PO_OK);
        sql_free(&text);
}

START_TEST(nothing_is_sent_until_it_is_asked_for)
{
        start();
        ck_assert_uint_eq(db_statements(db), 0);
        prepared_close(prepared);
        db_close(db);
        prepared_close(NULL);
}
END_TEST

START_TEST(a_server_away_is_transient_and_nothing_is_made)
{
        bool made = true;
        start();
        ck_assert_int_eq(prepared_make(prepared, &made, &error), PO_TRANSIENT);
        ck_assert(!made);
        ck_assert_int_eq(error.code, 2002);
        prepared_close(prepared);
        db_close(db);
}
END_TEST

START_TEST(what_was_made_for_another_connection_does_not_run)
{
        struct db_value value = { .type = DB_INTEGER };
        struct db_values values = { &value, 1 }, none = { NULL, 0 };
        struct db_result result;
        start();
        ck_assert_int_eq(prepared_run(prepared, values, none, &result, &error), PO_TRANSIENT);
        prepared_close(prepared);
        db_close(db);
}
END_TEST

UNIT_MAIN("prepared", nothing_is_sent_until_it_is_asked_for,
          a_server_away_is_transient_and_nothing_is_made,
          what_was_made_for_another_connection_does_not_run)
