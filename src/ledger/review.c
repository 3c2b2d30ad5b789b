#include "ledger/review.h"

static const char REVIEW_INSERT[] =
        "INSERT INTO review (tenant_id, claim_id, reason, fingerprint, first_fingerprint,"
        " order_no, amount, currency, source_topic, source_partition, source_offset, body, state,"
        " created_at) VALUES ";

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
        sql_raw(sql, " ON DUPLICATE KEY UPDATE review.claim_id = review.claim_id");
        if (db_exec(db, sql, NULL, error) != PO_OK)
                return po_within(error, "write %zu reviews", count);
        return PO_OK;
}
