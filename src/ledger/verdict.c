#include "ledger/verdict.h"

#include <string.h>

static const char *const names[VERDICT_COUNT] = {
        [VERDICT_NONE] = "NONE",         [VERDICT_POSTED] = "POSTED",
        [VERDICT_SUSPENSE] = "SUSPENSE", [VERDICT_DISCARDED] = "DISCARDED",
        [VERDICT_PARKED] = "PARKED",     [VERDICT_ORPHANED] = "ORPHANED",
        [VERDICT_SKIPPED] = "SKIPPED",   [VERDICT_DUPLICATE] = "DUPLICATE",
        [VERDICT_CONFLICT] = "CONFLICT", [VERDICT_REJECTED] = "REJECTED",
        [VERDICT_HELD] = "HELD",
};

const char *verdict_name(enum verdict verdict)
{
        return names[verdict];
}

bool verdict_is_outcome(enum verdict verdict)
{
        return verdict == VERDICT_POSTED || verdict == VERDICT_SKIPPED ||
               verdict == VERDICT_SUSPENSE || verdict == VERDICT_DISCARDED;
}

enum verdict verdict_parse(const char *word)
{
        for (int verdict = VERDICT_POSTED; verdict < VERDICT_COUNT; verdict++)
                if (strcmp(names[verdict], word) == 0)
                        return (enum verdict)verdict;
        return VERDICT_NONE;
}
