/* /metrics, /healthz and /readyz on loopback (libmicrohttpd, its own thread, reads atomics only).
 */
#ifndef OPS_HTTP_H
#define OPS_HTTP_H

#include <stdint.h>

#include "postonce/error.h"

struct http;

/* address: an IPv4 or IPv6 literal; port 0: any free one (see http_port). */
PO_MUST_USE enum po_class http_open(struct http **http_out, const char *address, int port,
                                    int64_t alive_limit_ms, struct po_error *error);
int http_port(const struct http *http);
void http_close(struct http *http); /* takes NULL */

#endif
