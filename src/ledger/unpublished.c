#include "ledger/unpublished.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum po_class unpublished_open(struct unpublished *unpublished, size_t capacity,
                               struct po_error *error)
{
        *unpublished = (struct unpublished){ .capacity = capacity };
        unpublished->rows = calloc(capacity, sizeof *unpublished->rows);
        if (unpublished->rows == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "no memory for %zu outbox rows", capacity);
        return PO_OK;
}

static void forget_rows(struct unpublished *unpublished)
{
        for (size_t i = 0; i < unpublished->count; i++) {
                struct unpublished_row *row = &unpublished->rows[i];
                free(row->id);
                free(row->aggregatetype);
                free(row->aggregateid);
                free(row->type);
                free(row->payload);
                *row = (struct unpublished_row){ 0 };
        }
        unpublished->count = 0;
        unpublished->age_s = 0;
}

void unpublished_free(struct unpublished *unpublished)
{
        forget_rows(unpublished);
        free(unpublished->rows);
        *unpublished = (struct unpublished){ 0 };
}

/*
 * By the index of what is not published: an optimizer that goes by the primary key, for the ORDER
 * BY, would pass all that ever was.
 */
static const char UNPUBLISHED[] =
        "SELECT o.seq, o.id, o.aggregatetype, o.aggregateid, o.type, o.payload,"
        " GREATEST(0, TIMESTAMPDIFF(SECOND, o.created_at, UTC_TIMESTAMP(6)))"
        " FROM outbox o FORCE INDEX (outbox_unpublished) WHERE o.published_at IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM outbox_refused r WHERE r.aggregateid = o.aggregateid"
        " AND r.aggregatetype = o.aggregatetype AND r.seq <= o.seq"
        " AND r.due_at > UTC_TIMESTAMP(6)) ORDER BY o.seq LIMIT ";

static char *copy_cell(const struct db *db, unsigned column, size_t *bytes_out)
{
        const void *bytes;
        *bytes_out = db_bytes(db, column, &bytes);
        return strndup(bytes, *bytes_out);
}

static enum po_class take_row(struct unpublished *unpublished, struct db *db,
                              struct po_error *error)
{
        size_t bytes;
        struct unpublished_row *row = &unpublished->rows[unpublished->count++];
        row->seq = db_integer(db, 0);
        row->id = copy_cell(db, 1, &bytes);
        row->aggregatetype = copy_cell(db, 2, &bytes);
        row->aggregateid = copy_cell(db, 3, &bytes);
        row->type = copy_cell(db, 4, &bytes);
        row->payload = copy_cell(db, 5, &row->payload_bytes);
        if (unpublished->count == 1)
                unpublished->age_s = db_integer(db, 6);
        if (row->id == NULL || row->aggregatetype == NULL || row->aggregateid == NULL ||
            row->type == NULL || row->payload == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "no memory for an outbox row");
        return PO_OK;
}

enum po_class unpublished_read(struct unpublished *unpublished, struct db *db, struct sql *sql,
                               size_t limit, struct po_error *error)
{
        assert(limit > 0 && limit <= unpublished->capacity);
        forget_rows(unpublished);
        sql_reset(sql);
        sql_raw(sql, UNPUBLISHED);
        sql_integer(sql, (int64_t)limit);
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "read the outbox");
        enum po_class kind = PO_OK;
        while (kind == PO_OK && db_next_row(db))
                kind = take_row(unpublished, db, error);
        db_rows_end(db);
        return kind;
}

static void write_seqs(struct sql *sql, const struct unpublished *unpublished)
{
        sql_raw(sql, "seq IN (");
        for (size_t i = 0; i < unpublished->count; i++) {
                sql_raw(sql, i == 0 ? "" : ",");
                sql_integer(sql, unpublished->rows[i].seq);
        }
        sql_raw(sql, ")");
}

enum po_class unpublished_mark(const struct unpublished *unpublished, struct db *db,
                               struct sql *sql, struct po_error *error)
{
        if (unpublished->count == 0)
                return PO_OK;
        sql_reset(sql);
        /* By outbox_unpublished it would wait for the rows of postings that are under way. */
        sql_raw(sql, "UPDATE outbox FORCE INDEX (PRIMARY) SET published_at = UTC_TIMESTAMP(6)"
                     " WHERE published_at IS NULL AND ");
        write_seqs(sql, unpublished);
        if (db_exec(db, sql, NULL, error) != PO_OK)
                return po_within(error, "mark %zu outbox rows published", unpublished->count);
        return PO_OK;
}

/* A minute, then twice as long each time, an hour at most. */
static const char REFUSE_WAIT[] =
        " ON DUPLICATE KEY UPDATE reason = VALUES(reason), tries = tries + 1, due_at ="
        " UTC_TIMESTAMP(6) + INTERVAL LEAST(3600, 60 << LEAST(tries, 6)) SECOND";

enum po_class unpublished_refuse(const struct unpublished_row *row, const char *reason,
                                 struct db *db, struct sql *sql, struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "INSERT INTO outbox_refused (seq, aggregatetype, aggregateid, reason, tries,"
                     " first_at, due_at) VALUES (");
        sql_integer(sql, row->seq);
        sql_raw(sql, ",");
        sql_text(sql, row->aggregatetype);
        sql_raw(sql, ",");
        sql_text(sql, row->aggregateid);
        sql_raw(sql, ",");
        sql_text(sql, reason);
        sql_raw(sql, ",1,UTC_TIMESTAMP(6),UTC_TIMESTAMP(6) + INTERVAL 60 SECOND)");
        sql_raw(sql, REFUSE_WAIT);
        if (db_exec(db, sql, NULL, error) != PO_OK)
                return po_within(error, "note a refused outbox row");
        return PO_OK;
}

/* The first cell of the only row. */
static enum po_class ask(struct db *db, struct sql *sql, const char *question, int64_t *answer_out,
                         struct po_error *error)
{
        *answer_out = 0;
        sql_reset(sql);
        sql_raw(sql, question);
        if (db_query(db, sql, error) != PO_OK)
                return error->kind;
        if (db_next_row(db) && !db_is_null(db, 0))
                *answer_out = db_integer(db, 0);
        db_rows_end(db);
        return PO_OK;
}

/* What a person marked or deleted, and what was published since. */
static enum po_class forget_refused(struct db *db, struct sql *sql, struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "DELETE r FROM outbox_refused r LEFT JOIN outbox o ON o.seq = r.seq AND"
                     " o.published_at IS NULL WHERE o.seq IS NULL");
        if (db_exec(db, sql, NULL, error) != PO_OK)
                return po_within(error, "forget what was refused");
        return PO_OK;
}

enum po_class refused_count(struct db *db, struct sql *sql, int64_t *count_out,
                            struct po_error *error)
{
        int64_t settled = 0;
        *count_out = 0;
        sql_reset(sql);
        sql_raw(sql, "SELECT COUNT(o.seq), COUNT(*) - COUNT(o.seq) FROM outbox_refused r LEFT JOIN"
                     " outbox o ON o.seq = r.seq AND o.published_at IS NULL");
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "count what is refused");
        if (db_next_row(db)) {
                *count_out = db_integer(db, 0);
                settled = db_integer(db, 1);
        }
        db_rows_end(db);
        return settled > 0 ? forget_refused(db, sql, error) : PO_OK;
}

enum po_class unpublished_any(struct db *db, struct sql *sql, bool *any_out, struct po_error *error)
{
        int64_t any;
        if (ask(db, sql, "SELECT EXISTS (SELECT 1 FROM outbox WHERE published_at IS NULL)", &any,
                error) != PO_OK)
                return po_within(error, "look at the outbox");
        *any_out = any != 0;
        return PO_OK;
}

/* A lock's name has at most 64 characters on MySQL, as many as a database's alone. */
#define LOCK_NAME "CONCAT('postonce-relay-', LEFT(SHA2(DATABASE(), 256), 40))"

enum po_class relay_lock(struct db *db, struct sql *sql, int wait_s, bool *got_out,
                         struct po_error *error)
{
        *got_out = false;
        sql_reset(sql);
        sql_raw(sql, "SELECT GET_LOCK(" LOCK_NAME ", ");
        sql_integer(sql, wait_s);
        sql_raw(sql, ")");
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "ask for the relay's lock");
        *got_out = db_next_row(db) && !db_is_null(db, 0) && db_integer(db, 0) == 1;
        db_rows_end(db);
        return PO_OK;
}

enum po_class relay_has_lock(struct db *db, struct sql *sql, bool *has_out, struct po_error *error)
{
        int64_t has;
        if (ask(db, sql, "SELECT IS_USED_LOCK(" LOCK_NAME ") = CONNECTION_ID()", &has, error) !=
            PO_OK)
                return po_within(error, "look at the relay's lock");
        *has_out = has == 1;
        return PO_OK;
}

/* All: a lock asked for twice would have to be given back twice. */
void relay_unlock(struct db *db, struct sql *sql)
{
        int64_t freed;
        struct po_error ignored;
        if (db_is_connected(db) &&
            ask(db, sql, "SELECT RELEASE_ALL_LOCKS()", &freed, &ignored) != PO_OK)
                db_disconnect(db);
}

enum po_class relay_uuid(struct db *db, struct sql *sql, char uuid_out[RELAY_UUID_BYTES],
                         struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "SELECT uuid FROM relay WHERE id = 1");
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "read the relay's name");
        uuid_out[0] = '\0';
        if (db_next_row(db))
                snprintf(uuid_out, RELAY_UUID_BYTES, "%s", db_text(db, 0));
        db_rows_end(db);
        if (uuid_out[0] == '\0')
                return po_fail(error, PO_SYSTEMIC, 0,
                               "table relay is empty: INSERT INTO relay (id, uuid) VALUES (1, "
                               "UUID())");
        return PO_OK;
}
