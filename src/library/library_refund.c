#include "postonce/refund.h"

#include <stdio.h>
#include <string.h>

#include "channel/currency.h"
#include "channel/money.h"
#include "channel/utf8.h"
#include "ledger/refund_reserve.h"
#include "library/library.h"

_Static_assert((int)PO_STATUS_BYTES == (int)STATUS_BYTES,
               "what the library tells is what the ledger holds");

static bool has_control(const char *text)
{
        for (const unsigned char *byte = (const unsigned char *)text; *byte != '\0'; byte++)
                if (*byte < ' ' || *byte == 0x7f)
                        return true;
        return false;
}

static enum po_class check_number(const char *what, const char *number, struct po_error *error)
{
        size_t bytes = number != NULL ? strlen(number) : 0;
        if (bytes == 0 || bytes >= PO_ORDER_NO_BYTES || number[0] == ' ' ||
            number[bytes - 1] == ' ' || has_control(number) || utf8_check(number, bytes) != bytes)
                return po_refuse(error, "REFUND_MALFORMED",
                                 "%s must be UTF-8 of 1 to %d bytes, without control characters "
                                 "and without a space at either end",
                                 what, PO_ORDER_NO_BYTES - 1);
        return PO_OK;
}

static enum po_class check_refund(const struct po_refund *refund, struct po_error *error)
{
        int exponent;
        if (check_number("refund_no", refund->refund_no, error) != PO_OK ||
            check_number("order_no", refund->order_no, error) != PO_OK)
                return error->kind;
        if (refund->tenant_id < 1)
                return po_refuse(error, "REFUND_MALFORMED", "tenant_id must be 1 or above");
        if (refund->amount_minor < 1 || refund->amount_minor > MONEY_MINOR_MAX)
                return po_refuse(error, "REFUND_MALFORMED",
                                 "amount_minor must be above 0 and at most 2^53 - 1");
        if (refund->currency == NULL || !currency_find(refund->currency, &exponent))
                return po_refuse(error, "REFUND_MALFORMED",
                                 "currency must be an ISO 4217 code in upper case");
        return PO_OK;
}

static enum po_class reserve(struct po_ledger *ledger, const struct po_refund *refund,
                             struct po_refund_state *state_out, struct po_error *error)
{
        const struct event_rule *rule =
                ledger->rules != NULL ? rules_registering(ledger->rules) : NULL;
        if (rule == NULL)
                return po_fail(error, PO_SYSTEMIC, 0,
                               "no event with refund: { create: … } was read: nothing says which "
                               "orders take refunds");
        struct refund row = { .tenant_id = refund->tenant_id,
                              .amount_minor = refund->amount_minor };
        snprintf(row.refund_no, sizeof row.refund_no, "%s", refund->refund_no);
        snprintf(row.order_no, sizeof row.order_no, "%s", refund->order_no);
        snprintf(row.currency, sizeof row.currency, "%s", refund->currency);
        bool again;
        if (refund_reserve(ledger->db, &ledger->sql, rule, &row, &again, error) != PO_OK)
                return error->kind;
        *state_out = (struct po_refund_state){ .again = again, .reserved_minor = row.reserved };
        memcpy(state_out->status, row.status, sizeof row.status);
        memcpy(state_out->channel, row.channel, sizeof row.channel);
        memcpy(state_out->txn, row.txn, sizeof row.txn);
        return PO_OK;
}

enum po_class po_refund_register(struct po_ledger *ledger, const struct po_refund *refund,
                                 struct po_refund_state *state_out, struct po_error *error)
{
        if (check_refund(refund, error) != PO_OK)
                return po_within(error, "register a refund");
        return reserve(ledger, refund, state_out, error);
}
