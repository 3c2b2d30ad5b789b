/*
 * What claim.c and claim_read.c share: the claims of a batch, sorted and in groups of one key.
 */
#ifndef LEDGER_CLAIM_INTERNAL_H
#define LEDGER_CLAIM_INTERNAL_H

#include "ledger/attempt.h"
#include "ledger/claim.h"
#include "ledger/claim_rows.h"

struct claims {
        struct db *db;
        struct sql sql;
        struct claim_rows *rows;
        size_t capacity;
        struct posting **sorted;   /* by key, then turn */
        struct attempts *attempts; /* NULL unless strict.unfinished */
        bool mostly_settled;       /* what the last batch brought */
};

/* Fills sorted. */
void claims_sort(struct claims *claims, struct posting **postings, size_t count);
/* The index after the last posting of the key that starts at first. */
size_t claims_group_end(const struct claims *claims, size_t first, size_t count);

/* Decides the sorted postings, whose claims are all there (BUG: one is not). */
PO_MUST_USE enum po_class claims_read_sorted(struct claims *claims, size_t count,
                                             struct po_error *error);
/* Decides those that the last insert of rows made, as far as it finds them by their numbers, and
 * keeps the others in front: *count of them. */
PO_MUST_USE enum po_class claims_read_fresh(struct claims *claims, size_t *count,
                                            struct po_error *error);
/* Decides those that are settled with an equal fingerprint, counts their delivery, and keeps the
 * others in front: *count of them. That a claim is not there says nothing here. */
PO_MUST_USE enum po_class claims_take_settled(struct claims *claims, size_t *count,
                                              struct po_error *error);

#endif
