/* What an operator chose of the contract's choices; read-only while a worker runs. */
#ifndef WORKER_POLICY_H
#define WORKER_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"

struct policy {
        /* park */
        size_t park_delays_count; /* at least 1 */
        int64_t park_delays_ms[PARK_DELAYS_MAX];
        int64_t give_up_after_ms;
        /* strict */
        bool reconcile; /* unfinished claims of another attempt are ORPHANED, not finished */
        bool hand_over; /* PARKED, CONFLICT and REJECTED pass; false: they become HELD */
        /* dead_letter */
        int64_t letters_per_minute; /* of all workers together; more stops intake */
};

#endif
