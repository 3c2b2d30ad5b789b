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
        bool keep;  /* letters_insert(): in; the letter is not the whole record, the row keeps it */
        bool there; /* letters_find(): the row is there */
};

/* Counts one more failure of this record, in its own commit; row->attempts is the count so far. */
PO_MUST_USE enum po_class letter_fail(struct db *db, struct sql *sql, struct letter_row *row,
                                      struct po_error *error);

/* How often this record failed before, by the count of letter_fail(). */
PO_MUST_USE enum po_class letter_failures(struct db *db, struct sql *sql, const char *letter_id,
                                          unsigned *failures_out, struct po_error *error);

/* Sets `there` of every row whose letter is recorded as acknowledged. */
PO_MUST_USE enum po_class letters_find(struct db *db, struct sql *sql, struct letter_row *rows,
                                       size_t count, struct po_error *error);

/* The record, packed, fits into dead_letter.body as the connection's server is set. */
bool letter_can_keep(const struct db *db, const struct record *record);

/*
 * Records acknowledged letters; one that is there already stays. A row that keeps its record is
 * written in a commit of its own (record_pack() in column body).
 */
PO_MUST_USE enum po_class letters_insert(struct db *db, struct sql *sql,
                                         const struct letter_row *const *rows, size_t count,
                                         struct po_error *error);

/* Letters recorded in the last minute by all workers, since the last `resume` of the intake. */
PO_MUST_USE enum po_class letters_recent(struct db *db, struct sql *sql, int64_t *count_out,
                                         struct po_error *error);

#endif
