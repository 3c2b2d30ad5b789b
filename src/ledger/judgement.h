/* What a judge says of one notification; the words that all judges share. */
#ifndef LEDGER_JUDGEMENT_H
#define LEDGER_JUDGEMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/limits.h"
#include "ledger/verdict.h"

struct judgement {
        enum verdict verdict;      /* POSTED, SKIPPED, SUSPENSE, PARKED or REJECTED */
        char result[RESULT_BYTES]; /* outcome.result_json for POSTED, SKIPPED and SUSPENSE */
        const char *reason;        /* static word for PARKED and REJECTED */
        const char *review;   /* why a person must look (a reason of review.h); NULL: nobody need */
        int64_t amount_minor; /* what its lines post; 0: nothing */
        int64_t reverses;     /* claim whose entries are posted the other way round; 0: none */
        bool silent;          /* POSTED, but its order stays: nothing for the outbox */
        bool unblocked;       /* PARKED, and due at once: what it waits for is in this batch */
};

static inline void judgement_park(struct judgement *judgement, const char *reason)
{
        judgement->verdict = VERDICT_PARKED;
        judgement->reason = reason;
}

static inline void judgement_reject(struct judgement *judgement, const char *reason)
{
        judgement->verdict = VERDICT_REJECTED;
        judgement->reason = reason;
}

static inline void judgement_post(struct judgement *judgement, const char *what)
{
        judgement->verdict = VERDICT_POSTED;
        snprintf(judgement->result, sizeof judgement->result, "{\"posted\":\"%s\"}", what);
}

static inline void judgement_skip(struct judgement *judgement, const char *status)
{
        judgement->verdict = VERDICT_SKIPPED;
        snprintf(judgement->result, sizeof judgement->result, "{\"skipped\":\"%s\"}", status);
}

/* Money that cannot move its order is never refused: it stands in suspense until a person decides.
 */
static inline void judgement_suspend(struct judgement *judgement, const char *status,
                                     const char *why, int64_t amount_minor)
{
        judgement->verdict = VERDICT_SUSPENSE;
        judgement->reason = NULL;
        judgement->review = why;
        judgement->amount_minor = amount_minor;
        snprintf(judgement->result, sizeof judgement->result, "{\"suspense\":\"%s\"}", status);
}

#endif
