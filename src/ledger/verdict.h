/* What became of a notification. The words are the contract's; what follows from each is one table
 * in worker/worker.c. */
#ifndef LEDGER_VERDICT_H
#define LEDGER_VERDICT_H

enum verdict {
        VERDICT_NONE = 0,  /* not judged yet */
        VERDICT_POSTED,    /* transition made, entries written */
        VERDICT_SKIPPED,   /* the state is already further on: nothing to do */
        VERDICT_DUPLICATE, /* settled before, equal fingerprint: the first result is replayed */
        VERDICT_CONFLICT,  /* same key, other fingerprint: a person must look */
        VERDICT_REJECTED,  /* cannot be posted: dead letter */
        VERDICT_HELD,      /* comes again */
        VERDICT_COUNT
};

/* "POSTED", …; as it stands in outcome.verdict. */
const char *verdict_name(enum verdict verdict);
/* The verdict of an outcome row's word; VERDICT_NONE for a word that this program does not know. */
enum verdict verdict_parse(const char *word);

#endif
