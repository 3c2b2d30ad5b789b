#include "ledger/claim.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "channel/fingerprint.h"
#include "ledger/attempt.h"
#include "ledger/claim_rows.h"
#include "ledger/review.h"

struct claims {
        struct db *db;
        struct sql sql;
        struct claim_rows *rows;
        size_t capacity;
        struct posting **sorted;   /* by key, then turn */
        struct attempts *attempts; /* NULL unless strict.unfinished */
};

enum po_class claims_open(struct claims **claims_out, struct db *db, size_t capacity,
                          struct po_error *error)
{
        struct claims *claims = calloc(1, sizeof *claims);
        *claims_out = claims;
        if (claims != NULL)
                claims->sorted = calloc(capacity, sizeof *claims->sorted);
        if (claims == NULL || claims->sorted == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for %zu claims", capacity);
        claims->db = db;
        claims->capacity = capacity;
        return claim_rows_open(&claims->rows, db, false, error);
}

void claims_close(struct claims *claims)
{
        if (claims == NULL)
                return;
        attempts_close(claims->attempts);
        claim_rows_close(claims->rows);
        sql_free(&claims->sql);
        free(claims->sorted);
        free(claims);
}

enum po_class claims_be_strict(struct claims *claims, struct po_error *error)
{
        claim_rows_close(claims->rows);
        if (claim_rows_open(&claims->rows, claims->db, true, error) != PO_OK)
                return error->kind;
        return attempts_open(&claims->attempts, error);
}

bool claims_are_strict(const struct claims *claims)
{
        return claims->attempts != NULL;
}

void claims_begin(struct claims *claims)
{
        if (claims->attempts != NULL)
                attempts_begin(claims->attempts);
}

/* A decision of somebody's, or nothing yet. */
static bool may_still_be_posted(enum verdict verdict)
{
        return verdict == VERDICT_NONE || verdict == VERDICT_HELD || verdict == VERDICT_PARKED ||
               verdict == VERDICT_REJECTED;
}

void claims_end(struct claims *claims, const struct posting *posting, bool comes_again)
{
        if (claims->attempts == NULL || posting->unparks || posting->leader != NULL ||
            posting->verdict == VERDICT_CONFLICT)
                return; /* nothing is said of the claim: its row in `parked`, or another says it */
        if (comes_again && !posting->begun && may_still_be_posted(posting->verdict))
                attempts_keep(claims->attempts, posting->attempt, posting->notification);
        else
                attempts_forget(claims->attempts, posting->notification);
}

static int compare_keys(const struct po_notification *a, const struct po_notification *b)
{
        if (a->tenant_id != b->tenant_id)
                return a->tenant_id < b->tenant_id ? -1 : 1;
        return strcmp(a->key, b->key);
}

static int compare_postings(const void *left, const void *right)
{
        const struct posting *a = *(struct posting *const *)left;
        const struct posting *b = *(struct posting *const *)right;
        int by_key = compare_keys(a->notification, b->notification);
        if (by_key != 0)
                return by_key;
        return a->turn < b->turn ? -1 : a->turn > b->turn;
}

static void sort_postings(struct claims *claims, struct posting **postings, size_t count)
{
        assert(count <= claims->capacity);
        memcpy(claims->sorted, postings, count * sizeof *postings);
        qsort(claims->sorted, count, sizeof *claims->sorted, compare_postings);
}

/* The index after the last posting of the key that starts at first. */
static size_t group_end(const struct claims *claims, size_t first, size_t count)
{
        size_t end = first + 1;
        while (end < count && compare_keys(claims->sorted[first]->notification,
                                           claims->sorted[end]->notification) == 0)
                end++;
        return end;
}

/* Sorted by key: two workers that claim the same keys wait for each other in one order. */
static enum po_class insert_claims(struct claims *claims, size_t count, struct po_error *error)
{
        const unsigned char *maker =
                claims->attempts != NULL ? attempts_maker(claims->attempts) : NULL;
        claim_rows_reset(claims->rows);
        for (size_t first = 0, end; first < count; first = end) {
                end = group_end(claims, first, count);
                claim_rows_add(claims->rows, claims->sorted[first], end - first, maker);
        }
        return claim_rows_insert(claims->rows, error);
}

static const char CLAIM_READ[] =
        "SELECT c.tenant_id, c.idem_key, c.id, c.deliveries, c.payload_hash, c.hash_version,"
        " o.verdict, o.result_json, o.payload_hash, o.hash_version,"
        " o.source_topic, o.source_partition, o.source_offset";
static const char CLAIM_READ_STRICT[] =
        ", c.made_by, EXISTS (SELECT 1 FROM parked p WHERE p.claim_id = c.id),"
        " EXISTS (SELECT 1 FROM review r WHERE r.claim_id = c.id AND r.reason = '" REVIEW_ORPHAN
        "')";
static const char CLAIM_READ_FROM[] =
        " FROM claim c FORCE INDEX (uk_idem) LEFT JOIN outcome o ON o.claim_id = c.id WHERE ";

static const char CLAIM_READ_FRESH[] =
        "SELECT c.tenant_id, c.idem_key, c.id, c.deliveries, c.payload_hash, c.hash_version,"
        " NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM claim c FORCE INDEX (PRIMARY) WHERE ";

static void write_keys(struct claims *claims, size_t count)
{
        struct sql *sql = &claims->sql;
        int64_t tenant = 0;
        for (size_t first = 0; first < count; first = group_end(claims, first, count)) {
                const struct po_notification *notification = claims->sorted[first]->notification;
                if (first == 0 || notification->tenant_id != tenant) {
                        tenant = notification->tenant_id;
                        sql_raw(sql, first == 0 ? "(c.tenant_id = " : ")) OR (c.tenant_id = ");
                        sql_integer(sql, tenant);
                        sql_raw(sql, " AND c.idem_key IN (");
                } else {
                        sql_raw(sql, ",");
                }
                sql_text(sql, notification->key);
        }
        sql_raw(sql, "))");
}

/* The first sorted posting of the row's key, or count when the row is not ours. */
static size_t find_group(const struct claims *claims, size_t count)
{
        int64_t tenant = db_integer(claims->db, 0);
        const char *key = db_text(claims->db, 1);
        size_t low = 0, high = count;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                const struct po_notification *here = claims->sorted[middle]->notification;
                int order = here->tenant_id != tenant ? (here->tenant_id < tenant ? -1 : 1)
                                                      : strcmp(here->key, key);
                if (order < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        if (low < count && claims->sorted[low]->notification->tenant_id == tenant &&
            strcmp(claims->sorted[low]->notification->key, key) == 0)
                return low;
        return count;
}

/* The version and bytes that the key stands for: the outcome's, else the claim's. */
static enum po_class read_fingerprint(struct db *db, int64_t *version_out,
                                      unsigned char fingerprint_out[PO_FINGERPRINT_BYTES],
                                      struct po_error *error)
{
        unsigned column = db_is_null(db, 8) ? 4 : 8;
        const void *bytes;
        size_t count = db_bytes(db, column, &bytes);
        *version_out = db_integer(db, column + 1);
        if (*version_out > PO_FINGERPRINT_RAW)
                return po_fail(error, PO_SYSTEMIC, 0,
                               "claim %s has fingerprint version %lld, this program knows %d:"
                               " run a newer worker",
                               db_text(db, 1), (long long)*version_out, PO_FINGERPRINT_RAW);
        if (count != PO_FINGERPRINT_BYTES)
                return po_fail(error, PO_BUG, 0, "claim %s has a fingerprint of %zu bytes",
                               db_text(db, 1), count);
        memcpy(fingerprint_out, bytes, PO_FINGERPRINT_BYTES);
        return PO_OK;
}

/*
 * Whether a posting says what the key stands for. A fingerprint of another version is compared by
 * its own algorithm, so a profile may change its mind; 0 was imported without one: anything
 * matches.
 */
static enum po_class match(struct posting *posting, int version, bool *matches_out,
                           struct po_error *error)
{
        const struct po_notification *notification = posting->notification;
        const struct record *record = posting->record;
        unsigned char other[PO_FINGERPRINT_BYTES];
        const unsigned char *own = notification->fingerprint;
        posting->kept_version = 0;
        *matches_out = true;
        if (version == 0)
                return PO_OK;
        if (version != notification->fingerprint_version) {
                if (fingerprint_by(version, notification, record->value, record->value_bytes, other,
                                   error) != PO_OK)
                        return error->kind;
                own = other;
        }
        *matches_out = memcmp(posting->first_fingerprint, own, PO_FINGERPRINT_BYTES) == 0;
        if (*matches_out && own == other)
                posting->kept_version = (unsigned char)version;
        return PO_OK;
}

static bool settled_by_this_delivery(struct db *db, const struct record *record)
{
        return strcmp(db_text(db, 10), record->topic) == 0 &&
               db_integer(db, 11) == record->partition && db_integer(db, 12) == record->offset;
}

/*
 * strict.unfinished, and the row in hand has no outcome. What stands in `parked` has its posting
 * there, a re-push changes nothing; what was called an orphan once stays one.
 */
static enum verdict judge_unfinished(const struct claims *claims, struct posting *posting)
{
        const void *maker;
        size_t bytes = db_bytes(claims->db, 13, &maker);
        bool is_parked = db_integer(claims->db, 14) != 0;
        bool is_reviewed = db_integer(claims->db, 15) != 0;
        posting->attempt = attempts_number(claims->attempts, maker, bytes);
        if (posting->in_doubt)
                return VERDICT_ORPHANED;
        if (posting->unparks)
                return VERDICT_NONE;
        if (is_parked) {
                posting->reason = "PARKED_ALREADY";
                return VERDICT_PARKED;
        }
        if (is_reviewed ||
            !attempts_are_ours(claims->attempts, posting->attempt, posting->notification))
                return VERDICT_ORPHANED;
        return VERDICT_NONE;
}

/* The row in hand says what became of one posting. */
static void decide(const struct claims *claims, struct posting *posting, bool matches)
{
        struct db *db = claims->db;
        posting->again = false;
        posting->reason = NULL;
        posting->review = NULL;
        posting->result[0] = '\0';
        posting->verdict = VERDICT_NONE;
        if (!matches) {
                posting->verdict = VERDICT_CONFLICT;
                return;
        }
        if (db_is_null(db, 6)) {
                if (claims->attempts != NULL)
                        posting->verdict = judge_unfinished(claims, posting);
                return;
        }
        posting->verdict = VERDICT_DUPLICATE;
        if (settled_by_this_delivery(db, posting->record)) {
                posting->again = true;
                enum verdict first = verdict_parse(db_text(db, 6));
                if (first != VERDICT_NONE)
                        posting->verdict = first;
        }
        text_copy(posting->result, sizeof posting->result, db_text(db, 7));
}

static enum po_class decide_group(struct claims *claims, size_t first, size_t end,
                                  struct po_error *error)
{
        struct db *db = claims->db;
        int64_t version;
        unsigned char fingerprint[PO_FINGERPRINT_BYTES];
        if (read_fingerprint(db, &version, fingerprint, error) != PO_OK)
                return error->kind;

        struct posting *leader = NULL;
        for (size_t i = first; i < end; i++) {
                struct posting *posting = claims->sorted[i];
                posting->claim_id = db_integer(db, 2);
                posting->deliveries = (uint64_t)db_integer(db, 3);
                memcpy(posting->first_fingerprint, fingerprint, sizeof fingerprint);
                posting->leader = NULL;
                bool matches;
                if (match(posting, (int)version, &matches, error) != PO_OK)
                        return error->kind;
                decide(claims, posting, matches);
                if (posting->verdict != VERDICT_NONE)
                        continue;
                posting->leader = leader;
                if (leader == NULL)
                        leader = posting;
        }
        return PO_OK;
}

/* The sorted postings, whose claims are there. */
static enum po_class read_sorted(struct claims *claims, size_t count, struct po_error *error)
{
        if (count == 0)
                return PO_OK;
        sql_reset(&claims->sql);
        sql_raw(&claims->sql, CLAIM_READ);
        if (claims->attempts != NULL)
                sql_raw(&claims->sql, CLAIM_READ_STRICT);
        sql_raw(&claims->sql, CLAIM_READ_FROM);
        write_keys(claims, count);
        if (db_query(claims->db, &claims->sql, error) != PO_OK)
                return po_within(error, "read %zu claims", count);

        size_t decided = 0;
        enum po_class kind = PO_OK;
        while (kind == PO_OK && db_next_row(claims->db)) {
                size_t first = find_group(claims, count);
                size_t end = first < count ? group_end(claims, first, count) : count;
                if (first < end)
                        kind = decide_group(claims, first, end, error);
                decided += end - first;
        }
        db_rows_end(claims->db);
        if (kind != PO_OK)
                return kind;
        if (decided != count)
                return po_fail(error, PO_BUG, 0, "read claims: %zu of %zu are there", decided,
                               count);
        return PO_OK;
}

enum po_class claims_read(struct claims *claims, struct posting **postings, size_t count,
                          struct po_error *error)
{
        sort_postings(claims, postings, count);
        return read_sorted(claims, count, error);
}

/* Moves those to the front that have no claim yet; how many there are. */
static size_t keep_unread(struct claims *claims, size_t count)
{
        size_t kept = 0;
        for (size_t i = 0; i < count; i++)
                if (claims->sorted[i]->claim_id == 0)
                        claims->sorted[kept++] = claims->sorted[i];
        return kept;
}

/*
 * A claim that only this statement delivered is ours: nobody else can have settled it. (If somebody
 * has since, he delivered it, and the fence says so.)
 */
static enum po_class read_fresh(struct claims *claims, size_t *count, struct po_error *error)
{
        enum po_class kind = PO_OK;
        if (claims->attempts != NULL)
                return PO_OK;
        sql_reset(&claims->sql);
        sql_raw(&claims->sql, CLAIM_READ_FRESH);
        if (!claim_rows_write_fresh(claims->rows, &claims->sql))
                return PO_OK;
        if (db_query(claims->db, &claims->sql, error) != PO_OK)
                return po_within(error, "read fresh claims");
        while (kind == PO_OK && db_next_row(claims->db)) {
                size_t first = find_group(claims, *count);
                size_t end = first < *count ? group_end(claims, first, *count) : *count;
                if (first < end && db_integer(claims->db, 3) == (int64_t)(end - first))
                        kind = decide_group(claims, first, end, error);
        }
        db_rows_end(claims->db);
        *count = keep_unread(claims, *count);
        return kind;
}

enum po_class claims_acquire(struct claims *claims, struct posting **postings, size_t count,
                             struct po_error *error)
{
        assert(!db_is_in_transaction(claims->db)); /* or a rollback would take the claims away */
        if (count == 0)
                return PO_OK;
        sort_postings(claims, postings, count);
        for (size_t i = 0; i < count; i++)
                postings[i]->claim_id = 0;
        if (insert_claims(claims, count, error) != PO_OK)
                return po_within(error, "claim %zu notifications", count);
        if (read_fresh(claims, &count, error) != PO_OK)
                return error->kind;
        return read_sorted(claims, count, error);
}
