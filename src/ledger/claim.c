#include "ledger/claim.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/claim_internal.h"

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

void claims_sort(struct claims *claims, struct posting **postings, size_t count)
{
        assert(count <= claims->capacity);
        memcpy(claims->sorted, postings, count * sizeof *postings);
        qsort(claims->sorted, count, sizeof *claims->sorted, compare_postings);
}

size_t claims_group_end(const struct claims *claims, size_t first, size_t count)
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
        if (claim_rows_begin(claims->rows, count, error) != PO_OK)
                return error->kind;
        for (size_t first = 0, end; first < count; first = end) {
                end = claims_group_end(claims, first, count);
                claim_rows_add(claims->rows, claims->sorted[first], end - first, maker);
        }
        return claim_rows_end(claims->rows, error);
}

/* From here on the sorted postings tell by their claim_id which of them are decided. */
static void forget_ids(struct posting **postings, size_t count)
{
        for (size_t i = 0; i < count; i++)
                postings[i]->claim_id = 0;
}

static bool are_mostly_settled(struct posting *const *postings, size_t count)
{
        size_t settled = 0;
        for (size_t i = 0; i < count; i++)
                settled += postings[i]->verdict == VERDICT_DUPLICATE;
        return settled > count / 2;
}

static enum po_class claim_sorted(struct claims *claims, size_t count, struct po_error *error)
{
        if (claims->mostly_settled && claims->attempts == NULL &&
            claims_take_settled(claims, &count, error) != PO_OK)
                return error->kind;
        if (count == 0)
                return PO_OK;
        if (insert_claims(claims, count, error) != PO_OK)
                return po_within(error, "claim %zu notifications", count);
        if (claims->attempts == NULL && claims_read_fresh(claims, &count, error) != PO_OK)
                return error->kind;
        return claims_read_sorted(claims, count, error);
}

enum po_class claims_acquire(struct claims *claims, struct posting **postings, size_t count,
                             struct po_error *error)
{
        assert(!db_is_in_transaction(claims->db)); /* or a rollback would take the claims away */
        if (count == 0)
                return PO_OK;
        claims_sort(claims, postings, count);
        forget_ids(postings, count);
        enum po_class kind = claim_sorted(claims, count, error);
        if (kind == PO_OK)
                claims->mostly_settled = are_mostly_settled(postings, count);
        return kind;
}
