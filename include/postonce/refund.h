/*
 * Registering a refund before the channel is asked for it.
 *
 * Its amount is reserved on the order in a committed transaction of its own, by one conditional
 * UPDATE, so that two at once, through whichever programs, cannot give back more than was paid. Ask
 * the channel only after OK, always with the registered number and amount; what the channel says
 * about it later reaches the ledger as notifications.
 */
#ifndef POSTONCE_REFUND_H
#define POSTONCE_REFUND_H

#include <stdbool.h>
#include <stdint.h>

#include "postonce/error.h"
#include "postonce/ledger.h"
#include "postonce/notification.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PO_STATUS_BYTES = 33 }; /* a state of an order or refund, [A-Z_]{1,32} */

/*
 * What is to go back. The strings are the caller's, during the call. Numbers are UTF-8 of 1 to 64
 * bytes without control characters and without a space at either end.
 */
struct po_refund {
        int64_t tenant_id;     /* whose order; 1 and up */
        const char *refund_no; /* unique for the tenant; the channel is asked under it */
        const char *order_no;  /* a paid order */
        int64_t amount_minor;  /* minor units of currency (cents); 1 to 2^53 - 1 */
        const char *currency;  /* ISO 4217, the order's */
};

/* The refund as it stands in the ledger. */
struct po_refund_state {
        bool again;                   /* it was registered before: this is the first one's row */
        char status[PO_STATUS_BYTES]; /* REGISTERED, …: the configuration's words */
        int64_t reserved_minor;       /* what of its amount is reserved: all, or 0 once it ended */
        /* The movement of money that posted it; "": none yet. */
        char channel[PO_CHANNEL_BYTES];
        char txn[PO_TXN_BYTES];
};

/*
 * Registers a refund, unless it is registered already with the same order, amount and currency: the
 * same again changes nothing, whatever became of the first. state_out is filled with OK only.
 * RECORD: nothing is reserved, do not ask the channel; error->reason says why: REFUND_EXCEEDS (with
 * what is refunded and reserved it is more than was paid), REFUND_DIFFERS (the number is taken by
 * another order, amount or currency, or the order's currency is another), ORDER_UNKNOWN,
 * STATE_REFUSED (the order takes no refund), REFUND_MALFORMED.
 * TRANSIENT: nothing is reserved, try again. UNCERTAIN: it may be reserved; the same call again
 * tells. SYSTEMIC: a person must mend something first; the ledger was opened without rules, or they
 * register no refunds. Never ask the channel on any of these.
 */
PO_MUST_USE enum po_class po_refund_register(struct po_ledger *ledger,
                                             const struct po_refund *refund,
                                             struct po_refund_state *state_out,
                                             struct po_error *error);

#ifdef __cplusplus
}
#endif

#endif
