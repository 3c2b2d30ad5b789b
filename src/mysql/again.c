#include "mysql/again.h"

#include <time.h>

enum { TRIES_MAX = 5, FIRST_WAIT_MS = 10 };

bool db_try_again(const struct db *db, enum po_class kind, unsigned *tries)
{
        if (kind != PO_TRANSIENT || !db_is_connected(db) || *tries + 1 >= TRIES_MAX)
                return false;
        struct timespec wait = { 0, (FIRST_WAIT_MS * 1000000L) << (*tries)++ };
        nanosleep(&wait, NULL);
        return true;
}
