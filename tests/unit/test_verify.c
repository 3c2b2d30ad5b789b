/* The signatures were made with Python's hmac and cryptography packages. */
#include "unit.h"

#include <string.h>

#include "channel/verify_load.h"

#define BODY   "{\"a\":1}"
#define HEX    "72bd0ee008d331fd900f8b24861c0789547c8a39291942c1788845685d7f8a94"
#define BASE64 "cr0O4AjTMf2QD4skhhwHiVR8ijkpGULBeIhFaF1/ipQ="
#define STRIPE "52b2f27d6d0969735ef9712bd56a1365475f09680c63a1e8313ca75dba698070"
#define RSA                                                                                        \
        "TjJGlyLldCvJjd+yPc7/Gbq9k7PrN/rj3xItne765C4uKV6nk6VInFcr4QxDvqPGTYhiXEXZzH9VAnq6"         \
        "Dh3r5ezq4JlbsQQprf8hbwFEwzgFavonSanMlfoNsE30b+ilicdFJk5ZOrwRFD2GZJEeTho8FswatGjd"         \
        "nJalMcamnt/qoaZt/IvsWLkNz/pB7WhY9idjGdxtuyBofW0FZckJGa+A/hMM+yUd+q4pp+VcePEWdkJm"         \
        "JivMlrS+o5JWad4qKi8uVj83Caoxr9DqbzzxpbdlyDnPQViVzWV/DEalJeeYzw9mPQFESHbL8o+nFHSr"         \
        "If9c0yWjwemuWlQkZd1xGA=="

static struct verify verify;
static struct record_header headers[8];
static struct record record;
static struct po_error error;

/* Everything made here lives as long as the case's process. */
static void load(const char *text)
{
        static const struct field field = { .name = "verify" };
        static char name[1024];
        struct document *document;
        const char *source = getenv("POSTONCE_SOURCE");
        snprintf(name, sizeof name, "%s/tests/data/channel/t.yaml", source != NULL ? source : ".");
        memset(&verify, 0, sizeof verify);
        ck_assert_int_eq(document_parse(&document, name, text, strlen(text), &error), PO_OK);
        enum po_class kind = read_verify(document_root(document), &field, &verify, &error);
        ck_assert_msg(kind == PO_OK, "%s", error.text);
}

static void begin(const char *body)
{
        record = (struct record){ .value = body,
                                  .value_bytes = strlen(body),
                                  .timestamp_ms = INT64_C(1768365668000),
                                  .headers = headers };
}

static void header(const char *name, const char *value)
{
        headers[record.headers_count++] = (struct record_header){ name, value, strlen(value) };
}

static void assert_proven(void)
{
        enum po_class kind = verify_record(&verify, &record, &error);
        ck_assert_msg(kind == PO_OK, "%s", error.text);
}

static void assert_refused(const char *what)
{
        error.reason = "none";
        ck_assert_int_eq(verify_record(&verify, &record, &error), PO_RECORD);
        ck_assert_str_eq(error.reason, "SIGNATURE_INVALID");
        unit_assert_in(error.text, what);
}

START_TEST(without_verify_every_record_passes)
{
        memset(&verify, 0, sizeof verify);
        begin(BODY);
        assert_proven();
}
END_TEST

START_TEST(an_hmac_of_the_body_proves_it)
{
        load("{ op: hmac-sha256, header: x-signature, encoding: hex, prefix: \"sha256=\","
             " key_file: [keys/wechat-older, keys/wechat-apiv2] }");
        begin(BODY);
        header("X-Signature", "sha256=" HEX);
        assert_proven();
        load("{ op: hmac-sha256, header: x-signature, encoding: base64,"
             " key_file: keys/wechat-apiv2 }");
        begin(BODY);
        header("x-signature", BASE64);
        assert_proven();
}
END_TEST

START_TEST(an_hmac_of_anything_else_is_refused)
{
        load("{ op: hmac-sha256, header: x-signature, encoding: hex, key_file: keys/wechat-apiv2 }");
        begin("{\"a\":2}");
        header("x-signature", HEX);
        assert_refused("no key gives");
        begin(BODY);
        assert_refused("is not there");
        header("x-signature", "");
        assert_refused("is not there");
        begin(BODY);
        header("x-signature", HEX);
        header("x-signature", "00");
        assert_refused("is not written");
        begin(BODY);
        header("x-signature", BASE64);
        assert_refused("is not written");
        load("{ op: hmac-sha256, header: x-signature, encoding: hex, prefix: \"v1=\","
             " key_file: keys/wechat-apiv2 }");
        begin(BODY);
        header("x-signature", HEX);
        assert_refused("another beginning");
        load("{ op: hmac-sha256, header: x-signature, encoding: hex, key_file: keys/wechat-older }");
        begin(BODY);
        header("x-signature", HEX);
        assert_refused("no key gives");
}
END_TEST

START_TEST(one_of_stripes_signatures_is_enough)
{
        load("{ op: stripe, key_file: keys/wechat-apiv2 }");
        begin(BODY);
        header("Stripe-Signature", "t=1768365668,v1=" STRIPE);
        assert_proven();
        begin(BODY);
        header("Stripe-Signature", "t=1768365668,v0=00,v1=" HEX ",v1=" STRIPE);
        assert_proven();
}
END_TEST

START_TEST(stripes_signature_counts_near_the_time_of_the_record_only)
{
        load("{ op: stripe, key_file: keys/wechat-apiv2, tolerance: 5m }");
        begin(BODY);
        header("Stripe-Signature", "t=1768365668,v1=" STRIPE);
        record.timestamp_ms += 300000;
        assert_proven();
        record.timestamp_ms += 1;
        assert_refused("too long");
        record.timestamp_ms = INT64_C(1768365668000) - 300001;
        assert_refused("too long");
        record.timestamp_ms = -1;
        assert_proven();
}
END_TEST

START_TEST(a_wrong_stripe_signature_is_refused)
{
        static const char *const wrong[][2] = {
                { "t=1768365669,v1=" STRIPE, "no key gives" },
                { "t=1768365668,v1=" HEX, "no key gives" },
                { "t=1768365668", "no key gives" },
                { "t=1768365668,v0=" STRIPE, "no key gives" },
                { "v1=" STRIPE, "names no time" },
                { "t=,v1=" STRIPE, "names no time" },
                { "t=-1,v1=" STRIPE, "names no time" },
                { "t=99999999999999999999,v1=" STRIPE, "names no time" },
        };
        load("{ op: stripe, key_file: keys/wechat-apiv2 }");
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
                begin(BODY);
                header("stripe-signature", wrong[i][0]);
                assert_refused(wrong[i][1]);
        }
        begin(BODY);
        assert_refused("is not there");
}
END_TEST

static void wechat_setup(const char *body, const char *nonce, const char *serial,
                         const char *signature)
{
        begin(body);
        header("Wechatpay-Timestamp", "1768365668");
        header("Wechatpay-Nonce", nonce);
        header("Wechatpay-Serial", serial);
        header("Wechatpay-Signature", signature);
}

START_TEST(wechats_signature_is_proven_by_the_key_of_its_serial)
{
        load("{ op: wechat-v3, keys: { AAAA: keys/wechatpay-public.pem,"
             " BBBB: keys/wechatpay-certificate.pem } }");
        wechat_setup(BODY, "q7RkV2mXc0aL", "AAAA", RSA);
        assert_proven();
        wechat_setup(BODY, "q7RkV2mXc0aL", "BBBB", RSA);
        assert_proven();
        verify_reset(&verify);
        ck_assert_uint_eq(verify.keys_count, 0);
}
END_TEST

START_TEST(a_wrong_wechat_signature_is_refused)
{
        load("{ op: wechat-v3, keys: { AAAA: keys/wechatpay-public.pem } }");
        wechat_setup("{\"a\":2}", "q7RkV2mXc0aL", "AAAA", RSA);
        assert_refused("does not prove");
        wechat_setup(BODY, "other", "AAAA", RSA);
        assert_refused("does not prove");
        wechat_setup(BODY, "q7RkV2mXc0aL", "CCCC", RSA);
        assert_refused("no key of its serial");
        wechat_setup(BODY, "q7RkV2mXc0aL", "AAAA", "AAAA");
        assert_refused("does not prove");
        wechat_setup(BODY, "q7RkV2mXc0aL", "AAAA", "!");
        assert_refused("no base64");
        wechat_setup(BODY, "q7RkV2mXc0aL", "AAAA", "WECHATPAY/SIGNTEST/" RSA);
        assert_refused("probe");
        begin(BODY);
        assert_refused("is not there");
}
END_TEST

START_TEST(without_a_key_that_may_be_missing_every_record_passes)
{
        unsetenv("UNIT_KEY");
        load("{ op: rsa-sha256, header: x, key_file: \"${env:UNIT_KEY}\", without_keys: warn }");
        begin(BODY);
        assert_proven();
}
END_TEST

START_TEST(rsa_of_the_body_proves_it)
{
        static const char text[] = "{ op: rsa-sha256, header: authorization,"
                                   " key_file: [keys/wechatpay-certificate.pem,"
                                   " keys/wechatpay-public.pem] }";
        /* WeChat's message is the record's body here. */
        static const char signed_text[] = "1768365668\nq7RkV2mXc0aL\n" BODY "\n";
        load(text);
        begin(signed_text);
        header("Authorization", RSA);
        assert_proven();
        begin(BODY);
        header("Authorization", RSA);
        assert_refused("no key proves");
        begin(signed_text);
        header("Authorization", "!");
        assert_refused("no base64");
        begin(signed_text);
        assert_refused("is not there");
        load("{ op: rsa-sha256, header: authorization, prefix: \"RSA \","
             " key_file: keys/wechatpay-public.pem }");
        begin(signed_text);
        header("Authorization", "RSA " RSA);
        assert_proven();
        begin(signed_text);
        header("Authorization", RSA);
        assert_refused("another beginning");
}
END_TEST

UNIT_MAIN("verify", without_verify_every_record_passes, an_hmac_of_the_body_proves_it,
          an_hmac_of_anything_else_is_refused, one_of_stripes_signatures_is_enough,
          stripes_signature_counts_near_the_time_of_the_record_only,
          a_wrong_stripe_signature_is_refused, wechats_signature_is_proven_by_the_key_of_its_serial,
          a_wrong_wechat_signature_is_refused,
          without_a_key_that_may_be_missing_every_record_passes, rsa_of_the_body_proves_it)
