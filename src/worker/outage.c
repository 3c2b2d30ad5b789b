#include "worker/outage.h"

#include "base/clock.h"
#include "base/log.h"
#include "ops/metrics.h"

enum { UNREADY_AFTER_MS = 10000, TELL_EVERY_MS = 10000 };

void outage_note(struct outage *outage, const struct po_error *why, enum outage_side side)
{
        if (outage->kind == PO_OK) {
                outage->since_ms = clock_ms();
                outage->tries = 0;
        }
        bool told = outage->tries > 0 && clock_ms() - outage->told_ms < TELL_EVERY_MS &&
                    outage->told_code == why->code;
        log_failure(told ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARN, "outage", why);
        if (!told)
                outage->told_ms = clock_ms();
        outage->told_code = why->code;
        if (why->kind == PO_SYSTEMIC && outage->kind != PO_SYSTEMIC)
                log_alarm("SYSTEMIC", NULL, "code=%d", why->code);
        outage->kind = why->kind == PO_SYSTEMIC ? PO_SYSTEMIC : PO_TRANSIENT;
        outage->side = side;
        outage->tries++;
        if (outage->kind == PO_SYSTEMIC)
                readiness_set("a systemic error stops intake; see the log");
        else if (clock_ms() - outage->since_ms > UNREADY_AFTER_MS)
                readiness_set("an outage lasts over 10 s; see the log");
}

void outage_over(struct outage *outage)
{
        if (outage->kind == PO_OK)
                return;
        log_info("outage_over", "tries=%u lasted_ms=%lld", outage->tries,
                 (long long)(clock_ms() - outage->since_ms));
        outage->kind = PO_OK;
        readiness_set(NULL);
}
