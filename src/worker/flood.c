#include "worker/flood.h"

#include "base/log.h"
#include "ledger/letter.h"
#include "ledger/pause.h"

enum po_class flood_check(size_t letters, int64_t most_per_minute, struct db *db, struct sql *sql,
                          struct po_error *error)
{
        int64_t recent;
        if (letters_recent(db, sql, &recent, error) != PO_OK)
                return error->kind;
        if (recent + (int64_t)letters <= most_per_minute)
                return PO_OK;
        log_alarm("DEAD_LETTER_FLOOD", NULL, "recent=%lld more=%zu limit=%lld", (long long)recent,
                  letters, (long long)most_per_minute);
        if (pause_set(db, sql, PAUSE_ALL, "postonce", "too many dead letters a minute", error) !=
            PO_OK)
                return error->kind;
        return po_fail(error, PO_SYSTEMIC, 0,
                       "more than %lld dead letters a minute: mend the cause, then `postonce "
                       "resume`",
                       (long long)most_per_minute);
}
