#include "ledger/parked.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/record_pack.h"
#include "ledger/audit.h"
#include "ledger/notice.h"
#include "ledger/review.h"

enum { MICROSECONDS = 1000 };

/* UTC_TIMESTAMP(6) + so many milliseconds. */
static void write_after(struct sql *sql, int64_t delay_ms)
{
        sql_raw(sql, "UTC_TIMESTAMP(6) + INTERVAL ");
        sql_integer(sql, delay_ms * MICROSECONDS);
        sql_raw(sql, " MICROSECOND");
}

/* place: in the statement; what came first was parked first. */
static enum po_class write_parked(struct sql *sql, const struct posting *posting, size_t place,
                                  int64_t delay_ms, struct po_error *error)
{
        const struct po_notification *notification = posting->notification;
        char text[NOTICE_BYTES];
        notice_write(notification, text, sizeof text);
        size_t raw_bytes = record_pack_bytes(posting->record);
        unsigned char *raw = malloc(raw_bytes);
        if (raw == NULL)
                return po_fail(error, PO_SYSTEMIC, ENOMEM, "out of memory for a parked record");
        record_pack(posting->record, raw);

        sql_integer(sql, posting->claim_id);
        sql_raw(sql, ",");
        sql_integer(sql, notification->tenant_id);
        sql_raw(sql, ",");
        sql_text(sql, posting->subject.order_no[0] != '\0' ? posting->subject.order_no
                                                           : notification->order_no);
        sql_raw(sql, ",");
        sql_text(sql, notification->channel);
        sql_raw(sql, ",");
        sql_text(sql, posting->reason);
        sql_raw(sql, ",");
        write_after(sql, delay_ms);
        sql_raw(sql, ",UTC_TIMESTAMP(6) + INTERVAL ");
        sql_integer(sql, (int64_t)place);
        sql_raw(sql, " MICROSECOND,UTC_TIMESTAMP(6),0,");
        sql_text(sql, text);
        sql_raw(sql, ",");
        sql_binary(sql, raw, raw_bytes);
        free(raw);
        char awaited[PO_KEY_BYTES];
        sql_raw(sql, ",");
        sql_text(sql, subject_awaited(posting, awaited) ? awaited : NULL);
        return PO_OK;
}

enum po_class parked_insert(struct db *db, struct sql *sql, struct posting *const *postings,
                            size_t count, int64_t delay_ms, struct po_error *error)
{
        if (count == 0)
                return PO_OK;
        sql_reset(sql);
        sql_raw(sql, "INSERT INTO parked (claim_id, tenant_id, order_no, channel, reason, due_at,"
                     " first_parked_at, waits_since, tries, notification, raw, awaits) VALUES ");
        for (size_t i = 0; i < count; i++) {
                sql_raw(sql, i == 0 ? "(" : ",(");
                if (write_parked(sql, postings[i], i, postings[i]->unblocked ? 0 : delay_ms,
                                 error) != PO_OK)
                        return error->kind;
                sql_raw(sql, ")");
        }
        sql_raw(sql, " ON DUPLICATE KEY UPDATE parked.claim_id = parked.claim_id");
        if (db_exec(db, sql, NULL, error) != PO_OK)
                return po_within(error, "park %zu notifications", count);
        return PO_OK;
}

enum po_class parked_delete(struct db *db, struct sql *sql, struct posting *const *postings,
                            size_t count, struct po_error *error)
{
        if (count == 0)
                return PO_OK;
        sql_reset(sql);
        /* Without the hint a small table is scanned, and rows of others are waited for. */
        sql_raw(sql, "DELETE p FROM parked p FORCE INDEX (PRIMARY) WHERE p.claim_id IN (");
        for (size_t i = 0; i < count; i++) {
                sql_raw(sql, i == 0 ? "" : ",");
                sql_integer(sql, postings[i]->claim_id);
        }
        sql_raw(sql, ")");
        if (db_exec(db, sql, NULL, error) != PO_OK)
                return po_within(error, "unpark %zu notifications", count);
        return PO_OK;
}

enum po_class parked_begin(struct db *db, struct sql *sql, struct posting *const *postings,
                           size_t count, struct po_error *error)
{
        if (count == 0)
                return PO_OK;
        sql_reset(sql);
        sql_raw(sql, "UPDATE parked FORCE INDEX (PRIMARY) SET begun_at = UTC_TIMESTAMP(6)"
                     " WHERE claim_id IN (");
        for (size_t i = 0; i < count; i++) {
                sql_raw(sql, i == 0 ? "" : ",");
                sql_integer(sql, postings[i]->claim_id);
        }
        sql_raw(sql, ")");
        if (db_exec(db, sql, NULL, error) != PO_OK)
                return po_within(error, "begin %zu parked notifications", count);
        return PO_OK;
}

static enum po_class is_anything_parked(struct db *db, struct sql *sql, bool *parked_out,
                                        struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "SELECT 1 FROM parked LIMIT 1");
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "look for parked notifications");
        *parked_out = db_row_count(db) > 0;
        db_rows_end(db);
        return PO_OK;
}

static enum po_class make_due_by_orders(struct db *db, struct sql *sql,
                                        const struct order_id *orders, size_t count,
                                        struct po_error *error)
{
        if (count == 0)
                return PO_OK;
        sql_reset(sql);
        sql_raw(sql, "UPDATE parked FORCE INDEX (parked_order) SET due_at = UTC_TIMESTAMP(6)"
                     " WHERE reason <> '" PARKED_PAUSED "' AND (");
        order_ids_write(sql, orders, count);
        sql_raw(sql, ")");
        if (db_exec(db, sql, NULL, error) != PO_OK)
                return po_within(error, "make parked notifications due");
        return PO_OK;
}

/* What awaits a payment whose order it does not know. */
static enum po_class make_due_by_keys(struct db *db, struct sql *sql,
                                      struct posting *const *settled, size_t count,
                                      struct po_error *error)
{
        if (count == 0)
                return PO_OK;
        sql_reset(sql);
        sql_raw(sql, "UPDATE parked FORCE INDEX (parked_awaits) SET due_at = UTC_TIMESTAMP(6)"
                     " WHERE reason <> '" PARKED_PAUSED "' AND (");
        for (size_t i = 0; i < count; i++) {
                sql_raw(sql, i == 0 ? "(tenant_id = " : " OR (tenant_id = ");
                sql_integer(sql, settled[i]->notification->tenant_id);
                sql_raw(sql, " AND awaits = ");
                sql_text(sql, settled[i]->notification->key);
                sql_raw(sql, ")");
        }
        sql_raw(sql, ")");
        if (db_exec(db, sql, NULL, error) != PO_OK)
                return po_within(error, "make due what awaits payments");
        return PO_OK;
}

enum po_class parked_make_due_by(struct db *db, struct sql *sql, const struct order_id *orders,
                                 size_t count, struct posting *const *settled, size_t settled_count,
                                 struct po_error *error)
{
        bool parked = false;
        if (count + settled_count == 0)
                return PO_OK;
        if (is_anything_parked(db, sql, &parked, error) != PO_OK)
                return error->kind;
        if (!parked)
                return PO_OK;
        if (make_due_by_orders(db, sql, orders, count, error) != PO_OK)
                return error->kind;
        return make_due_by_keys(db, sql, settled, settled_count, error);
}

enum po_class parked_make_due(struct db *db, struct sql *sql, const struct order_id *orders,
                              size_t count, struct po_error *error)
{
        return parked_make_due_by(db, sql, orders, count, NULL, 0, error);
}

/* All but what is read after the lease. */
static void copy_row(struct db *db, struct parked_row *row, size_t *bytes_out)
{
        memset(row, 0, sizeof *row);
        row->claim_id = db_integer(db, 0);
        row->tries = (unsigned)db_integer(db, 1);
        row->for_resume = strcmp(db_text(db, 2), PARKED_PAUSED) == 0;
        row->unreadable = strcmp(db_text(db, 2), PARKED_UNREADABLE) == 0;
        row->gave_up = db_integer(db, 3) != 0 && !row->for_resume;
        *bytes_out = (size_t)db_integer(db, 4);
        snprintf(row->first_parked_at, sizeof row->first_parked_at, "%s", db_text(db, 5));
        row->begun = db_integer(db, 6) != 0;
        snprintf(row->lease, sizeof row->lease, "%s", db_text(db, 7));
}

void parked_row_free(struct parked_row *row)
{
        free(row->notification);
        free(row->raw);
        memset(row, 0, sizeof *row);
}

/* A posting that began within the lease may be under way, though somebody made its row due. */
static enum po_class read_due(struct db *db, struct sql *sql, int64_t lease_ms,
                              int64_t give_up_after_ms, size_t bytes_max,
                              struct parked_row *rows_out, size_t count, size_t *count_out,
                              struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "SELECT claim_id, tries, reason, waits_since + INTERVAL ");
        sql_integer(sql, give_up_after_ms * MICROSECONDS);
        sql_raw(sql, " MICROSECOND <= UTC_TIMESTAMP(6), LENGTH(notification) + LENGTH(raw),"
                     " first_parked_at, begun_at IS NOT NULL, ");
        write_after(sql, lease_ms);
        sql_raw(sql, " FROM parked FORCE INDEX (parked_due)"
                     " WHERE due_at <= UTC_TIMESTAMP(6)"
                     " AND (begun_at IS NULL OR begun_at <= UTC_TIMESTAMP(6) - INTERVAL ");
        sql_integer(sql, lease_ms * MICROSECONDS);
        sql_raw(sql, " MICROSECOND) ORDER BY due_at LIMIT ");
        sql_integer(sql, (int64_t)count);
        sql_raw(sql, " FOR UPDATE SKIP LOCKED");
        if (db_query(db, sql, error) != PO_OK)
                return error->kind;
        size_t used = 0;
        while (*count_out < count && db_next_row(db)) {
                size_t bytes;
                copy_row(db, &rows_out[*count_out], &bytes);
                if (*count_out > 0 && used + bytes > bytes_max)
                        break;
                used += bytes;
                (*count_out)++;
        }
        db_rows_end(db);
        return PO_OK;
}

static enum po_class read_content(struct db *db, struct parked_row *row, struct po_error *error)
{
        const void *raw;
        row->notification = strdup(db_text(db, 1));
        row->raw_bytes = db_bytes(db, 2, &raw);
        row->raw = malloc(row->raw_bytes + 1);
        if (row->notification == NULL || row->raw == NULL)
                return po_fail(error, PO_SYSTEMIC, ENOMEM, "out of memory for a parked record");
        memcpy(row->raw, raw, row->raw_bytes);
        return PO_OK;
}

static void write_claims(struct sql *sql, const struct parked_row *rows, size_t count)
{
        for (size_t i = 0; i < count; i++) {
                sql_raw(sql, i == 0 ? "" : ",");
                sql_integer(sql, rows[i].claim_id);
        }
}

/* Rows that are gone meanwhile, settled by somebody, leave. */
static void drop_empty(struct parked_row *rows, size_t *count_inout)
{
        size_t kept = 0;
        for (size_t i = 0; i < *count_inout; i++)
                if (rows[i].raw != NULL)
                        rows[kept++] = rows[i];
        *count_inout = kept;
}

/* Only what is leased is brought here. */
static enum po_class read_contents(struct db *db, struct sql *sql, struct parked_row *rows,
                                   size_t *count_inout, struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "SELECT claim_id, notification, raw FROM parked FORCE INDEX (PRIMARY)"
                     " WHERE claim_id IN (");
        write_claims(sql, rows, *count_inout);
        sql_raw(sql, ")");
        if (db_query(db, sql, error) != PO_OK)
                return error->kind;
        enum po_class kind = PO_OK;
        while (kind == PO_OK && db_next_row(db)) {
                int64_t claim_id = db_integer(db, 0);
                for (size_t i = 0; i < *count_inout && kind == PO_OK; i++)
                        if (rows[i].claim_id == claim_id && rows[i].raw == NULL)
                                kind = read_content(db, &rows[i], error);
        }
        db_rows_end(db);
        if (kind == PO_OK)
                drop_empty(rows, count_inout);
        return kind;
}

/* Places of rows that seem to have given up, for a statement. */
static size_t write_given_up(struct sql *sql, const struct parked_row *rows, size_t count)
{
        size_t written = 0;
        for (size_t i = 0; i < count; i++) {
                if (!rows[i].gave_up)
                        continue;
                sql_raw(sql, written++ == 0 ? "" : ",");
                sql_integer(sql, rows[i].claim_id);
        }
        return written;
}

/* How long the intake was paused since row p waits, in microseconds. */
#define PAUSED_SINCE                                                                               \
        "SELECT CAST(COALESCE(SUM(TIMESTAMPDIFF(MICROSECOND, GREATEST(i.began_at, p.waits_since)," \
        " i.ended_at)), 0) AS SIGNED) FROM intake_pause i WHERE i.ended_at > p.waits_since"

/*
 * While the intake was paused nothing was tried, so that time does not count: a stop of a weekend
 * must not end with everything parked giving up at the first look.
 */
static enum po_class spare_paused(struct db *db, struct sql *sql, int64_t give_up_after_ms,
                                  struct parked_row *rows, size_t count, struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "SELECT p.claim_id FROM parked p WHERE p.claim_id IN (");
        if (write_given_up(sql, rows, count) == 0)
                return PO_OK;
        sql_raw(sql, ") AND p.waits_since + INTERVAL ");
        sql_integer(sql, give_up_after_ms * MICROSECONDS);
        sql_raw(sql, " MICROSECOND + INTERVAL (" PAUSED_SINCE ") MICROSECOND > UTC_TIMESTAMP(6)");
        if (db_query(db, sql, error) != PO_OK)
                return error->kind;
        while (db_next_row(db)) {
                int64_t claim_id = db_integer(db, 0);
                for (size_t i = 0; i < count; i++)
                        if (rows[i].claim_id == claim_id)
                                rows[i].gave_up = false;
        }
        db_rows_end(db);
        return PO_OK;
}

static enum po_class lease(struct db *db, struct sql *sql, const struct parked_row *rows,
                           size_t count, struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "UPDATE parked FORCE INDEX (PRIMARY) SET tries = tries + 1, due_at = ");
        sql_text(sql, rows[0].lease); /* of one read: the same of all */
        sql_raw(sql, " WHERE claim_id IN (");
        write_claims(sql, rows, count);
        sql_raw(sql, ")");
        if (db_exec(db, sql, NULL, error) != PO_OK)
                return error->kind;
        return db_commit(db, error);
}

/* Several of one order are judged as they came. */
static int compare_rows(const void *left, const void *right)
{
        const struct parked_row *a = left, *b = right;
        int by_time = strcmp(a->first_parked_at, b->first_parked_at);
        if (by_time != 0)
                return by_time;
        return a->claim_id < b->claim_id ? -1 : a->claim_id > b->claim_id;
}

enum po_class parked_take(struct db *db, struct sql *sql, int64_t lease_ms,
                          int64_t give_up_after_ms, size_t bytes_max, struct parked_row *rows_out,
                          size_t count, size_t *count_out, struct po_error *error)
{
        *count_out = 0;
        if (db_begin(db, error) != PO_OK)
                return error->kind;
        enum po_class kind = read_due(db, sql, lease_ms, give_up_after_ms, bytes_max, rows_out,
                                      count, count_out, error);
        if (kind == PO_OK)
                kind = spare_paused(db, sql, give_up_after_ms, rows_out, *count_out, error);
        if (kind == PO_OK && *count_out > 0)
                kind = lease(db, sql, rows_out, *count_out, error);
        db_rollback(db);
        if (kind == PO_OK && *count_out > 0)
                kind = read_contents(db, sql, rows_out, count_out, error);
        if (kind == PO_OK) {
                qsort(rows_out, *count_out, sizeof *rows_out, compare_rows);
                return PO_OK;
        }
        while (*count_out > 0)
                parked_row_free(&rows_out[--*count_out]);
        return po_within(error, "take parked notifications");
}

/*
 * Whoever made the row due meanwhile wrote an earlier time than the lease: it stays, only the mark
 * goes. A later one is the lease of another worker, whose row it is now. Not asked by the clock: a
 * statement that waited for the row's lock has an older one than what it finds there. Assignments
 * are made from left to right: the reason that is asked about is the old one.
 */
enum po_class parked_delay(struct db *db, struct sql *sql, const int64_t *claim_ids, size_t count,
                           const char *lease, int64_t delay_ms, const char *reason, bool begun,
                           struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "UPDATE parked FORCE INDEX (PRIMARY) SET due_at = IF(due_at = ");
        sql_text(sql, lease);
        sql_raw(sql, ", ");
        write_after(sql, delay_ms);
        sql_raw(sql, ", due_at)");
        if (!begun)
                sql_raw(sql, ", begun_at = NULL");
        if (reason != NULL && strcmp(reason, PARKED_PAUSED) != 0)
                sql_raw(sql, ", waits_since = CASE reason WHEN '" PARKED_PAUSED
                             "' THEN UTC_TIMESTAMP(6) ELSE waits_since END");
        if (reason != NULL) {
                sql_raw(sql, ", reason = ");
                sql_text(sql, reason);
        }
        sql_raw(sql, " WHERE claim_id IN (");
        for (size_t i = 0; i < count; i++) {
                sql_raw(sql, i == 0 ? "" : ",");
                sql_integer(sql, claim_ids[i]);
        }
        sql_raw(sql, ") AND due_at <= ");
        sql_text(sql, lease);
        if (db_exec(db, sql, NULL, error) != PO_OK)
                return po_within(error, "delay %zu parked notifications", count);
        return PO_OK;
}

static void format_subject(int64_t claim_id, char subject[REVIEW_SUBJECT_BYTES])
{
        snprintf(subject, REVIEW_SUBJECT_BYTES, "parked %lld", (long long)claim_id);
}

enum po_class parked_ask_person(struct db *db, struct sql *sql, int64_t claim_id, bool *fresh_out,
                                struct po_error *error)
{
        char subject[REVIEW_SUBJECT_BYTES];
        format_subject(claim_id, subject);
        return review_open(db, sql, subject, REVIEW_PARKED_UNREADABLE, claim_id, fresh_out, error);
}

enum po_class parked_close_review(struct db *db, struct sql *sql, int64_t claim_id,
                                  struct po_error *error)
{
        char subject[REVIEW_SUBJECT_BYTES];
        format_subject(claim_id, subject);
        return review_close(db, sql, subject, error);
}

static void write_waits_for_resume(struct sql *sql, const char *channel)
{
        sql_raw(sql, " AND channel = ");
        sql_text(sql, channel);
        sql_raw(sql, " AND reason = '" PARKED_PAUSED "'");
}

/* *upto_out: the last claim of the next rows after `after`; 0: there are none. */
static enum po_class find_chunk(struct db *db, struct sql *sql, const char *channel, int64_t after,
                                int64_t *upto_out, struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "SELECT COALESCE(MAX(claim_id), 0) FROM (SELECT claim_id FROM parked"
                     " FORCE INDEX (PRIMARY) WHERE claim_id > ");
        sql_integer(sql, after);
        write_waits_for_resume(sql, channel);
        sql_raw(sql, " ORDER BY claim_id LIMIT ");
        sql_integer(sql, RESUME_ROWS_MAX);
        sql_raw(sql, ") chunk");
        if (db_query(db, sql, error) != PO_OK)
                return error->kind;
        *upto_out = db_next_row(db) ? db_integer(db, 0) : 0;
        db_rows_end(db);
        return PO_OK;
}

static enum po_class resume_chunk(struct db *db, struct sql *sql, const char *channel,
                                  int64_t after, int64_t upto, struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql,
                "UPDATE parked FORCE INDEX (PRIMARY) SET reason = 'RESUMED',"
                " due_at = UTC_TIMESTAMP(6), waits_since = UTC_TIMESTAMP(6) WHERE claim_id > ");
        sql_integer(sql, after);
        sql_raw(sql, " AND claim_id <= ");
        sql_integer(sql, upto);
        write_waits_for_resume(sql, channel);
        return db_exec(db, sql, NULL, error);
}

enum po_class parked_resume(struct db *db, struct sql *sql, const char *channel,
                            struct po_error *error)
{
        int64_t after = 0, upto = 0;
        enum po_class kind = find_chunk(db, sql, channel, after, &upto, error);
        while (kind == PO_OK && upto > after) {
                kind = resume_chunk(db, sql, channel, after, upto, error);
                after = upto;
                if (kind == PO_OK)
                        kind = find_chunk(db, sql, channel, after, &upto, error);
        }
        return kind == PO_OK ? PO_OK : po_within(error, "make parked notifications due");
}

enum po_class parked_list(struct db *db, struct sql *sql, int64_t limit, struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "SELECT p.tenant_id, c.idem_key, p.order_no, p.reason, p.tries,"
                     " p.first_parked_at, p.due_at FROM parked p JOIN claim c ON c.id = p.claim_id"
                     " ORDER BY p.first_parked_at, p.claim_id LIMIT ");
        sql_integer(sql, limit);
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "list parked notifications");
        return PO_OK;
}

static enum po_class release(struct db *db, struct sql *sql, int64_t claim_id, const char *key,
                             const char *who, const char *why, struct po_error *error)
{
        struct db_result result;
        sql_reset(sql);
        sql_raw(sql, "UPDATE parked SET due_at = UTC_TIMESTAMP(6) WHERE claim_id = ");
        sql_integer(sql, claim_id);
        if (db_exec(db, sql, &result, error) != PO_OK)
                return error->kind;
        if (result.affected_rows == 0)
                return po_refuse(error, "NOT_PARKED", "%s is not parked", key);
        if (audit_insert(db, sql, who, "park release", key, why, error) != PO_OK)
                return error->kind;
        return db_commit(db, error);
}

enum po_class parked_release(struct db *db, struct sql *sql, int64_t claim_id, const char *key,
                             const char *who, const char *why, struct po_error *error)
{
        if (db_begin(db, error) != PO_OK)
                return error->kind;
        if (release(db, sql, claim_id, key, who, why, error) == PO_OK)
                return PO_OK;
        db_rollback(db);
        return po_within(error, "release");
}
