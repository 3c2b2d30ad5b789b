#include "worker/redrive.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/record_pack.h"
#include "ledger/judge.h"
#include "ledger/letter.h"
#include "ledger/notice.h"
#include "ledger/parked.h"

/* How long a row that was taken is nobody else's: well above what one try may take. */
enum { LEASE_MS = 60000 };
/* So much of records at once: a hundred of the largest would be gigabytes. */
enum { TAKE_BYTES_MAX = 16 * 1024 * 1024 };
/* One that gives up beyond the pace waits so long; a take sends at most this part of the limit. */
enum { PACED_MS = 60000, LETTERS_SHARE = 20 };
/* One whose transaction did not take place (a deadlock, a lock waited for) waits for nothing else.
 */
enum { AGAIN_MS = 1000 };

struct redrive {
        struct db *db;
        const struct policy *policy;
        const struct rules *rules;
        bool keeps_rows;
        struct sql sql;
        struct batch batch;
        size_t rows_count;
        struct parked_row rows[REDRIVE_ROWS_MAX];
        struct record records[REDRIVE_ROWS_MAX];
        struct record_header *headers[REDRIVE_ROWS_MAX];
        struct posting *picked[REDRIVE_ROWS_MAX];
        int64_t delayed[REDRIVE_ROWS_MAX]; /* claims that wait on alike */
        bool paced[REDRIVE_ROWS_MAX];      /* it gave up, but its letter must wait */
};

enum po_class redrive_open(struct redrive **redrive_out, struct db *db, const struct policy *policy,
                           const struct rules *rules, struct po_error *error)
{
        struct redrive *redrive = calloc(1, sizeof *redrive);
        *redrive_out = redrive;
        if (redrive == NULL)
                return po_fail(error, PO_SYSTEMIC, ENOMEM, "out of memory for the re-drive");
        redrive->db = db;
        redrive->policy = policy;
        redrive->rules = rules;
        if (batch_open(&redrive->batch, REDRIVE_ROWS_MAX, error) != PO_OK)
                return error->kind;
        redrive->batch.policy = policy;
        return PO_OK;
}

void redrive_keep_rows(struct redrive *redrive)
{
        redrive->keeps_rows = true;
}

static void free_rows(struct redrive *redrive)
{
        for (size_t i = 0; i < redrive->rows_count; i++) {
                parked_row_free(&redrive->rows[i]);
                free(redrive->headers[i]);
                redrive->headers[i] = NULL;
        }
        redrive->rows_count = 0;
}

void redrive_close(struct redrive *redrive)
{
        if (redrive == NULL)
                return;
        free_rows(redrive);
        batch_close(&redrive->batch);
        sql_free(&redrive->sql);
        free(redrive);
}

static enum po_class unpack(struct redrive *redrive, size_t i, struct po_error *error)
{
        const struct parked_row *row = &redrive->rows[i];
        size_t headers = record_pack_headers(row->raw, row->raw_bytes);
        redrive->headers[i] = calloc(headers + 1, sizeof(struct record_header));
        if (redrive->headers[i] == NULL)
                return po_fail(error, PO_SYSTEMIC, ENOMEM, "out of memory for a parked record");
        if (record_unpack(row->raw, row->raw_bytes, &redrive->records[i], redrive->headers[i],
                          headers, error) != PO_OK)
                return error->kind;
        return notice_read(row->notification, &redrive->batch.notifications[i], error);
}

static int64_t delay_of(const struct redrive *redrive, unsigned tries)
{
        size_t last = redrive->policy->park_delays_count - 1;
        size_t next = (size_t)tries + 1;
        return redrive->policy->park_delays_ms[next < last ? next : last];
}

/* One row that cannot be read must not keep the others: it stays, for a person (`park discard`). */
static enum po_class set_aside(struct redrive *redrive, size_t i, const struct po_error *why,
                               struct po_error *error)
{
        struct parked_row *row = &redrive->rows[i];
        int64_t claim_id = row->claim_id;
        bool fresh = false, begun = row->begun;
        char lease[PARKED_AT_BYTES];
        memcpy(lease, row->lease, sizeof lease);
        log_failure(LOG_LEVEL_ERROR, "parked_unreadable", why);
        parked_row_free(row);
        free(redrive->headers[i]);
        redrive->headers[i] = NULL;
        if (parked_ask_person(redrive->db, &redrive->sql, claim_id, &fresh, error) != PO_OK)
                return error->kind;
        if (fresh)
                log_alarm("PARKED_UNREADABLE", NULL, "claim=%lld", (long long)claim_id);
        return parked_delay(redrive->db, &redrive->sql, &claim_id, 1, lease,
                            delay_of(redrive, UINT_MAX), PARKED_UNREADABLE, begun, error);
}

/* A newer program can read it, or somebody mended the row. */
static enum po_class note_readable(struct redrive *redrive, struct parked_row *row,
                                   struct po_error *error)
{
        if (!row->unreadable)
                return PO_OK;
        return parked_close_review(redrive->db, &redrive->sql, row->claim_id, error);
}

/* Leaves those that can be read, in their order. */
static enum po_class unpack_all(struct redrive *redrive, struct po_error *error)
{
        size_t kept = 0;
        for (size_t i = 0; i < redrive->rows_count; i++) {
                struct po_error why;
                if (kept != i) {
                        redrive->rows[kept] = redrive->rows[i];
                        memset(&redrive->rows[i], 0, sizeof redrive->rows[i]);
                }
                if (unpack(redrive, kept, &why) == PO_OK) {
                        if (note_readable(redrive, &redrive->rows[kept++], error) != PO_OK)
                                return error->kind;
                        continue;
                }
                if (why.kind == PO_SYSTEMIC) {
                        *error = why;
                        return error->kind;
                }
                if (set_aside(redrive, kept, &why, error) != PO_OK)
                        return error->kind;
        }
        redrive->rows_count = kept;
        return PO_OK;
}

/* One row is one parcel with one posting. */
static void fill(struct redrive *redrive)
{
        struct batch *batch = &redrive->batch;
        batch->parcels_count = batch->postings_count = 0;
        for (size_t i = 0; i < redrive->rows_count; i++) {
                struct posting *posting = &batch->postings[i];
                memset(posting, 0, sizeof *posting);
                posting->notification = &batch->notifications[i];
                posting->record = &redrive->records[i];
                posting->rule = rules_find(redrive->rules, posting->notification->event);
                posting->turn = (uint32_t)i;
                posting->unparks = true;
                posting->stays_parked = redrive->keeps_rows;
                posting->gave_up = redrive->rows[i].gave_up;
                posting->in_doubt = redrive->rows[i].begun;
                redrive->paced[i] = false;
                struct parcel *parcel = batch_begin_parcel(batch, posting->record);
                parcel->count = 1;
                batch->postings_count++;
                if (posting->rule == NULL) {
                        posting->verdict = parcel->verdict = VERDICT_REJECTED;
                        po_refuse(parcel->error, "NO_EVENT_RULE", "event %s of %s has no rule",
                                  posting->notification->event, posting->notification->key);
                }
        }
}

static bool is_letter_if_it_gives_up(const struct posting *posting)
{
        return posting->gave_up && posting->rule != NULL &&
               !judge_carries_money(posting->rule, posting->notification);
}

/*
 * Letters of those that give up must not trip the flood guard, which stops every worker: they stay
 * below half its limit, and each take below a share of it, since other workers count at the same
 * moment. Those beyond that wait for the next minute.
 */
static enum po_class pace(struct redrive *redrive, struct po_error *error)
{
        size_t more = 0;
        for (size_t i = 0; i < redrive->rows_count; i++)
                more += is_letter_if_it_gives_up(&redrive->batch.postings[i]);
        if (more == 0)
                return PO_OK;
        int64_t letters, limit = redrive->policy->letters_per_minute;
        if (letters_recent(redrive->db, &redrive->sql, &letters, error) != PO_OK)
                return error->kind;
        int64_t room = limit / 2 - letters, share = 1 + limit / LETTERS_SHARE;
        room = room < share ? room : share;
        for (size_t i = 0; i < redrive->rows_count; i++) {
                struct posting *posting = &redrive->batch.postings[i];
                if (!is_letter_if_it_gives_up(posting) || --room >= 0)
                        continue;
                posting->gave_up = false;
                redrive->paced[i] = true;
        }
        return PO_OK;
}

enum po_class redrive_take(struct redrive *redrive, const struct pauses *pauses,
                           struct batch **batch_out, struct po_error *error)
{
        *batch_out = NULL;
        redrive->batch.pauses = pauses;
        if (parked_take(redrive->db, &redrive->sql, LEASE_MS, redrive->policy->give_up_after_ms,
                        TAKE_BYTES_MAX, redrive->rows, REDRIVE_ROWS_MAX, &redrive->rows_count,
                        error) != PO_OK)
                return error->kind;
        enum po_class kind = unpack_all(redrive, error);
        if (kind == PO_OK) {
                fill(redrive);
                kind = pace(redrive, error);
        }
        if (kind != PO_OK) {
                free_rows(redrive);
                return kind;
        }
        if (redrive->rows_count > 0)
                *batch_out = &redrive->batch;
        return PO_OK;
}

/* When a row that waits on is tried next. */
static int64_t next_delay(const struct redrive *redrive, size_t i)
{
        const struct parked_row *row = &redrive->rows[i];
        const char *reason = redrive->batch.postings[i].reason;
        if (redrive->paced[i])
                return PACED_MS;
        if (redrive->batch.postings[i].verdict == VERDICT_HELD)
                return AGAIN_MS;
        /* `resume` may have passed just now, before it could find this row. */
        if (reason != NULL && strcmp(reason, PARKED_PAUSED) == 0 && !row->for_resume)
                return redrive->policy->park_delays_ms[0];
        return delay_of(redrive, row->tries);
}

/* Settled by us: gone with the outcome. By somebody else, or kept elsewhere: goes now. */
static bool goes(const struct parcel *parcel)
{
        return parcel->verdict == VERDICT_DUPLICATE || parcel->verdict == VERDICT_REJECTED ||
               parcel->verdict == VERDICT_CONFLICT || parcel->verdict == VERDICT_ORPHANED ||
               verdict_is_outcome(parcel->verdict);
}

static bool is_alike(const char *left, const char *right)
{
        return left == right || (left != NULL && right != NULL && strcmp(left, right) == 0);
}

/* Row i and those behind it that wait on as long and for the same: one statement. */
static enum po_class delay_alike(struct redrive *redrive, size_t i, bool *done,
                                 struct po_error *error)
{
        const struct posting *postings = redrive->batch.postings;
        int64_t delay_ms = next_delay(redrive, i);
        size_t count = 0;
        for (size_t j = i; j < redrive->rows_count; j++) {
                if (done[j] || next_delay(redrive, j) != delay_ms ||
                    redrive->rows[j].begun != redrive->rows[i].begun ||
                    !is_alike(postings[j].reason, postings[i].reason))
                        continue;
                done[j] = true;
                redrive->delayed[count++] = redrive->rows[j].claim_id;
        }
        return parked_delay(redrive->db, &redrive->sql, redrive->delayed, count,
                            redrive->rows[i].lease, delay_ms, postings[i].reason,
                            redrive->rows[i].begun, error);
}

enum po_class redrive_finish(struct redrive *redrive, struct po_error *error)
{
        struct batch *batch = &redrive->batch;
        bool done[REDRIVE_ROWS_MAX] = { false };
        size_t count = 0;
        enum po_class kind = PO_OK;
        for (size_t i = 0; i < redrive->rows_count; i++) {
                struct posting *posting = &batch->postings[i];
                posting->claim_id = redrive->rows[i].claim_id;
                redrive->rows[i].begun = posting->begun || posting->in_doubt;
                done[i] = goes(&batch->parcels[i]);
                if (done[i])
                        redrive->picked[count++] = posting;
        }
        for (size_t i = 0; i < redrive->rows_count && kind == PO_OK; i++)
                if (!done[i])
                        kind = delay_alike(redrive, i, done, error);
        if (kind == PO_OK)
                kind = parked_delete(redrive->db, &redrive->sql, redrive->picked, count, error);
        free_rows(redrive);
        return kind;
}
