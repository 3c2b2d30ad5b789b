#include "ledger/attempt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uuid/uuid.h>

enum { NUMBER_BYTES = 8 };

/* A claim that was given back. attempt 0: an empty place. */
struct kept {
        uint64_t attempt;
        int64_t tenant_id;
        char key[PO_KEY_BYTES];
};

struct attempts {
        unsigned char
                maker[MAKER_BYTES]; /* random, then the attempt's number, highest byte first */
        uint64_t number;
        size_t kept_count, next; /* next: the place to be written */
        struct kept kept[ATTEMPTS_KEPT_MAX];
};

enum po_class attempts_open(struct attempts **attempts_out, struct po_error *error)
{
        struct attempts *attempts = calloc(1, sizeof *attempts);
        *attempts_out = attempts;
        if (attempts == NULL)
                return po_fail(error, PO_SYSTEMIC, ENOMEM, "out of memory for the attempts");
        uuid_generate_random(attempts->maker);
        attempts_begin(attempts);
        return PO_OK;
}

void attempts_close(struct attempts *attempts)
{
        free(attempts);
}

void attempts_begin(struct attempts *attempts)
{
        uint64_t rest = ++attempts->number;
        for (size_t i = MAKER_BYTES; i > MAKER_BYTES - NUMBER_BYTES; i--, rest >>= 8)
                attempts->maker[i - 1] = (unsigned char)rest;
}

const unsigned char *attempts_maker(const struct attempts *attempts)
{
        return attempts->maker;
}

uint64_t attempts_number(const struct attempts *attempts, const void *made_by, size_t bytes)
{
        const unsigned char *maker = made_by;
        uint64_t number = 0;
        if (bytes != MAKER_BYTES || memcmp(maker, attempts->maker, MAKER_BYTES - NUMBER_BYTES) != 0)
                return 0;
        for (size_t i = MAKER_BYTES - NUMBER_BYTES; i < MAKER_BYTES; i++)
                number = number << 8 | maker[i];
        return number;
}

static bool is_of(const struct kept *kept, const struct po_notification *notification)
{
        return kept->attempt != 0 && kept->tenant_id == notification->tenant_id &&
               strcmp(kept->key, notification->key) == 0;
}

static bool is_kept(const struct attempts *attempts, uint64_t attempt,
                    const struct po_notification *notification)
{
        for (size_t i = 0; i < ATTEMPTS_KEPT_MAX && attempts->kept_count > 0; i++)
                if (attempts->kept[i].attempt == attempt && is_of(&attempts->kept[i], notification))
                        return true;
        return false;
}

bool attempts_are_ours(const struct attempts *attempts, uint64_t attempt,
                       const struct po_notification *notification)
{
        return attempt != 0 &&
               (attempt == attempts->number || is_kept(attempts, attempt, notification));
}

void attempts_keep(struct attempts *attempts, uint64_t attempt,
                   const struct po_notification *notification)
{
        if (attempt == 0)
                attempt = attempts->number;
        if (is_kept(attempts, attempt, notification))
                return;
        struct kept *place = &attempts->kept[attempts->next];
        attempts->next = (attempts->next + 1) % ATTEMPTS_KEPT_MAX;
        attempts->kept_count += place->attempt == 0;
        place->attempt = attempt;
        place->tenant_id = notification->tenant_id;
        memcpy(place->key, notification->key, sizeof place->key);
}

void attempts_forget(struct attempts *attempts, const struct po_notification *notification)
{
        for (size_t i = 0; i < ATTEMPTS_KEPT_MAX && attempts->kept_count > 0; i++) {
                if (!is_of(&attempts->kept[i], notification))
                        continue;
                attempts->kept[i].attempt = 0;
                attempts->kept_count--;
        }
}
