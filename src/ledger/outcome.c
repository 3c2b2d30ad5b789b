#include "ledger/outcome.h"

#include "base/text.h"

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

#define OUTCOME_INSERT                                                                             \
        "INSERT INTO outcome (claim_id, verdict, result_json, payload_hash, hash_version,"         \
        " source_topic, source_partition, source_offset, turn, effective_at, reverses,"            \
        " settled_at) VALUES "
#define OUTCOME_VALUES "?,?,?,UNHEX(?),?,?,?,?,?,?,?"
#define OUTCOME_TYPES  "iTThITiiitI"
static const struct bulk_form FEW = { .insert = OUTCOME_INSERT,
                                      .row = "(" OUTCOME_VALUES ",UTC_TIMESTAMP(6))",
                                      .types = OUTCOME_TYPES,
                                      .ending = "" };
static const struct bulk_form MANY = { .insert = OUTCOME_INSERT,
                                       .row = "(" OUTCOME_VALUES ",?)",
                                       .types = OUTCOME_TYPES "t",
                                       .ending = "" };

enum po_class outcomes_open(struct outcomes *outcomes, struct db *db, struct po_error *error)
{
        outcomes->db = db;
        if (bulk_open(&outcomes->few, db, &FEW, error) != PO_OK)
                return error->kind;
        return bulk_open(&outcomes->many, db, &MANY, error);
}

void outcomes_close(struct outcomes *outcomes)
{
        bulk_close(outcomes->few);
        bulk_close(outcomes->many);
}

static void add_outcome(struct bulk *bulk, const struct posting *posting)
{
        const struct po_notification *notification = posting->notification;
        bool keeps = posting->kept_version != 0;
        bulk_integer(bulk, posting->claim_id);
        bulk_text(bulk, verdict_name(posting->verdict));
        bulk_text(bulk, posting->result);
        bulk_binary(bulk, keeps ? posting->first_fingerprint : notification->fingerprint,
                    PO_FINGERPRINT_BYTES);
        bulk_integer(bulk, keeps ? posting->kept_version : notification->fingerprint_version);
        bulk_text(bulk, posting->record->topic);
        bulk_integer(bulk, posting->record->partition);
        bulk_integer(bulk, posting->record->offset);
        bulk_integer(bulk, posting->turn);
        bulk_time(bulk, notification->occurred_at_us);
        if (posting->reverses != 0)
                bulk_integer(bulk, posting->reverses);
        else
                bulk_null(bulk);
}

static enum po_class read_clock(struct db *db, char now_out[OUTCOME_TIME_BYTES],
                                struct po_error *error)
{
        struct sql sql = { 0 };
        sql_raw(&sql, "SELECT UTC_TIMESTAMP(6)");
        enum po_class kind = db_query(db, &sql, error);
        sql_free(&sql);
        if (kind != PO_OK)
                return po_within(error, "ask for the time");
        if (db_next_row(db))
                text_copy(now_out, OUTCOME_TIME_BYTES, db_text(db, 0));
        db_rows_end(db);
        return PO_OK;
}

enum po_class outcomes_insert(struct outcomes *outcomes, struct posting *const *postings,
                              size_t count, struct po_error *error)
{
        bool is_one = bulk_statements(count) <= 1;
        struct bulk *bulk = is_one ? outcomes->few : outcomes->many;
        char now[OUTCOME_TIME_BYTES] = "";
        if (!is_one && read_clock(outcomes->db, now, error) != PO_OK)
                return error->kind;
        bulk_begin(bulk, NULL);
        for (size_t i = 0; i < count; i++) {
                add_outcome(bulk, postings[i]);
                if (!is_one)
                        bulk_text(bulk, now);
        }
        if (bulk_end(bulk, error) != PO_OK)
                return po_within(error, "settle %zu claims", count);
        return PO_OK;
}
