#include "channel/fingerprint.h"

#include <assert.h>
#include <string.h>
#include <threads.h>

#include <openssl/evp.h>

#include "base/print.h"

enum {
        LENGTH_BYTES = 4,
        INPUT_BYTES = 8 * LENGTH_BYTES + PO_CHANNEL_BYTES + PO_TXN_BYTES + PO_EVENT_BYTES +
                      PO_ORDER_NO_BYTES + PO_TXN_BYTES + PO_CURRENCY_BYTES + sizeof "cumulative" +
                      INTEGER_TEXT_BYTES,
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

static enum po_class digest(const void *bytes, size_t count,
                            unsigned char digest_out[PO_FINGERPRINT_BYTES], struct po_error *error)
{
        call_once(&sha256_fetched, sha256_fetch);
        if (sha256 == NULL || EVP_Digest(bytes, count, digest_out, NULL, sha256, NULL) != 1)
                return po_fail(error, PO_BUG, 0, "fingerprint: OpenSSL computes no SHA-256");
        return PO_OK;
}

static enum po_class digest_normalised(const struct po_notification *notification,
                                       unsigned char digest_out[PO_FINGERPRINT_BYTES],
                                       struct po_error *error)
{
        assert(notification->amount_kind <= PO_AMOUNT_NET);

        char digits[INTEGER_TEXT_BYTES] = "";
        if (amount_counts(notification))
                integer_print(digits, notification->amount_minor);

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
        return digest(input, used, digest_out, error);
}

enum po_class fingerprint_seal(struct po_notification *notification, struct po_error *error)
{
        notification->fingerprint_version = PO_FINGERPRINT_VERSION;
        return digest_normalised(notification, notification->fingerprint, error);
}

/* Whether another one of the record says something else under the same key. By version 1 of all. */
static bool is_contradicted(const struct po_notification *notifications, size_t count, size_t i)
{
        const struct po_notification *one = &notifications[i];
        for (size_t j = 0; j < count; j++)
                if (notifications[j].tenant_id == one->tenant_id &&
                    strcmp(notifications[j].key, one->key) == 0 &&
                    memcmp(notifications[j].fingerprint, one->fingerprint, PO_FINGERPRINT_BYTES) !=
                            0)
                        return true;
        return false;
}

enum po_class fingerprint_seal_raw(struct po_notification *notifications, size_t count,
                                   const void *value, size_t value_bytes, struct po_error *error)
{
        unsigned char raw[PO_FINGERPRINT_BYTES];
        if (digest(value, value_bytes, raw, error) != PO_OK)
                return error->kind;
        for (size_t i = 0; i < count; i++)
                if (!is_contradicted(notifications, count, i))
                        notifications[i].fingerprint_version = PO_FINGERPRINT_RAW;
        for (size_t i = 0; i < count; i++)
                if (notifications[i].fingerprint_version == PO_FINGERPRINT_RAW)
                        memcpy(notifications[i].fingerprint, raw, sizeof raw);
        return PO_OK;
}

enum po_class fingerprint_by(int version, const struct po_notification *notification,
                             const void *value, size_t value_bytes,
                             unsigned char digest_out[PO_FINGERPRINT_BYTES], struct po_error *error)
{
        if (version == PO_FINGERPRINT_VERSION)
                return digest_normalised(notification, digest_out, error);
        if (version == PO_FINGERPRINT_RAW)
                return digest(value, value_bytes, digest_out, error);
        return po_fail(error, PO_BUG, 0, "no fingerprint has version %d", version);
}
