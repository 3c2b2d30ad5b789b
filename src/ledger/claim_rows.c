#include "ledger/claim_rows.h"

#include <stdlib.h>

#include "base/failpoint.h"
#include "ledger/attempt.h"
#include "mysql/bulk.h"

/* A read of what is fresh, by number, is worth a round trip of its own from so many rows on. */
enum { FRESH_MIN = BULK_SOME };

#define INSERT                                                                                     \
        "INSERT INTO claim (tenant_id, idem_key, channel, event_type, order_no, amount, currency," \
        " payload_hash, hash_version, source_topic, source_partition, source_offset, deliveries,"  \
        " created_at, last_seen_at"
#define VALUES "?,?,?,?,?,?,?,UNHEX(?),?,?,?,?,?,UTC_TIMESTAMP(6),UTC_TIMESTAMP(6)"
#define TYPES  "IttTtiThITiiI"
#define SEEN                                                                                       \
        " ON DUPLICATE KEY UPDATE deliveries = deliveries + VALUES(deliveries),"                   \
        " last_seen_at = VALUES(last_seen_at)"
static const struct bulk_form PLAIN = {
        .insert = INSERT ") VALUES ", .row = "(" VALUES ")", .types = TYPES, .ending = SEEN
};
static const struct bulk_form STRICT = { .insert = INSERT ", made_by) VALUES ",
                                         .row = "(" VALUES ",UNHEX(?))",
                                         .types = TYPES "h",
                                         .ending = SEEN };

struct claim_rows {
        struct db *db;
        struct bulk *bulk;
        bool in_transaction;
};

enum po_class claim_rows_open(struct claim_rows **rows_out, struct db *db, bool strict,
                              struct po_error *error)
{
        struct claim_rows *rows = calloc(1, sizeof *rows);
        *rows_out = rows;
        if (rows == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for claims");
        rows->db = db;
        return bulk_open(&rows->bulk, db, strict ? &STRICT : &PLAIN, error);
}

void claim_rows_close(struct claim_rows *rows)
{
        if (rows == NULL)
                return;
        bulk_close(rows->bulk);
        free(rows);
}

enum po_class claim_rows_begin(struct claim_rows *rows, size_t most, struct po_error *error)
{
        bulk_begin(rows->bulk, NULL);
        rows->in_transaction = most > BULK_SOME; /* fewer are one statement in any case */
        return rows->in_transaction ? db_begin(rows->db, error) : PO_OK;
}

void claim_rows_add(struct claim_rows *rows, const struct posting *posting, size_t deliveries,
                    const unsigned char *maker)
{
        struct bulk *bulk = rows->bulk;
        const struct po_notification *notification = posting->notification;
        bulk_integer(bulk, notification->tenant_id);
        bulk_text(bulk, notification->key);
        bulk_text(bulk, notification->channel);
        bulk_text(bulk, notification->event);
        bulk_text(bulk, notification->order_no);
        if (notification->amount_kind == PO_AMOUNT_NONE) {
                bulk_null(bulk);
                bulk_null(bulk);
        } else {
                bulk_integer(bulk, notification->amount_minor);
                bulk_text(bulk, notification->currency);
        }
        bulk_binary(bulk, notification->fingerprint, PO_FINGERPRINT_BYTES);
        bulk_integer(bulk, notification->fingerprint_version);
        bulk_text(bulk, posting->record->topic);
        bulk_integer(bulk, posting->record->partition);
        bulk_integer(bulk, posting->record->offset);
        bulk_integer(bulk, (int64_t)deliveries);
        if (maker != NULL)
                bulk_binary(bulk, maker, MAKER_BYTES);
}

enum po_class claim_rows_end(struct claim_rows *rows, struct po_error *error)
{
        enum po_class kind = bulk_end(rows->bulk, error);
        if (!rows->in_transaction)
                return kind;
        if (kind == PO_OK)
                kind = PO_FAILPOINT("claim.before_commit");
        kind = db_end(rows->db, kind, error);
        if (kind == PO_UNCERTAIN) /* sent again, like a statement whose answer is lost */
                kind = error->kind = PO_TRANSIENT;
        return kind;
}

/* How many a statement inserted: those count one, updated ones two. */
static size_t fresh_rows(const struct bulk_sent *sent)
{
        uint64_t affected = sent->result.affected_rows;
        if (affected < sent->rows || affected > 2 * sent->rows)
                return 0;
        return (size_t)(2 * sent->rows - affected);
}

bool claim_rows_write_fresh(const struct claim_rows *rows, struct sql *sql)
{
        size_t statements, fresh = 0, ranges = 0;
        const struct bulk_sent *sent = bulk_sent(rows->bulk, &statements);
        for (size_t i = 0; i < statements; i++) {
                if (fresh_rows(&sent[i]) == 0)
                        continue;
                fresh += fresh_rows(&sent[i]);
                int64_t id = (int64_t)sent[i].result.insert_id;
                sql_raw(sql, ranges++ == 0 ? "c.id BETWEEN " : " OR c.id BETWEEN ");
                sql_integer(sql, id);
                sql_raw(sql, " AND ");
                sql_integer(sql, id + (int64_t)sent[i].rows - 1);
        }
        return fresh >= FRESH_MIN;
}
