#include "unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "ops/http.h"
#include "ops/metrics.h"

enum { ALIVE_LIMIT_MS = 60000 };

static struct http *http;
static struct po_error error;
static char reply[32768];

static void serve(int64_t alive_limit_ms)
{
        ck_assert_msg(http_open(&http, "127.0.0.1", 0, alive_limit_ms, &error) == PO_OK, "%s",
                      error.text);
        ck_assert_int_gt(http_port(http), 0);
}

static int connect_to(int port)
{
        struct sockaddr_in address = {
                .sin_family = AF_INET,
                .sin_port = htons((uint16_t)port),
                .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
        };
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        struct timeval limit = { .tv_sec = 20 };
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        ck_assert_int_eq(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
        return fd;
}

/* Sends the request's first line (and more) as it stands; the whole answer, until the server
 * closes. */
static const char *ask(const char *request)
{
        int fd = connect_to(http_port(http));
        char text[512];
        int bytes =
                snprintf(text, sizeof text, "%s\r\nHost: x\r\nConnection: close\r\n\r\n", request);
        ck_assert_int_eq(send(fd, text, (size_t)bytes, 0), bytes);
        size_t length = 0;
        ssize_t got;
        while ((got = recv(fd, reply + length, sizeof reply - 1 - length, 0)) > 0)
                length += (size_t)got;
        ck_assert_int_eq(got, 0);
        reply[length] = '\0';
        close(fd);
        return reply;
}

START_TEST(metrics_are_served_as_prometheus_text)
{
        serve(ALIVE_LIMIT_MS);
        metric_add(METRIC_RECORDS, 5);
        const char *text = ask("GET /metrics HTTP/1.1");
        unit_assert_in(text, "HTTP/1.1 200 OK\r\n");
        unit_assert_in(text, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n");
        unit_assert_in(text, "\npostonce_records_total 5\n");
        http_close(http);
}
END_TEST

START_TEST(readiness_follows_what_the_worker_says)
{
        serve(ALIVE_LIMIT_MS);
        unit_assert_in(ask("GET /readyz HTTP/1.1"), "HTTP/1.1 503 ");
        unit_assert_in(reply, "\r\n\r\nstarting\n");
        readiness_set(NULL);
        unit_assert_in(ask("GET /readyz HTTP/1.1"), "HTTP/1.1 200 OK\r\n");
        readiness_set("database away");
        unit_assert_in(ask("GET /readyz HTTP/1.1"), "HTTP/1.1 503 ");
        unit_assert_in(reply, "\r\n\r\ndatabase away\n");
        http_close(http);
}
END_TEST

START_TEST(health_is_red_when_the_loop_stands_still)
{
        serve(ALIVE_LIMIT_MS);
        unit_assert_in(ask("GET /healthz HTTP/1.1"), "HTTP/1.1 200 OK\r\n");
        http_close(http);
        serve(0);
        unit_assert_in(ask("GET /healthz HTTP/1.1"), "HTTP/1.1 503 ");
        http_close(http);
}
END_TEST

START_TEST(opening_counts_as_the_first_round)
{
        ck_assert(!liveness_is_alive(ALIVE_LIMIT_MS));
        serve(ALIVE_LIMIT_MS);
        ck_assert(liveness_is_alive(ALIVE_LIMIT_MS));
        http_close(http);
}
END_TEST

START_TEST(head_gets_headers_and_no_body)
{
        serve(ALIVE_LIMIT_MS);
        const char *text = ask("HEAD /healthz HTTP/1.1");
        unit_assert_in(text, "HTTP/1.1 200 OK\r\n");
        ck_assert_str_eq(text + strlen(text) - 4, "\r\n\r\n");
        http_close(http);
}
END_TEST

START_TEST(another_path_is_not_found)
{
        serve(ALIVE_LIMIT_MS);
        unit_assert_in(ask("GET / HTTP/1.1"), "HTTP/1.1 404 ");
        unit_assert_in(ask("GET /metrics/ HTTP/1.1"), "HTTP/1.1 404 ");
        unit_assert_in(ask("GET /metrics?name=x HTTP/1.1"), "HTTP/1.1 200 ");
        http_close(http);
}
END_TEST

START_TEST(another_method_is_refused_body_and_all)
{
        serve(ALIVE_LIMIT_MS);
        unit_assert_in(ask("DELETE /metrics HTTP/1.1"), "HTTP/1.1 405 ");
        unit_assert_in(reply, "Allow: GET, HEAD\r\n");
        int fd = connect_to(http_port(http));
        static const char post[] = "POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"
                                   "Connection: close\r\n\r\nhello";
        ck_assert_int_eq(send(fd, post, sizeof post - 1, 0), sizeof post - 1);
        ssize_t got = recv(fd, reply, sizeof reply - 1, 0);
        ck_assert_int_gt(got, 0);
        reply[got] = '\0';
        unit_assert_in(reply, "HTTP/1.1 405 ");
        close(fd);
        http_close(http);
}
END_TEST

START_TEST(garbage_does_not_stop_the_server)
{
        serve(ALIVE_LIMIT_MS);
        int fd = connect_to(http_port(http));
        ck_assert_int_eq(send(fd, "\x16\x03\x01\r\n\r\n", 7, 0), 7);
        close(fd);
        unit_assert_in(ask("GET /healthz HTTP/1.1"), "HTTP/1.1 200 OK\r\n");
        http_close(http);
}
END_TEST

START_TEST(a_port_in_use_is_an_error_that_names_it)
{
        serve(ALIVE_LIMIT_MS);
        struct http *second;
        int port = http_port(http);
        ck_assert_int_eq(http_open(&second, "127.0.0.1", port, ALIVE_LIMIT_MS, &error),
                         PO_SYSTEMIC);
        ck_assert_ptr_null(second);
        char expected[64];
        snprintf(expected, sizeof expected, "listen on 127.0.0.1 port %d: ", port);
        unit_assert_in(error.text, expected);
        unit_assert_in(error.text, "Address already in use");
        http_close(http);
}
END_TEST

START_TEST(a_name_or_a_port_out_of_range_is_refused)
{
        ck_assert_int_eq(http_open(&http, "localhost", 0, ALIVE_LIMIT_MS, &error), PO_SYSTEMIC);
        unit_assert_in(error.text, "localhost is no IPv4 or IPv6 address");
        ck_assert_int_eq(http_open(&http, "127.0.0.1", 65536, ALIVE_LIMIT_MS, &error), PO_SYSTEMIC);
        unit_assert_in(error.text, "port 65536");
        http_close(NULL);
}
END_TEST

static volatile sig_atomic_t signals_seen;

static void count_signal(int number)
{
        (void)number;
        signals_seen++;
}

/* A signal to the process must end the worker's wait, not be eaten by the server's thread. */
START_TEST(signals_are_left_to_the_worker_s_thread)
{
        serve(ALIVE_LIMIT_MS);
        sigset_t usr1;
        sigemptyset(&usr1);
        sigaddset(&usr1, SIGUSR1);
        signal(SIGUSR1, count_signal);
        sigprocmask(SIG_BLOCK, &usr1, NULL);
        kill(getpid(), SIGUSR1);
        ask("GET /healthz HTTP/1.1");
        ck_assert_int_eq(signals_seen, 0);
        sigprocmask(SIG_UNBLOCK, &usr1, NULL);
        ck_assert_int_eq(signals_seen, 1);
        http_close(http);
}
END_TEST

UNIT_MAIN("http", metrics_are_served_as_prometheus_text, readiness_follows_what_the_worker_says,
          health_is_red_when_the_loop_stands_still, opening_counts_as_the_first_round,
          head_gets_headers_and_no_body, another_path_is_not_found,
          another_method_is_refused_body_and_all, garbage_does_not_stop_the_server,
          a_port_in_use_is_an_error_that_names_it, a_name_or_a_port_out_of_range_is_refused,
          signals_are_left_to_the_worker_s_thread)
