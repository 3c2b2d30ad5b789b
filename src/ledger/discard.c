#include "ledger/discard.h"

#include "ledger/audit.h"
#include "ledger/parked.h"

enum po_class claim_find(struct db *db, struct sql *sql, int64_t tenant_id, const char *key,
                         int64_t *claim_id_out, bool *found_out, struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "SELECT id FROM claim WHERE tenant_id = ");
        sql_integer(sql, tenant_id);
        sql_raw(sql, " AND idem_key = ");
        sql_text(sql, key);
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "find a claim");
        *found_out = db_next_row(db);
        *claim_id_out = *found_out ? db_integer(db, 0) : 0;
        db_rows_end(db);
        return PO_OK;
}

/* A plain read of the claim inside INSERT … SELECT locks nothing of it at READ COMMITTED. */
enum po_class claim_settle_discarded(struct db *db, struct sql *sql, int64_t claim_id,
                                     const char *key, struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql,
                "INSERT INTO outcome (claim_id, verdict, result_json, payload_hash, hash_version,"
                " source_topic, source_partition, source_offset, turn, settled_at)"
                " SELECT id, 'DISCARDED', '{\"discarded\":true}', payload_hash, hash_version,"
                " source_topic, source_partition, source_offset, 0, UTC_TIMESTAMP(6)"
                " FROM claim WHERE id = ");
        sql_integer(sql, claim_id);
        struct db_result result;
        enum po_class kind = db_exec(db, sql, &result, error);
        if (kind == PO_EXISTS)
                return po_refuse(error, "SETTLED_ALREADY", "%s is settled already", key);
        if (kind == PO_OK && result.affected_rows != 1)
                return po_fail(error, PO_BUG, 0, "claim %lld is not there", (long long)claim_id);
        return kind;
}

static enum po_class discard(struct db *db, struct sql *sql, int64_t claim_id, const char *key,
                             const char *verb, const char *who, const char *why,
                             struct po_error *error)
{
        struct db_result result;
        if (claim_settle_discarded(db, sql, claim_id, key, error) != PO_OK)
                return error->kind;
        sql_reset(sql);
        sql_raw(sql, "DELETE FROM parked WHERE claim_id = ");
        sql_integer(sql, claim_id);
        if (db_exec(db, sql, &result, error) != PO_OK)
                return error->kind;
        if (result.affected_rows == 0)
                return po_refuse(error, "NOT_PARKED", "%s is not parked", key);
        if (parked_close_review(db, sql, claim_id, error) != PO_OK ||
            audit_insert(db, sql, who, verb, key, why, error) != PO_OK)
                return error->kind;
        return db_commit(db, error);
}

enum po_class claim_discard(struct db *db, struct sql *sql, int64_t claim_id, const char *key,
                            const char *verb, const char *who, const char *why,
                            struct po_error *error)
{
        if (db_begin(db, error) != PO_OK)
                return error->kind;
        if (discard(db, sql, claim_id, key, verb, who, why, error) == PO_OK)
                return PO_OK;
        db_rollback(db);
        return po_within(error, "discard");
}
