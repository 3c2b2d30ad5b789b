/*
 * An outage under way, if there is one: of the brokers, or of the database. A SYSTEMIC one stops
 * intake for all partitions until a probe works; a transient one reds readiness when it lasts.
 */
#ifndef BASE_OUTAGE_H
#define BASE_OUTAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "postonce/error.h"

struct outage {
        enum po_class kind; /* PO_OK: none; PO_TRANSIENT, or PO_SYSTEMIC until it is over */
        int64_t since_ms;
        unsigned tries;  /* how often it was met */
        int64_t told_ms; /* the same again is a warning once in a while only */
        int told_code;
};

/* One failed unit: logged; the first SYSTEMIC one of an outage is alarmed. */
void outage_note(struct outage *outage, const struct po_error *why);
/* Something worked again. */
void outage_over(struct outage *outage);
/* What /readyz says of it; NULL: it does not red readiness (yet). Static. */
const char *outage_reason(const struct outage *outage);

#endif
