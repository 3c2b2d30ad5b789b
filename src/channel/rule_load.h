/*
 * One rule of a profile, from YAML:
 *
 *   - when: [[/order_status, eq, PAID], [/status, in, [SUCCESS, DONE]], [/sn, exists]]
 *     event: PAYMENT_RECEIVED
 *     txn: /sn                     # or a list of pointers: a composite number
 *     order: /client_sn
 *     parent: /sn                  # a refund's payment; or a list, like txn
 *     refund_no: /refund_request_no|/client_tsn
 *     amount: { at: /total_amount, minus: /net_amount, format: minor, kind: cumulative }
 *     currency: { const: CNY }     # or { at: /currency, default: CNY, upper: true,
 *                                  #      map: { "156": CNY } }
 *     occurred_at: { at: /finish_time, format: ms }
 *   - when: [[/order_status, eq, CREATED]]
 *     ignore: true
 *
 * Tests of a condition: eq TEXT, in [TEXT, …], prefix TEXT, exists, absent, gt0. Currency codes are
 * checked here, so that a wrong one is no surprise in the night.
 */
#ifndef CHANNEL_RULE_LOAD_H
#define CHANNEL_RULE_LOAD_H

#include "channel/rule.h"
#include "config/document.h"

/* rule_out is zeroed by the caller. SYSTEMIC: what is wrong, with file:line:column. */
PO_MUST_USE enum po_class rule_load(const struct node *node, struct rule *rule_out,
                                    struct po_error *error);

/* True for a word [A-Z0-9_]+, as channels and events are. */
bool word_is_label(const char *word);

#endif
