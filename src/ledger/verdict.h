/* What became of a notification. The words are the contract's; what follows from each is one table
 * in worker/settlement.c. */
#ifndef LEDGER_VERDICT_H
#define LEDGER_VERDICT_H

#include <stdbool.h>

enum verdict {
        VERDICT_NONE = 0,  /* not judged yet */
        VERDICT_POSTED,    /* transition made, entries written */
        VERDICT_SKIPPED,   /* the state is already further on: nothing to do */
        VERDICT_SUSPENSE,  /* money that cannot move its order: on the suspense account, for review
                            */
        VERDICT_DISCARDED, /* a person said so: an outcome without entries */
        VERDICT_DUPLICATE, /* settled before, equal fingerprint: the first result is replayed */
        VERDICT_PARKED,    /* too early: kept in `parked` until its time comes */
        VERDICT_ORPHANED,  /* strict.unfinished: an unfinished claim that is not ours, for reconcile
                            */
        VERDICT_CONFLICT,  /* same key, other fingerprint: a person must look */
        VERDICT_REJECTED,  /* cannot be posted: dead letter */
        VERDICT_HELD,      /* comes again */
        VERDICT_COUNT
};

/* Whether it is one of those that stand in an outcome row. */
bool verdict_is_outcome(enum verdict verdict);

/* "POSTED", …; as it stands in outcome.verdict. */
const char *verdict_name(enum verdict verdict);
/* The verdict of an outcome row's word; VERDICT_NONE for a word that this program does not know. */
enum verdict verdict_parse(const char *word);

#endif
