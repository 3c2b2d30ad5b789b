/*
 * Whose a record's notifications are, where the configuration says more than the profile or the
 * envelope does: a header of the record or a constant instead, and which tenants there are at all.
 */
#ifndef CHANNEL_TENANT_H
#define CHANNEL_TENANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/record.h"
#include "postonce/error.h"
#include "postonce/notification.h"

enum { TENANTS_MAX = 10000 };

enum tenant_source {
        TENANT_PAYLOAD, /* the envelope's tenant_id, else the profile's tenant */
        TENANT_HEADER,  /* the record's header alone: what the payload says does not count */
        TENANT_CONSTANT,
};
extern const char *const tenant_source_words[]; /* "payload", "header", "constant", NULL */

struct tenants {
        size_t from;        /* enum tenant_source */
        const char *header; /* its name, with TENANT_HEADER */
        int64_t constant;
        size_t known_count; /* 0: any tenant is taken */
        int64_t *known;     /* ascending */
};

/* A tenant's number as text: decimal digits without sign or space, 1 and up. */
bool tenant_read(const char *text, size_t length, int64_t *tenant_id_out);

bool tenant_is_known(const struct tenants *tenants, int64_t tenant_id);

/*
 * Sets tenant_id of all of them, and looks whether it is known. RECORD: TENANT_MISSING (no such
 * header), TENANT_MALFORMED, TENANT_UNKNOWN.
 */
PO_MUST_USE enum po_class tenants_settle(const struct tenants *tenants, const struct record *record,
                                         struct po_notification *notifications, size_t count,
                                         struct po_error *error);

#endif
