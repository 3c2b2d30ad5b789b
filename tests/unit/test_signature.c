#include "sign_fixture.h"

#include "channel/signature.h"

START_TEST(hexadecimal_is_read_in_any_case_and_whole)
{
        unsigned char bytes[2];
        const struct span good = { "aF09", 4 }, odd = { "aF0", 3 }, other = { "aF0g", 4 };
        ck_assert(signature_from_hex(&good, bytes, 2));
        ck_assert_mem_eq(bytes, "\xAF\x09", 2);
        ck_assert(!signature_from_hex(&odd, bytes, 2));
        ck_assert(!signature_from_hex(&other, bytes, 2));
        ck_assert(!signature_from_hex(&good, bytes, 1));
}
END_TEST

START_TEST(an_hmac_is_of_32_bytes_however_it_is_written)
{
        unsigned char hmac[HMAC_BYTES];
        struct span text = span_of("cr0O4AjTMf2QD4skhhwHiVR8ijkpGULBeIhFaF1/ipQ=");
        ck_assert(signature_read_hmac(&text, true, hmac));
        ck_assert_uint_eq(hmac[0], 0x72);
        ck_assert(!signature_read_hmac(&text, false, hmac));
        text = span_of("cr0O4AjTMf2QD4skhhwHiVR8ijkpGULBeIhFaF1/");
        ck_assert(!signature_read_hmac(&text, true, hmac));
        text = span_of("cr0O4AjTMf2QD4skhhwHiVR8ijkpGULBeIhFaF1/ipQ=cr0O");
        ck_assert(!signature_read_hmac(&text, true, hmac));
}
END_TEST

static bool rsa(const char *serial, const char *signature, const char *first, const char *second)
{
        struct message message = { 0 };
        bool proven = false;
        message_add(&message, span_of(first));
        message_add(&message, span_of(second));
        const struct span text = span_of(signature), wanted = span_of(serial != NULL ? serial : "");
        ck_assert_int_eq(signature_check_rsa(&verify, serial != NULL ? &wanted : NULL, RSA_SHA256,
                                             &message, &text, &proven, &error),
                         PO_OK);
        return proven;
}

START_TEST(the_pieces_of_a_message_are_signed_as_one)
{
        EVP_PKEY *key = sign_key("one.pem");
        sign_load("{ op: rsa-sha256, header: x, key_file: one.pem }");
        const char *signature = sign_rsa(key, EVP_sha256(), "ab", 2);
        ck_assert(rsa(NULL, signature, "a", "b"));
        ck_assert(rsa(NULL, signature, "", "ab"));
        ck_assert(!rsa(NULL, signature, "a", "c"));
        ck_assert(!rsa(NULL, "AAAA", "a", "b"));
}
END_TEST

START_TEST(only_the_key_of_the_serial_counts_where_there_is_one)
{
        EVP_PKEY *key = sign_key("one.pem");
        sign_key("two.pem");
        sign_load("{ op: wechat-v3, keys: { A: one.pem, B: two.pem } }");
        const char *signature = sign_rsa(key, EVP_sha256(), "ab", 2);
        ck_assert(rsa("A", signature, "a", "b"));
        ck_assert(!rsa("B", signature, "a", "b"));
        ck_assert(!rsa("", signature, "a", "b"));
        ck_assert(rsa(NULL, signature, "a", "b"));
}
END_TEST

START_TEST(what_is_no_base64_is_refused)
{
        struct message message = { 0 };
        struct span text = span_of("!");
        bool proven = false;
        verify = (struct verify){ 0 };
        ck_assert_int_eq(
                signature_check_rsa(&verify, NULL, RSA_SHA256, &message, &text, &proven, &error),
                PO_RECORD);
        ck_assert_str_eq(error.reason, "SIGNATURE_INVALID");
        ck_assert(!proven);
}
END_TEST

UNIT_MAIN("signature", hexadecimal_is_read_in_any_case_and_whole,
          an_hmac_is_of_32_bytes_however_it_is_written, the_pieces_of_a_message_are_signed_as_one,
          only_the_key_of_the_serial_counts_where_there_is_one, what_is_no_base64_is_refused)
