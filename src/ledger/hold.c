#include "ledger/hold.h"

#include <stdio.h>
#include <string.h>

#include "ledger/audit.h"

static const char *const decision_words[] = {
        [HOLD_UNDECIDED] = NULL,
        [HOLD_RELEASE] = "RELEASE",
        [HOLD_SKIP] = "SKIP",
};

static void write_place(struct sql *sql, const char *topic, int32_t partition, int64_t offset)
{
        sql_raw(sql, " WHERE topic = ");
        sql_text(sql, topic);
        sql_raw(sql, " AND partition_no = ");
        sql_integer(sql, partition);
        sql_raw(sql, " AND held_offset = ");
        sql_integer(sql, offset);
}

enum po_class hold_note(struct db *db, struct sql *sql, const struct record *record,
                        const char *reason, unsigned tries, struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "INSERT INTO hold (topic, partition_no, held_offset, reason, tries, since,"
                     " last_at) VALUES (");
        sql_text(sql, record->topic);
        sql_raw(sql, ",");
        sql_integer(sql, record->partition);
        sql_raw(sql, ",");
        sql_integer(sql, record->offset);
        sql_raw(sql, ",");
        sql_text(sql, reason);
        sql_raw(sql, ",");
        sql_integer(sql, tries);
        sql_raw(sql, ",UTC_TIMESTAMP(6),UTC_TIMESTAMP(6)) ON DUPLICATE KEY UPDATE"
                     " reason = VALUES(reason), tries = VALUES(tries), last_at = VALUES(last_at)");
        if (db_exec(db, sql, NULL, error) != PO_OK)
                return po_within(error, "note a hold");
        return PO_OK;
}

static enum hold_decision parse_decision(const char *word)
{
        if (strcmp(word, decision_words[HOLD_RELEASE]) == 0)
                return HOLD_RELEASE;
        return strcmp(word, decision_words[HOLD_SKIP]) == 0 ? HOLD_SKIP : HOLD_UNDECIDED;
}

enum po_class holds_read(struct db *db, struct sql *sql, struct hold *holds_out, size_t count,
                         size_t *count_out, struct po_error *error)
{
        *count_out = 0;
        sql_reset(sql);
        sql_raw(sql, "SELECT topic, partition_no, held_offset, decision FROM hold ORDER BY since"
                     " LIMIT ");
        sql_integer(sql, (int64_t)count);
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "read holds");
        while (*count_out < count && db_next_row(db)) {
                struct hold *hold = &holds_out[(*count_out)++];
                snprintf(hold->topic, sizeof hold->topic, "%s", db_text(db, 0));
                hold->partition = (int32_t)db_integer(db, 1);
                hold->offset = db_integer(db, 2);
                hold->decision = parse_decision(db_text(db, 3));
        }
        db_rows_end(db);
        return PO_OK;
}

enum po_class hold_delete(struct db *db, struct sql *sql, const struct hold *hold,
                          struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "DELETE FROM hold");
        write_place(sql, hold->topic, hold->partition, hold->offset);
        if (db_exec(db, sql, NULL, error) != PO_OK)
                return po_within(error, "end a hold");
        return PO_OK;
}

enum po_class hold_done(struct db *db, struct sql *sql, const struct hold *hold,
                        struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "UPDATE hold SET decision = NULL");
        write_place(sql, hold->topic, hold->partition, hold->offset);
        if (db_exec(db, sql, NULL, error) != PO_OK)
                return po_within(error, "carry out a decision on a hold");
        return PO_OK;
}

static enum po_class decide(struct db *db, struct sql *sql, const struct hold *hold,
                            const char *who, const char *why, struct po_error *error)
{
        struct db_result result;
        char place[TOPIC_BYTES + 40];
        snprintf(place, sizeof place, "%s/%d/%lld", hold->topic, (int)hold->partition,
                 (long long)hold->offset);
        sql_reset(sql);
        sql_raw(sql, "UPDATE hold SET decision = ");
        sql_text(sql, decision_words[hold->decision]);
        sql_raw(sql, ", who = LEFT(");
        sql_text(sql, who);
        sql_raw(sql, ",64), why = LEFT(");
        sql_text(sql, why);
        sql_raw(sql, ",255)");
        write_place(sql, hold->topic, hold->partition, hold->offset);
        if (db_exec(db, sql, &result, error) != PO_OK)
                return error->kind;
        if (result.affected_rows == 0)
                return po_refuse(error, "NOT_HELD", "%s is not held", place);
        const char *verb = hold->decision == HOLD_SKIP ? "hold skip" : "hold release";
        if (audit_insert(db, sql, who, verb, place, why, error) != PO_OK)
                return error->kind;
        return db_commit(db, error);
}

enum po_class hold_decide(struct db *db, struct sql *sql, const struct hold *hold, const char *who,
                          const char *why, struct po_error *error)
{
        if (db_begin(db, error) != PO_OK)
                return error->kind;
        if (decide(db, sql, hold, who, why, error) == PO_OK)
                return PO_OK;
        db_rollback(db);
        return po_within(error, "decide on a hold");
}

enum po_class holds_list(struct db *db, struct sql *sql, int64_t limit, struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "SELECT topic, partition_no, held_offset, reason, tries, since, last_at,"
                     " decision FROM hold ORDER BY since LIMIT ");
        sql_integer(sql, limit);
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "list holds");
        return PO_OK;
}
