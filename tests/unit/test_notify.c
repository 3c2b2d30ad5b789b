#include "unit.h"

#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "ops/notify.h"

static char received[1024];

/* A manager's socket at that name ("@…": abstract), which NOTIFY_SOCKET then names. */
static int listen_at(const char *name)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        size_t length = strlen(name);
        memcpy(address.sun_path, name, length);
        if (name[0] == '@')
                address.sun_path[0] = '\0';
        int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
        socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
        ck_assert_int_eq(bind(fd, (const struct sockaddr *)&address, bytes), 0);
        setenv("NOTIFY_SOCKET", name, 1);
        return fd;
}

static int listen_abstract(void)
{
        char name[64];
        snprintf(name, sizeof name, "@postonce-test-%d", (int)getpid());
        return listen_at(name);
}

static const char *receive(int fd)
{
        ssize_t bytes = recv(fd, received, sizeof received - 1, MSG_DONTWAIT);
        ck_assert_int_ge(bytes, 0);
        received[bytes] = '\0';
        return received;
}

START_TEST(each_state_is_one_datagram)
{
        int fd = listen_abstract();
        ck_assert(notify_ready());
        ck_assert_str_eq(receive(fd), "READY=1");
        ck_assert(notify_watchdog());
        ck_assert_str_eq(receive(fd), "WATCHDOG=1");
        ck_assert(notify_status("%d partitions", 4));
        ck_assert_str_eq(receive(fd), "STATUS=4 partitions");
        ck_assert(notify_stopping());
        ck_assert_str_eq(receive(fd), "STOPPING=1");
        close(fd);
}
END_TEST

START_TEST(a_socket_in_the_file_system_is_told_too)
{
        char folder[] = "/tmp/postonce-notify-XXXXXX";
        ck_assert_ptr_nonnull(mkdtemp(folder));
        char path[64];
        snprintf(path, sizeof path, "%s/socket", folder);
        int fd = listen_at(path);
        ck_assert(notify_ready());
        ck_assert_str_eq(receive(fd), "READY=1");
        close(fd);
        unlink(path);
        rmdir(folder);
}
END_TEST

START_TEST(nobody_to_tell_is_no_error)
{
        unsetenv("NOTIFY_SOCKET");
        ck_assert(!notify_ready());
        setenv("NOTIFY_SOCKET", "", 1);
        ck_assert(!notify_ready());
        setenv("NOTIFY_SOCKET", "relative/path", 1);
        ck_assert(!notify_ready());
        setenv("NOTIFY_SOCKET", "/nonexistent/socket", 1);
        ck_assert(!notify_ready());
        char longer[300];
        memset(longer, '/', sizeof longer - 1);
        longer[sizeof longer - 1] = '\0';
        setenv("NOTIFY_SOCKET", longer, 1);
        ck_assert(!notify_ready());
}
END_TEST

START_TEST(a_status_is_one_bounded_line)
{
        int fd = listen_abstract();
        ck_assert(notify_status("%s", "one\nREADY=1"));
        ck_assert_str_eq(receive(fd), "STATUS=one");
        char longer[300];
        memset(longer, 'x', sizeof longer - 1);
        longer[sizeof longer - 1] = '\0';
        ck_assert(notify_status("%s", longer));
        ck_assert_uint_eq(strlen(receive(fd)), strlen("STATUS=") + 200);
        close(fd);
}
END_TEST

START_TEST(the_watchdog_is_fed_twice_in_its_time)
{
        setenv("WATCHDOG_USEC", "30000000", 1);
        unsetenv("WATCHDOG_PID");
        ck_assert_int_eq(notify_watchdog_interval_ms(), 15000);
        setenv("WATCHDOG_USEC", "1", 1);
        ck_assert_int_eq(notify_watchdog_interval_ms(), 1);
}
END_TEST

START_TEST(a_watchdog_of_another_process_or_none_is_not_fed)
{
        char pid[32];
        setenv("WATCHDOG_USEC", "30000000", 1);
        snprintf(pid, sizeof pid, "%d", (int)getpid() + 1);
        setenv("WATCHDOG_PID", pid, 1);
        ck_assert_int_eq(notify_watchdog_interval_ms(), 0);
        snprintf(pid, sizeof pid, "%d", (int)getpid());
        setenv("WATCHDOG_PID", pid, 1);
        ck_assert_int_eq(notify_watchdog_interval_ms(), 15000);
        setenv("WATCHDOG_USEC", "soon", 1);
        ck_assert_int_eq(notify_watchdog_interval_ms(), 0);
        setenv("WATCHDOG_USEC", "0", 1);
        ck_assert_int_eq(notify_watchdog_interval_ms(), 0);
        unsetenv("WATCHDOG_USEC");
        ck_assert_int_eq(notify_watchdog_interval_ms(), 0);
}
END_TEST

UNIT_MAIN("notify", each_state_is_one_datagram, a_socket_in_the_file_system_is_told_too,
          nobody_to_tell_is_no_error, a_status_is_one_bounded_line,
          the_watchdog_is_fed_twice_in_its_time, a_watchdog_of_another_process_or_none_is_not_fed)
