#include "fake_db.h"

#include "mysql/prepared.h"

#include <assert.h>
#include <string.h>

enum {
        ANSWERS_MAX = 64,
        ROWS_MAX = 512,
        CELLS_MAX = 16,
        STATEMENTS_MAX = 4096,
        BINARIES_MAX = 16,
};

struct answer {
        const char *piece;
        bool used, is_failure;
        enum po_class kind;
        int code;
        uint64_t affected_rows;
        size_t rows, columns;
        const char *cells[ROWS_MAX][CELLS_MAX];
};

struct statement {
        char *text;
        bool in_transaction;
};

struct binary {
        const char *bytes;
        size_t count;
};

struct db {
        bool connected, in_transaction, failed;
        const struct answer *result; /* the open one */
        size_t next_row;
        size_t answers_count, statements_count, seen;
        struct answer answers[ANSWERS_MAX];
        struct statement statements[STATEMENTS_MAX];
        size_t binaries_count;
        struct binary binaries[BINARIES_MAX];
};

static struct db fake;
static const struct answer nothing = { .affected_rows = 1 };

struct db *fake_db_open(void)
{
        for (size_t i = 0; i < fake.statements_count; i++)
                free(fake.statements[i].text);
        memset(&fake, 0, sizeof fake);
        fake.connected = true;
        return &fake;
}

static struct answer *answer_add(const char *piece)
{
        ck_assert_uint_lt(fake.answers_count, ANSWERS_MAX);
        struct answer *answer = &fake.answers[fake.answers_count++];
        *answer = nothing;
        answer->piece = piece;
        return answer;
}

void fake_fail(const char *piece, enum po_class kind, int code)
{
        struct answer *answer = answer_add(piece);
        answer->is_failure = true;
        answer->kind = kind;
        answer->code = code;
}

void fake_affect(const char *piece, uint64_t rows)
{
        answer_add(piece)->affected_rows = rows;
}

void fake_rows(const char *piece)
{
        answer_add(piece);
}

void fake_row_add(const char *const *cells, size_t count)
{
        ck_assert_uint_gt(fake.answers_count, 0);
        struct answer *answer = &fake.answers[fake.answers_count - 1];
        ck_assert(answer->rows < ROWS_MAX && count <= CELLS_MAX);
        memcpy(answer->cells[answer->rows++], cells, count * sizeof *cells);
        answer->columns = count;
}

const char *fake_binary(const void *bytes, size_t count)
{
        ck_assert_uint_lt(fake.binaries_count, BINARIES_MAX);
        fake.binaries[fake.binaries_count++] = (struct binary){ bytes, count };
        return bytes;
}

static bool starts_with(const char *text, const char *start)
{
        return strncmp(text, start, strlen(start)) == 0;
}

void fake_saw_all(const char *const *starts, size_t count)
{
        size_t seen = fake.statements_count - fake.seen;
        for (size_t i = 0; i < count && i < seen; i++) {
                const char *text = fake.statements[fake.seen + i].text;
                ck_assert_msg(starts_with(text, starts[i]), "statement %zu is not \"%s\" but: %s",
                              i, starts[i], text);
        }
        ck_assert_msg(seen >= count, "statement %zu, \"%s\", was not sent", seen, starts[seen]);
        ck_assert_msg(seen <= count, "one more than %zu statements: %s", count,
                      fake.statements[fake.seen + count].text);
        for (size_t i = 0; i < fake.answers_count; i++)
                ck_assert_msg(fake.answers[i].used, "the answer to \"%s\" was not asked for",
                              fake.answers[i].piece);
        fake.seen = fake.statements_count;
}

void fake_saw_nothing(void)
{
        ck_assert_msg(fake.seen == fake.statements_count, "was sent: %s",
                      fake.statements[fake.seen].text);
}

static const struct statement *find(const char *start)
{
        for (size_t i = fake.statements_count; i > 0; i--)
                if (starts_with(fake.statements[i - 1].text, start))
                        return &fake.statements[i - 1];
        ck_abort_msg("no statement starts with \"%s\"", start);
}

const char *fake_statement(const char *start)
{
        return find(start)->text;
}

bool fake_was_in_transaction(const char *start)
{
        return find(start)->in_transaction;
}

size_t fake_count(const char *start)
{
        size_t count = 0;
        for (size_t i = 0; i < fake.statements_count; i++)
                count += starts_with(fake.statements[i].text, start);
        return count;
}

static const struct answer *answer_to(const char *text)
{
        for (size_t i = 0; i < fake.answers_count; i++) {
                struct answer *answer = &fake.answers[i];
                if (answer->used || strstr(text, answer->piece) == NULL)
                        continue;
                answer->used = true;
                return answer;
        }
        return &nothing;
}

/* Remembers a statement and finds its answer. */
static enum po_class ask(struct db *db, const char *text, const struct answer **answer_out,
                         struct po_error *error)
{
        if (db->in_transaction && !db->connected)
                return po_fail(error, PO_TRANSIENT, 0, "fake: lost inside a transaction");
        if (db->failed)
                return po_fail(error, PO_BUG, 0, "fake: only rollback is left");
        db->connected = true;
        ck_assert_uint_lt(db->statements_count, STATEMENTS_MAX);
        db->statements[db->statements_count].in_transaction = db->in_transaction;
        db->statements[db->statements_count++].text = strdup(text);
        *answer_out = answer_to(text);
        if (!(*answer_out)->is_failure)
                return PO_OK;
        db->failed = db->in_transaction;
        if ((*answer_out)->code == 2006 || (*answer_out)->code == 2013)
                db->connected = false;
        return po_fail(error, (*answer_out)->kind, (*answer_out)->code, "fake: scripted");
}

/* What nothing was scripted for: one row, or every row of an upsert that moves orders. */
static uint64_t affected_by(const char *text, const struct answer *answer)
{
        uint64_t rows = 0;
        if (answer != &nothing || !starts_with(text, FAKE_MOVE))
                return answer->affected_rows;
        for (const char *at = text; (at = strstr(at, "UTC_TIMESTAMP(6))")) != NULL; at++)
                rows++;
        return 2 * rows;
}

enum po_class db_exec(struct db *db, const struct sql *statement, struct db_result *result_out,
                      struct po_error *error)
{
        const struct answer *answer;
        enum po_class kind = ask(db, statement->text, &answer, error);
        if (kind == PO_OK && result_out != NULL)
                *result_out =
                        (struct db_result){ .affected_rows = affected_by(statement->text, answer) };
        return kind;
}

enum po_class db_query(struct db *db, const struct sql *statement, struct po_error *error)
{
        assert(db->result == NULL);
        enum po_class kind = ask(db, statement->text, &db->result, error);
        db->next_row = 0;
        if (kind != PO_OK)
                db->result = NULL;
        return kind;
}

enum po_class db_stream(struct db *db, const struct sql *statement, struct po_error *error)
{
        assert(!db->in_transaction);
        return db_query(db, statement, error);
}

enum po_class db_stream_end(struct db *db, struct po_error *error)
{
        (void)error;
        db_rows_end(db);
        return PO_OK;
}

bool db_next_row(struct db *db)
{
        assert(db->result != NULL);
        return db->next_row++ < db->result->rows;
}

void db_rows_end(struct db *db)
{
        db->result = NULL;
}

size_t db_row_count(const struct db *db)
{
        assert(db->result != NULL);
        return db->result->rows;
}

static const char *cell(const struct db *db, unsigned column)
{
        assert(db->result != NULL && db->next_row > 0 && db->next_row <= db->result->rows);
        assert(column < db->result->columns);
        return db->result->cells[db->next_row - 1][column];
}

bool db_is_null(const struct db *db, unsigned column)
{
        return cell(db, column) == NULL;
}

const char *db_text(const struct db *db, unsigned column)
{
        return db_is_null(db, column) ? "" : cell(db, column);
}

size_t db_bytes(const struct db *db, unsigned column, const void **bytes_out)
{
        *bytes_out = db_text(db, column);
        for (size_t i = 0; i < db->binaries_count; i++)
                if (db->binaries[i].bytes == *bytes_out)
                        return db->binaries[i].count;
        return strlen(*bytes_out);
}

int64_t db_integer(struct db *db, unsigned column)
{
        char *end;
        int64_t value = strtoll(db_text(db, column), &end, 10);
        ck_assert_msg(*end == '\0' && end != db_text(db, column), "column %u is no integer: \"%s\"",
                      column, db_text(db, column));
        return value;
}

enum po_class db_begin(struct db *db, struct po_error *error)
{
        assert(!db->in_transaction);
        const struct answer *answer;
        enum po_class kind = ask(db, "BEGIN", &answer, error);
        db->in_transaction = kind == PO_OK;
        return kind;
}

enum po_class db_commit(struct db *db, struct po_error *error)
{
        assert(db->in_transaction);
        const struct answer *answer;
        enum po_class kind = ask(db, "COMMIT", &answer, error);
        db->in_transaction = false;
        db->failed = false;
        return kind;
}

void db_rollback(struct db *db)
{
        const struct answer *answer;
        struct po_error ignored;
        bool to_send = db->in_transaction && db->connected;
        db->result = NULL;
        db->in_transaction = false;
        db->failed = false;
        if (to_send && ask(db, "ROLLBACK", &answer, &ignored) != PO_OK)
                db->connected = false;
}

enum po_class db_end(struct db *db, enum po_class kind, struct po_error *error)
{
        if (kind == PO_OK)
                return db_commit(db, error);
        db_rollback(db);
        return kind;
}

bool db_is_in_transaction(const struct db *db)
{
        return db->in_transaction;
}

size_t db_packet_bytes(const struct db *db)
{
        (void)db;
        return FAKE_PACKET_BYTES;
}

bool db_is_connected(const struct db *db)
{
        return db->connected;
}

void db_disconnect(struct db *db)
{
        db->connected = false;
}

enum po_class db_connect(struct db *db, struct po_error *error)
{
        (void)error;
        db->connected = true;
        return PO_OK;
}

void db_keep_alive(struct db *db)
{
        (void)db;
}

void db_close(struct db *db)
{
        (void)db;
}

/* This server prepares nothing: many rows come as text, which a test can read. */
struct prepared {
        char unused;
};
static struct prepared no_prepared;

enum po_class prepared_open(struct prepared **prepared_out, struct db *db, const struct sql *text,
                            struct po_error *error)
{
        (void)db, (void)text, (void)error;
        *prepared_out = &no_prepared;
        return PO_OK;
}

void prepared_close(struct prepared *prepared)
{
        (void)prepared;
}

enum po_class prepared_make(struct prepared *prepared, bool *made_out, struct po_error *error)
{
        (void)prepared, (void)error;
        *made_out = false;
        return PO_OK;
}

enum po_class prepared_run(struct prepared *prepared, struct db_values values,
                           struct db_values ending, struct db_result *result_out,
                           struct po_error *error)
{
        (void)prepared, (void)values, (void)ending, (void)result_out;
        return po_fail(error, PO_BUG, 0, "nothing was prepared");
}
