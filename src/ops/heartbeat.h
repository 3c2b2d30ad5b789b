/* The loop goes round: /healthz and the service manager's watchdog want to know. */
#ifndef OPS_HEARTBEAT_H
#define OPS_HEARTBEAT_H

#include <stdint.h>

struct heartbeat {
        int64_t every_ms, next_ms; /* of the watchdog; every_ms 0: nobody waits for it */
};

struct heartbeat heartbeat_start(void);
void heartbeat_beat(struct heartbeat *heartbeat);

#endif
