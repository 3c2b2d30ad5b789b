/*
 * Holds that last: which record holds its partition, why and since when, for people; and what a
 * person decided about it. Written by the worker that holds, deleted when the record passed. One
 * that lasts also has an item in review, closed with it.
 */
#ifndef LEDGER_HOLD_H
#define LEDGER_HOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/record.h"
#include "mysql/db.h"
#include "postonce/error.h"

enum hold_decision { HOLD_UNDECIDED, HOLD_RELEASE, HOLD_SKIP };

/* Reasons that are no record's: the offset is not in the log, or nothing there can be read. */
#define HOLD_OUT_OF_RANGE "OFFSET_OUT_OF_RANGE"
#define HOLD_UNREADABLE   "PARTITION_UNREADABLE"

struct hold {
        const char *group; /* the consumer group that waits there */
        char topic[TOPIC_BYTES];
        int32_t partition;
        int64_t offset;
        enum hold_decision decision;
        bool out_of_range; /* its reason is HOLD_OUT_OF_RANGE */
};

/*
 * Notes one more try of what stays held, in its own commit; from then on that it lasts
 * (for_person_after_ms since the first one) it waits for a person, too: an item in review.
 */
PO_MUST_USE enum po_class hold_note(struct db *db, struct sql *sql, const struct hold *hold,
                                    const char *reason, unsigned tries, int64_t for_person_after_ms,
                                    struct po_error *error);

/*
 * At most count of the group's, by place, those behind `after` (NULL: from the first); it may stand
 * in holds_out.
 */
PO_MUST_USE enum po_class holds_read(struct db *db, struct sql *sql, const char *group,
                                     const struct hold *after, struct hold *holds_out, size_t count,
                                     size_t *count_out, struct po_error *error);

/* What was decided about this very hold. */
PO_MUST_USE enum po_class hold_read_decision(struct db *db, struct sql *sql,
                                             const struct hold *hold,
                                             enum hold_decision *decision_out,
                                             struct po_error *error);

/* It passed; so its item in review is closed. */
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
 * reason, tries, since, last_at, decision, group; oldest first, at most limit.
 */
PO_MUST_USE enum po_class holds_list(struct db *db, struct sql *sql, int64_t limit,
                                     struct po_error *error);

#endif
