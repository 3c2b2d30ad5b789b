/* What db.c does where no database answers; with one: tests/integration/test_mysql_layer.py. */
#include "unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "mysql/db.h"

#define PASSWORD "PASS-WORD-1"

static struct po_error error;
static struct db_options options;
static struct db *db;
static char path[] = "/tmp/postonce-test-db-XXXXXX";

static void set_up(int64_t port)
{
        signal(SIGPIPE, SIG_IGN);
        options = (struct db_options){ .host = "127.0.0.1",
                                       .port = port,
                                       .user = "u",
                                       .password = PASSWORD,
                                       .database = "d",
                                       .connect_timeout_ms = 2000,
                                       .read_timeout_ms = 2000,
                                       .write_timeout_ms = 2000,
                                       .wait_timeout_ms = 30000 };
        ck_assert_int_eq(db_open(&db, &options, &error), PO_OK);
}

static int listen_somewhere(int64_t *port_out)
{
        struct sockaddr_in address = { .sin_family = AF_INET,
                                       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t bytes = sizeof address;
        int listener = socket(AF_INET, SOCK_STREAM, 0);
        ck_assert_int_ge(listener, 0);
        ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, bytes), 0);
        ck_assert_int_eq(listen(listener, 1), 0);
        ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &bytes), 0);
        *port_out = ntohs(address.sin_port);
        return listener;
}

static void connecting_is(enum po_class kind, const char *text)
{
        ck_assert_int_eq(db_connect(db, &error), kind);
        ck_assert_int_eq(error.kind, kind);
        unit_assert_in(error.text, text);
        unit_assert_not_in(error.text, PASSWORD);
        ck_assert(!db_is_connected(db));
        db_close(db);
}

START_TEST(a_port_where_nothing_listens_is_transient)
{
        int64_t port;
        close(listen_somewhere(&port));
        set_up(port);
        connecting_is(PO_TRANSIENT, "connect to 127.0.0.1:");
        ck_assert_int_eq(error.code, 2002);
}
END_TEST

START_TEST(a_socket_that_is_not_there_is_transient)
{
        set_up(0);
        db_close(db);
        options.socket = "/nonexistent/socket";
        ck_assert_int_eq(db_open(&db, &options, &error), PO_OK);
        connecting_is(PO_TRANSIENT, "connect to /nonexistent/socket");
}
END_TEST

START_TEST(a_server_that_hangs_up_before_it_greets_is_transient)
{
        int64_t port;
        int listener = listen_somewhere(&port);
        pid_t child = fork();
        if (child == 0) {
                close(accept(listener, NULL, NULL));
                _exit(0);
        }
        set_up(port);
        connecting_is(PO_TRANSIENT, "connect to");
        ck_assert_int_eq(waitpid(child, NULL, 0), child);
        close(listener);
}
END_TEST

START_TEST(a_server_that_never_greets_is_transient_after_the_time_out)
{
        int64_t port;
        int listener = listen_somewhere(&port);
        set_up(port);
        connecting_is(PO_TRANSIENT, "connect to");
        close(listener);
}
END_TEST

static void with_password_file(const char *bytes, size_t count)
{
        int fd = mkstemp(path);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write(fd, bytes, count), (ssize_t)count);
        close(fd);
        set_up(1);
        db_close(db);
        options.password = NULL;
        options.password_file = path;
        ck_assert_int_eq(db_open(&db, &options, &error), PO_OK);
}

START_TEST(a_password_file_that_is_not_there_is_systemic_and_named)
{
        with_password_file(PASSWORD, strlen(PASSWORD));
        ck_assert_int_eq(unlink(path), 0);
        connecting_is(PO_SYSTEMIC, path);
        unit_assert_in(error.text, "No such file");
}
END_TEST

START_TEST(a_password_file_with_a_nul_byte_is_systemic)
{
        with_password_file(PASSWORD "\0\n", sizeof PASSWORD + 1);
        connecting_is(PO_SYSTEMIC, "NUL");
        unlink(path);
}
END_TEST

START_TEST(a_password_file_that_is_too_long_is_refused_not_cut)
{
        char bytes[1025];
        memset(bytes, 'p', sizeof bytes);
        with_password_file(bytes, sizeof bytes);
        connecting_is(PO_SYSTEMIC, "over 1024 bytes");
        unlink(path);
}
END_TEST

START_TEST(a_statement_that_has_no_memory_is_systemic_and_not_sent)
{
        struct sql sql = { .failed = true };
        set_up(1);
        ck_assert_int_eq(db_exec(db, &sql, NULL, &error), PO_SYSTEMIC);
        ck_assert_int_eq(db_query(db, &sql, &error), PO_SYSTEMIC);
        ck_assert_uint_eq(db_statements(db), 0);
        db_close(db);
}
END_TEST

START_TEST(nothing_is_known_of_a_server_before_the_first_connect)
{
        set_up(1);
        ck_assert(!db_is_connected(db));
        ck_assert(!db_is_mariadb(db));
        ck_assert_str_eq(db_server_version(db), "");
        ck_assert_uint_eq(db_packet_bytes(db), 0);
        db_keep_alive(db);
        db_rollback(db);
        db_disconnect(db);
        db_close(db);
        db_close(NULL);
}
END_TEST

START_TEST(a_statement_longer_than_any_server_takes_is_its_records_fault)
{
        int64_t port;
        close(listen_somewhere(&port));
        struct sql sql = { 0 };
        for (int out_of_memory = 0; out_of_memory < 2; out_of_memory++) {
                set_up(port);
                sql_reset(&sql);
                sql_raw(&sql, "SELECT ");
                if (out_of_memory)
                        sql.failed = true;
                else
                        sql_binary(&sql, "", SIZE_MAX / 2);
                ck_assert_int_eq(db_exec(db, &sql, NULL, &error),
                                 out_of_memory ? PO_SYSTEMIC : PO_RECORD);
                ck_assert_pstr_eq(error.reason, out_of_memory ? NULL : "STATEMENT_TOO_LARGE");
                db_close(db);
        }
        sql_free(&sql);
}
END_TEST

UNIT_MAIN("db", a_statement_longer_than_any_server_takes_is_its_records_fault,
          a_port_where_nothing_listens_is_transient, a_socket_that_is_not_there_is_transient,
          a_server_that_hangs_up_before_it_greets_is_transient,
          a_server_that_never_greets_is_transient_after_the_time_out,
          a_password_file_that_is_not_there_is_systemic_and_named,
          a_password_file_with_a_nul_byte_is_systemic,
          a_password_file_that_is_too_long_is_refused_not_cut,
          a_statement_that_has_no_memory_is_systemic_and_not_sent,
          nothing_is_known_of_a_server_before_the_first_connect)
