#include "ledger/hold.h"

#include <stdio.h>
#include <string.h>

#include "ledger/audit.h"
#include "ledger/review.h"

static const char *const decision_words[] = {
        [HOLD_UNDECIDED] = NULL,
        [HOLD_RELEASE] = "RELEASE",
        [HOLD_SKIP] = "SKIP",
};

enum { GROUP_CHARACTERS = 255, MICROSECONDS = 1000 };

/* As the column has room for. */
static void write_group(struct sql *sql, const char *group)
{
        sql_raw(sql, "LEFT(");
        sql_text(sql, group);
        sql_raw(sql, ",");
        sql_integer(sql, GROUP_CHARACTERS);
        sql_raw(sql, ")");
}

static void write_place(struct sql *sql, const struct hold *hold)
{
        sql_raw(sql, " WHERE consumer_group = ");
        write_group(sql, hold->group);
        sql_raw(sql, " AND topic = ");
        sql_text(sql, hold->topic);
        sql_raw(sql, " AND partition_no = ");
        sql_integer(sql, hold->partition);
        sql_raw(sql, " AND held_offset = ");
        sql_integer(sql, hold->offset);
}

/* What review knows it by: "hold postonce callbacks/3@1234". */
static void format_subject(const struct hold *hold, char subject[REVIEW_SUBJECT_BYTES])
{
        snprintf(subject, REVIEW_SUBJECT_BYTES, "hold %.*s %s/%d@%lld", GROUP_CHARACTERS,
                 hold->group, hold->topic, (int)hold->partition, (long long)hold->offset);
}

static enum po_class note(struct db *db, struct sql *sql, const struct hold *hold,
                          const char *reason, unsigned tries, struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "INSERT INTO hold (consumer_group, topic, partition_no, held_offset, reason,"
                     " tries, since, last_at) VALUES (");
        write_group(sql, hold->group);
        sql_raw(sql, ",");
        sql_text(sql, hold->topic);
        sql_raw(sql, ",");
        sql_integer(sql, hold->partition);
        sql_raw(sql, ",");
        sql_integer(sql, hold->offset);
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

/* An item that is open already stays as it is: a hold is noted at each of its tries. */
static enum po_class ask_person(struct db *db, struct sql *sql, const struct hold *hold,
                                int64_t after_ms, struct po_error *error)
{
        char subject[REVIEW_SUBJECT_BYTES];
        format_subject(hold, subject);
        sql_reset(sql);
        sql_raw(sql, "INSERT INTO review (subject, reason, source_topic, source_partition,"
                     " source_offset, state, created_at) SELECT ");
        sql_text(sql, subject);
        sql_raw(sql, ", CASE WHEN reason IN ('" HOLD_OUT_OF_RANGE "', '" HOLD_UNREADABLE
                     "') THEN reason ELSE '" REVIEW_PARTITION_HELD
                     "' END, topic, partition_no, held_offset, 'OPEN', UTC_TIMESTAMP(6) FROM hold");
        write_place(sql, hold);
        sql_raw(sql, " AND since <= UTC_TIMESTAMP(6) - INTERVAL ");
        sql_integer(sql, after_ms * MICROSECONDS);
        sql_raw(sql, " MICROSECOND AND NOT EXISTS (SELECT 1 FROM review r WHERE r.open_subject = ");
        sql_text(sql, subject);
        sql_raw(sql, ") ON DUPLICATE KEY UPDATE review.seen = review.seen");
        if (db_exec(db, sql, NULL, error) != PO_OK)
                return po_within(error, "ask for a person");
        return PO_OK;
}

enum po_class hold_note(struct db *db, struct sql *sql, const struct hold *hold, const char *reason,
                        unsigned tries, int64_t for_person_after_ms, struct po_error *error)
{
        if (note(db, sql, hold, reason, tries, error) != PO_OK)
                return error->kind;
        return ask_person(db, sql, hold, for_person_after_ms, error);
}

static enum hold_decision parse_decision(const char *word)
{
        if (strcmp(word, decision_words[HOLD_RELEASE]) == 0)
                return HOLD_RELEASE;
        return strcmp(word, decision_words[HOLD_SKIP]) == 0 ? HOLD_SKIP : HOLD_UNDECIDED;
}

static void write_behind(struct sql *sql, const struct hold *after)
{
        sql_raw(sql, " AND (topic, partition_no, held_offset) > (");
        sql_text(sql, after->topic);
        sql_raw(sql, ",");
        sql_integer(sql, after->partition);
        sql_raw(sql, ",");
        sql_integer(sql, after->offset);
        sql_raw(sql, ")");
}

enum po_class holds_read(struct db *db, struct sql *sql, const char *group,
                         const struct hold *after, struct hold *holds_out, size_t count,
                         size_t *count_out, struct po_error *error)
{
        *count_out = 0;
        sql_reset(sql);
        sql_raw(sql, "SELECT topic, partition_no, held_offset, decision, reason FROM hold"
                     " WHERE consumer_group = ");
        write_group(sql, group);
        if (after != NULL)
                write_behind(sql, after);
        sql_raw(sql, " ORDER BY topic, partition_no, held_offset LIMIT ");
        sql_integer(sql, (int64_t)count);
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "read holds");
        while (*count_out < count && db_next_row(db)) {
                struct hold *hold = &holds_out[(*count_out)++];
                hold->group = group;
                snprintf(hold->topic, sizeof hold->topic, "%s", db_text(db, 0));
                hold->partition = (int32_t)db_integer(db, 1);
                hold->offset = db_integer(db, 2);
                hold->decision = parse_decision(db_text(db, 3));
                hold->out_of_range = strcmp(db_text(db, 4), HOLD_OUT_OF_RANGE) == 0;
        }
        db_rows_end(db);
        return PO_OK;
}

enum po_class hold_read_decision(struct db *db, struct sql *sql, const struct hold *hold,
                                 enum hold_decision *decision_out, struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "SELECT decision FROM hold");
        write_place(sql, hold);
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "read a decision on a hold");
        *decision_out = db_next_row(db) ? parse_decision(db_text(db, 0)) : HOLD_UNDECIDED;
        db_rows_end(db);
        return PO_OK;
}

/* The item first: what dies in between leaves the hold, which then ends once more. */
enum po_class hold_delete(struct db *db, struct sql *sql, const struct hold *hold,
                          struct po_error *error)
{
        char subject[REVIEW_SUBJECT_BYTES];
        format_subject(hold, subject);
        if (review_close(db, sql, subject, error) != PO_OK)
                return error->kind;
        sql_reset(sql);
        sql_raw(sql, "DELETE FROM hold");
        write_place(sql, hold);
        if (db_exec(db, sql, NULL, error) != PO_OK)
                return po_within(error, "end a hold");
        return PO_OK;
}

enum po_class hold_done(struct db *db, struct sql *sql, const struct hold *hold,
                        struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "UPDATE hold SET decision = NULL");
        write_place(sql, hold);
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
        write_place(sql, hold);
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
                     " decision, consumer_group FROM hold ORDER BY since LIMIT ");
        sql_integer(sql, limit);
        if (db_query(db, sql, error) != PO_OK)
                return po_within(error, "list holds");
        return PO_OK;
}
