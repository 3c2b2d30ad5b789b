#include "ops/heartbeat.h"

#include "base/clock.h"
#include "ops/metrics.h"
#include "ops/notify.h"

struct heartbeat heartbeat_start(void)
{
        return (struct heartbeat){ .every_ms = notify_watchdog_interval_ms() };
}

void heartbeat_beat(struct heartbeat *heartbeat)
{
        liveness_beat();
        int64_t now_ms = clock_ms();
        if (heartbeat->every_ms == 0 || now_ms < heartbeat->next_ms)
                return;
        heartbeat->next_ms = now_ms + heartbeat->every_ms;
        notify_watchdog();
}
