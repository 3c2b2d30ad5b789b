#include "ledger/replayed.h"

#include <stdlib.h>
#include <string.h>

static void write_ids(struct sql *sql, const struct replayed_letter *letters, size_t count)
{
        sql_raw(sql, "(");
        for (size_t i = 0; i < count; i++) {
                sql_raw(sql, i == 0 ? "" : ",");
                sql_text(sql, letters[i].letter_id);
        }
        sql_raw(sql, ")");
}

enum po_class replayed_find(struct db *db, struct sql *sql, struct replayed_letter *letters,
                            size_t count, struct po_error *error)
{
        for (size_t i = 0; i < count; i++)
                letters[i].before = false;
        if (count == 0)
                return PO_OK;
        sql_reset(sql);
        sql_raw(sql, "SELECT letter_id FROM dead_letter WHERE replayed_at IS NOT NULL AND"
                     " letter_id IN ");
        write_ids(sql, letters, count);
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "look for %zu replayed letters", count);
        while (db_next_row(db))
                for (size_t i = 0; i < count; i++)
                        if (strcmp(letters[i].letter_id, db_text(db, 0)) == 0)
                                letters[i].before = true;
        db_rows_end(db);
        return PO_OK;
}

enum po_class replayed_mark(struct db *db, struct sql *sql, const struct replayed_letter *letters,
                            size_t count, struct po_error *error)
{
        if (count == 0)
                return PO_OK;
        sql_reset(sql);
        sql_raw(sql, "UPDATE dead_letter SET replayed_at = UTC_TIMESTAMP(6) WHERE letter_id IN ");
        write_ids(sql, letters, count);
        if (db_exec(db, sql, NULL, error) != PO_OK)
                return po_within(error, "note %zu replayed letters", count);
        return PO_OK;
}

enum po_class replayed_body(struct db *db, struct sql *sql, const char *letter_id,
                            unsigned char **body_out, size_t *bytes_out, struct po_error *error)
{
        *body_out = NULL;
        *bytes_out = 0;
        sql_reset(sql);
        sql_raw(sql, "SELECT body FROM dead_letter WHERE body IS NOT NULL AND letter_id = ");
        sql_text(sql, letter_id);
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "read the body of a letter");
        enum po_class kind = PO_OK;
        if (db_next_row(db)) {
                const void *bytes;
                *bytes_out = db_bytes(db, 0, &bytes);
                *body_out = malloc(*bytes_out + 1);
                if (*body_out != NULL)
                        memcpy(*body_out, bytes, *bytes_out);
                else
                        kind = po_fail(error, PO_SYSTEMIC, 0, "no memory for the body of a letter");
        }
        db_rows_end(db);
        return kind;
}
