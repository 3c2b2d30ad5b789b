#include "ops/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/metrics.h"

enum { CONNECTIONS_MAX = 16, IDLE_TIMEOUT_S = 10, CONNECTION_BYTES = 16 * 1024, PORT_MAX = 65535 };

static const char text_plain[] = "text/plain; charset=utf-8";
static const char text_metrics[] = "text/plain; version=0.0.4; charset=utf-8";

struct http {
        struct MHD_Daemon *daemon;
        int64_t alive_limit_ms;
        int port;
};

struct address {
        union {
                struct sockaddr any;
                struct sockaddr_in v4;
                struct sockaddr_in6 v6;
        } socket;
        bool is_v6;
};

/* Takes the body over (malloc'd); NULL: an answer that could not be made closes the connection. */
static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *type,
                              char *body, size_t bytes)
{
        if (body == NULL)
                return MHD_NO;
        struct MHD_Response *response =
                MHD_create_response_from_buffer(bytes, body, MHD_RESPMEM_MUST_FREE);
        if (response == NULL) {
                free(body);
                return MHD_NO;
        }
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
        if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
                MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
        enum MHD_Result result = MHD_queue_response(connection, status, response);
        MHD_destroy_response(response);
        return result;
}

static enum MHD_Result answer_line(struct MHD_Connection *connection, unsigned status,
                                   const char *text)
{
        char *body = NULL;
        int bytes = asprintf(&body, "%s\n", text);
        return answer(connection, status, text_plain, bytes < 0 ? NULL : body, (size_t)bytes);
}

static enum MHD_Result serve_metrics(struct MHD_Connection *connection, const struct http *http)
{
        (void)http;
        char *body = NULL;
        size_t bytes = 0;
        FILE *stream = open_memstream(&body, &bytes);
        if (stream == NULL)
                return MHD_NO;
        metrics_print(stream);
        if (fclose(stream) != 0) {
                free(body);
                return MHD_NO;
        }
        return answer(connection, MHD_HTTP_OK, text_metrics, body, bytes);
}

static enum MHD_Result serve_health(struct MHD_Connection *connection, const struct http *http)
{
        if (!liveness_is_alive(http->alive_limit_ms))
                return answer_line(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                                   "the worker's loop stands still");
        return answer_line(connection, MHD_HTTP_OK, "alive");
}

static enum MHD_Result serve_readiness(struct MHD_Connection *connection, const struct http *http)
{
        (void)http;
        const char *reason = readiness_reason();
        if (reason != NULL)
                return answer_line(connection, MHD_HTTP_SERVICE_UNAVAILABLE, reason);
        return answer_line(connection, MHD_HTTP_OK, "ready");
}

static const struct {
        const char *path;
        enum MHD_Result (*serve)(struct MHD_Connection *connection, const struct http *http);
} pages[] = {
        { "/metrics", serve_metrics },
        { "/healthz", serve_health },
        { "/readyz", serve_readiness },
};

static enum MHD_Result serve(void *closure, struct MHD_Connection *connection, const char *url,
                             const char *method, const char *version, const char *upload,
                             size_t *upload_bytes, void **request)
{
        (void)version;
        (void)upload;
        static char seen;
        /* First call, headers only: an answer now would cut a body off that nobody wants to read.
         */
        if (*request == NULL) {
                *request = &seen;
                return MHD_YES;
        }
        if (*upload_bytes > 0) {
                *upload_bytes = 0;
                return MHD_YES;
        }
        bool reads = strcmp(method, MHD_HTTP_METHOD_GET) == 0 ||
                     strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
        for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
                if (strcmp(url, pages[i].path) != 0)
                        continue;
                if (!reads)
                        return answer_line(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
                                           "only GET and HEAD");
                return pages[i].serve(connection, closure);
        }
        return answer_line(connection, MHD_HTTP_NOT_FOUND, "/metrics, /healthz or /readyz");
}

static enum po_class address_parse(struct address *address, const char *text, int port,
                                   struct po_error *error)
{
        memset(address, 0, sizeof *address);
        if (port < 0 || port > PORT_MAX)
                return po_fail(error, PO_SYSTEMIC, 0, "http: port %d is not in 0…%d", port,
                               PORT_MAX);
        if (inet_pton(AF_INET, text, &address->socket.v4.sin_addr) == 1) {
                address->socket.v4.sin_family = AF_INET;
                address->socket.v4.sin_port = htons((uint16_t)port);
                return PO_OK;
        }
        if (inet_pton(AF_INET6, text, &address->socket.v6.sin6_addr) == 1) {
                address->is_v6 = true;
                address->socket.v6.sin6_family = AF_INET6;
                address->socket.v6.sin6_port = htons((uint16_t)port);
                return PO_OK;
        }
        return po_fail(error, PO_SYSTEMIC, 0, "http: %s is no IPv4 or IPv6 address", text);
}

/* Signals are for the worker's thread, whose waits they must end: the server's thread blocks all.
 */
static struct MHD_Daemon *start_without_signals(struct http *http, const struct address *address)
{
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO |
                         (address->is_v6 ? (unsigned)MHD_USE_IPv6 : 0u);
        struct MHD_Daemon *daemon = MHD_start_daemon(
                flags, 0, NULL, NULL, serve, http, MHD_OPTION_SOCK_ADDR, &address->socket.any,
                MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
                MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_TIMEOUT_S,
                MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_END);
        int code = errno;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        errno = code;
        return daemon;
}

enum po_class http_open(struct http **http_out, const char *address, int port,
                        int64_t alive_limit_ms, struct po_error *error)
{
        *http_out = NULL;
        struct address parsed;
        if (address_parse(&parsed, address, port, error) != PO_OK)
                return error->kind;
        struct http *http = calloc(1, sizeof *http);
        if (http == NULL)
                return po_fail(error, PO_SYSTEMIC, ENOMEM, "http: out of memory");
        http->alive_limit_ms = alive_limit_ms;
        /* Opening counts as a round: what starts has as long as what runs. */
        liveness_beat();
        errno = 0;
        http->daemon = start_without_signals(http, &parsed);
        if (http->daemon == NULL) {
                int code = errno;
                free(http);
                return po_fail(error, PO_SYSTEMIC, code, "http: listen on %s port %d: %s%s",
                               address, port, code == 0 ? "refused" : strerror(code),
                               code == EADDRINUSE ? ": by another worker or relay? Give each its "
                                                    "own http.port (0: any free one)"
                                                  : "");
        }
        const union MHD_DaemonInfo *info =
                MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_BIND_PORT);
        http->port = info == NULL ? port : info->port;
        *http_out = http;
        return PO_OK;
}

int http_port(const struct http *http)
{
        return http->port;
}

void http_close(struct http *http)
{
        if (http == NULL)
                return;
        MHD_stop_daemon(http->daemon);
        free(http);
}
