#include "ledger/outcome.h"

enum po_class outcomes_refuse(struct db *db, struct sql *sql, struct posting *const *postings,
                              size_t count, struct po_error *error)
{
        size_t asked = 0;
        sql_reset(sql);
        sql_raw(sql, "SELECT claim_id FROM outcome WHERE claim_id IN (");
        for (size_t i = 0; i < count; i++) {
                if (postings[i]->deliveries <= 1 && !postings[i]->unparks)
                        continue;
                sql_raw(sql, asked++ == 0 ? "" : ",");
                sql_integer(sql, postings[i]->claim_id);
        }
        if (asked == 0)
                return PO_OK;
        sql_raw(sql, ") LIMIT 1");
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "look for outcomes");
        size_t settled = db_row_count(db);
        db_rows_end(db);
        if (settled > 0)
                return po_fail(error, PO_EXISTS, 0, "a claim was settled meanwhile");
        return PO_OK;
}

enum po_class outcomes_await(struct db *db, struct sql *sql, struct posting *const *postings,
                             size_t count, struct po_error *error)
{
        if (count == 0)
                return PO_OK;
        sql_reset(sql);
        sql_raw(sql, "SELECT claim_id FROM outcome WHERE claim_id IN (");
        for (size_t i = 0; i < count; i++) {
                sql_raw(sql, i == 0 ? "" : ",");
                sql_integer(sql, postings[i]->claim_id);
        }
        sql_raw(sql, ") LOCK IN SHARE MODE");
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "wait for outcomes under way");
        db_rows_end(db);
        return PO_OK;
}

static const char OUTCOME_INSERT[] =
        "INSERT INTO outcome (claim_id, verdict, result_json, payload_hash, hash_version,"
        " source_topic, source_partition, source_offset, turn, effective_at, settled_at,"
        " reverses) VALUES ";

static void write_outcome(struct sql *sql, const struct posting *posting)
{
        sql_integer(sql, posting->claim_id);
        sql_raw(sql, ",");
        sql_text(sql, verdict_name(posting->verdict));
        sql_raw(sql, ",");
        sql_text(sql, posting->result);
        sql_raw(sql, ",");
        bool keeps = posting->kept_version != 0;
        sql_binary(sql, keeps ? posting->first_fingerprint : posting->notification->fingerprint,
                   PO_FINGERPRINT_BYTES);
        sql_raw(sql, ",");
        sql_integer(sql,
                    keeps ? posting->kept_version : posting->notification->fingerprint_version);
        sql_raw(sql, ",");
        sql_text(sql, posting->record->topic);
        sql_raw(sql, ",");
        sql_integer(sql, posting->record->partition);
        sql_raw(sql, ",");
        sql_integer(sql, posting->record->offset);
        sql_raw(sql, ",");
        sql_integer(sql, posting->turn);
        sql_raw(sql, ",");
        sql_time(sql, posting->notification->occurred_at_us);
        sql_raw(sql, ",UTC_TIMESTAMP(6),");
        if (posting->reverses != 0)
                sql_integer(sql, posting->reverses);
        else
                sql_raw(sql, "NULL");
}

enum po_class outcomes_insert(struct db *db, struct sql *sql, struct posting *const *postings,
                              size_t count, struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, OUTCOME_INSERT);
        for (size_t i = 0; i < count; i++) {
                sql_raw(sql, i == 0 ? "(" : ",(");
                write_outcome(sql, postings[i]);
                sql_raw(sql, ")");
        }
        if (db_exec(db, sql, NULL, error) != PO_OK)
                return po_within(error, "settle %zu claims", count);
        return PO_OK;
}
