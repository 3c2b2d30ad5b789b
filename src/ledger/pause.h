/*
 * What an operator (or the flood guard) stopped: the whole intake, or channels. Durable; every
 * worker looks once a second.
 */
#ifndef LEDGER_PAUSE_H
#define LEDGER_PAUSE_H

#include <stdbool.h>
#include <stddef.h>

#include "mysql/db.h"
#include "postonce/error.h"
#include "postonce/notification.h"

enum { PAUSES_MAX = 64 };
#define PAUSE_ALL "" /* the channel that stands for the whole intake */

struct pauses {
        bool all;
        size_t count;
        char channels[PAUSES_MAX][PO_CHANNEL_BYTES];
};

bool pauses_have(const struct pauses *pauses, const char *channel);
/* SYSTEMIC: more than PAUSES_MAX; none of them may be overlooked. */
PO_MUST_USE enum po_class pauses_read(struct db *db, struct sql *sql, struct pauses *pauses_out,
                                      struct po_error *error);

/* Pauses a channel (PAUSE_ALL: the intake), audited in the same transaction. Again is nothing. */
PO_MUST_USE enum po_class pause_set(struct db *db, struct sql *sql, const char *channel,
                                    const char *who, const char *why, struct po_error *error);
/* The same, the other way; what was parked because of the pause is due at once. */
PO_MUST_USE enum po_class pause_clear(struct db *db, struct sql *sql, const char *channel,
                                      const char *who, const char *why, struct po_error *error);

#endif
