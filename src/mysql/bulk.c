#include "mysql/bulk.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "mysql/prepared.h"
#include "mysql/steady.h"

enum { WIDTHS = 2, FIRST_BYTES = 16384, FIRST_SENT = 8, ENDING_MAX = 16 };

static const size_t widths[WIDTHS] = { BULK_MANY, BULK_SOME };

struct bulk {
        struct db *db;
        const struct bulk_form *form;
        size_t row_values;                 /* '?' of a row */
        struct prepared *prepared[WIDTHS]; /* made when they are first needed */
        struct steady *steady;             /* the columns that are literals in them */
        struct db_value ending[ENDING_MAX];
        size_t ending_values;    /* '?' of the ending */
        struct db_value *values; /* of BULK_MANY rows; bytes: an offset until they are sent */
        size_t count;            /* of values that are not sent */
        char *bytes;
        size_t bytes_count, bytes_capacity;
        struct sql sql, time;
        size_t rows_taken; /* out of values: sent, or given up after a failure */
        struct bulk_sent *sent;
        size_t sent_count, sent_capacity;
        struct po_error error; /* the first one; nothing is sent after it */
};

static size_t count_of(const char *text, char wanted)
{
        size_t count = 0;
        for (; *text != '\0'; text++)
                count += *text == wanted;
        return count;
}

enum po_class bulk_open(struct bulk **bulk_out, struct db *db, const struct bulk_form *form,
                        struct po_error *error)
{
        struct bulk *bulk = calloc(1, sizeof *bulk);
        *bulk_out = bulk;
        if (bulk != NULL) {
                bulk->db = db;
                bulk->form = form;
                bulk->row_values = count_of(form->row, '?');
                bulk->ending_values = count_of(form->ending, '?');
                assert(bulk->row_values > 0 && strlen(form->types) == bulk->row_values);
                assert(bulk->ending_values <= ENDING_MAX);
                bulk->values = calloc(BULK_MANY * bulk->row_values, sizeof *bulk->values);
        }
        if (bulk == NULL || bulk->values == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for rows");
        return steady_open(&bulk->steady, form->types, error);
}

static void close_prepared(struct bulk *bulk)
{
        for (size_t i = 0; i < WIDTHS; i++) {
                prepared_close(bulk->prepared[i]);
                bulk->prepared[i] = NULL;
        }
}

void bulk_close(struct bulk *bulk)
{
        if (bulk == NULL)
                return;
        close_prepared(bulk);
        steady_close(bulk->steady);
        sql_free(&bulk->sql);
        sql_free(&bulk->time);
        free(bulk->values);
        free(bulk->bytes);
        free(bulk->sent);
        free(bulk);
}

void bulk_begin(struct bulk *bulk, const char *ending)
{
        assert((ending != NULL) == (bulk->ending_values > 0));
        for (size_t i = 0; i < bulk->ending_values; i++)
                bulk->ending[i] = (struct db_value){ .type = DB_TEXT,
                                                     .bytes = ending,
                                                     .count = strlen(ending) };
        bulk->count = bulk->bytes_count = bulk->rows_taken = bulk->sent_count = 0;
        bulk->error.kind = PO_OK;
}

static void out_of_memory(struct bulk *bulk)
{
        if (bulk->error.kind == PO_OK)
                po_fail(&bulk->error, PO_SYSTEMIC, 0, "out of memory for rows");
}

/* Room for so many elements; false, and the bulk has failed: out of memory. */
static bool grow(struct bulk *bulk, void **memory, size_t *capacity, size_t needed, size_t size,
                 size_t first)
{
        if (needed <= *capacity)
                return true;
        size_t wanted = *capacity > 0 ? *capacity : first;
        while (wanted < needed)
                wanted *= 2;
        void *moved = realloc(*memory, wanted * size);
        if (moved == NULL) {
                out_of_memory(bulk);
                return false;
        }
        *memory = moved;
        *capacity = wanted;
        return true;
}

static void write_value(struct sql *sql, const struct db_value *value)
{
        if (value->is_null)
                sql_raw(sql, "NULL");
        else if (value->type == DB_INTEGER)
                sql_integer(sql, value->integer);
        else
                sql_text_bytes(sql, value->bytes, value->count);
}

/* A form's piece with its '?' filled in from values. */
static void write_filled(struct sql *sql, const char *piece, const struct db_value *values)
{
        for (const char *mark; (mark = strchr(piece, '?')) != NULL; piece = mark + 1) {
                sql_raw_bytes(sql, piece, (size_t)(mark - piece));
                write_value(sql, values++);
        }
        sql_raw(sql, piece);
}

/* Where the form asks for a steady value, that one; '?' stays for the others. */
static void write_marked(struct sql *sql, const struct bulk *bulk)
{
        const char *piece = bulk->form->row;
        size_t column = 0;
        for (const char *mark; (mark = strchr(piece, '?')) != NULL; piece = mark + 1) {
                const struct db_value *value = steady_value(bulk->steady, column++);
                sql_raw_bytes(sql, piece, (size_t)(mark - piece));
                if (value != NULL)
                        write_value(sql, value);
                else
                        sql_raw(sql, "?");
        }
        sql_raw(sql, piece);
}

/* So many rows as a statement to prepare. */
static enum po_class open_prepared(struct bulk *bulk, size_t which)
{
        struct sql *sql = &bulk->sql;
        sql_reset(sql);
        sql_raw(sql, bulk->form->insert);
        for (size_t i = 0; i < widths[which]; i++) {
                sql_raw(sql, i == 0 ? "" : ",");
                write_marked(sql, bulk);
        }
        sql_raw(sql, bulk->form->ending);
        if (prepared_open(&bulk->prepared[which], bulk->db, sql, &bulk->error) == PO_OK)
                return PO_OK;
        prepared_close(bulk->prepared[which]);
        bulk->prepared[which] = NULL;
        return bulk->error.kind;
}

static enum po_class run_text(struct bulk *bulk, struct db_values values,
                              struct db_result *result_out)
{
        struct sql *sql = &bulk->sql;
        sql_reset(sql);
        sql_raw(sql, bulk->form->insert);
        for (size_t i = 0; i < values.count; i += bulk->row_values) {
                sql_raw(sql, i == 0 ? "" : ",");
                write_filled(sql, bulk->form->row, values.first + i);
        }
        write_filled(sql, bulk->form->ending, bulk->ending);
        return db_exec(bulk->db, sql, result_out, &bulk->error);
}

/* made_out: the server has it; else it wants text. */
static enum po_class make_prepared(struct bulk *bulk, size_t which, bool *made_out)
{
        *made_out = false;
        if (bulk->prepared[which] == NULL && open_prepared(bulk, which) != PO_OK)
                return bulk->error.kind;
        return prepared_make(bulk->prepared[which], made_out, &bulk->error);
}

/* Through a prepared statement if there is one of that width. The values are gone afterwards. */
static enum po_class run(struct bulk *bulk, size_t which, struct db_value *values, size_t rows,
                         struct db_result *result_out)
{
        struct db_values ending = { bulk->ending, bulk->ending_values };
        bool made = false;
        if (which < WIDTHS) {
                if (steady_see(bulk->steady, values, rows))
                        close_prepared(bulk);
                if (make_prepared(bulk, which, &made) != PO_OK)
                        return bulk->error.kind;
        }
        if (!made)
                return run_text(bulk, (struct db_values){ values, rows * bulk->row_values },
                                result_out);
        struct db_values picked = { values, steady_pick(bulk->steady, values, rows) };
        return prepared_run(bulk->prepared[which], picked, ending, result_out, &bulk->error);
}

static struct bulk_sent *next_sent(struct bulk *bulk, size_t rows)
{
        void *sent = bulk->sent;
        if (!grow(bulk, &sent, &bulk->sent_capacity, bulk->sent_count + 1, sizeof *bulk->sent,
                  FIRST_SENT))
                return NULL;
        bulk->sent = sent;
        bulk->sent[bulk->sent_count] = (struct bulk_sent){ .rows = rows };
        return &bulk->sent[bulk->sent_count++];
}

/* How many of the rows that are left the next statement takes; which_out: its width, or WIDTHS. */
static size_t next_rows(size_t left, size_t *which_out)
{
        for (*which_out = 0; *which_out < WIDTHS; ++*which_out)
                if (left >= widths[*which_out])
                        return widths[*which_out];
        return left;
}

size_t bulk_statements(size_t rows)
{
        size_t count = 0;
        for (size_t which; rows > 0; count++)
                rows -= next_rows(rows, &which);
        return count;
}

/* Where the bytes stay until they are sent. */
static void place_bytes(struct bulk *bulk)
{
        for (size_t i = 0; i < bulk->count; i++)
                if (bulk->values[i].type != DB_INTEGER)
                        bulk->values[i].bytes = bulk->bytes + bulk->values[i].integer;
}

/* The rows that are there, unless something failed; either way they are there no more. */
static void send_rows(struct bulk *bulk)
{
        size_t rows = bulk->count / bulk->row_values;
        place_bytes(bulk);
        for (size_t done = 0, which; done < rows && bulk->error.kind == PO_OK;) {
                size_t count = next_rows(rows - done, &which);
                struct db_value *values = bulk->values + done * bulk->row_values;
                struct bulk_sent *sent = next_sent(bulk, count);
                if (sent != NULL && run(bulk, which, values, count, &sent->result) == PO_OK)
                        done += count;
        }
        bulk->rows_taken += rows;
        bulk->count = bulk->bytes_count = 0;
}

static char kind_of(char letter)
{
        return (char)(letter | ('a' ^ 'A')); /* in lower case */
}

static struct db_value *next_value(struct bulk *bulk, char type)
{
        if (bulk->count == BULK_MANY * bulk->row_values)
                send_rows(bulk);
        char wanted = kind_of(bulk->form->types[bulk->count % bulk->row_values]);
        assert(type == 0 || type == wanted);
        struct db_value *value = &bulk->values[bulk->count++];
        *value = (struct db_value){ .type = wanted == 'i' ? DB_INTEGER : DB_TEXT };
        return value;
}

void bulk_integer(struct bulk *bulk, int64_t integer)
{
        next_value(bulk, 'i')->integer = integer;
}

void bulk_null(struct bulk *bulk)
{
        next_value(bulk, 0)->is_null = true;
}

/*
 * Room for a value's bytes, NULL when there is none. They move while the buffer grows, so a value
 * has their offset until they are sent.
 */
static char *put_bytes(struct bulk *bulk, char type, size_t count)
{
        struct db_value *value = next_value(bulk, type);
        void *memory = bulk->bytes;
        if (!grow(bulk, &memory, &bulk->bytes_capacity, bulk->bytes_count + count, 1, FIRST_BYTES))
                return NULL;
        bulk->bytes = memory;
        value->integer = (int64_t)bulk->bytes_count;
        value->count = count;
        bulk->bytes_count += count;
        return bulk->bytes + value->integer;
}

static void put_text(struct bulk *bulk, const char *text, size_t count)
{
        char *to = put_bytes(bulk, 't', count);
        if (to != NULL)
                memcpy(to, text, count);
}

void bulk_text(struct bulk *bulk, const char *text)
{
        if (text == NULL)
                bulk_null(bulk);
        else
                put_text(bulk, text, strlen(text));
}

void bulk_binary(struct bulk *bulk, const void *bytes, size_t count)
{
        static const char digits[] = "0123456789ABCDEF";
        const unsigned char *from = bytes;
        if (bytes == NULL) {
                bulk_null(bulk);
                return;
        }
        char *to = put_bytes(bulk, 'h', 2 * count);
        for (size_t i = 0; i < count && to != NULL; i++) {
                *to++ = digits[from[i] >> 4];
                *to++ = digits[from[i] & 15];
        }
}

void bulk_time(struct bulk *bulk, int64_t time_us)
{
        struct sql *time = &bulk->time;
        if (time_us == INT64_MIN) {
                bulk_null(bulk);
                return;
        }
        sql_reset(time);
        sql_time(time, time_us);
        if (time->failed) {
                out_of_memory(bulk);
                bulk_null(bulk);
        } else {
                put_text(bulk, time->text + 1, time->length - 2); /* without its quotes */
        }
}

size_t bulk_rows(const struct bulk *bulk)
{
        return bulk->rows_taken + bulk->count / bulk->row_values;
}

enum po_class bulk_end(struct bulk *bulk, struct po_error *error)
{
        assert(bulk->count % bulk->row_values == 0);
        send_rows(bulk);
        if (bulk->error.kind != PO_OK)
                *error = bulk->error;
        return bulk->error.kind;
}

uint64_t bulk_affected(const struct bulk *bulk)
{
        uint64_t sum = 0;
        for (size_t i = 0; i < bulk->sent_count; i++)
                sum += bulk->sent[i].result.affected_rows;
        return sum;
}

const struct bulk_sent *bulk_sent(const struct bulk *bulk, size_t *count_out)
{
        *count_out = bulk->sent_count;
        return bulk->sent;
}
