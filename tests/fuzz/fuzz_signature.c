/*
 * Two ways: the header of a signature (first line of the input) of a body (the rest); and a whole
 * body with its signature inside, through the shipped profiles. No input is believed, since none of
 * them knows the keys.
 */
#include "fuzz.h"

#include <string.h>

#include "base/limits.h"
#include "channel/decode.h"
#include "channel/profile.h"
#include "channel/verify.h"

static const char *const profiles[] = {
        "channel: A\nverify: { op: stripe, key_file: keys/wechat-apiv3, tolerance: 5m }\n"
        "rules: [ { when: [], ignore: true } ]\n",
        "channel: A\nverify: { op: hmac-sha256, header: stripe-signature, encoding: hex, prefix: "
        "\"sha256=\", key_file: keys/wechat-apiv3 }\nrules: [ { when: [], ignore: true } ]\n",
        "channel: A\nverify: { op: hmac-sha256, header: stripe-signature, encoding: base64, "
        "key_file: keys/wechat-apiv3 }\nrules: [ { when: [], ignore: true } ]\n",
        "channel: A\nverify: { op: wechat-v3, keys: { 5157F09EFDC096DE15EBE81A47057A72: "
        "keys/wechatpay-public.pem } }\nrules: [ { when: [], ignore: true } ]\n",
};
enum { PROFILES = sizeof profiles / sizeof profiles[0] };

static struct profile *loaded[PROFILES];

static void open_once(void)
{
        char name[1024];
        struct po_error error;
        if (loaded[0] != NULL)
                return;
        fuzz_path(name, sizeof name, "tests/data/channel/t.yaml");
        for (size_t i = 0; i < PROFILES; i++) {
                enum po_class kind =
                        profile_parse(&loaded[i], name, profiles[i], strlen(profiles[i]), &error);
                if (kind != PO_OK)
                        fprintf(stderr, "%s\n", error.text);
                FUZZ_MUST(kind == PO_OK);
        }
}

/* Where signatures stand in the body. */
static void refuse_bodies(const uint8_t *bytes, size_t length)
{
        static const char *const paths[] = { "deploy/channels/alipay.yaml",
                                             "deploy/channels/adyen.yaml" };
        static const char *const channels[] = { "ALIPAY", "ADYEN" };
        static struct po_notification notifications[NOTIFICATIONS_PER_RECORD_MAX];
        static struct decoder *decoder;
        struct po_error error;
        if (decoder == NULL) {
                char name[1024];
                setenv("ALIPAY_PUBLIC_KEY_FILE",
                       fuzz_path(name, sizeof name, "tests/data/channel/keys/wechatpay-public.pem"),
                       1);
                setenv("ADYEN_HMAC_KEY_FILE",
                       fuzz_path(name, sizeof name, "tests/fuzz/keys/adyen-hmac"), 1);
                enum po_class kind =
                        decoder_open(&decoder, fuzz_path(name, sizeof name, "."), paths, 2, &error);
                if (kind != PO_OK)
                        fprintf(stderr, "%s\n", error.text);
                FUZZ_MUST(kind == PO_OK);
        }
        const struct record record = { .topic = "t", .value = bytes, .value_bytes = length };
        for (size_t i = 0; i < 2; i++) {
                size_t count;
                FUZZ_MUST(decode_record(decoder, &record, channels[i], notifications,
                                        NOTIFICATIONS_PER_RECORD_MAX, &count, &error) == PO_RECORD);
        }
}

void fuzz_signature(const uint8_t *bytes, size_t length)
{
        static const char serial[] = "5157F09EFDC096DE15EBE81A47057A72";
        open_once();
        const uint8_t *end = memchr(bytes, '\n', length);
        size_t header = end == NULL ? length : (size_t)(end - bytes);
        size_t skipped = end == NULL ? length : header + 1;
        const struct record_header headers[] = {
                { "stripe-signature", bytes, header },
                { "wechatpay-serial", serial, sizeof serial - 1 },
                { "wechatpay-nonce", "n", 1 },
                { "wechatpay-timestamp", bytes, header },
                { "wechatpay-signature", bytes, header },
        };
        const struct record record = {
                .topic = "t",
                .timestamp_ms = INT64_C(1768365668000),
                .value = bytes + skipped,
                .value_bytes = length - skipped,
                .headers = headers,
                .headers_count = sizeof headers / sizeof headers[0],
        };
        for (size_t i = 0; i < PROFILES; i++) {
                struct po_error error;
                FUZZ_MUST(verify_record(&loaded[i]->shapes.items[0].verify, &record, &error) ==
                          PO_RECORD);
                FUZZ_MUST(strcmp(error.reason, "SIGNATURE_INVALID") == 0);
        }
        refuse_bodies(bytes, length);
}
