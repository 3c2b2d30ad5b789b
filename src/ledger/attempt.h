/*
 * The attempts of strict.unfinished: which unfinished claims are this worker's to post.
 *
 * A claim carries who made it: random bytes of this worker's start and the number of the attempt (a
 * batch is one). It is ours while that attempt is under way; after it only when its record was
 * given back to the consumer before its posting began, which is remembered here, in a ring of
 * bounded size. What has fallen out of it, as what another worker or an earlier start of this one
 * made, is not ours: that errs on the side of not posting. Nothing here speaks to the database.
 */
#ifndef LEDGER_ATTEMPT_H
#define LEDGER_ATTEMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "postonce/error.h"
#include "postonce/notification.h"

enum { MAKER_BYTES = 16, ATTEMPTS_KEPT_MAX = 8192 };

struct attempts;
PO_MUST_USE enum po_class attempts_open(struct attempts **attempts_out, struct po_error *error);
void attempts_close(struct attempts *attempts); /* takes NULL */

/* The next attempt begins: the one under way is over. */
void attempts_begin(struct attempts *attempts);

/* MAKER_BYTES of the attempt under way, for claim.made_by; good until the next one begins. */
const unsigned char *attempts_maker(const struct attempts *attempts);

/* The attempt of this worker that made a claim, by its made_by; 0: not this worker's. */
uint64_t attempts_number(const struct attempts *attempts, const void *made_by, size_t bytes);

/* Whether a claim that this attempt made is ours to post: it is under way, or the claim is kept. */
bool attempts_are_ours(const struct attempts *attempts, uint64_t attempt,
                       const struct po_notification *notification);

/* Its record was given back before its posting began. attempt 0: the one under way may have made
 * the claim. The oldest that is kept makes room. */
void attempts_keep(struct attempts *attempts, uint64_t attempt,
                   const struct po_notification *notification);
/* Whatever attempt made it, it is kept no longer. */
void attempts_forget(struct attempts *attempts, const struct po_notification *notification);

#endif
