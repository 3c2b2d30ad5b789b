#include "ledger/imported.h"

#include <stdlib.h>
#include <string.h>

#include "base/failpoint.h"
#include "ledger/verdict.h"

enum { TRIES_MAX = 5, SOURCE_PARTITION = -1 };

static int compare(const struct imported_claim *a, const struct imported_claim *b)
{
        if (a->notification.tenant_id != b->notification.tenant_id)
                return a->notification.tenant_id < b->notification.tenant_id ? -1 : 1;
        return strcmp(a->notification.key, b->notification.key);
}

static int compare_rows(const void *left, const void *right)
{
        const struct imported_claim *a = *(struct imported_claim *const *)left;
        const struct imported_claim *b = *(struct imported_claim *const *)right;
        int by_key = compare(a, b);
        return by_key != 0 ? by_key : a->line < b->line ? -1 : a->line > b->line;
}

static int compare_claim_ids(const void *left, const void *right)
{
        const struct imported_claim *a = *(struct imported_claim *const *)left;
        const struct imported_claim *b = *(struct imported_claim *const *)right;
        return a->claim_id < b->claim_id ? -1 : a->claim_id > b->claim_id;
}

/* Whether the row before in the order has the same key, so that this one adds nothing. */
static bool is_repeated(struct imported_claim *const *rows, size_t i)
{
        return i > 0 && compare(rows[i - 1], rows[i]) == 0;
}

/* Hash and version; a row without a fingerprint matches whatever comes. */
static void write_fingerprint(struct sql *sql, const struct imported_claim *row)
{
        static const unsigned char unknown[PO_FINGERPRINT_BYTES];
        sql_binary(sql, row->has_fingerprint ? row->notification.fingerprint : unknown,
                   PO_FINGERPRINT_BYTES);
        sql_raw(sql, ",");
        sql_integer(sql, row->has_fingerprint ? PO_FINGERPRINT_VERSION : 0);
        sql_raw(sql, ",");
        sql_text(sql, IMPORTED_TOPIC);
        sql_raw(sql, ",");
        sql_integer(sql, SOURCE_PARTITION);
        sql_raw(sql, ",");
        sql_integer(sql, row->line);
}

static void write_time(struct sql *sql, int64_t time_us)
{
        if (time_us == PO_TIME_UNKNOWN)
                sql_raw(sql, "UTC_TIMESTAMP(6)");
        else
                sql_time(sql, time_us);
}

static void write_claim(struct sql *sql, const struct imported_claim *row)
{
        const struct po_notification *notification = &row->notification;
        const char *texts[] = { notification->key, notification->channel, notification->event,
                                notification->order_no };
        sql_integer(sql, notification->tenant_id);
        for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
                sql_raw(sql, ",");
                sql_text(sql, texts[i]);
        }
        if (notification->amount_kind == PO_AMOUNT_NONE) {
                sql_raw(sql, ",NULL,NULL,");
        } else {
                sql_raw(sql, ",");
                sql_integer(sql, notification->amount_minor);
                sql_raw(sql, ",");
                sql_text(sql, notification->currency);
                sql_raw(sql, ",");
        }
        write_fingerprint(sql, row);
        sql_raw(sql, ",0,"); /* no record brought it yet */
        write_time(sql, row->created_at_us);
        sql_raw(sql, ",");
        write_time(sql, row->created_at_us);
}

/* The update that changes nothing is of a column that a worker's grants allow. */
static enum po_class insert_claims(struct db *db, struct sql *sql,
                                   struct imported_claim *const *rows, size_t count,
                                   struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "INSERT INTO claim (tenant_id, idem_key, channel, event_type, order_no,"
                     " amount, currency, payload_hash, hash_version, source_topic,"
                     " source_partition, source_offset, deliveries, created_at, last_seen_at)"
                     " VALUES ");
        for (size_t i = 0; i < count; i++) {
                if (is_repeated(rows, i))
                        continue;
                sql_raw(sql, i == 0 ? "(" : ",(");
                write_claim(sql, rows[i]);
                sql_raw(sql, ")");
        }
        sql_raw(sql, " ON DUPLICATE KEY UPDATE deliveries = claim.deliveries");
        return db_exec(db, sql, NULL, error);
}

static void write_keys(struct sql *sql, struct imported_claim *const *rows, size_t count)
{
        for (size_t i = 0; i < count; i++) {
                int64_t tenant_id = rows[i]->notification.tenant_id;
                if (i == 0 || tenant_id != rows[i - 1]->notification.tenant_id) {
                        sql_raw(sql, i == 0 ? "(c.tenant_id = " : ")) OR (c.tenant_id = ");
                        sql_integer(sql, tenant_id);
                        sql_raw(sql, " AND c.idem_key IN (");
                } else {
                        sql_raw(sql, ",");
                }
                sql_text(sql, rows[i]->notification.key);
        }
        sql_raw(sql, "))");
}

/* By what the claim and its outcome are: only this transaction's own have neither. */
static enum imported_fate fate_of(struct db *db)
{
        if (db_is_null(db, 4))
                return db_integer(db, 3) == 0 ? IMPORTED_TAKEN : IMPORTED_SETTLED;
        enum verdict verdict = verdict_parse(db_text(db, 4));
        return verdict == VERDICT_POSTED || verdict == VERDICT_SUSPENSE ? IMPORTED_BOOKED
                                                                        : IMPORTED_THERE;
}

static struct imported_claim *find(struct imported_claim *const *rows, size_t count,
                                   int64_t tenant_id, const char *key)
{
        size_t low = 0, high = count;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                const struct po_notification *here = &rows[middle]->notification;
                int way = here->tenant_id != tenant_id ? (here->tenant_id < tenant_id ? -1 : 1)
                                                       : strcmp(here->key, key);
                if (way < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < count ? rows[low] : NULL;
}

static enum po_class read_fates(struct db *db, struct sql *sql, struct imported_claim *const *rows,
                                size_t count, struct po_error *error)
{
        size_t found = 0, keys = 0;
        for (size_t i = 0; i < count; i++) {
                keys += !is_repeated(rows, i);
                rows[i]->fate = IMPORTED_THERE;
        }
        sql_reset(sql);
        sql_raw(sql, "SELECT c.tenant_id, c.idem_key, c.id, c.deliveries, o.verdict"
                     " FROM claim c FORCE INDEX (uk_idem) LEFT JOIN outcome o ON o.claim_id = c.id"
                     " WHERE ");
        write_keys(sql, rows, count);
        if (db_query(db, sql, error) != PO_OK)
                return error->kind;
        while (db_next_row(db)) {
                struct imported_claim *row = find(rows, count, db_integer(db, 0), db_text(db, 1));
                if (row == NULL)
                        continue;
                row->claim_id = db_integer(db, 2);
                row->fate = fate_of(db);
                found++;
        }
        db_rows_end(db);
        if (found != keys)
                return po_fail(error, PO_BUG, 0, "%zu of %zu claims are there", found, keys);
        return PO_OK;
}

/* The fence, sorted by claim. EXISTS: a worker settled one of them meanwhile. */
static enum po_class insert_outcomes(struct db *db, struct sql *sql, struct imported_claim **open,
                                     size_t count, struct po_error *error)
{
        if (count == 0)
                return PO_OK;
        qsort(open, count, sizeof *open, compare_claim_ids);
        sql_reset(sql);
        sql_raw(sql, "INSERT INTO outcome (claim_id, verdict, result_json, payload_hash,"
                     " hash_version, source_topic, source_partition, source_offset, turn,"
                     " settled_at) VALUES ");
        for (size_t i = 0; i < count; i++) {
                sql_raw(sql, i == 0 ? "(" : ",(");
                sql_integer(sql, open[i]->claim_id);
                sql_raw(sql, ",'SKIPPED','{\"skipped\":\"IMPORTED\"}',");
                write_fingerprint(sql, open[i]);
                sql_raw(sql, ",0,UTC_TIMESTAMP(6))");
        }
        return db_exec(db, sql, NULL, error);
}

static enum po_class delete_parked(struct db *db, struct sql *sql,
                                   struct imported_claim *const *open, size_t count,
                                   struct po_error *error)
{
        size_t asked = 0;
        sql_reset(sql);
        /* Without the hint a small table is scanned, and rows of workers are waited for. */
        sql_raw(sql, "DELETE p FROM parked p FORCE INDEX (PRIMARY) WHERE p.claim_id IN (");
        for (size_t i = 0; i < count; i++) {
                if (open[i]->fate != IMPORTED_SETTLED)
                        continue;
                sql_raw(sql, asked++ == 0 ? "" : ",");
                sql_integer(sql, open[i]->claim_id);
        }
        sql_raw(sql, ")");
        return asked == 0 ? PO_OK : db_exec(db, sql, NULL, error);
}

/* Between BEGIN and COMMIT; open is scratch for count rows. */
static enum po_class settle(struct db *db, struct sql *sql, struct imported_claim *const *rows,
                            struct imported_claim **open, size_t count, bool dry,
                            struct po_error *error)
{
        size_t open_count = 0;
        if (insert_claims(db, sql, rows, count, error) != PO_OK ||
            read_fates(db, sql, rows, count, error) != PO_OK)
                return error->kind;
        for (size_t i = 0; i < count; i++)
                if (!is_repeated(rows, i) &&
                    (rows[i]->fate == IMPORTED_TAKEN || rows[i]->fate == IMPORTED_SETTLED))
                        open[open_count++] = rows[i];
        if (insert_outcomes(db, sql, open, open_count, error) != PO_OK ||
            delete_parked(db, sql, open, open_count, error) != PO_OK ||
            PO_FAILPOINT("import.before_commit") != PO_OK)
                return error->kind;
        if (!dry)
                return db_commit(db, error);
        db_rollback(db);
        return PO_OK;
}

static enum po_class settle_once(struct db *db, struct sql *sql, struct imported_claim *const *rows,
                                 struct imported_claim **open, size_t count, bool dry,
                                 struct po_error *error)
{
        if (db_begin(db, error) != PO_OK)
                return error->kind;
        if (settle(db, sql, rows, open, count, dry, error) == PO_OK)
                return PO_OK;
        db_rollback(db);
        return error->kind;
}

enum po_class imported_settle(struct db *db, struct sql *sql, struct imported_claim **rows,
                              size_t count, bool dry, struct po_error *error)
{
        if (count == 0)
                return PO_OK;
        struct imported_claim **open = calloc(count, sizeof(struct imported_claim *));
        if (open == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for %zu claims", count);
        qsort(rows, count, sizeof *rows, compare_rows);
        enum po_class kind = PO_OK;
        for (int try = 0; try < TRIES_MAX; try++) {
                kind = settle_once(db, sql, rows, open, count, dry, error);
                if (kind != PO_EXISTS && (kind != PO_TRANSIENT || !db_is_connected(db)))
                        break;
        }
        free(open);
        if (kind == PO_OK)
                return PO_OK;
        if (kind == PO_EXISTS)
                error->kind = PO_BUG;
        return po_within(error, "import %zu claims", count);
}
