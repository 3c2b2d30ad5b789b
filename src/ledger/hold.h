/*
 * Holds that last: which record holds its partition, why and since when, for people; and what a
 * person decided about it. Written by the worker that holds, deleted when the record passed.
 */
#ifndef LEDGER_HOLD_H
#define LEDGER_HOLD_H

#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/record.h"
#include "mysql/db.h"
#include "postonce/error.h"

enum hold_decision { HOLD_UNDECIDED, HOLD_RELEASE, HOLD_SKIP };

struct hold {
        char topic[TOPIC_BYTES];
        int32_t partition;
        int64_t offset;
        enum hold_decision decision;
};

/* Notes one more try of a record that stays held, in its own commit. */
PO_MUST_USE enum po_class hold_note(struct db *db, struct sql *sql, const struct record *record,
                                    const char *reason, unsigned tries, struct po_error *error);

/* At most count of them, oldest first. */
PO_MUST_USE enum po_class holds_read(struct db *db, struct sql *sql, struct hold *holds_out,
                                     size_t count, size_t *count_out, struct po_error *error);

/* It passed. */
PO_MUST_USE enum po_class hold_delete(struct db *db, struct sql *sql, const struct hold *hold,
                                      struct po_error *error);
/* Its decision was carried out; it may hold on. */
PO_MUST_USE enum po_class hold_done(struct db *db, struct sql *sql, const struct hold *hold,
                                    struct po_error *error);

/*
 * A person's decision, audited in the same transaction. RECORD (NOT_HELD): there is no such hold.
 */
PO_MUST_USE enum po_class hold_decide(struct db *db, struct sql *sql, const struct hold *hold,
                                      const char *who, const char *why, struct po_error *error);

/*
 * For people. Rows stand open in db (db_next_row) with the columns topic, partition, offset,
 * reason, tries, since, last_at, decision; oldest first, at most limit.
 */
PO_MUST_USE enum po_class holds_list(struct db *db, struct sql *sql, int64_t limit,
                                     struct po_error *error);

#endif
