/* The sealed texts were made with Python's cryptography package. */
#include "unit.h"

#include <json-c/json_tokener.h>

#include "channel/unwrap.h"

#define KEY_V3     "sample-apiv3-key-not-a-secret-32"
#define KEY_OLD    "older-apiv3-key-fits-nothing--32"
#define SECRET_V2  "sample-apiv2-key-not-a-secret-32"
#define SEALED     "tYg7rmkTIu5babuJdeWV3pvsBFwqjaN96Q=="
#define SEALED_ECB "q7AP4PV7mVOcCLBBkHVr1G3HKVFm9jwYNPWPDIZVExQ="
#define RESOURCE(ciphertext, more)                                                                 \
        "{\"r\":{\"ciphertext\":\"" ciphertext "\",\"nonce\":\"abcdefghijkl\"" more "}}"

static struct unwrap_list list;
static struct body_parser *parser;
static struct json_object *root;
static struct po_error error;

static struct unwrap_step *step_add(enum unwrap_op op, const char *at, const char *to,
                                    enum body_kind then)
{
        struct unwrap_step *step = &list.items[list.count++];
        step->op = op;
        step->then = then;
        ck_assert_ptr_null(pointer_compile(&step->at, at));
        ck_assert_ptr_null(pointer_compile(&step->to, to));
        return step;
}

static void key_add(struct unwrap_step *step, const char *key)
{
        memcpy(step->keys[step->keys_count++], key, UNWRAP_KEY_BYTES);
}

static struct unwrap_step *gcm_setup(void)
{
        struct unwrap_step *step = step_add(UNWRAP_AES_256_GCM, "/r", "/plain", BODY_JSON);
        key_add(step, KEY_V3);
        return step;
}

static struct unwrap_step *ecb_setup(void)
{
        struct unwrap_step *step = step_add(UNWRAP_AES_256_ECB_MD5KEY, "/r", "/plain", BODY_XML);
        ck_assert_int_eq(
                unwrap_md5key(SECRET_V2, strlen(SECRET_V2), step->keys[step->keys_count++], &error),
                PO_OK);
        return step;
}

static enum po_class apply(const char *json)
{
        if (parser == NULL)
                ck_assert_int_eq(body_open(&parser, false, &error), PO_OK);
        root = json_tokener_parse(json);
        ck_assert_ptr_nonnull(root);
        error.reason = "none";
        return unwrap_apply(&list, parser, root, &error);
}

static void assert_plain(const char *json, const char *expected)
{
        struct json_object *plain = NULL;
        enum po_class kind = apply(json);
        ck_assert_msg(kind == PO_OK, "%s: %s", json, error.text);
        json_object_object_get_ex(root, "plain", &plain);
        ck_assert_str_eq(json_object_to_json_string_ext(plain, JSON_C_TO_STRING_PLAIN), expected);
        json_object_put(root);
}

static void assert_refused(const char *json, const char *reason)
{
        enum po_class kind = apply(json);
        ck_assert_msg(kind == PO_RECORD && strcmp(error.reason, reason) == 0, "%s: %s: %s", json,
                      error.reason, error.text);
        unit_assert_not_in(error.text, "secret");
        json_object_put(root);
}

START_TEST(a_gcm_resource_is_decrypted_beside_itself)
{
        gcm_setup();
        assert_plain(RESOURCE(SEALED, ",\"associated_data\":\"aad\""), "{\"a\":\"1\"}");
        assert_plain(RESOURCE(SEALED, ",\"associated_data\":\"aad\","
                                      "\"algorithm\":\"AEAD_AES_256_GCM\""),
                     "{\"a\":\"1\"}");
}
END_TEST

START_TEST(associated_data_may_be_empty_null_or_absent)
{
        gcm_setup();
        assert_plain(RESOURCE("tYg7rmkTIu5bfW0/4k8GUec8cI2NajUocA==", ""), "{\"a\":\"1\"}");
        assert_plain(RESOURCE("tYg7rmkTIu5bfW0/4k8GUec8cI2NajUocA==", ",\"associated_data\":\"\""),
                     "{\"a\":\"1\"}");
        assert_plain(RESOURCE("tYg7rmkTIu5bfW0/4k8GUec8cI2NajUocA==", ",\"associated_data\":null"),
                     "{\"a\":\"1\"}");
}
END_TEST

START_TEST(a_gcm_resource_that_was_touched_is_refused)
{
        gcm_setup();
        assert_refused(RESOURCE(SEALED, ""), "UNWRAP_FAILED");
        assert_refused(
                RESOURCE("tYg7rmkTIu5babuJdeWV3pvsBFwqjaN96A==", ",\"associated_data\":\"aad\""),
                "UNWRAP_FAILED");
        assert_refused(RESOURCE("AAAA", ""), "UNWRAP_FAILED");
        assert_refused(RESOURCE("", ""), "UNWRAP_FAILED");
        assert_refused(RESOURCE("no base64", ""), "UNWRAP_FAILED");
        assert_refused(RESOURCE(SEALED, ",\"algorithm\":\"AEAD_SM4_GCM\""), "UNWRAP_FAILED");
        assert_refused("{\"r\":{\"ciphertext\":\"" SEALED "\",\"nonce\":\"short\"}}",
                       "UNWRAP_FAILED");
        assert_refused("{\"r\":{\"nonce\":\"abcdefghijkl\"}}", "UNWRAP_FAILED");
        assert_refused("{\"r\":\"text\"}", "UNWRAP_FAILED");
        assert_refused("{\"x\":1}", "UNWRAP_MISSING");
        assert_refused("[1]", "WRONG_TYPE");
}
END_TEST

START_TEST(keys_are_tried_in_turn)
{
        struct unwrap_step *step = step_add(UNWRAP_AES_256_GCM, "/r", "/plain", BODY_JSON);
        key_add(step, KEY_OLD);
        assert_refused(RESOURCE(SEALED, ",\"associated_data\":\"aad\""), "UNWRAP_FAILED");
        key_add(step, KEY_V3);
        assert_plain(RESOURCE(SEALED, ",\"associated_data\":\"aad\""), "{\"a\":\"1\"}");
}
END_TEST

START_TEST(what_is_inside_is_as_strictly_read_as_what_is_outside)
{
        gcm_setup();
        assert_refused(RESOURCE("tYg7rmkAP+5HGg9rPK45gZ6eIrGZZu03TMeidKU=",
                                ",\"associated_data\":\"aad\""),
                       "DUPLICATE_MEMBER");
        unit_assert_in(error.text, "what stands in /r");
}
END_TEST

START_TEST(an_ecb_text_is_decrypted_with_the_md5_of_the_secret)
{
        ecb_setup();
        assert_plain("{\"r\":\"" SEALED_ECB "\"}", "{\"a\":\"1\"}");
        assert_refused("{\"r\":\"azQIoj5zMc7BrmcqT309gg==\"}", "UNWRAP_FAILED");
        assert_refused("{\"r\":\"q7AP4PV7mVOcCLBBkHVr1A==\"}", "UNWRAP_FAILED");
        assert_refused("{\"r\":\"AAAA\"}", "UNWRAP_FAILED");
        assert_refused("{\"r\":{}}", "UNWRAP_FAILED");
}
END_TEST

START_TEST(the_md5_key_is_lower_case_hexadecimal)
{
        unsigned char key[UNWRAP_KEY_BYTES];
        ck_assert_int_eq(unwrap_md5key("abc", 3, key, &error), PO_OK);
        ck_assert_mem_eq(key, "900150983cd24fb0d6963f7d28e17f72", UNWRAP_KEY_BYTES);
}
END_TEST

START_TEST(an_optional_step_may_find_nothing)
{
        ecb_setup()->optional = true;
        ck_assert_int_eq(apply("{\"x\":1}"), PO_OK);
        ck_assert(!json_object_object_get_ex(root, "plain", NULL));
        json_object_put(root);
}
END_TEST

START_TEST(a_body_cannot_bring_along_what_passes_for_decrypted)
{
        ecb_setup()->optional = true;
        assert_refused("{\"x\":1,\"plain\":{\"a\":\"1\"}}", "MEMBER_RESERVED");
        assert_refused("{\"r\":\"" SEALED_ECB "\",\"plain\":null}", "MEMBER_RESERVED");
}
END_TEST

START_TEST(texts_inside_are_parsed_step_by_step)
{
        step_add(UNWRAP_BASE64, "/b", "/form", BODY_FORM);
        step_add(UNWRAP_PARSE, "/form/j", "/plain", BODY_JSON);
        /* j=%7B%22a%22%3A1%7D */
        assert_plain("{\"b\":\"aj0lN0IlMjJhJTIyJTNBMSU3RA==\"}", "{\"a\":1}");
        assert_refused("{\"b\":\"aj0lN0I=\"}", "TRUNCATED_JSON");
        assert_refused("{\"b\":\"!\"}", "UNWRAP_FAILED");
        assert_refused("{\"b\":1}", "UNWRAP_FAILED");
}
END_TEST

START_TEST(a_text_is_picked_out_of_a_list)
{
        struct unwrap_step *step = step_add(UNWRAP_PICK, "/links", "/plain", BODY_JSON);
        struct condition is_up = { .words_count = 1, .words = { "up" } };
        ck_assert_ptr_null(pointer_compile(&step->take, "@/href"));
        ck_assert_ptr_null(pointer_compile(&is_up.at, "@/rel"));
        step->where = (struct condition_list){ 1, &is_up };
        assert_plain("{\"links\":[{\"rel\":\"self\",\"href\":\"a/1\"},"
                     "{\"rel\":\"up\",\"href\":\"b/2\"},{\"rel\":\"up\",\"href\":\"c/3\"}]}",
                     "\"b\\/2\"");
        assert_plain("{\"links\":[{\"rel\":\"up\",\"href\":6.43}]}", "6.43");
        assert_refused("{\"links\":[{\"rel\":\"up\",\"href\":{}}]}", "UNWRAP_FAILED");
        step->after = "/";
        assert_plain("{\"links\":[{\"rel\":\"up\",\"href\":\"https://h/v2/8AB\"}]}", "\"8AB\"");
        assert_refused("{\"links\":[{\"rel\":\"up\",\"href\":\"none\"}]}", "UNWRAP_FAILED");
        assert_refused("{\"links\":[{\"rel\":\"up\",\"href\":\"h/\"}]}", "UNWRAP_FAILED");
        assert_refused("{\"links\":[{\"rel\":\"up\",\"href\":5}]}", "UNWRAP_FAILED");
        assert_refused("{\"links\":[{\"rel\":\"self\",\"href\":\"a/1\"}]}", "UNWRAP_MISSING");
        assert_refused("{\"links\":{}}", "UNWRAP_MISSING");
        assert_refused("{\"links\":[],\"plain\":\"8AB\"}", "MEMBER_RESERVED");
        step->optional = true;
        ck_assert_int_eq(apply("{\"links\":[]}"), PO_OK);
        json_object_put(root);
}
END_TEST

START_TEST(escapes_are_decoded_into_a_text_or_a_tree)
{
        struct unwrap_step *step = step_add(UNWRAP_URL_DECODE, "/b", "/plain", BODY_FORM);
        assert_plain("{\"b\":\"a%3D1%26b%3D2\"}", "{\"a\":\"1\",\"b\":\"2\"}");
        assert_refused("{\"b\":\"a%3D1%26a%3D2\"}", "DUPLICATE_FIELD");
        assert_refused("{\"b\":\"a%3\"}", "MALFORMED_FORM");
        step->then_text = true;
        assert_plain("{\"b\":\"x+y%2Fz&\"}", "\"x y\\/z&\"");
        assert_refused("{\"b\":\"%FF\"}", "UNWRAP_FAILED");
        assert_refused("{\"b\":\"%00\"}", "NUL_IN_TEXT");
}
END_TEST

START_TEST(base64_may_hold_a_text_that_stays_one)
{
        struct unwrap_step *step = step_add(UNWRAP_BASE64, "/b", "/plain", BODY_JSON);
        step->then_text = true;
        assert_plain("{\"b\":\"YWI=\"}", "\"ab\"");
        assert_refused("{\"b\":\"/w==\"}", "UNWRAP_FAILED");
        assert_refused("{\"b\":\"YQBi\"}", "UNWRAP_FAILED");
}
END_TEST

UNIT_MAIN("unwrap", escapes_are_decoded_into_a_text_or_a_tree,
          base64_may_hold_a_text_that_stays_one, a_text_is_picked_out_of_a_list,
          a_gcm_resource_is_decrypted_beside_itself, associated_data_may_be_empty_null_or_absent,
          a_gcm_resource_that_was_touched_is_refused, keys_are_tried_in_turn,
          what_is_inside_is_as_strictly_read_as_what_is_outside,
          an_ecb_text_is_decrypted_with_the_md5_of_the_secret,
          the_md5_key_is_lower_case_hexadecimal, an_optional_step_may_find_nothing,
          a_body_cannot_bring_along_what_passes_for_decrypted, texts_inside_are_parsed_step_by_step)
