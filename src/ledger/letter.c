#include "ledger/letter.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/record_pack.h"

enum { STATEMENT_BYTES = 8192 }; /* all of an INSERT but the body */

static void write_source(struct sql *sql, const struct record *record)
{
        sql_text(sql, record->topic);
        sql_raw(sql, ",");
        sql_integer(sql, record->partition);
        sql_raw(sql, ",");
        sql_integer(sql, record->offset);
}

enum po_class letter_failures(struct db *db, struct sql *sql, const char *letter_id,
                              unsigned *failures_out, struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "SELECT attempts FROM failure WHERE letter_id = ");
        sql_text(sql, letter_id);
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "read the count of failures");
        *failures_out = db_next_row(db) ? (unsigned)db_integer(db, 0) : 0;
        db_rows_end(db);
        return PO_OK;
}

enum po_class letter_fail(struct db *db, struct sql *sql, struct letter_row *row,
                          struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "INSERT INTO failure (letter_id, source_topic, source_partition,"
                     " source_offset, attempts, reason, first_at, last_at) VALUES (");
        sql_text(sql, row->letter_id);
        sql_raw(sql, ",");
        write_source(sql, row->record);
        sql_raw(sql, ",1,");
        sql_text(sql, row->reason);
        sql_raw(sql, ",UTC_TIMESTAMP(6),UTC_TIMESTAMP(6)) ON DUPLICATE KEY UPDATE"
                     " attempts = attempts + 1, reason = VALUES(reason),"
                     " last_at = VALUES(last_at)");
        if (db_exec(db, sql, NULL, error) != PO_OK)
                return po_within(error, "count a failure");

        return letter_failures(db, sql, row->letter_id, &row->attempts, error);
}

enum po_class letters_find(struct db *db, struct sql *sql, struct letter_row *rows, size_t count,
                           struct po_error *error)
{
        if (count == 0)
                return PO_OK;
        sql_reset(sql);
        sql_raw(sql, "SELECT letter_id FROM dead_letter WHERE letter_id IN (");
        for (size_t i = 0; i < count; i++) {
                rows[i].there = false;
                sql_raw(sql, i == 0 ? "" : ",");
                sql_text(sql, rows[i].letter_id);
        }
        sql_raw(sql, ")");
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "look for %zu dead letters", count);
        while (db_next_row(db))
                for (size_t i = 0; i < count; i++)
                        if (strcmp(rows[i].letter_id, db_text(db, 0)) == 0)
                                rows[i].there = true;
        db_rows_end(db);
        return PO_OK;
}

bool letter_can_keep(const struct db *db, const struct record *record)
{
        /* As hexadecimal digits in the statement that inserts it. */
        return 2 * record_pack_bytes(record) + STATEMENT_BYTES <= db_packet_bytes(db);
}

static void write_columns(struct sql *sql, const struct letter_row *row)
{
        sql_text(sql, row->letter_id);
        sql_raw(sql, ",");
        sql_text(sql, row->reason);
        sql_raw(sql, ",");
        write_source(sql, row->record);
        sql_raw(sql, ",");
        sql_text(sql, row->letter_topic);
        sql_raw(sql, ",");
        sql_integer(sql, row->letter_partition);
        sql_raw(sql, ",");
        sql_integer(sql, row->letter_offset);
        sql_raw(sql, ",");
        sql_integer(sql, row->attempts);
        sql_raw(sql, ",UTC_TIMESTAMP(6)");
}

#define ONE_STAYS " ON DUPLICATE KEY UPDATE dead_letter.letter_id = dead_letter.letter_id"

static enum po_class insert_plain(struct db *db, struct sql *sql,
                                  const struct letter_row *const *rows, size_t count,
                                  struct po_error *error)
{
        size_t written = 0;
        sql_reset(sql);
        sql_raw(sql, "INSERT INTO dead_letter (letter_id, reason, source_topic, source_partition,"
                     " source_offset, letter_topic, letter_partition, letter_offset, attempts,"
                     " created_at) VALUES ");
        for (size_t i = 0; i < count; i++) {
                if (rows[i]->keep)
                        continue;
                sql_raw(sql, written++ == 0 ? "(" : ",(");
                write_columns(sql, rows[i]);
                sql_raw(sql, ")");
        }
        sql_raw(sql, ONE_STAYS);
        if (written > 0 && db_exec(db, sql, NULL, error) != PO_OK)
                return po_within(error, "record %zu dead letters", written);
        return PO_OK;
}

static enum po_class insert_kept(struct db *db, struct sql *sql, const struct letter_row *row,
                                 struct po_error *error)
{
        size_t count = record_pack_bytes(row->record);
        CLEANUP(cleanup_free) unsigned char *body = malloc(count);
        if (body == NULL)
                return po_fail(error, PO_TRANSIENT, 0, "no memory for a record of %zu bytes",
                               count);
        record_pack(row->record, body);
        sql_reset(sql);
        sql_raw(sql, "INSERT INTO dead_letter (letter_id, reason, source_topic, source_partition,"
                     " source_offset, letter_topic, letter_partition, letter_offset, attempts,"
                     " created_at, body) VALUES (");
        write_columns(sql, row);
        sql_raw(sql, ",");
        sql_binary(sql, body, count);
        sql_raw(sql, ")" ONE_STAYS);
        if (db_exec(db, sql, NULL, error) != PO_OK)
                return po_within(error, "record a dead letter with its body of %zu bytes", count);
        return PO_OK;
}

enum po_class letters_insert(struct db *db, struct sql *sql, const struct letter_row *const *rows,
                             size_t count, struct po_error *error)
{
        if (count > 0 && insert_plain(db, sql, rows, count, error) != PO_OK)
                return error->kind;
        for (size_t i = 0; i < count; i++)
                if (rows[i]->keep && insert_kept(db, sql, rows[i], error) != PO_OK)
                        return error->kind;
        return PO_OK;
}

enum po_class letters_recent(struct db *db, struct sql *sql, int64_t *count_out,
                             struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "SELECT COUNT(*) FROM dead_letter WHERE created_at > GREATEST("
                     "UTC_TIMESTAMP(6) - INTERVAL 60 SECOND, COALESCE((SELECT MAX(at) FROM audit"
                     " WHERE verb = 'resume' AND what = 'intake'), '1970-01-01'))");
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "count recent dead letters");
        *count_out = db_next_row(db) ? db_integer(db, 0) : 0;
        db_rows_end(db);
        return PO_OK;
}
