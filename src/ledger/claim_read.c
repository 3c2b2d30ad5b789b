#include "ledger/claim_internal.h"

#include <string.h>

#include "base/text.h"
#include "channel/fingerprint.h"
#include "ledger/review.h"

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

/* The keys of the sorted postings, or of those that are decided. */
static void write_keys(struct claims *claims, size_t count, bool decided)
{
        struct sql *sql = &claims->sql;
        const struct po_notification *last = NULL;
        for (size_t first = 0; first < count; first = claims_group_end(claims, first, count)) {
                const struct po_notification *notification = claims->sorted[first]->notification;
                if (decided && claims->sorted[first]->claim_id == 0)
                        continue;
                if (last == NULL || notification->tenant_id != last->tenant_id) {
                        sql_raw(sql, last == NULL ? "(c.tenant_id = " : ")) OR (c.tenant_id = ");
                        sql_integer(sql, notification->tenant_id);
                        sql_raw(sql, " AND c.idem_key IN (");
                } else {
                        sql_raw(sql, ",");
                }
                sql_text(sql, notification->key);
                last = notification;
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

enum po_class claims_read_sorted(struct claims *claims, size_t count, struct po_error *error)
{
        if (count == 0)
                return PO_OK;
        sql_reset(&claims->sql);
        sql_raw(&claims->sql, CLAIM_READ);
        if (claims->attempts != NULL)
                sql_raw(&claims->sql, CLAIM_READ_STRICT);
        sql_raw(&claims->sql, CLAIM_READ_FROM);
        write_keys(claims, count, false);
        if (db_query(claims->db, &claims->sql, error) != PO_OK)
                return po_within(error, "read %zu claims", count);

        size_t decided = 0;
        enum po_class kind = PO_OK;
        while (kind == PO_OK && db_next_row(claims->db)) {
                size_t first = find_group(claims, count);
                size_t end = first < count ? claims_group_end(claims, first, count) : count;
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
        claims_sort(claims, postings, count);
        return claims_read_sorted(claims, count, error);
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
enum po_class claims_read_fresh(struct claims *claims, size_t *count, struct po_error *error)
{
        enum po_class kind = PO_OK;
        sql_reset(&claims->sql);
        sql_raw(&claims->sql, CLAIM_READ_FRESH);
        if (!claim_rows_write_fresh(claims->rows, &claims->sql))
                return PO_OK;
        if (db_query(claims->db, &claims->sql, error) != PO_OK)
                return po_within(error, "read fresh claims");
        while (kind == PO_OK && db_next_row(claims->db)) {
                size_t first = find_group(claims, *count);
                size_t end = first < *count ? claims_group_end(claims, first, *count) : *count;
                if (first < end && db_integer(claims->db, 3) == (int64_t)(end - first))
                        kind = decide_group(claims, first, end, error);
        }
        db_rows_end(claims->db);
        *count = keep_unread(claims, *count);
        return kind;
}

/* By the unique key, so that the rows are locked in the order of the claim statement. */
static enum po_class count_deliveries(struct claims *claims, size_t count, size_t decided,
                                      struct po_error *error)
{
        struct db_result result;
        if (decided == 0)
                return PO_OK;
        sql_reset(&claims->sql);
        sql_raw(&claims->sql, "UPDATE claim c FORCE INDEX (uk_idem) SET c.deliveries ="
                              " c.deliveries + 1, c.last_seen_at = UTC_TIMESTAMP(6) WHERE ");
        write_keys(claims, count, true);
        if (db_exec(claims->db, &claims->sql, &result, error) != PO_OK)
                return po_within(error, "count %zu deliveries", decided);
        if (result.affected_rows != decided)
                return po_fail(error, PO_BUG, 0, "count deliveries: %llu of %zu claims are there",
                               (unsigned long long)result.affected_rows, decided);
        return PO_OK;
}

/* The row in hand, if it says that its key's one posting is settled. */
static enum po_class take_if_settled(struct claims *claims, size_t count, size_t *taken,
                                     struct po_error *error)
{
        size_t first = find_group(claims, count);
        if (first == count || db_is_null(claims->db, 6) ||
            claims_group_end(claims, first, count) != first + 1)
                return PO_OK;
        struct posting *posting = claims->sorted[first];
        if (decide_group(claims, first, first + 1, error) != PO_OK)
                return error->kind;
        if (posting->verdict == VERDICT_CONFLICT) {
                posting->claim_id = 0; /* the claim statement counts it, and it is decided again */
                return PO_OK;
        }
        posting->deliveries++;
        ++*taken;
        return PO_OK;
}

enum po_class claims_take_settled(struct claims *claims, size_t *count, struct po_error *error)
{
        enum po_class kind = PO_OK;
        size_t taken = 0;
        sql_reset(&claims->sql);
        sql_raw(&claims->sql, CLAIM_READ);
        sql_raw(&claims->sql, CLAIM_READ_FROM);
        write_keys(claims, *count, false);
        if (db_query(claims->db, &claims->sql, error) != PO_OK)
                return po_within(error, "look for what is settled");
        while (kind == PO_OK && db_next_row(claims->db))
                kind = take_if_settled(claims, *count, &taken, error);
        db_rows_end(claims->db);
        if (kind != PO_OK || count_deliveries(claims, *count, taken, error) != PO_OK)
                return error->kind;
        *count = keep_unread(claims, *count);
        return PO_OK;
}
