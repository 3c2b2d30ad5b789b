#include "worker/flood.h"

#include "base/log.h"
#include "ledger/letter.h"
#include "ledger/pause.h"

enum po_class flood_check(size_t letters, int64_t most_per_minute, struct db *db, struct sql *sql,
                          size_t *room_out, struct po_error *error)
{
        int64_t recent;
        bool fresh;
        *room_out = 0;
        if (letters_recent(db, sql, &recent, error) != PO_OK)
                return error->kind;
        if (recent < most_per_minute)
                *room_out = (size_t)(most_per_minute - recent);
        if (letters <= *room_out) {
                *room_out = letters;
                return PO_OK;
        }
        if (pause_trip(db, sql, "too many dead letters a minute", &fresh, error) != PO_OK) {
                *room_out = 0;
                return error->kind;
        }
        if (fresh)
                log_alarm("DEAD_LETTER_FLOOD", NULL, "recent=%lld more=%zu limit=%lld",
                          (long long)recent, letters, (long long)most_per_minute);
        return po_fail(error, PO_SYSTEMIC, 0,
                       "more than %lld dead letters a minute: mend the cause, then `postonce "
                       "resume`",
                       (long long)most_per_minute);
}
