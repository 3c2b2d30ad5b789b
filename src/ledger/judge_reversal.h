/*
 * What a notification that takes a payment back does to a locked order. Pure, as judge.h.
 */
#ifndef LEDGER_JUDGE_REVERSAL_H
#define LEDGER_JUDGE_REVERSAL_H

#include "ledger/judgement.h"
#include "ledger/order.h"
#include "ledger/rules.h"
#include "ledger/subject.h"
#include "postonce/notification.h"

/*
 * rule: one that `reverses`. target: what subjects_find() and subjects_read() know of the payment.
 * order: the locked row, changed in place when the verdict moves it; NULL: there is none.
 */
void judge_reversal(const struct event_rule *rule, const struct po_notification *notification,
                    const struct subject *target, struct order *order,
                    struct judgement *judgement_out);

#endif
