#include "ledger/audit.h"

#include <string.h>

enum { WHO_BYTES = 64, TEXT_BYTES = 255 };

/* As much of text as fits, without splitting a UTF-8 sequence. */
static void put_cut(struct sql *sql, const char *text, size_t most)
{
        size_t length = strlen(text);
        if (length > most) {
                length = most;
                while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80)
                        length--;
        }
        sql_text_bytes(sql, text, length);
}

enum po_class audit_insert(struct db *db, struct sql *sql, const char *who, const char *verb,
                           const char *what, const char *why, struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "INSERT INTO audit (at, who, verb, what, why) VALUES (UTC_TIMESTAMP(6), ");
        put_cut(sql, who, WHO_BYTES);
        sql_raw(sql, ",");
        sql_text(sql, verb);
        sql_raw(sql, ",");
        put_cut(sql, what, TEXT_BYTES);
        sql_raw(sql, ",");
        put_cut(sql, why, TEXT_BYTES);
        sql_raw(sql, ")");
        if (db_exec(db, sql, NULL, error) != PO_OK)
                return po_within(error, "write audit");
        return PO_OK;
}
