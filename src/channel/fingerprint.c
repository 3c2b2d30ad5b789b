#include "channel/fingerprint.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>

#include <openssl/evp.h>

enum {
        LENGTH_BYTES = 4,
        DIGITS_BYTES = 24,
        INPUT_BYTES = 8 * LENGTH_BYTES + PO_CHANNEL_BYTES + PO_TXN_BYTES + PO_EVENT_BYTES +
                      PO_ORDER_NO_BYTES + PO_TXN_BYTES + PO_CURRENCY_BYTES + sizeof "cumulative" +
                      DIGITS_BYTES,
};

static const char *const kind_words[] = {
        [PO_AMOUNT_NONE] = "none",
        [PO_AMOUNT_THIS] = "this",
        [PO_AMOUNT_CUMULATIVE] = "cumulative",
        [PO_AMOUNT_NET] = "net",
};

/* Fetched once for the life of the process: an implicit fetch costs more than the hash. */
static EVP_MD *sha256;
static once_flag sha256_fetched = ONCE_FLAG_INIT;

static void sha256_fetch(void)
{
        sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
}

static size_t field_append(unsigned char *input, size_t used, const char *text)
{
        size_t length = strlen(text);
        assert(used + LENGTH_BYTES + length <= INPUT_BYTES);
        input[used] = (unsigned char)(length >> 24);
        input[used + 1] = (unsigned char)(length >> 16);
        input[used + 2] = (unsigned char)(length >> 8);
        input[used + 3] = (unsigned char)length;
        memcpy(input + used + LENGTH_BYTES, text, length);
        return used + LENGTH_BYTES + length;
}

static bool refund_is_named(const struct po_notification *notification)
{
        size_t parent_length = strlen(notification->parent);
        return parent_length > 0 &&
               strncmp(notification->txn, notification->parent, parent_length) == 0 &&
               notification->txn[parent_length] == '/';
}

static bool amount_counts(const struct po_notification *notification)
{
        switch (notification->amount_kind) {
        case PO_AMOUNT_NONE:
                return false;
        case PO_AMOUNT_THIS:
                return true;
        case PO_AMOUNT_CUMULATIVE:
        case PO_AMOUNT_NET:
                return !refund_is_named(notification);
        }
        return true;
}

enum po_class fingerprint_seal(struct po_notification *notification, struct po_error *error)
{
        assert(notification->amount_kind <= PO_AMOUNT_NET);
        call_once(&sha256_fetched, sha256_fetch);

        char digits[DIGITS_BYTES] = "";
        if (amount_counts(notification))
                snprintf(digits, sizeof digits, "%" PRId64, notification->amount_minor);

        unsigned char input[INPUT_BYTES];
        size_t used = 0;
        used = field_append(input, used, notification->channel);
        used = field_append(input, used, notification->txn);
        used = field_append(input, used, notification->event);
        used = field_append(input, used, notification->order_no);
        used = field_append(input, used, notification->parent);
        used = field_append(input, used, notification->currency);
        used = field_append(input, used, kind_words[notification->amount_kind]);
        used = field_append(input, used, digits);

        if (sha256 == NULL ||
            EVP_Digest(input, used, notification->fingerprint, NULL, sha256, NULL) != 1)
                return po_fail(error, PO_BUG, 0, "fingerprint: OpenSSL computes no SHA-256");
        return PO_OK;
}
