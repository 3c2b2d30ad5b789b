#include "ledger/pause.h"

#include <stdio.h>
#include <string.h>

#include "base/failpoint.h"
#include "ledger/audit.h"
#include "ledger/parked.h"
#include "ledger/review.h"

bool pauses_have(const struct pauses *pauses, const char *channel)
{
        for (size_t i = 0; i < pauses->count; i++)
                if (strcmp(pauses->channels[i], channel) == 0)
                        return true;
        return false;
}

enum po_class pauses_read(struct db *db, struct sql *sql, struct pauses *pauses_out,
                          struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "SELECT channel FROM pause ORDER BY channel LIMIT ");
        sql_integer(sql, PAUSES_MAX + 1);
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "read pauses");
        memset(pauses_out, 0, sizeof *pauses_out);
        size_t rows = db_row_count(db);
        while (db_next_row(db)) {
                const char *channel = db_text(db, 0);
                if (strcmp(channel, PAUSE_ALL) == 0)
                        pauses_out->all = true;
                else if (pauses_out->count < PAUSES_MAX)
                        snprintf(pauses_out->channels[pauses_out->count++], PO_CHANNEL_BYTES, "%s",
                                 channel);
        }
        db_rows_end(db);
        if (rows > PAUSES_MAX)
                return po_fail(error, PO_SYSTEMIC, 0,
                               "more than %d channels are paused: pause the whole intake",
                               PAUSES_MAX);
        return PO_OK;
}

static const char *subject(const char *channel)
{
        return strcmp(channel, PAUSE_ALL) == 0 ? "intake" : channel;
}

static enum po_class set(struct db *db, struct sql *sql, const char *channel, const char *who,
                         const char *why, struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "INSERT INTO pause (channel, at, who, why) VALUES (");
        sql_text(sql, channel);
        sql_raw(sql, ",UTC_TIMESTAMP(6),LEFT(");
        sql_text(sql, who);
        sql_raw(sql, ",64),LEFT(");
        sql_text(sql, why);
        sql_raw(sql, ",255)) ON DUPLICATE KEY UPDATE pause.channel = pause.channel");
        if (db_exec(db, sql, NULL, error) != PO_OK ||
            audit_insert(db, sql, who, "pause", subject(channel), why, error) != PO_OK)
                return error->kind;
        return db_commit(db, error);
}

static enum po_class trip(struct db *db, struct sql *sql, const char *why, struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "INSERT INTO pause (channel, at, who, why) VALUES ('" PAUSE_ALL
                     "',UTC_TIMESTAMP(6),'postonce',");
        sql_text(sql, why);
        sql_raw(sql, ")");
        if (db_exec(db, sql, NULL, error) != PO_OK ||
            review_open(db, sql, REVIEW_SUBJECT_PAUSE, REVIEW_DEAD_LETTER_FLOOD, 0, NULL, error) !=
                    PO_OK ||
            audit_insert(db, sql, "postonce", "pause", subject(PAUSE_ALL), why, error) != PO_OK)
                return error->kind;
        return db_commit(db, error);
}

/* How long it lasted, for parked.c. */
static enum po_class record_intake_pause(struct db *db, struct sql *sql, struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "INSERT INTO intake_pause (began_at, ended_at) SELECT at, UTC_TIMESTAMP(6)"
                     " FROM pause WHERE channel = '" PAUSE_ALL "'");
        if (db_exec(db, sql, NULL, error) != PO_OK)
                return error->kind;
        return review_close(db, sql, REVIEW_SUBJECT_PAUSE, error);
}

static enum po_class clear(struct db *db, struct sql *sql, const char *channel, const char *who,
                           const char *why, struct po_error *error)
{
        if (strcmp(channel, PAUSE_ALL) == 0 && record_intake_pause(db, sql, error) != PO_OK)
                return error->kind;
        sql_reset(sql);
        sql_raw(sql, "DELETE FROM pause WHERE channel = ");
        sql_text(sql, channel);
        if (db_exec(db, sql, NULL, error) != PO_OK ||
            audit_insert(db, sql, who, "resume", subject(channel), why, error) != PO_OK)
                return error->kind;
        return db_commit(db, error);
}

enum po_class pause_set(struct db *db, struct sql *sql, const char *channel, const char *who,
                        const char *why, struct po_error *error)
{
        if (db_begin(db, error) != PO_OK)
                return error->kind;
        if (set(db, sql, channel, who, why, error) == PO_OK)
                return PO_OK;
        db_rollback(db);
        return po_within(error, "pause %s", subject(channel));
}

enum po_class pause_trip(struct db *db, struct sql *sql, const char *why, bool *fresh_out,
                         struct po_error *error)
{
        *fresh_out = false;
        if (db_begin(db, error) != PO_OK)
                return error->kind;
        enum po_class kind = trip(db, sql, why, error);
        db_rollback(db);
        *fresh_out = kind == PO_OK;
        if (kind == PO_OK || kind == PO_EXISTS)
                return PO_OK;
        return po_within(error, "pause %s", subject(PAUSE_ALL));
}

enum po_class pause_clear(struct db *db, struct sql *sql, const char *channel, const char *who,
                          const char *why, struct po_error *error)
{
        if (db_begin(db, error) != PO_OK)
                return error->kind;
        enum po_class kind = clear(db, sql, channel, who, why, error);
        db_rollback(db);
        if (kind == PO_OK)
                kind = PO_FAILPOINT("resume.committed");
        if (kind == PO_OK && strcmp(channel, PAUSE_ALL) != 0)
                kind = parked_resume(db, sql, channel, error);
        return kind == PO_OK ? PO_OK : po_within(error, "resume %s", subject(channel));
}
