#include "postonce/claim.h"

#include <stdio.h>
#include <string.h>

#include "ledger/review.h"
#include "ledger/settled.h"
#include "library/library.h"
#include "postonce/key.h"

_Static_assert((int)PO_RESULT_BYTES == (int)RESULT_BYTES, "what is told is what the ledger holds");
_Static_assert((int)PO_SOURCE_BYTES == (int)TOPIC_BYTES, "what is told is what the ledger holds");

/* The key is compared, the fingerprint not: a profile may choose another (`raw`). */
static enum po_class check_sealed(const struct po_notification *notification,
                                  struct po_error *error)
{
        struct po_notification sealed = *notification;
        if (notification->key[0] == '\0')
                return po_refuse(error, "NOT_SEALED", "a notification without a key");
        if (notification->fingerprint_version != PO_FINGERPRINT_VERSION &&
            notification->fingerprint_version != PO_FINGERPRINT_RAW)
                return po_refuse(error, "NOT_SEALED", "a notification without a fingerprint");
        if (po_key_seal(&sealed, error) != PO_OK)
                return error->kind;
        if (strcmp(sealed.key, notification->key) != 0)
                return po_refuse(error, "NOT_SEALED", "a key that is not the notification's");
        return PO_OK;
}

static enum po_class check_source(const struct po_record *record, struct po_error *error)
{
        size_t bytes = record->topic != NULL ? strlen(record->topic) : 0;
        bool plain = bytes > 0 && bytes < PO_SOURCE_BYTES;
        for (size_t i = 0; plain && i < bytes; i++)
                plain = record->topic[i] > ' ' && record->topic[i] < 0x7f;
        if (!plain)
                return po_refuse(error, "SOURCE_MALFORMED",
                                 "a record's topic must be 1 to %d printable ASCII characters",
                                 PO_SOURCE_BYTES - 1);
        return PO_OK;
}

static void fill(struct po_claim *claim, const struct posting *posting)
{
        const struct po_notification *notification = posting->notification;
        memset(claim, 0, sizeof *claim);
        claim->state = posting->verdict == VERDICT_NONE       ? PO_CLAIM_UNFINISHED
                       : posting->verdict == VERDICT_CONFLICT ? PO_CLAIM_CONFLICT
                                                              : PO_CLAIM_SETTLED;
        memcpy(claim->result, posting->result, sizeof claim->result);
        claim->id = posting->claim_id;
        claim->tenant_id = notification->tenant_id;
        memcpy(claim->key, notification->key, sizeof claim->key);
        bool keeps = posting->kept_version != 0;
        memcpy(claim->fingerprint, keeps ? posting->first_fingerprint : notification->fingerprint,
               sizeof claim->fingerprint);
        claim->fingerprint_version =
                keeps ? posting->kept_version : notification->fingerprint_version;
        claim->occurred_at_us = notification->occurred_at_us;
        snprintf(claim->source, sizeof claim->source, "%s", posting->record->topic);
        claim->partition = posting->record->partition;
        claim->offset = posting->record->offset;
}

enum po_class po_claim_acquire(struct po_ledger *ledger, const struct po_notification *notification,
                               const struct po_record *record, struct po_claim *claim_out,
                               struct po_error *error)
{
        if (check_sealed(notification, error) != PO_OK || check_source(record, error) != PO_OK)
                return po_within(error, "acquire a claim");
        const struct record delivery = {
                .topic = record->topic,
                .partition = record->partition,
                .offset = record->offset,
                .timestamp_ms = -1,
                .value = record->value,
                .value_bytes = record->value != NULL ? record->value_bytes : 0,
        };
        struct posting posting = { .notification = notification, .record = &delivery };
        struct posting *one[] = { &posting };
        if (claims_acquire(ledger->claims, one, 1, error) != PO_OK)
                return error->kind;
        if (posting.verdict == VERDICT_CONFLICT &&
            reviews_insert(ledger->db, &ledger->sql, REVIEW_PAYLOAD_CONFLICT, one, 1, true,
                           error) != PO_OK)
                return error->kind;
        fill(claim_out, &posting);
        return PO_OK;
}

enum po_class po_claim_settle(struct po_ledger *ledger, const struct po_claim *claim, void *mysql,
                              const char *word, struct po_error *error)
{
        static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
        size_t bytes = strlen(word);
        if (claim->state != PO_CLAIM_UNFINISHED)
                return po_fail(error, PO_BUG, 0, "settle %s: the claim is not unfinished",
                               claim->key);
        if (bytes == 0 || bytes >= PO_SETTLED_WORD_BYTES || strspn(word, allowed) != bytes)
                return po_fail(error, PO_BUG, 0, "settle %s: a word is [A-Z0-9_]{1,%d}", claim->key,
                               PO_SETTLED_WORD_BYTES - 1);
        return settled_insert(mysql, &ledger->sql, ledger->database, claim, word, error);
}
