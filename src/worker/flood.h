/*
 * The flood guard: more dead letters a minute than an operator allowed, of all workers together,
 * are no bad records but something systemic. Intake is paused, durably, until `postonce resume`.
 */
#ifndef WORKER_FLOOD_H
#define WORKER_FLOOD_H

#include <stddef.h>
#include <stdint.h>

#include "postonce/error.h"

struct db;
struct sql;

/*
 * Before so many letters are sent; *room_out: how many of them may be, in any case. SYSTEMIC: not
 * all; the pause is recorded, and the alarm raised by the one worker that did so. Those that may be
 * sent then are what a `resume` moves: each lets a minute's worth pass before it stops again.
 */
PO_MUST_USE enum po_class flood_check(size_t letters, int64_t most_per_minute, struct db *db,
                                      struct sql *sql, size_t *room_out, struct po_error *error);

#endif
