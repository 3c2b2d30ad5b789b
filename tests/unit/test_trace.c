/* What is told while rules are tried, and the reasons in words. */
#include "unit.h"

#include <json-c/json_tokener.h>

#include "base/limits.h"
#include "channel/profile.h"
#include "channel/trace.h"

static char told[2048];

static void tell(void *context, const struct trace_step *step)
{
        static const char *const kinds[] = { "shape", "item", "guard", "rule", "choice" };
        char reason[256];
        struct text text;
        (void)context;
        text_init(&text, reason, sizeof reason);
        trace_reason(step, &text);
        size_t used = strlen(told);
        snprintf(told + used, sizeof told - used, "%s %zu%s %s\n", kinds[step->kind], step->index,
                 step->holds ? " holds" : "", reason);
}

/* Everything made here lives as long as the case's process. */
static const char *explain(const char *profile_text, const char *json)
{
        static const struct trace trace = { .tell = tell };
        static struct po_notification notifications[NOTIFICATIONS_PER_RECORD_MAX];
        const struct po_notification blank = { .channel = "SHOP", .tenant_id = 1 };
        struct scope scope = { .trace = &trace };
        struct profile *profile;
        struct po_error error;
        size_t count;
        enum po_class kind =
                profile_parse(&profile, "t.yaml", profile_text, strlen(profile_text), &error);
        ck_assert_msg(kind == PO_OK, "%s", error.text);
        told[0] = '\0';
        const struct shape *shape = profile_shape(profile, &scope, json, strlen(json));
        if (shape == NULL)
                return told;
        scope.root = json_tokener_parse(json);
        kind = shape_apply(shape, &scope, &blank, notifications, &count, &error);
        ck_assert(kind == PO_OK || kind == PO_RECORD);
        return told;
}

START_TEST(each_rule_before_the_one_that_matches_says_what_it_found_instead)
{
        static const char profile[] = "channel: SHOP\n"
                                      "rules:\n"
                                      "  - { when: [[/a, eq, X]], ignore: true }\n"
                                      "  - { when: [[/b, in, [X, Y]]], ignore: true }\n"
                                      "  - { when: [[/c, exists]], ignore: true }\n"
                                      "  - { when: [[/d, gt0]], ignore: true }\n"
                                      "  - { when: [[/e, prefix, R]], ignore: true }\n"
                                      "  - { when: [[/a, exists]], ignore: true }\n"
                                      "  - { when: [], ignore: true }\n";
        const char *text = explain(profile, "{\"a\":\"Z\\\"\",\"b\":7,\"d\":[],\"e\":{}}");
        unit_assert_in(text, "rule 0 /a eq X: found the text \"Z\\\"\"\n");
        unit_assert_in(text, "rule 1 /b in X | Y: found 7\n");
        unit_assert_in(text, "rule 2 /c exists: found nothing (absent, null or empty)\n");
        unit_assert_in(text, "rule 3 /d gt0: found a list\n");
        unit_assert_in(text, "rule 4 /e prefix R: found an object\n");
        unit_assert_in(text, "rule 5 holds \n");
        unit_assert_not_in(text, "rule 6");
}
END_TEST

START_TEST(a_long_value_is_cut_between_characters)
{
        static const char profile[] = "channel: SHOP\n"
                                      "rules: [ { when: [[/a, eq, X]], ignore: true } ]\n";
        const char *text = explain(
                profile, "{\"a\":\"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeefffffffff"
                         "\xE4\xB8\xAD\xE4\xB8\xAD\xE4\xB8\xAD\"}");
        unit_assert_in(text, "eeeeeeeeeefffffffff\"…\n");
}
END_TEST

START_TEST(guards_items_and_choices_are_told_as_well)
{
        static const char profile[] = "channel: SHOP\n"
                                      "each: /l\n"
                                      "guard: [[/live, eq, true]]\n"
                                      "rules:\n"
                                      "  - when: [[\"@/k\", exists]]\n"
                                      "    each: \"@/k\"\n"
                                      "    where: [[\"@/s\", eq, OK]]\n"
                                      "    event: PAID\n"
                                      "    txn: \"@/n\"\n";
        const char *text = explain(
                profile, "{\"live\":true,\"l\":[{\"k\":[{\"n\":1,\"s\":\"OK\"},{\"s\":\"NO\"}]}]}");
        ck_assert_str_eq(text, "item 0 holds \n"
                               "guard 0 holds \n"
                               "rule 0 holds \n"
                               "choice 0 holds \n"
                               "choice 1 @/s eq OK: found the text \"NO\"\n");
        text = explain(profile, "{\"live\":false,\"l\":[{}]}");
        ck_assert_str_eq(text, "item 0 holds \nguard 0 /live eq true: found false\n");
}
END_TEST

START_TEST(a_shape_that_does_not_fit_says_by_what)
{
        static const char profile[] =
                "channel: SHOP\n"
                "shapes:\n"
                "  - { first: \"<\", body: xml, rules: [ { when: [], ignore: true } ] }\n"
                "  - { when: [[\"#/v\", eq, 3]], rules: [ { when: [], ignore: true } ] }\n";
        ck_assert_str_eq(explain(profile, "{}"),
                         "shape 0 the body does not begin with <\n"
                         "shape 1 #/v eq 3: found nothing (absent, null or empty)\n");
}
END_TEST

UNIT_MAIN("trace", each_rule_before_the_one_that_matches_says_what_it_found_instead,
          a_long_value_is_cut_between_characters, guards_items_and_choices_are_told_as_well,
          a_shape_that_does_not_fit_says_by_what)
