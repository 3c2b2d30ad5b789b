#include "base/outage.h"

#include "base/clock.h"
#include "base/log.h"

enum { UNREADY_AFTER_MS = 10000, TELL_EVERY_MS = 10000 };

static void tell(struct outage *outage, const struct po_error *why)
{
        bool told = outage->tries > 0 && outage->told_code == why->code &&
                    clock_ms() - outage->told_ms < TELL_EVERY_MS;
        log_failure(told ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARN, "outage", why);
        if (told)
                return;
        outage->told_ms = clock_ms();
        outage->told_code = why->code;
}

void outage_note(struct outage *outage, const struct po_error *why)
{
        if (outage->kind == PO_OK) {
                outage->since_ms = clock_ms();
                outage->tries = 0;
                outage->kind = PO_TRANSIENT;
        }
        tell(outage, why);
        outage->tries++;
        if (why->kind != PO_SYSTEMIC || outage->kind == PO_SYSTEMIC)
                return;
        outage->kind = PO_SYSTEMIC;
        log_alarm("SYSTEMIC", NULL, "code=%d", why->code);
}

void outage_over(struct outage *outage)
{
        if (outage->kind == PO_OK)
                return;
        log_info("outage_over", "tries=%u lasted_ms=%lld", outage->tries,
                 (long long)(clock_ms() - outage->since_ms));
        outage->kind = PO_OK;
}

const char *outage_reason(const struct outage *outage)
{
        if (outage->kind == PO_SYSTEMIC)
                return "a systemic error stops intake; see the log";
        if (outage->kind != PO_OK && clock_ms() - outage->since_ms > UNREADY_AFTER_MS)
                return "an outage lasts over 10 s; see the log";
        return NULL;
}
