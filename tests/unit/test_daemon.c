#include "unit.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "commands/command.h"
#include "commands/daemon.h"
#include "ops/metrics.h"

static struct settings settings = { .stop = { .grace_ms = 60000 } };

START_TEST(a_signal_asks_to_stop_and_ends_a_wait)
{
        enum { LONG_MS = 600000 };
        daemon_watch_signals(&settings);
        ck_assert_int_eq(daemon_stop, 0);
        raise(SIGTERM);
        ck_assert_int_ne(daemon_stop, 0);
        daemon_wait(LONG_MS);
}
END_TEST

START_TEST(a_second_signal_ends_the_process_as_undrained)
{
        int status;
        pid_t child = fork();
        if (child == 0) {
                daemon_watch_signals(&settings);
                raise(SIGTERM);
                raise(SIGINT);
                _exit(0);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFEXITED(status));
        ck_assert_int_eq(WEXITSTATUS(status), EXIT_UNDRAINED);
}
END_TEST

START_TEST(without_pages_none_are_opened_and_nothing_is_ready)
{
        struct http *http;
        struct po_error error;
        settings.http.off = true;
        ck_assert_int_eq(daemon_open_http(&settings, &http, &error), PO_OK);
        ck_assert_ptr_null(http);
        ck_assert_str_eq(readiness_reason(), "starting");
}
END_TEST

START_TEST(a_database_that_is_away_is_waited_for_until_it_is_told_to_stop)
{
        struct db *db;
        struct po_error error;
        settings.mysql = (struct db_options){ .socket = "/nowhere/mysql",
                                              .user = "u",
                                              .connect_timeout_ms = 1000,
                                              .read_timeout_ms = 1000,
                                              .write_timeout_ms = 1000,
                                              .wait_timeout_ms = 1000 };
        settings.retry.first_ms = settings.retry.most_ms = 600000;
        daemon_watch_signals(&settings);
        signal(SIGALRM, SIG_IGN);
        pid_t parent = getpid(), child = fork();
        if (child == 0) {
                usleep(200000);
                kill(parent, SIGTERM);
                _exit(0);
        }
        ck_assert_int_eq(daemon_wait_for_database(&settings, &db, &error), PO_OK);
        ck_assert_int_ne(daemon_stop, 0);
        waitpid(child, NULL, 0);
        db_close(db);
}
END_TEST

UNIT_MAIN("daemon", a_signal_asks_to_stop_and_ends_a_wait,
          a_second_signal_ends_the_process_as_undrained,
          without_pages_none_are_opened_and_nothing_is_ready,
          a_database_that_is_away_is_waited_for_until_it_is_told_to_stop)
