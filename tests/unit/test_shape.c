/* Bodies to notifications, through profiles of one shape. */
#include "unit.h"

#include <json-c/json_tokener.h>

#include "base/limits.h"
#include "channel/profile.h"

static struct profile *profile;
static struct po_notification notifications[NOTIFICATIONS_PER_RECORD_MAX];
static size_t count;
static struct po_error error;

static void load(const char *text)
{
        char whole[2048];
        snprintf(whole, sizeof whole, "channel: SHOP\n%s", text);
        profile_close(profile);
        enum po_class kind = profile_parse(&profile, "t.yaml", whole, strlen(whole), &error);
        ck_assert_msg(kind == PO_OK, "%s", error.text);
}

static enum po_class apply(const char *json)
{
        static const struct po_notification blank = { .channel = "SHOP", .tenant_id = 3 };
        const struct scope scope = { .root = json_tokener_parse(json) };
        ck_assert_ptr_nonnull(scope.root);
        error.reason = "none";
        enum po_class kind = shape_apply(&profile->shapes.items[0], &scope, &blank, notifications,
                                         &count, &error);
        json_object_put(scope.root);
        return kind;
}

static void assert_keys(const char *json, const char *expected)
{
        char keys[1024] = "";
        enum po_class kind = apply(json);
        ck_assert_msg(kind == PO_OK, "%s: %s", json, error.text);
        for (size_t i = 0; i < count; i++) {
                size_t used = strlen(keys);
                snprintf(keys + used, sizeof keys - used, "%s%s", i > 0 ? " " : "",
                         notifications[i].key);
        }
        ck_assert_str_eq(keys, expected);
}

static void assert_refused(const char *json, const char *reason)
{
        enum po_class kind = apply(json);
        ck_assert_msg(kind == PO_RECORD && strcmp(error.reason, reason) == 0, "%s: %s", json,
                      error.reason);
        ck_assert_uint_eq(count, 0);
}

START_TEST(the_first_rule_that_matches_wins)
{
        load("rules:\n"
             "  - { when: [[/a, exists]], event: FIRST, txn: /a }\n"
             "  - { when: [[/b, exists]], event: SECOND, txn: /b }\n"
             "  - { when: [[/c, exists]], ignore: true }\n");
        assert_keys("{\"a\":1,\"b\":2}", "SHOP:1:FIRST");
        ck_assert_int_eq(notifications[0].tenant_id, 3);
        assert_keys("{\"b\":2}", "SHOP:2:SECOND");
        assert_keys("{\"c\":2}", "");
        assert_refused("{\"d\":2}", "NO_RULE");
}
END_TEST

START_TEST(after_a_rule_that_continues_others_are_tried)
{
        load("rules:\n"
             "  - { when: [[/a, exists]], event: FIRST, txn: /a, continue: true }\n"
             "  - { when: [[/b, exists]], event: SECOND, txn: /b }\n"
             "  - { when: [[/a, exists]], event: THIRD, txn: /a }\n");
        assert_keys("{\"a\":1,\"b\":2}", "SHOP:1:FIRST SHOP:2:SECOND");
        assert_keys("{\"a\":1}", "SHOP:1:FIRST SHOP:1:THIRD");
        assert_refused("{}", "NO_RULE");
}
END_TEST

START_TEST(a_rule_gives_a_notification_for_each_item_it_chooses)
{
        load("rules:\n"
             "  - when: [[/l, exists]]\n"
             "    each: /l\n"
             "    where: [[\"@/s\", eq, OK]]\n"
             "    event: PAID\n"
             "    txn: [/id, \"@/n\"]\n");
        assert_keys("{\"id\":9,\"l\":[{\"n\":1,\"s\":\"OK\"},{\"n\":2,\"s\":\"NO\"},"
                    "{\"n\":3,\"s\":\"OK\"}]}",
                    "SHOP:9/1:PAID SHOP:9/3:PAID");
        assert_keys("{\"id\":9,\"l\":[{\"n\":2,\"s\":\"NO\"}]}", "");
        assert_keys("{\"id\":9,\"l\":[]}", "");
        assert_refused("{\"id\":9,\"l\":\"x\"}", "ITEMS_MISSING");
        assert_refused("{\"id\":9,\"l\":[{\"n\":1,\"s\":\"OK\"},{\"s\":\"OK\"}]}", "TXN_EMPTY");
        unit_assert_in(error.text, "item 1");
}
END_TEST

START_TEST(a_body_that_is_a_list_of_things_is_taken_thing_by_thing)
{
        load("each: /l\n"
             "item: /thing\n"
             "guard: [[/live, eq, true], [\"@/shop\", in, [A, B]]]\n"
             "rules:\n"
             "  - { when: [[\"@/code\", eq, PAY]], event: PAID, txn: \"@/n\" }\n"
             "  - { when: [[\"@/code\", eq, REPORT]], ignore: true }\n");
        assert_keys(
                "{\"live\":\"true\",\"l\":[{\"thing\":{\"shop\":\"A\",\"code\":\"PAY\",\"n\":1}},"
                "{\"thing\":{\"shop\":\"B\",\"code\":\"REPORT\"}},"
                "{\"thing\":{\"shop\":\"B\",\"code\":\"PAY\",\"n\":2}}]}",
                "SHOP:1:PAID SHOP:2:PAID");
        assert_refused("{\"live\":\"true\",\"l\":[]}", "ITEMS_MISSING");
        assert_refused("{\"live\":\"true\"}", "ITEMS_MISSING");
        assert_refused("{\"live\":\"true\",\"l\":{\"thing\":1}}", "ITEMS_MISSING");
        assert_refused("{\"live\":\"true\",\"l\":[{\"thing\":{\"shop\":\"A\",\"code\":\"PAY\","
                       "\"n\":1}},{\"thing\":{\"shop\":\"A\",\"code\":\"X\"}}]}",
                       "NO_RULE");
        unit_assert_in(error.text, "item 1");
        assert_refused("{\"live\":\"true\",\"l\":[{\"thing\":{\"shop\":\"A\",\"code\":\"PAY\","
                       "\"n\":1}},{\"other\":1}]}",
                       "GUARD_FAILED");
}
END_TEST

START_TEST(a_guard_that_does_not_hold_refuses_the_body_and_names_the_place_only)
{
        load("guard: [[/live, eq, true], [/shop, in, [S-1, S-2]]]\n"
             "rules: [ { when: [], event: PAID, txn: /n } ]\n");
        assert_keys("{\"live\":true,\"shop\":\"S-2\",\"n\":1}", "SHOP:1:PAID");
        assert_refused("{\"live\":false,\"shop\":\"S-2\",\"n\":1}", "GUARD_FAILED");
        unit_assert_in(error.text, "/live");
        assert_refused("{\"live\":true,\"shop\":\"intruder\",\"n\":1}", "GUARD_FAILED");
        unit_assert_in(error.text, "/shop");
        unit_assert_not_in(error.text, "intruder");
        assert_refused("{\"n\":1}", "GUARD_FAILED");
}
END_TEST

START_TEST(more_items_than_a_record_may_have_are_refused)
{
        char json[4096];
        load("rules: [ { when: [], each: /l, event: PAID, txn: \"@/n\" } ]\n");
        for (int items = NOTIFICATIONS_PER_RECORD_MAX; items <= NOTIFICATIONS_PER_RECORD_MAX + 1;
             items++) {
                size_t used = (size_t)snprintf(json, sizeof json, "{\"l\":[");
                for (int i = 0; i < items; i++)
                        used += (size_t)snprintf(json + used, sizeof json - used, "%s{\"n\":%d}",
                                                 i > 0 ? "," : "", i);
                snprintf(json + used, sizeof json - used, "]}");
                if (items > NOTIFICATIONS_PER_RECORD_MAX) {
                        assert_refused(json, "TOO_MANY_ITEMS");
                        continue;
                }
                ck_assert_int_eq(apply(json), PO_OK);
                ck_assert_uint_eq(count, NOTIFICATIONS_PER_RECORD_MAX);
        }
}
END_TEST

UNIT_MAIN("shape", the_first_rule_that_matches_wins, after_a_rule_that_continues_others_are_tried,
          a_rule_gives_a_notification_for_each_item_it_chooses,
          a_body_that_is_a_list_of_things_is_taken_thing_by_thing,
          a_guard_that_does_not_hold_refuses_the_body_and_names_the_place_only,
          more_items_than_a_record_may_have_are_refused)
