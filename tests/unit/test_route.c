#include "unit.h"

#include "relay/route.h"

static char topic[TOPIC_BYTES];

START_TEST(the_type_stands_where_the_pattern_says)
{
        ck_assert(route_topic("postonce.{aggregatetype}", "order", topic));
        ck_assert_str_eq(topic, "postonce.order");
        ck_assert(route_topic("{aggregatetype}-of-{aggregatetype}", "a", topic));
        ck_assert_str_eq(topic, "a-of-a");
        ck_assert(route_topic("orders", "order", topic));
        ck_assert_str_eq(topic, "orders");
}
END_TEST

START_TEST(what_is_no_name_of_a_topic_is_refused)
{
        static const char *const patterns[] = { "",  "x.{tenant}", "{aggregatetype", "a b",
                                                ".", "..",         "^orders" };
        for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++)
                ck_assert_msg(!route_topic(patterns[i], "order", topic), "%s", patterns[i]);
        ck_assert(!route_topic("x.{aggregatetype}", "or/der", topic));
        ck_assert(!route_topic("{aggregatetype}", "", topic));
}
END_TEST

START_TEST(a_name_too_long_is_refused_not_cut)
{
        char pattern[TOPIC_BYTES + 1];
        memset(pattern, 'x', sizeof pattern);
        pattern[TOPIC_BYTES - 1] = '\0';
        ck_assert(route_topic(pattern, "order", topic));
        pattern[TOPIC_BYTES - 1] = 'x';
        pattern[TOPIC_BYTES] = '\0';
        ck_assert(!route_topic(pattern, "order", topic));
}
END_TEST

UNIT_MAIN("route", the_type_stands_where_the_pattern_says, what_is_no_name_of_a_topic_is_refused,
          a_name_too_long_is_refused_not_cut)
