/*
 * The state machine, in memory: what a notification does to an order row that is locked.
 * Pure; the database judges again by the conditional UPDATE's affected rows.
 */
#ifndef LEDGER_JUDGE_H
#define LEDGER_JUDGE_H

#include <stdbool.h>

#include "ledger/judgement.h"
#include "ledger/order.h"
#include "ledger/rules.h"
#include "postonce/notification.h"

/*
 * For payments and whatever else is no refund and no reversal. order: the locked row, changed in
 * place when the verdict moves it (status, paid_*, `moved`); NULL: there is no such order, or the
 * rule needs none.
 */
void judge(const struct rules *rules, const struct event_rule *rule,
           const struct po_notification *notification, struct order *order,
           struct judgement *judgement_out);

/* Whether it gives up to the suspense account: else it is a dead letter then. */
bool judge_carries_money(const struct event_rule *rule, const struct po_notification *notification);

/*
 * What a rule's `otherwise` makes of an order or refund in that status; without money (0) nothing
 * can stand in suspense, and it is REJECTED (STATE_REFUSED) instead.
 */
void judge_otherwise(enum rule_otherwise otherwise, const char *status, int64_t amount_minor,
                     struct judgement *judgement);

/*
 * What becomes of one that is PARKED still after park.give_up_after: SUSPENSE when it carries
 * money, else REJECTED (PARK_GAVE_UP). Other verdicts stay. order: as for judge().
 */
void judge_give_up(const struct event_rule *rule, const struct order *order,
                   struct judgement *judgement);

#endif
