#include "sign_fixture.h"

#include <json-c/json_tokener.h>

#include "channel/verify_items.h"

#define HEX "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056"

static char body[4096];
static struct pointer each, item;

/* That HEX as bytes. */
static const char *hmac_of(const char *text)
{
        static const unsigned char secret[] = "\x44\x78\x2D\xEF\x54\x7A\xAA\x06\xC9\x10\xC4\x39\x32"
                                              "\xB1\xEB\x0C\x71\xFC\x68\xD9\xD0\xC0\x57\x55\x0C\x48"
                                              "\xEC\x2A\xCF\x6B\xA0\x56";
        return sign_hmac(secret, 32, text);
}

static void setup(void)
{
        sign_file("adyen", HEX "\n");
        sign_file("other", "00" HEX);
        sign_load("{ op: adyen, key_file: adyen }");
        ck_assert_ptr_null(pointer_compile(&each, "/notificationItems"));
        ck_assert_ptr_null(pointer_compile(&item, "/NotificationRequestItem"));
}

static enum po_class check(void)
{
        struct json_object *root = json_tokener_parse(body);
        ck_assert_msg(root != NULL, "%s", body);
        error.reason = "none";
        enum po_class kind = verify_items(&verify, &each, &item, root, &error);
        json_object_put(root);
        return kind;
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

#define ITEM                                                                                       \
        "{\"NotificationRequestItem\":{\"additionalData\":{\"hmacSignature\":\"%s\"},"             \
        "\"pspReference\":\"%s\",\"originalReference\":\"%s\",\"merchantAccountCode\":\"%s\","     \
        "\"merchantReference\":\"%s\",\"amount\":{\"value\":%d,\"currency\":\"EUR\"},"             \
        "\"eventCode\":\"CAPTURE\",\"success\":\"true\",\"eventDate\":\"2026\"}}"

struct facts {
        const char *psp, *original, *account, *reference; /* as JSON writes them */
        int value;
};

static void one_item(const char *signed_text, const struct facts *facts)
{
        snprintf(body, sizeof body, "{\"notificationItems\":[" ITEM "]}", hmac_of(signed_text),
                 facts->psp, facts->original, facts->account, facts->reference, facts->value);
}

static const struct facts plain = { "P", "O", "ACCT", "R8", 1130 };

START_TEST(the_joined_members_prove_an_item)
{
        setup();
        one_item("P:O:ACCT:R8:1130:EUR:CAPTURE:true", &plain);
        assert_proven();
        one_item("P::ACCT:R8:1130:EUR:CAPTURE:true",
                 &(struct facts){ "P", "", "ACCT", "R8", 1130 });
        assert_proven();
        sign_load("{ op: adyen, key_file: [other, adyen] }");
        one_item("P:O:ACCT:R8:1130:EUR:CAPTURE:true", &plain);
        assert_proven();
}
END_TEST

START_TEST(members_that_are_not_there_are_empty)
{
        setup();
        snprintf(body, sizeof body,
                 "{\"notificationItems\":[{\"NotificationRequestItem\":{\"additionalData\":"
                 "{\"hmacSignature\":\"%s\"},\"pspReference\":\"P\",\"originalReference\":null,"
                 "\"eventCode\":\"REPORT_AVAILABLE\",\"success\":true}}]}",
                 hmac_of("P::::::REPORT_AVAILABLE:true"));
        assert_proven();
}
END_TEST

START_TEST(an_item_that_was_touched_is_refused)
{
        setup();
        static const struct facts touched[] = {
                { "P2", "O", "ACCT", "R8", 1130 },  { "P", "O2", "ACCT", "R8", 1130 },
                { "P", "O", "ACCT2", "R8", 1130 },  { "P", "O", "ACCT", "R9", 1130 },
                { "P", "O", "ACCT", "R8", 113000 },
        };
        for (size_t i = 0; i < sizeof touched / sizeof touched[0]; i++) {
                one_item("P:O:ACCT:R8:1130:EUR:CAPTURE:true", &touched[i]);
                assert_refused("item 0: no key gives");
        }
        one_item("P:O:ACCT:R8:1130:USD:CAPTURE:true", &plain);
        assert_refused("no key gives");
        one_item("P:O:ACCT:R8:1130:EUR:REFUND:true", &plain);
        assert_refused("no key gives");
        one_item("P:O:ACCT:R8:1130:EUR:CAPTURE:false", &plain);
        assert_refused("no key gives");
        sign_load("{ op: adyen, key_file: other }");
        one_item("P:O:ACCT:R8:1130:EUR:CAPTURE:true", &plain);
        assert_refused("no key gives");
}
END_TEST

START_TEST(a_colon_in_the_order_may_be_escaped_or_not)
{
        const struct facts facts = { "P", "O", "ACCT", "R:8\\\\", 1130 };
        setup();
        one_item("P:O:ACCT:R\\:8\\\\:1130:EUR:CAPTURE:true", &facts);
        assert_proven();
        one_item("P:O:ACCT:R:8\\:1130:EUR:CAPTURE:true", &facts);
        assert_proven();
}
END_TEST

START_TEST(a_colon_cannot_move_the_end_of_a_value)
{
        setup();
        one_item("P:O:ACCT:R:8:1130:EUR:CAPTURE:true",
                 &(struct facts){ "P:O", "ACCT", "R", "8", 1130 });
        assert_refused("no key gives");
        one_item("P\\:O:ACCT:R:8:1130:EUR:CAPTURE:true",
                 &(struct facts){ "P:O", "ACCT", "R", "8", 1130 });
        assert_proven();
}
END_TEST

START_TEST(every_item_must_be_proven)
{
        char first[1024], second[1024];
        setup();
        snprintf(first, sizeof first, ITEM, hmac_of("P:O:ACCT:R8:1130:EUR:CAPTURE:true"), "P", "O",
                 "ACCT", "R8", 1130);
        snprintf(second, sizeof second, ITEM, hmac_of("Q:O:ACCT:R8:1130:EUR:CAPTURE:true"), "Q",
                 "O", "ACCT", "R8", 1131);
        snprintf(body, sizeof body, "{\"notificationItems\":[%s,%s]}", first, second);
        assert_refused("item 1: ");
        snprintf(body, sizeof body, "{\"notificationItems\":[%s,{}]}", first);
        assert_refused("item 1: there is no hmacSignature");
        snprintf(body, sizeof body, "{\"notificationItems\":[%s,7]}", first);
        assert_refused("item 1: there is no hmacSignature");
}
END_TEST

START_TEST(a_signature_or_member_of_another_form_is_refused)
{
        setup();
        snprintf(body, sizeof body, "{\"notificationItems\":[" ITEM "]}", "AAAA", "P", "O", "A",
                 "R", 1);
        assert_refused("not written as it must be");
        snprintf(body, sizeof body,
                 "{\"notificationItems\":[{\"NotificationRequestItem\":{\"additionalData\":"
                 "{\"hmacSignature\":\"%s\"},\"pspReference\":{}}}]}",
                 hmac_of("x"));
        assert_refused("no text");
        char *long_text = malloc(1100);
        memset(long_text, 'x', 1099);
        long_text[1099] = '\0';
        one_item("x", &(struct facts){ "P", "O", "A", long_text, 1 });
        assert_refused("too long");
        free(long_text);
}
END_TEST

START_TEST(other_ways_to_verify_do_not_look_at_items)
{
        setup();
        sign_load("{ op: stripe, key_file: other }");
        snprintf(body, sizeof body, "{\"notificationItems\":[{}]}");
        assert_proven();
}
END_TEST

START_TEST(a_key_that_is_not_in_hexadecimal_is_refused)
{
        setup();
        sign_file("odd", "123\n");
        sign_file("text", "zz");
        ck_assert_int_eq(sign_read("{ op: adyen, key_file: odd }"), PO_SYSTEMIC);
        unit_assert_in(error.text, "1:24: the file holds no key in hexadecimal");
        ck_assert_int_eq(sign_read("{ op: adyen, key_file: text }"), PO_SYSTEMIC);
        unit_assert_not_in(error.text, "zz");
}
END_TEST

UNIT_MAIN("verify_items", the_joined_members_prove_an_item, members_that_are_not_there_are_empty,
          an_item_that_was_touched_is_refused, a_colon_in_the_order_may_be_escaped_or_not,
          a_colon_cannot_move_the_end_of_a_value, every_item_must_be_proven,
          a_signature_or_member_of_another_form_is_refused,
          other_ways_to_verify_do_not_look_at_items, a_key_that_is_not_in_hexadecimal_is_refused)
