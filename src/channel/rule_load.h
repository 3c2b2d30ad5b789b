/*
 * One rule of a profile, from YAML:
 *
 *   - when: [[/order_status, eq, PAID], [/status, in, [SUCCESS, DONE]], [/sn, exists]]
 *     event: PAYMENT_RECEIVED
 *     txn: /sn                     # or a list of pointers: a composite number
 *     order: /client_sn
 *     parent: /sn                  # a refund's payment; or a list, like txn
 *     refund_no: /refund_request_no|/client_tsn
 *     amount: { at: /total_amount, minus: /net_amount, format: minor, kind: cumulative,
 *               sign: minus }      # the channel writes it with a minus
 *     currency: { const: CNY }     # or { at: /currency, default: CNY, upper: true,
 *                                  #      map: { "156": CNY } }
 *     fee: { at: /fee, format: minor }    # what of the amount the channel keeps
 *     occurred_at: { at: /finish_time, format: ms }    # or rfc3339, s, datetime, compact
 *   - when: [[/order_status, eq, CREATED]]
 *     ignore: true
 *   - when: [[/tenders, exists]]
 *     each: /tenders               # one notification for each item …
 *     where: [["@/state", eq, "3"]]  # … for which these hold; none at all is no error
 *     event: { at: "@/kind", map: { "1": PAYMENT_RECEIVED, "2": PAYMENT_AUTHORISED } }
 *     txn: "@/tender_sn"           # YAML wants quotes around @ and #
 *     continue: true               # the rules behind it are tried as well
 *
 * Tests of a condition: eq TEXT, in [TEXT, …], prefix TEXT, exists, absent, gt0. Currency codes are
 * checked here, so that a wrong one is no surprise in the night.
 */
#ifndef CHANNEL_RULE_LOAD_H
#define CHANNEL_RULE_LOAD_H

#include "channel/rule.h"
#include "config/document.h"

/* unrolled: the shape unrolls a list, so that "@/…" means something without the rule's own each.
 * rule_out is zeroed by the caller. SYSTEMIC: what is wrong, with file:line:column. */
PO_MUST_USE enum po_class rule_load(const struct node *node, bool unrolled, struct rule *rule_out,
                                    struct po_error *error);

#endif
