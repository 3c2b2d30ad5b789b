/*
 * Registers a refund before the channel is asked for it:
 *
 *   register_refund RULES REFUND_NO ORDER_NO AMOUNT_MINOR CURRENCY
 *
 * RULES is the workers' configuration file; the database is in DB_HOST, DB_PORT, DB_USER,
 * DB_PASSWORD_FILE and DB_NAME. Exit 0: the channel may be asked now, with exactly this
 * number and amount. 1: refused for good. 75: nobody knows yet; run it again, do not ask.
 */
#include <stdio.h>
#include <stdlib.h>

#include <signal.h>

#include <postonce/ledger.h>
#include <postonce/refund.h>

#include "database.h"

enum { TRIES_MAX = 5, EXIT_REFUSED = 1, EXIT_AGAIN = 75 };

/* The same again is safe whatever came of the try before. */
static enum po_class register_refund(struct po_ledger *ledger, const struct po_refund *refund,
                                     struct po_refund_state *state, struct po_error *error)
{
        enum po_class kind = PO_TRANSIENT;
        for (int i = 0; i < TRIES_MAX && (kind == PO_TRANSIENT || kind == PO_UNCERTAIN); i++)
                kind = po_refund_register(ledger, refund, state, error);
        return kind;
}

int main(int argc, char **argv)
{
        if (argc != 6)
                return 64;
        signal(SIGPIPE, SIG_IGN);

        const struct po_database database = database_of_environment();
        const struct po_refund refund = { 1, argv[2], argv[3], strtoll(argv[4], NULL, 10),
                                          argv[5] };
        struct po_refund_state state;
        struct po_ledger *ledger;
        struct po_error error;
        enum po_class kind = po_ledger_open(&ledger, &database, argv[1], &error);
        if (kind == PO_OK)
                kind = register_refund(ledger, &refund, &state, &error);
        po_ledger_close(ledger);

        if (kind == PO_OK) {
                printf("ask the channel: %s, %s%s, reserved %lld\n", refund.refund_no, state.status,
                       state.again ? " before" : "", (long long)state.reserved_minor);
                return 0;
        }
        printf("do not ask the channel: %s %s: %s\n", po_class_name(kind),
               error.reason != NULL ? error.reason : "-", error.text);
        return kind == PO_RECORD ? EXIT_REFUSED : EXIT_AGAIN;
}
