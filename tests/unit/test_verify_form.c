#include "sign_fixture.h"

#include "channel/verify.h"

static char body[4096];

/* The form, with a signature by key of text, which may differ from what the form says. */
static void form(EVP_PKEY *key, const char *type, const char *text, const char *fields)
{
        const EVP_MD *digest = strcmp(type, "RSA") == 0 ? EVP_sha1() : EVP_sha256();
        const char *sign = sign_rsa(key, digest, text, strlen(text));
        snprintf(body, sizeof body, "%s&sign_type=%s&sign=%s", fields, type, sign_escape(sign));
}

static enum po_class check(void)
{
        const struct record record = { .value = body, .value_bytes = strlen(body) };
        error.reason = "none";
        return verify_record(&verify, &record, &error);
}

static void assert_proven(void)
{
        ck_assert_msg(check() == PO_OK, "%s", error.text);
}

static void assert_refused(const char *what)
{
        ck_assert_int_eq(check(), PO_RECORD);
        ck_assert_str_eq(error.reason, "SIGNATURE_INVALID");
        unit_assert_in(error.text, what);
}

START_TEST(rsa2_over_the_sorted_decoded_fields_proves_the_form)
{
        EVP_PKEY *key = sign_key("alipay.pem");
        sign_load("{ op: alipay, key_file: alipay.pem }");
        form(key, "RSA2", "a=x y&b=1&c=&c1=%&d=a+b", "d=a%2Bb&b=1&a=x+y&c1=%25&c=");
        assert_proven();
        form(key, "RSA2", "a=1&b=2", "b=2&a=1");
        assert_proven();
}
END_TEST

START_TEST(fields_without_a_value_may_be_signed_or_not)
{
        EVP_PKEY *key = sign_key("alipay.pem");
        sign_load("{ op: alipay, key_file: alipay.pem }");
        form(key, "RSA2", "a=1&b=2", "empty=&b=2&a=1&last=");
        assert_proven();
        form(key, "RSA2", "a=1&b=2&empty=&last=", "empty=&b=2&a=1&last=");
        assert_proven();
}
END_TEST

START_TEST(the_form_is_signed_in_its_own_character_set)
{
        EVP_PKEY *key = sign_key("alipay.pem");
        sign_load("{ op: alipay, key_file: alipay.pem }");
        form(key, "RSA2", "charset=gbk&subject=\xD6\xA7\xB8\xB6",
             "subject=%D6%A7%B8%B6&charset=gbk");
        assert_proven();
        form(key, "RSA2", "charset=gbk&subject=\xE6\x94\xAF\xE4\xBB\x98",
             "subject=%D6%A7%B8%B6&charset=gbk");
        assert_refused("no key proves");
}
END_TEST

START_TEST(rsa_with_sha1_does_where_sign_type_says_so)
{
        EVP_PKEY *key = sign_key("alipay.pem");
        sign_load("{ op: alipay, key_file: alipay.pem }");
        form(key, "RSA", "a=1", "a=1");
        assert_proven();
        form(key, "RSA3", "a=1", "a=1");
        assert_refused("neither RSA2 nor RSA");
        form(key, "", "a=1", "a=1");
        assert_refused("neither RSA2 nor RSA");
}
END_TEST

START_TEST(the_old_and_the_new_key_count_while_it_is_changed)
{
        EVP_PKEY *old = sign_key("old.pem"), *new = sign_key("new.pem");
        sign_load("{ op: alipay, key_file: [new.pem, old.pem] }");
        form(old, "RSA2", "a=1", "a=1");
        assert_proven();
        form(new, "RSA2", "a=1", "a=1");
        assert_proven();
        sign_load("{ op: alipay, key_file: new.pem }");
        form(old, "RSA2", "a=1", "a=1");
        assert_refused("no key proves");
}
END_TEST

START_TEST(a_form_that_was_touched_is_refused)
{
        EVP_PKEY *key = sign_key("alipay.pem");
        sign_load("{ op: alipay, key_file: alipay.pem }");
        form(key, "RSA2", "total_amount=1.00&trade_no=T", "total_amount=9.00&trade_no=T");
        assert_refused("no key proves");
        form(key, "RSA2", "total_amount=1.00", "total_amount=1.00&gmt_refund=x");
        assert_refused("no key proves");
        form(key, "RSA2", "a=1&b=2", "a=1");
        assert_refused("no key proves");
        snprintf(body, sizeof body, "a=1&sign_type=RSA2");
        assert_refused("no field sign");
        snprintf(body, sizeof body, "a=1&sign_type=RSA2&sign=%%21");
        assert_refused("no base64");
        snprintf(body, sizeof body, "a=1&sign_type=RSA2&sign=");
        assert_refused("no key proves");
}
END_TEST

START_TEST(a_form_that_is_none_is_refused_as_such)
{
        sign_key("alipay.pem");
        sign_load("{ op: alipay, key_file: alipay.pem }");
        snprintf(body, sizeof body, "a=%%zz");
        ck_assert_int_eq(check(), PO_RECORD);
        ck_assert_str_eq(error.reason, "MALFORMED_FORM");
}
END_TEST

START_TEST(more_fields_than_its_bound_are_refused)
{
        size_t used = 0;
        sign_key("alipay.pem");
        sign_load("{ op: alipay, key_file: alipay.pem }");
        for (int i = 0; i < 300; i++)
                used += (size_t)snprintf(body + used, sizeof body - used, "f%d=1&", i);
        snprintf(body + used, sizeof body - used, "sign=AAAA&sign_type=RSA2");
        assert_refused("too many fields");
}
END_TEST

START_TEST(a_key_may_be_bare_base64_as_the_console_shows_it)
{
        unsigned char *der = NULL;
        char text[SIGN_TEXT_BYTES];
        EVP_PKEY *key = sign_key("alipay.pem");
        int length = i2d_PUBKEY(key, &der);
        ck_assert_int_gt(length, 0);
        sign_base64(der, (size_t)length, text);
        sign_file("bare", text);
        sign_load("{ op: alipay, key_file: bare }");
        form(key, "RSA2", "a=1", "a=1");
        assert_proven();
}
END_TEST

UNIT_MAIN("verify_form", rsa2_over_the_sorted_decoded_fields_proves_the_form,
          fields_without_a_value_may_be_signed_or_not, the_form_is_signed_in_its_own_character_set,
          rsa_with_sha1_does_where_sign_type_says_so,
          the_old_and_the_new_key_count_while_it_is_changed, a_form_that_was_touched_is_refused,
          a_form_that_is_none_is_refused_as_such, more_fields_than_its_bound_are_refused,
          a_key_may_be_bare_base64_as_the_console_shows_it)
