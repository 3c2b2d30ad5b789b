#include "ledger/review.h"

static const char REVIEW_INSERT[] =
        "INSERT INTO review (tenant_id, claim_id, reason, fingerprint, first_fingerprint,"
        " order_no, amount, currency, source_topic, source_partition, source_offset, body, state,"
        " created_at) VALUES ";

/* Something must change: with CLIENT_FOUND_ROWS a row set to what it was counts as an inserted one.
 */
#define SEEN_AGAIN " ON DUPLICATE KEY UPDATE review.seen = review.seen + 1"

static void write_review(struct sql *sql, const char *reason, const struct posting *posting,
                         bool with_body)
{
        const struct po_notification *notification = posting->notification;
        sql_integer(sql, notification->tenant_id);
        sql_raw(sql, ",");
        sql_integer(sql, posting->claim_id);
        sql_raw(sql, ",");
        sql_text(sql, reason);
        sql_raw(sql, ",");
        sql_binary(sql, notification->fingerprint, PO_FINGERPRINT_BYTES);
        sql_raw(sql, ",");
        sql_binary(sql, posting->first_fingerprint, PO_FINGERPRINT_BYTES);
        sql_raw(sql, ",");
        sql_text(sql, posting->subject.order_no[0] != '\0' ? posting->subject.order_no
                                                           : notification->order_no);
        sql_raw(sql, ",");
        if (notification->amount_kind == PO_AMOUNT_NONE) {
                sql_raw(sql, "NULL,NULL,");
        } else {
                sql_integer(sql, notification->amount_minor);
                sql_raw(sql, ",");
                sql_text(sql, notification->currency);
                sql_raw(sql, ",");
        }
        sql_text(sql, posting->record->topic);
        sql_raw(sql, ",");
        sql_integer(sql, posting->record->partition);
        sql_raw(sql, ",");
        sql_integer(sql, posting->record->offset);
        sql_raw(sql, ",");
        sql_binary(sql, with_body ? posting->record->value : NULL, posting->record->value_bytes);
        sql_raw(sql, ",'OPEN',UTC_TIMESTAMP(6)");
}

enum po_class reviews_insert(struct db *db, struct sql *sql, const char *reason,
                             struct posting *const *postings, size_t count, bool with_body,
                             struct po_error *error)
{
        if (count == 0)
                return PO_OK;
        sql_reset(sql);
        sql_raw(sql, REVIEW_INSERT);
        for (size_t i = 0; i < count; i++) {
                sql_raw(sql, i == 0 ? "(" : ",(");
                write_review(sql, reason != NULL ? reason : postings[i]->review, postings[i],
                             with_body);
                sql_raw(sql, ")");
        }
        sql_raw(sql, SEEN_AGAIN);
        if (db_exec(db, sql, NULL, error) != PO_OK)
                return po_within(error, "write %zu reviews", count);
        return PO_OK;
}

enum po_class review_insert(struct db *db, struct sql *sql, const char *reason,
                            const struct posting *posting, bool with_body, bool *fresh_out,
                            struct po_error *error)
{
        struct db_result result;
        sql_reset(sql);
        sql_raw(sql, REVIEW_INSERT);
        sql_raw(sql, "(");
        write_review(sql, reason, posting, with_body);
        sql_raw(sql, ")" SEEN_AGAIN);
        if (db_exec(db, sql, &result, error) != PO_OK)
                return po_within(error, "write a review");
        *fresh_out = result.affected_rows == 1;
        return PO_OK;
}

enum po_class review_open(struct db *db, struct sql *sql, const char *subject, const char *reason,
                          int64_t claim_id, bool *fresh_out, struct po_error *error)
{
        struct db_result result;
        sql_reset(sql);
        sql_raw(sql, "INSERT INTO review (subject, reason, claim_id, state, created_at) VALUES (");
        sql_text(sql, subject);
        sql_raw(sql, ",");
        sql_text(sql, reason);
        sql_raw(sql, ",");
        if (claim_id != 0)
                sql_integer(sql, claim_id);
        else
                sql_raw(sql, "NULL");
        sql_raw(sql, ",'OPEN',UTC_TIMESTAMP(6))" SEEN_AGAIN);
        if (db_exec(db, sql, &result, error) != PO_OK)
                return po_within(error, "open a review of %s", subject);
        if (fresh_out != NULL)
                *fresh_out = result.affected_rows == 1;
        return PO_OK;
}

enum po_class review_close(struct db *db, struct sql *sql, const char *subject,
                           struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "UPDATE review SET state = 'CLOSED', closed_at = UTC_TIMESTAMP(6)"
                     " WHERE open_subject = ");
        sql_text(sql, subject);
        if (db_exec(db, sql, NULL, error) != PO_OK)
                return po_within(error, "close the review of %s", subject);
        return PO_OK;
}

enum po_class reviews_count_open(struct db *db, struct sql *sql, int64_t *count_out,
                                 struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "SELECT COUNT(*) FROM review WHERE state = 'OPEN'");
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "count open reviews");
        *count_out = db_next_row(db) ? db_integer(db, 0) : 0;
        db_rows_end(db);
        return PO_OK;
}
