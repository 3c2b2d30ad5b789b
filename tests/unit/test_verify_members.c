/* The signatures were made with Python's hmac and hashlib. */
#include "unit.h"

#include <json-c/json_tokener.h>

#include "channel/verify_load.h"
#include "channel/verify_members.h"

#define HMAC "905A3860C4ACF9CA0F3D10658FD1EA8DF983948A5C135B8CD60CAC428EFD968E"
#define MD5  "E66B50390BE20142EA1DA0A199ADD303"

static struct verify verify;
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

static enum po_class check(const char *json)
{
        struct json_object *root = json_tokener_parse(json);
        ck_assert_ptr_nonnull(root);
        error.reason = "none";
        enum po_class kind = verify_members(&verify, root, &error);
        json_object_put(root);
        return kind;
}

static void assert_refused(const char *json, const char *what)
{
        ck_assert_msg(check(json) == PO_RECORD, "taken: %s", json);
        ck_assert_str_eq(error.reason, "SIGNATURE_INVALID");
        unit_assert_in(error.text, what);
}

START_TEST(md5_over_the_sorted_members_proves_the_body)
{
        load("{ op: wechat-v2, key_file: [keys/wechat-older, keys/wechat-apiv2] }");
        ck_assert_int_eq(check("{\"b\":\"x y\",\"sign\":\"" MD5 "\",\"empty\":\"\",\"a\":\"1\","
                               "\"B\":\"2\"}"),
                         PO_OK);
}
END_TEST

START_TEST(hmac_does_where_sign_type_says_so)
{
        load("{ op: wechat-v2, key_file: keys/wechat-apiv2 }");
        ck_assert_int_eq(check("{\"sign_type\":\"HMAC-SHA256\",\"b\":\"x y\",\"a\":\"1\","
                               "\"sign\":\"" HMAC "\"}"),
                         PO_OK);
        assert_refused("{\"sign_type\":\"NONE\",\"a\":\"1\",\"sign\":\"" HMAC "\"}", "sign_type");
        assert_refused("{\"b\":\"x y\",\"a\":\"1\",\"sign\":\"" HMAC "\"}", "no key gives");
}
END_TEST

START_TEST(a_body_that_was_touched_is_refused)
{
        load("{ op: wechat-v2, key_file: keys/wechat-apiv2 }");
        assert_refused("{\"b\":\"x y\",\"sign\":\"" MD5 "\",\"a\":\"1\",\"B\":\"3\"}",
                       "no key gives");
        assert_refused("{\"b\":\"x y\",\"sign\":\"" MD5 "\",\"a\":\"1\"}", "no key gives");
        assert_refused("{\"b\":\"x y\",\"a\":\"1\",\"B\":\"2\"}", "no member sign");
        assert_refused("{\"b\":\"x y\",\"sign\":\"\",\"a\":\"1\",\"B\":\"2\"}", "no member sign");
        assert_refused("{\"sign\":\"" MD5 "\",\"a\":{}}", "no text");
        assert_refused("[1]", "no members");
        load("{ op: wechat-v2, key_file: keys/wechat-older }");
        assert_refused("{\"b\":\"x y\",\"sign\":\"" MD5 "\",\"a\":\"1\",\"B\":\"2\"}",
                       "no key gives");
}
END_TEST

START_TEST(what_is_never_signed_passes)
{
        load("{ op: wechat-v2, key_file: keys/wechat-apiv2, unless: /req_info }");
        ck_assert_int_eq(check("{\"a\":\"1\",\"req_info\":\"x\"}"), PO_OK);
        assert_refused("{\"a\":\"1\",\"req_info\":\"\"}", "no member sign");
}
END_TEST

START_TEST(other_ways_to_verify_do_not_look_at_members)
{
        load("{ op: stripe, key_file: keys/wechat-apiv2 }");
        ck_assert_int_eq(check("{\"a\":{}}"), PO_OK);
}
END_TEST

START_TEST(more_members_than_its_bound_are_refused)
{
        char json[8192];
        load("{ op: wechat-v2, key_file: keys/wechat-apiv2 }");
        size_t used = (size_t)snprintf(json, sizeof json, "{\"sign\":\"" MD5 "\"");
        for (int i = 0; i <= VERIFY_MEMBERS_MAX; i++)
                used += (size_t)snprintf(json + used, sizeof json - used, ",\"m%d\":\"1\"", i);
        snprintf(json + used, sizeof json - used, "}");
        assert_refused(json, "too many");
}
END_TEST

UNIT_MAIN("verify_members", md5_over_the_sorted_members_proves_the_body,
          hmac_does_where_sign_type_says_so, a_body_that_was_touched_is_refused,
          what_is_never_signed_passes, other_ways_to_verify_do_not_look_at_members,
          more_members_than_its_bound_are_refused)
