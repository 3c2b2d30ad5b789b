/*
 * What a notification does to a locked refund and its locked order. Pure, as judge.h.
 *
 * A registered refund posts its registered amount, and the notice must agree; one that nobody
 * registered is registered by its notice. Money that reached the payer is never refused: beyond
 * what was paid, or other than registered, it stands in suspense, and what comes back of it goes
 * from there.
 */
#ifndef LEDGER_JUDGE_REFUND_H
#define LEDGER_JUDGE_REFUND_H

#include "ledger/judgement.h"
#include "ledger/order.h"
#include "ledger/refund.h"
#include "ledger/rules.h"
#include "ledger/subject.h"
#include "postonce/notification.h"

/*
 * rule: of RULE_REFUND. success: what subjects_find() and subjects_read() know of the success that
 * a failure may take back. order: the locked row, or NULL: there is none. refund: the locked row,
 * or its key alone. Both are changed in place when the verdict moves them. claim_id: of the
 * notification.
 */
void judge_refund(const struct event_rule *rule, const struct po_notification *notification,
                  const struct subject *success, int64_t claim_id, struct order *order,
                  struct refund *refund, struct judgement *judgement_out);

#endif
