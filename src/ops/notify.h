/*
 * What the service manager is told (the protocol of sd_notify(3), spoken by hand: one datagram to
 * $NOTIFY_SOCKET, a path or, with a leading @, a name in Linux's abstract space). Best effort: a
 * worker that nobody supervises runs the same.
 */
#ifndef OPS_NOTIFY_H
#define OPS_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "postonce/error.h"

/* True when the datagram was handed over; false when there is no NOTIFY_SOCKET or it failed. */
bool notify_ready(void);    /* READY=1 */
bool notify_stopping(void); /* STOPPING=1 */
bool notify_watchdog(void); /* WATCHDOG=1: the loop went round */
/* STATUS=…: one line for `systemctl status`, at most 200 bytes. */
bool notify_status(const char *format, ...) PO_FORMAT(1, 2);

/*
 * How often notify_watchdog() must come, in ms: half of $WATCHDOG_USEC, as sd_watchdog_enabled(3)
 * advises; 0 when no watchdog waits for this process.
 */
int64_t notify_watchdog_interval_ms(void);

#endif
