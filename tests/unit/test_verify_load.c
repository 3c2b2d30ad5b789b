#include "unit.h"

#include "channel/verify_load.h"

static struct verify verify;
static struct po_error error;

static enum po_class load(const char *text)
{
        static const struct field field = { .name = "verify" };
        static char name[1024];
        struct document *document;
        const char *source = getenv("POSTONCE_SOURCE");
        snprintf(name, sizeof name, "%s/tests/data/channel/t.yaml", source != NULL ? source : ".");
        memset(&verify, 0, sizeof verify);
        ck_assert_int_eq(document_parse(&document, name, text, strlen(text), &error), PO_OK);
        return read_verify(document_root(document), &field, &verify, &error);
}

static void assert_refused(const char *text, const char *complaint)
{
        ck_assert_msg(load(text) == PO_SYSTEMIC, "taken: %s", text);
        unit_assert_in(error.text, complaint);
        unit_assert_not_in(error.text, "not-a-secret");
        verify_reset(&verify);
}

START_TEST(an_hmac_has_a_header_an_encoding_and_secrets)
{
        ck_assert_msg(load("{ op: hmac-sha256, header: x-sig, encoding: base64, prefix: \"v1=\","
                           " key_file: [keys/wechat-apiv2, keys/wechat-apiv3] }") == PO_OK,
                      "%s", error.text);
        ck_assert_int_eq(verify.op, VERIFY_HMAC_SHA256);
        ck_assert(verify.base64);
        ck_assert_str_eq(verify.header, "x-sig");
        ck_assert_uint_eq(verify.keys_count, 2);
        ck_assert_uint_eq(verify.keys[1].secret_bytes, 32);
        verify_reset(&verify);
}
END_TEST

START_TEST(stripe_tolerates_five_minutes_unless_it_says_otherwise)
{
        ck_assert_int_eq(load("{ op: stripe, key_file: keys/wechat-apiv2 }"), PO_OK);
        ck_assert_int_eq(verify.tolerance_ms, 300000);
        ck_assert_int_eq(load("{ op: stripe, key_file: keys/wechat-apiv2, tolerance: 1h }"), PO_OK);
        ck_assert_int_eq(verify.tolerance_ms, 3600000);
}
END_TEST

START_TEST(public_keys_are_read_by_serial)
{
        ck_assert_int_eq(load("{ op: wechat-v3, keys: { AB: keys/wechatpay-public.pem,"
                              " CD: keys/wechatpay-certificate.pem } }"),
                         PO_OK);
        ck_assert_str_eq(verify.keys[1].serial, "CD");
        ck_assert_ptr_nonnull(verify.keys[1].public_key);
        verify_reset(&verify);
}
END_TEST

START_TEST(what_does_not_go_together_is_refused)
{
        assert_refused("{ op: rsa, key_file: x }", "1:7: ");
        assert_refused("{ op: stripe }", "1:1: required member \"key_file\"");
        assert_refused("{ op: wechat-v3 }", "1:1: required member \"keys\"");
        assert_refused("{ op: hmac-sha256, encoding: hex, key_file: keys/wechat-apiv2 }",
                       "1:1: required member \"header\"");
        assert_refused("{ op: hmac-sha256, header: x, key_file: keys/wechat-apiv2 }",
                       "1:1: required member \"encoding\"");
        assert_refused("{ op: stripe, key_file: keys/wechat-apiv2, header: x }",
                       "1:52: header does not go");
        assert_refused("{ op: stripe, key_file: [] }", "key_file wants 1 to");
        assert_refused("{ op: stripe, key_file: keys/wechat-apiv2, tolerance: 2d }", "tolerance");
        assert_refused("{ op: wechat-v3, keys: {} }", "1:24: keys wants");
        assert_refused("{ op: wechat-v3, keys: { AB: keys/wechat-apiv3 } }",
                       "1:30: the file holds no public RSA key");
        assert_refused("{ op: stripe, key_file: keys/none }", "/keys/none: ");
}
END_TEST

START_TEST(none_says_that_somebody_else_verifies)
{
        ck_assert_int_eq(load("{ op: none }"), PO_OK);
        ck_assert_int_eq(verify.op, VERIFY_NONE);
        ck_assert(!verify.is_open);
        assert_refused("{ op: none, key_file: keys/wechat-apiv2 }", "1:23: key_file does not go");
        assert_refused("{ op: none, without_keys: warn }", "1:27: without_keys does not go");
}
END_TEST

START_TEST(without_keys_bodies_are_believed_only_if_the_profile_says_so)
{
        unsetenv("UNIT_KEY");
        unsetenv("UNIT_SERIAL");
        assert_refused("{ op: stripe, key_file: \"${env:UNIT_KEY}\" }",
                       "1:25: the environment has no variable UNIT_KEY");
        ck_assert_int_eq(load("{ op: stripe, key_file: [\"${env:UNIT_KEY}\"],"
                              " without_keys: warn }"),
                         PO_OK);
        ck_assert(verify.is_open);
        ck_assert_str_eq(verify.missing, "${env:UNIT_KEY}");
        ck_assert_int_eq(load("{ op: wechat-v3, keys: { \"${env:UNIT_SERIAL}\":"
                              " keys/wechatpay-public.pem }, without_keys: warn }"),
                         PO_OK);
        ck_assert(verify.is_open);
        ck_assert_str_eq(verify.missing, "${env:UNIT_SERIAL}");
        setenv("UNIT_SERIAL", "ABCD", 1);
        ck_assert_int_eq(load("{ op: wechat-v3, keys: { \"${env:UNIT_SERIAL}\":"
                              " keys/wechatpay-public.pem }, without_keys: warn }"),
                         PO_OK);
        ck_assert(!verify.is_open);
        ck_assert_str_eq(verify.keys[0].serial, "ABCD");
        verify_reset(&verify);
        setenv("UNIT_KEY", "keys/none", 1);
        assert_refused("{ op: stripe, key_file: \"${env:UNIT_KEY}\", without_keys: warn }",
                       "/keys/none: ");
}
END_TEST

UNIT_MAIN("verify_load", an_hmac_has_a_header_an_encoding_and_secrets,
          stripe_tolerates_five_minutes_unless_it_says_otherwise, public_keys_are_read_by_serial,
          what_does_not_go_together_is_refused, none_says_that_somebody_else_verifies,
          without_keys_bodies_are_believed_only_if_the_profile_says_so)
