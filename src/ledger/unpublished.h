/*
 * The outbox as the relay sees it: what is not published yet, by its number; what its topic
 * refused; which relay is at work.
 *
 * What to publish is found by `published_at IS NULL`, never by "above the last number": numbers are
 * given before their transactions commit, so a lower one may appear late.
 */
#ifndef LEDGER_UNPUBLISHED_H
#define LEDGER_UNPUBLISHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mysql/db.h"
#include "postonce/error.h"

enum { OUTBOX_ID_BYTES = 37, RELAY_UUID_BYTES = 37 };

/* One row of the outbox. The texts live until unpublished_free(). */
struct unpublished_row {
        int64_t seq;
        char *id, *aggregatetype, *aggregateid, *type, *payload;
        size_t payload_bytes;
};

struct unpublished {
        struct unpublished_row *rows; /* ascending by seq */
        size_t count, capacity;
        int64_t age_s; /* of the first one, by the database's clock; 0: none */
};

PO_MUST_USE enum po_class unpublished_open(struct unpublished *unpublished, size_t capacity,
                                           struct po_error *error);
void unpublished_free(struct unpublished *unpublished); /* of a zeroed struct: nothing */

/*
 * The first rows (at most limit ≤ capacity) that are not published, but for what its topic refused
 * and is not due again, and what stands behind such a row of the same aggregate.
 */
PO_MUST_USE enum po_class unpublished_read(struct unpublished *unpublished, struct db *db,
                                           struct sql *sql, size_t limit, struct po_error *error);

/* All rows that were read are published; one that is marked already stays as it is. */
PO_MUST_USE enum po_class unpublished_mark(const struct unpublished *unpublished, struct db *db,
                                           struct sql *sql, struct po_error *error);

/* Its topic does not take the row: it is tried again later, each time after a longer wait. */
PO_MUST_USE enum po_class unpublished_refuse(const struct unpublished_row *row, const char *reason,
                                             struct db *db, struct sql *sql,
                                             struct po_error *error);

/* How many rows their topic refuses. Those that were published, marked or deleted since do not
 * count and are forgotten. */
PO_MUST_USE enum po_class refused_count(struct db *db, struct sql *sql, int64_t *count_out,
                                        struct po_error *error);

/* Whether anything is not published, refused or not. */
PO_MUST_USE enum po_class unpublished_any(struct db *db, struct sql *sql, bool *any_out,
                                          struct po_error *error);

/*
 * One relay of a database is at work, the others stand by. The lock is the connection's and only
 * saves work: it is gone with a connection, and nobody's safety rests on it.
 */
PO_MUST_USE enum po_class relay_lock(struct db *db, struct sql *sql, int wait_s, bool *got_out,
                                     struct po_error *error);
PO_MUST_USE enum po_class relay_has_lock(struct db *db, struct sql *sql, bool *has_out,
                                         struct po_error *error);
/* Best effort: a lock that is not given back goes with the connection. */
void relay_unlock(struct db *db, struct sql *sql);

/* By which Kafka knows the relays of this database: made by `migrate`. SYSTEMIC: it is not there.
 */
PO_MUST_USE enum po_class relay_uuid(struct db *db, struct sql *sql,
                                     char uuid_out[RELAY_UUID_BYTES], struct po_error *error);

#endif
