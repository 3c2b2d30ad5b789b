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
/*
 * The flood guard's stop: pauses the intake with a review item (REVIEW_DEAD_LETTER_FLOOD), audited,
 * in one transaction; *fresh_out false: it was paused already, nothing is written.
 */
PO_MUST_USE enum po_class pause_trip(struct db *db, struct sql *sql, const char *why,
                                     bool *fresh_out, struct po_error *error);
/*
 * Ends a pause, audited in the same transaction; that of the intake is recorded in intake_pause,
 * since it does not count for what is parked, and its review item closed. Then what was parked
 * because of a channel's pause is made due (parked_resume()), in commits of its own: what a crash
 * leaves is due at its own delay, or by the same call again.
 */
PO_MUST_USE enum po_class pause_clear(struct db *db, struct sql *sql, const char *channel,
                                      const char *who, const char *why, struct po_error *error);

#endif
