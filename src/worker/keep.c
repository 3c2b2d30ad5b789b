#include "worker/keep.h"

#include <assert.h>
#include <stdint.h>

#include "base/failpoint.h"
#include "base/log.h"
#include "ledger/missed.h"
#include "ledger/parked.h"
#include "ledger/review.h"

/* Without a policy: as soon as somebody looks. */
enum { PARK_DELAY_MS = 5000 };

struct keeping {
        struct batch *batch;
        struct db *db;
        struct sql *sql;
};

struct place;
typedef enum po_class (*keep_insert)(const struct keeping *keeping, const struct place *place,
                                     struct posting **postings, size_t count,
                                     struct po_error *error);

/* What is kept, where, and with which alarm. */
struct place {
        enum verdict verdict;
        const char *reason, *alarm; /* of its review; NULL: it has none */
        bool if_held;   /* also when the record as a whole comes again: a person may look now */
        size_t at_once; /* so many in one statement */
        keep_insert insert;
};

static void alarm_posting(const struct posting *posting, const char *code)
{
        const struct record *record = posting->record;
        log_set_record(record->topic, record->partition, record->offset, NULL);
        log_alarm(code, posting->notification->key, "claim=%lld", (long long)posting->claim_id);
        log_clear_record();
}

/* Row by row, since only a row that was not there yet is news: behind a hold the same comes again
 * and again. */
static enum po_class insert_review(const struct keeping *keeping, const struct place *place,
                                   struct posting **postings, size_t count, struct po_error *error)
{
        bool fresh;
        assert(count == 1);
        if (review_insert(keeping->db, keeping->sql, place->reason, postings[0], true, &fresh,
                          error) != PO_OK)
                return error->kind;
        if (fresh)
                alarm_posting(postings[0], place->alarm);
        return PO_OK;
}

static enum po_class insert_parked(const struct keeping *keeping, const struct place *place,
                                   struct posting **postings, size_t count, struct po_error *error)
{
        (void)place;
        const struct policy *policy = keeping->batch->policy;
        int64_t delay_ms = policy != NULL ? policy->park_delays_ms[0] : PARK_DELAY_MS;
        if (parked_insert(keeping->db, keeping->sql, postings, count, delay_ms, error) != PO_OK)
                return error->kind;
        return missed_make_due(keeping->db, keeping->sql, postings, count, error);
}

static const struct place places[] = {
        { VERDICT_CONFLICT, REVIEW_PAYLOAD_CONFLICT, "PAYLOAD_CONFLICT", true, 1, insert_review },
        { VERDICT_ORPHANED, REVIEW_ORPHAN, "ORPHANED", true, 1, insert_review },
        { VERDICT_PARKED, NULL, NULL, false, SIZE_MAX, insert_parked },
};
enum { PLACES = sizeof places / sizeof places[0] };

static bool belongs(const struct batch *batch, const struct posting *posting,
                    const struct place *place)
{
        if (place->verdict == VERDICT_PARKED && posting->unparks)
                return false; /* its row is there */
        return posting->verdict == place->verdict &&
               (place->if_held || batch_parcel(batch, posting)->verdict != VERDICT_HELD);
}

/* What the database refuses goes the way of any record at fault. */
static void refuse(struct batch *batch, struct posting *posting, const struct po_error *error)
{
        struct parcel *parcel = batch_parcel(batch, posting);
        posting->verdict = VERDICT_REJECTED;
        if (parcel->verdict == VERDICT_HELD)
                return;
        parcel->verdict = VERDICT_REJECTED;
        parcel->may_change = true;
        *parcel->error = *error;
}

/* Records are as large as they like: what does not fit one statement is halved until it does. */
static enum po_class insert(const struct keeping *keeping, const struct place *place,
                            struct posting **postings, size_t count, struct po_error *error)
{
        enum po_class kind = PO_RECORD;
        if (count <= place->at_once)
                kind = place->insert(keeping, place, postings, count, error);
        if (kind != PO_RECORD)
                return kind;
        if (count == 1) {
                refuse(keeping->batch, postings[0], error);
                return PO_OK;
        }
        size_t half = count / 2;
        kind = insert(keeping, place, postings, half, error);
        if (kind != PO_OK)
                return kind;
        return insert(keeping, place, postings + half, count - half, error);
}

static void hold(const struct keeping *keeping, const struct place *place,
                 const struct po_error *error)
{
        struct batch *batch = keeping->batch;
        for (size_t i = 0; i < batch->postings_count; i++) {
                if (!belongs(batch, &batch->postings[i], place))
                        continue;
                struct parcel *parcel = batch_parcel(batch, &batch->postings[i]);
                parcel->verdict = VERDICT_HELD;
                *parcel->error = *error;
        }
}

static enum po_class keep(const struct keeping *keeping, const struct place *place,
                          struct po_error *error)
{
        struct batch *batch = keeping->batch;
        size_t count = 0;
        for (size_t i = 0; i < batch->postings_count; i++) {
                if (!belongs(batch, &batch->postings[i], place))
                        continue;
                batch->open[count++] = &batch->postings[i];
        }
        if (count == 0)
                return PO_OK;
        enum po_class kind = insert(keeping, place, batch->open, count, error);
        if (kind == PO_OK)
                kind = PO_FAILPOINT("batch.kept");
        if (kind != PO_OK)
                hold(keeping, place, error);
        return kind;
}

enum po_class batch_keep(struct batch *batch, struct db *db, struct sql *sql,
                         struct po_error *error)
{
        const struct keeping keeping = { batch, db, sql };
        enum po_class first = PO_OK;
        for (size_t i = 0; i < PLACES; i++) {
                struct po_error later;
                if (keep(&keeping, &places[i], &later) == PO_OK || first != PO_OK)
                        continue;
                *error = later;
                first = later.kind;
        }
        return first;
}
