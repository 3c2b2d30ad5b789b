/*
 * The state machine, in memory: what a notification does to an order row that is locked.
 * Pure; the database judges again by the conditional UPDATE's affected rows.
 */
#ifndef LEDGER_JUDGE_H
#define LEDGER_JUDGE_H

#include <stdbool.h>

#include "ledger/order.h"
#include "ledger/rules.h"
#include "ledger/verdict.h"
#include "postonce/notification.h"

struct judgement {
        enum verdict verdict;      /* POSTED, SKIPPED, REJECTED or HELD */
        char result[RESULT_BYTES]; /* outcome.result_json for POSTED and SKIPPED */
        const char *reason;        /* static word for HELD and REJECTED */
        bool review; /* NO_POSTING_RECORDED: a person must look whether it was booked */
};

/*
 * order: the locked row, changed in place when the verdict moves it (status, paid_*, `moved`);
 * NULL: there is no such order, or the rule needs none.
 */
void judge(const struct rules *rules, const struct event_rule *rule,
           const struct po_notification *notification, struct order *order,
           struct judgement *judgement_out);

#endif
