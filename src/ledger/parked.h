/*
 * Parked notifications: too early for their order, or their channel is paused. A row keeps the
 * normalised notification and the whole record until its time comes; nothing waits for it.
 *
 * A row is inserted with a no-op on what is there, so a re-push changes nothing and does not
 * postpone giving up. Whoever finds an outcome deletes the row.
 */
#ifndef LEDGER_PARKED_H
#define LEDGER_PARKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/claim.h"
#include "ledger/order.h"
#include "mysql/db.h"
#include "postonce/error.h"

#define PARKED_PAUSED "PAUSED" /* reason of what waits for `resume`; it does not give up */

/* Reason of a row that cannot be read; review knows it by this and its claim. */
#define PARKED_UNREADABLE "UNREADABLE"

enum { PARKED_AT_BYTES = 32, RESUME_ROWS_MAX = 1000 };

/* Inserts the postings (claimed, with a reason), in their own commit, due after delay_ms; those
 * that are unblocked at once. */
PO_MUST_USE enum po_class parked_insert(struct db *db, struct sql *sql,
                                        struct posting *const *postings, size_t count,
                                        int64_t delay_ms, struct po_error *error);

/* Deletes the rows of the postings' claims, inside the caller's transaction or by itself. */
PO_MUST_USE enum po_class parked_delete(struct db *db, struct sql *sql,
                                        struct posting *const *postings, size_t count,
                                        struct po_error *error);

/* strict.unfinished: the postings of these are about to begin, in a commit of its own. */
PO_MUST_USE enum po_class parked_begin(struct db *db, struct sql *sql,
                                       struct posting *const *postings, size_t count,
                                       struct po_error *error);

/* Makes due what waits for these orders (ascending), inside the caller's transaction if there is
 * one. Costs one look at an empty table when nothing is parked. */
PO_MUST_USE enum po_class parked_make_due(struct db *db, struct sql *sql,
                                          const struct order_id *orders, size_t count,
                                          struct po_error *error);

/* The same, and what awaits one of these settled postings without knowing its order: a refund that
 * names only its payment. */
PO_MUST_USE enum po_class parked_make_due_by(struct db *db, struct sql *sql,
                                             const struct order_id *orders, size_t count,
                                             struct posting *const *settled, size_t settled_count,
                                             struct po_error *error);

/* One row that was taken for another try. */
struct parked_row {
        int64_t claim_id;
        unsigned tries;  /* before this one */
        bool gave_up;    /* it waited for give_up_after_ms, not for a resume, pauses of the intake
                            apart */
        bool for_resume; /* it waits because its channel was paused */
        bool begun;      /* strict.unfinished: a posting of it began, and no end of it is known */
        bool unreadable; /* it could not be read the last time */
        char first_parked_at[PARKED_AT_BYTES]; /* as the database writes it: compares as text */
        char lease[PARKED_AT_BYTES];           /* its due time since; alike in all of one take */
        char *notification;                    /* JSON; owned by the row */
        unsigned char *raw;                    /* record_pack(); owned by the row */
        size_t raw_bytes;
};

/*
 * Takes at most count rows that are due, oldest first, and moves their due time by lease_ms, in a
 * short transaction of its own that skips what other workers hold: nobody else tries them
 * meanwhile, and if this worker dies they are due again. No more than together fit bytes_max
 * (notifications and records; one row in any case): the others stay due. What was settled between
 * the lease and the reading is left out. They come in order of first_parked_at. One whose posting
 * began within lease_ms is left alone, due or not.
 */
PO_MUST_USE enum po_class parked_take(struct db *db, struct sql *sql, int64_t lease_ms,
                                      int64_t give_up_after_ms, size_t bytes_max,
                                      struct parked_row *rows_out, size_t count, size_t *count_out,
                                      struct po_error *error);
void parked_row_free(struct parked_row *row);

/* Its item in review: opened (*fresh_out: it was not open before), closed when it is over. */
PO_MUST_USE enum po_class parked_ask_person(struct db *db, struct sql *sql, int64_t claim_id,
                                            bool *fresh_out, struct po_error *error);
PO_MUST_USE enum po_class parked_close_review(struct db *db, struct sql *sql, int64_t claim_id,
                                              struct po_error *error);

/*
 * The next try of rows that were taken with this lease and must wait on, and why (NULL: as before).
 * Those that waited for a resume and now wait for something else start their wait for giving up
 * over. A row that somebody made due since it was taken stays due: what it waited for came while it
 * was tried. One that another worker took since is left alone. They are begun no longer unless
 * begun says so.
 */
PO_MUST_USE enum po_class parked_delay(struct db *db, struct sql *sql, const int64_t *claim_ids,
                                       size_t count, const char *lease, int64_t delay_ms,
                                       const char *reason, bool begun, struct po_error *error);

/*
 * What waits for the resume of this channel is due now, in commits of at most RESUME_ROWS_MAX rows:
 * a pause of weeks must not hold the locks of all of them at once.
 */
PO_MUST_USE enum po_class parked_resume(struct db *db, struct sql *sql, const char *channel,
                                        struct po_error *error);

/*
 * For people. Rows stand open in db (db_next_row) with the columns tenant_id, key, order_no,
 * reason, tries, first_parked_at, due_at; oldest first, at most limit.
 */
PO_MUST_USE enum po_class parked_list(struct db *db, struct sql *sql, int64_t limit,
                                      struct po_error *error);

/* One is due now, audited in the same transaction. RECORD (NOT_PARKED): it is not there. */
PO_MUST_USE enum po_class parked_release(struct db *db, struct sql *sql, int64_t claim_id,
                                         const char *key, const char *who, const char *why,
                                         struct po_error *error);

#endif
