/*
 * Whole records through every shipped profile (or the one of $FUZZ_CHANNEL): what comes out is what
 * notification.h promises, and comes out the same again.
 */
#include "fuzz.h"

#include <string.h>

#include "base/limits.h"
#include "channel/decode.h"
#include "channel/money.h"
#include "channel/utf8.h"

enum { PATH_BYTES = 1024 };

static const char *const profiles[] = {
        "deploy/channels/sqb.yaml",         "deploy/channels/envelope.yaml",
        "deploy/channels/wechat.yaml",      "deploy/channels/alipay.yaml",
        "deploy/channels/stripe.yaml",      "deploy/channels/adyen.yaml",
        "tests/data/generic.yaml",          "tests/data/paypal.yaml",
        "deploy/channels/cloudevents.yaml",
};
/* NULL: the record is an envelope that names its channel itself. */
static const char *const channels[] = {
        NULL,     "ENVELOPE", "SQB",    "WECHAT", "ALIPAY",
        "STRIPE", "ADYEN",    "PAYPAL", "SHOP",   "CLOUDEVENTS",
};

static struct decoder *decoder;
static struct po_notification first[NOTIFICATIONS_PER_RECORD_MAX];
static struct po_notification second[NOTIFICATIONS_PER_RECORD_MAX];

static void key_file_set(const char *variable, const char *path)
{
        char whole[PATH_BYTES];
        FUZZ_MUST(setenv(variable, fuzz_path(whole, sizeof whole, path), 1) == 0);
}

static void open_once(void)
{
        char base[PATH_BYTES];
        struct po_error error;
        if (decoder != NULL)
                return;
        key_file_set("WECHAT_APIV3_KEY_FILE", "tests/data/channel/keys/wechat-apiv3");
        key_file_set("WECHAT_APIV2_KEY_FILE", "tests/data/channel/keys/wechat-apiv2");
        enum po_class kind = decoder_open(&decoder, fuzz_path(base, sizeof base, "."), profiles,
                                          sizeof profiles / sizeof profiles[0], &error);
        if (kind != PO_OK)
                fprintf(stderr, "%s\n", error.text);
        FUZZ_MUST(kind == PO_OK);
}

static void look_text(const char *text, size_t capacity)
{
        size_t length = strnlen(text, capacity);
        FUZZ_MUST(length < capacity && utf8_check(text, length) == length);
        FUZZ_MUST(length == 0 || (text[0] != ' ' && text[length - 1] != ' '));
        for (size_t i = 0; i < length; i++)
                FUZZ_MUST((unsigned char)text[i] >= 0x20 && text[i] != 0x7F);
}

static void look(const struct po_notification *notification)
{
        look_text(notification->order_no, sizeof notification->order_no);
        look_text(notification->refund_no, sizeof notification->refund_no);
        look_text(notification->parent, sizeof notification->parent);
        look_text(notification->key, sizeof notification->key);
        FUZZ_MUST(notification->tenant_id > 0);
        char key[2 * PO_KEY_BYTES];
        snprintf(key, sizeof key, "%s:%s:%s", notification->channel, notification->txn,
                 notification->event);
        FUZZ_MUST(strcmp(key, notification->key) == 0);
        for (const char *at = key; *at != '\0'; at++)
                FUZZ_MUST(*at > ' ' && *at < 0x7F);
        if (notification->amount_kind == PO_AMOUNT_NONE)
                return;
        FUZZ_MUST(notification->amount_minor > 0 && notification->amount_minor <= MONEY_MINOR_MAX);
        FUZZ_MUST(strlen(notification->currency) == 3);
}

static void decode(const struct record *record, const char *channel)
{
        struct po_error error;
        size_t count, again;
        enum po_class kind = decode_record(decoder, record, channel, first,
                                           NOTIFICATIONS_PER_RECORD_MAX, &count, &error);
        FUZZ_MUST(kind == PO_OK || (kind == PO_RECORD && error.reason != NULL && count == 0));
        FUZZ_MUST(decode_record(decoder, record, channel, second, NOTIFICATIONS_PER_RECORD_MAX,
                                &again, &error) == kind &&
                  count == again);
        for (size_t i = 0; i < count; i++) {
                look(&first[i]);
                FUZZ_MUST(strcmp(first[i].key, second[i].key) == 0);
                FUZZ_MUST(memcmp(first[i].fingerprint, second[i].fingerprint,
                                 PO_FINGERPRINT_BYTES) == 0);
        }
}

void fuzz_decode(const uint8_t *bytes, size_t length)
{
        static const struct record_header headers[] = {
                { "ce_specversion", "1.0", 3 },
                { "ce_type", "cn.r8.pay.succeeded", 19 },
                { "ce_source", "/relay/wechat3", 14 },
                { "ce_id", "d98ba315", 8 },
                { "content-type", "application/json", 16 },
        };
        open_once();
        const char *only = getenv("FUZZ_CHANNEL");
        struct record record = { .topic = "t", .value = bytes, .value_bytes = length };
        for (size_t i = 0; i < sizeof channels / sizeof channels[0]; i++) {
                if (only != NULL && (channels[i] == NULL || strcmp(only, channels[i]) != 0))
                        continue;
                decode(&record, channels[i]);
        }
        if (only != NULL && strcmp(only, "CLOUDEVENTS") != 0)
                return;
        record.headers = headers;
        record.headers_count = sizeof headers / sizeof headers[0];
        decode(&record, "CLOUDEVENTS");
}
