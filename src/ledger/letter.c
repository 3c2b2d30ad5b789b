#include "ledger/letter.h"

#include <string.h>

static void write_source(struct sql *sql, const struct record *record)
{
        sql_text(sql, record->topic);
        sql_raw(sql, ",");
        sql_integer(sql, record->partition);
        sql_raw(sql, ",");
        sql_integer(sql, record->offset);
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

        sql_reset(sql);
        sql_raw(sql, "SELECT attempts FROM failure WHERE letter_id = ");
        sql_text(sql, row->letter_id);
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "read the count of failures");
        row->attempts = db_next_row(db) ? (unsigned)db_integer(db, 0) : 1;
        db_rows_end(db);
        return PO_OK;
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

enum po_class letters_insert(struct db *db, struct sql *sql, const struct letter_row *const *rows,
                             size_t count, struct po_error *error)
{
        if (count == 0)
                return PO_OK;
        sql_reset(sql);
        sql_raw(sql, "INSERT INTO dead_letter (letter_id, reason, source_topic, source_partition,"
                     " source_offset, letter_topic, letter_partition, letter_offset, attempts,"
                     " created_at) VALUES ");
        for (size_t i = 0; i < count; i++) {
                sql_raw(sql, i == 0 ? "(" : ",(");
                sql_text(sql, rows[i]->letter_id);
                sql_raw(sql, ",");
                sql_text(sql, rows[i]->reason);
                sql_raw(sql, ",");
                write_source(sql, rows[i]->record);
                sql_raw(sql, ",");
                sql_text(sql, rows[i]->letter_topic);
                sql_raw(sql, ",");
                sql_integer(sql, rows[i]->letter_partition);
                sql_raw(sql, ",");
                sql_integer(sql, rows[i]->letter_offset);
                sql_raw(sql, ",");
                sql_integer(sql, rows[i]->attempts);
                sql_raw(sql, ",UTC_TIMESTAMP(6))");
        }
        sql_raw(sql, " ON DUPLICATE KEY UPDATE dead_letter.letter_id = dead_letter.letter_id");
        if (db_exec(db, sql, NULL, error) != PO_OK)
                return po_within(error, "record %zu dead letters", count);
        return PO_OK;
}
