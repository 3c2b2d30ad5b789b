/* A normalised notification as JSON text and back, for keeping it in `parked`. */
#ifndef LEDGER_NOTICE_H
#define LEDGER_NOTICE_H

#include <stddef.h>

#include "postonce/error.h"
#include "postonce/notification.h"

enum { NOTICE_BYTES = 4096 }; /* enough for every notification, escapes included */

/* Asserts that it fits capacity (NOTICE_BYTES is enough). */
void notice_write(const struct po_notification *notification, char *buffer, size_t capacity);

/* Key and fingerprint are made anew, but for a raw one, which is kept. BUG: not what notice_write()
 * wrote. */
PO_MUST_USE enum po_class notice_read(const char *text, struct po_notification *notification_out,
                                      struct po_error *error);

#endif
