#include "ops/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { STATUS_LINE_BYTES = 208, SEND_TIMEOUT_S = 1 };

/* The socket's address; false when $NOTIFY_SOCKET is unset or not of a kind that we speak. */
static bool address_of(struct sockaddr_un *address_out, socklen_t *bytes_out)
{
        const char *path = getenv("NOTIFY_SOCKET");
        if (path == NULL || (path[0] != '/' && path[0] != '@') || path[1] == '\0')
                return false;
        size_t length = strlen(path);
        if (length >= sizeof address_out->sun_path)
                return false;
        memset(address_out, 0, sizeof *address_out);
        address_out->sun_family = AF_UNIX;
        memcpy(address_out->sun_path, path, length);
        *bytes_out = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
        if (path[0] == '@')
                address_out->sun_path[0] = '\0'; /* abstract: the length ends the name, no NUL */
        else
                *bytes_out += 1;
        return true;
}

static bool notify_send(const char *state)
{
        struct sockaddr_un address;
        socklen_t address_bytes;
        if (!address_of(&address, &address_bytes))
                return false;
        int socket_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (socket_fd < 0)
                return false;
        /* A manager that does not read must not stop the worker. */
        struct timeval limit = { .tv_sec = SEND_TIMEOUT_S };
        setsockopt(socket_fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        ssize_t sent;
        do {
                sent = sendto(socket_fd, state, strlen(state), MSG_NOSIGNAL,
                              (const struct sockaddr *)&address, address_bytes);
        } while (sent < 0 && errno == EINTR);
        close(socket_fd);
        return sent >= 0;
}

bool notify_ready(void)
{
        return notify_send("READY=1");
}

bool notify_stopping(void)
{
        return notify_send("STOPPING=1");
}

bool notify_watchdog(void)
{
        return notify_send("WATCHDOG=1");
}

bool notify_status(const char *format, ...)
{
        char line[STATUS_LINE_BYTES] = "STATUS=";
        size_t start = strlen(line);
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(line + start, sizeof line - start, format, arguments);
        va_end(arguments);
        /* A second line would be a second variable. */
        line[start + strcspn(line + start, "\n")] = '\0';
        return notify_send(line);
}

/* A decimal number below 10^18, or -1. */
static int64_t number_of(const char *text)
{
        if (text == NULL || *text == '\0' || strlen(text) > 18)
                return -1;
        int64_t value = 0;
        for (; *text != '\0'; text++) {
                if (*text < '0' || *text > '9')
                        return -1;
                value = value * 10 + (*text - '0');
        }
        return value;
}

int64_t notify_watchdog_interval_ms(void)
{
        const char *pid = getenv("WATCHDOG_PID");
        if (pid != NULL && number_of(pid) != (int64_t)getpid())
                return 0;
        int64_t limit_us = number_of(getenv("WATCHDOG_USEC"));
        if (limit_us <= 0)
                return 0;
        int64_t half_ms = limit_us / 2 / 1000;
        return half_ms > 0 ? half_ms : 1;
}
