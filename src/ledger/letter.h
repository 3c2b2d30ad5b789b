/*
 * Rows about records that cannot be posted: `failure` counts how often a record failed (so neither
 * a restart nor a rebalance resets it), `dead_letter` says that its letter is acknowledged.
 */
#ifndef LEDGER_LETTER_H
#define LEDGER_LETTER_H

#include <stdbool.h>

#include "base/record.h"
#include "mysql/db.h"
#include "postonce/error.h"

struct letter_row {
        const char *letter_id; /* 36 characters */
        const char *reason;
        const struct record *record;
        unsigned attempts; /* letter_fail(): out; letters_insert(): in */
        const char *letter_topic;
        int32_t letter_partition;
        int64_t letter_offset;
        bool there; /* letters_find(): the row is there */
};

/* Counts one more failure of this record, in its own commit; row->attempts is the count so far. */
PO_MUST_USE enum po_class letter_fail(struct db *db, struct sql *sql, struct letter_row *row,
                                      struct po_error *error);

/* Sets `there` of every row whose letter is recorded as acknowledged. */
PO_MUST_USE enum po_class letters_find(struct db *db, struct sql *sql, struct letter_row *rows,
                                       size_t count, struct po_error *error);

/* Records acknowledged letters, in its own commit; one that is there already stays. */
PO_MUST_USE enum po_class letters_insert(struct db *db, struct sql *sql,
                                         const struct letter_row *const *rows, size_t count,
                                         struct po_error *error);

#endif
