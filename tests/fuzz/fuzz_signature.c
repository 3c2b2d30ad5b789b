/*
 * The header of a signature: first line of the input; the body: the rest. No input is proven, since
 * none of them knows the key.
 */
#include "fuzz.h"

#include <string.h>

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
}
