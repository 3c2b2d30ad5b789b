#include "unit.h"

#include <stdlib.h>

#include "ops/heartbeat.h"
#include "ops/metrics.h"

START_TEST(a_beat_is_a_sign_of_life)
{
        unsetenv("WATCHDOG_USEC");
        struct heartbeat heartbeat = heartbeat_start();
        ck_assert_int_eq(heartbeat.every_ms, 0);
        ck_assert(!liveness_is_alive(60000));
        heartbeat_beat(&heartbeat);
        ck_assert(liveness_is_alive(60000));
        ck_assert_int_eq(heartbeat.next_ms, 0);
}
END_TEST

START_TEST(the_watchdog_is_told_once_in_its_interval)
{
        unsetenv("WATCHDOG_PID");
        setenv("WATCHDOG_USEC", "60000000", 1);
        setenv("NOTIFY_SOCKET", "/nowhere", 1);
        struct heartbeat heartbeat = heartbeat_start();
        ck_assert_int_eq(heartbeat.every_ms, 30000);
        heartbeat_beat(&heartbeat);
        int64_t next_ms = heartbeat.next_ms;
        ck_assert_int_gt(next_ms, 0);
        heartbeat_beat(&heartbeat);
        ck_assert_int_eq(heartbeat.next_ms, next_ms);
}
END_TEST

UNIT_MAIN("heartbeat", a_beat_is_a_sign_of_life, the_watchdog_is_told_once_in_its_interval)
