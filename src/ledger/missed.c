#include "ledger/missed.h"

#include <stdbool.h>
#include <string.h>

#include "ledger/parked.h"

/* Far above what may pass between a judgement and its row. */
#define RECENTLY " >= UTC_TIMESTAMP(6) - INTERVAL 60 SECOND"

static bool may_have_missed(const struct posting *posting)
{
        return !posting->unblocked && strcmp(posting->reason, PARKED_PAUSED) != 0;
}

/* Row by row by primary and unique keys, whatever the size of the tables. */
static size_t write_look(struct sql *sql, struct posting *const *postings, size_t count)
{
        size_t written = 0;
        sql_reset(sql);
        sql_raw(sql, "SELECT p.claim_id FROM parked p FORCE INDEX (PRIMARY)"
                     " LEFT JOIN payment_order o FORCE INDEX (PRIMARY)"
                     " ON o.tenant_id = p.tenant_id AND o.order_no = p.order_no"
                     " LEFT JOIN claim c FORCE INDEX (uk_idem)"
                     " ON c.tenant_id = p.tenant_id AND c.idem_key = p.awaits"
                     " LEFT JOIN outcome s FORCE INDEX (PRIMARY) ON s.claim_id = c.id"
                     " WHERE (COALESCE(o.moved_at, o.created_at)" RECENTLY
                     " OR s.settled_at" RECENTLY ") AND p.claim_id IN (");
        for (size_t i = 0; i < count; i++) {
                if (!may_have_missed(postings[i]))
                        continue;
                sql_raw(sql, written++ == 0 ? "" : ",");
                sql_integer(sql, postings[i]->claim_id);
        }
        sql_raw(sql, ")");
        return written;
}

/* From the rows of the look into the update that follows it. */
static size_t write_update(struct sql *sql, struct db *db)
{
        size_t written = 0;
        sql_reset(sql);
        sql_raw(sql, "UPDATE parked FORCE INDEX (PRIMARY) SET due_at = UTC_TIMESTAMP(6)"
                     " WHERE claim_id IN (");
        while (db_next_row(db)) {
                sql_raw(sql, written++ == 0 ? "" : ",");
                sql_integer(sql, db_integer(db, 0));
        }
        sql_raw(sql, ")");
        return written;
}

enum po_class missed_make_due(struct db *db, struct sql *sql, struct posting *const *postings,
                              size_t count, struct po_error *error)
{
        if (write_look(sql, postings, count) == 0)
                return PO_OK;
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "look for what %zu parked notifications missed", count);
        size_t missed = write_update(sql, db);
        db_rows_end(db);
        if (missed > 0 && db_exec(db, sql, NULL, error) != PO_OK)
                return po_within(error, "make due what missed its wake-up");
        return PO_OK;
}
