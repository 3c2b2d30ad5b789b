/*
 * Opening balances: what stood on an account before postonce kept the books. Each is an outcome of
 * its own, posted as any notification is: claim, outcome, entries, balance, in one lock order.
 *
 * Its key is POSTONCE:opening-<account>/<currency>:OPENING_BALANCE, so an account has one opening
 * balance a tenant and currency, and posting it twice is impossible. The other side of its entry is
 * a counter account (equity:opening), so the books stay balanced.
 */
#ifndef LEDGER_OPENING_H
#define LEDGER_OPENING_H

#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "ledger/posting.h"
#include "mysql/db.h"
#include "postonce/error.h"
#include "postonce/notification.h"

enum { OPENING_ROWS_MAX = 200 }; /* of one call */

enum opening_fate {
        OPENING_POSTED,
        OPENING_THERE,   /* the same was posted before */
        OPENING_DIFFERS, /* posted before with another amount: refused */
};

struct opening {
        int64_t tenant_id;
        const char *account; /* its code as it is: no template */
        const char *currency;
        int64_t amount_minor;    /* debits are positive; not 0 */
        int64_t effective_at_us; /* PO_TIME_UNKNOWN: not said */
        int64_t line;            /* where it stands in its file */

        enum opening_fate fate; /* filled by openings_post() */
};

/* Whether it can be posted. RECORD: ACCOUNT_MALFORMED (empty, longer than its column, a brace, a
 * control character, a space at an end), KEY_TOO_LONG. */
PO_MUST_USE enum po_class opening_check(const struct opening *opening, struct po_error *error);

/*
 * Posts count of them, each checked. counter: the code of the other side's account. Rows that
 * differ from what was posted are told and left out, the others are posted in one transaction.
 * ledger: opened for at least OPENING_ROWS_MAX. Any class but OK: none of this call is posted
 * (UNCERTAIN: all or none); the same again is safe.
 */
PO_MUST_USE enum po_class openings_post(struct ledger *ledger, const char *counter,
                                        struct opening *openings, size_t count,
                                        struct po_error *error);

#endif
