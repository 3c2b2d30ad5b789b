/*
 * What follows from a verdict: whether the offset may pass the record, and what is logged and
 * counted of it. One table in settlement.c says it; here nothing is written but log and metrics.
 */
#ifndef WORKER_SETTLEMENT_H
#define WORKER_SETTLEMENT_H

#include "worker/batch.h"

/* Of a record as a whole; false: it must come again. */
bool settlement_passes(enum verdict verdict);

/*
 * Logs and counts the parcel's notifications, and its own REJECTED or HELD. comes_again: it stands
 * behind a hold, or waits on as parked: told now is only what was settled just now, the rest when
 * it is settled. What an earlier try of the same delivery settled is logged, not counted.
 */
void settlement_report(const struct batch *batch, const struct parcel *parcel, bool comes_again);

#endif
