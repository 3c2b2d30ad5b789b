#include "unit.h"

#include "channel/moment.h"

static void assert_moment(enum moment_format format, const char *text, int64_t expected_us)
{
        const struct moment_form form = { .format = format, .zone_minutes = 480 };
        struct po_error error = { 0 };
        int64_t us = -1;
        enum po_class kind = moment_parse(&form, text, strlen(text), &us, &error);
        ck_assert_msg(kind == PO_OK, "%s: %s", text, error.text);
        ck_assert_msg(us == expected_us, "%s: %lld", text, (long long)us);
}

static void assert_refused(enum moment_format format, const char *text)
{
        const struct moment_form form = { .format = format, .zone_minutes = 480 };
        struct po_error error = { .reason = "none" };
        int64_t us;
        enum po_class kind = moment_parse(&form, text, strlen(text), &us, &error);
        ck_assert_msg(kind == PO_RECORD && strcmp(error.reason, "TIME_MALFORMED") == 0, "%s: %s",
                      text, error.reason);
}

START_TEST(an_rfc_3339_time_counts_from_1970_in_utc)
{
        assert_moment(MOMENT_RFC3339, "1970-01-01T00:00:00Z", 0);
        assert_moment(MOMENT_RFC3339, "2026-01-14T04:41:07Z", INT64_C(1768365667000000));
        assert_moment(MOMENT_RFC3339, "2026-01-14T12:41:07+08:00", INT64_C(1768365667000000));
        assert_moment(MOMENT_RFC3339, "2026-01-13T23:11:07-05:30", INT64_C(1768365667000000));
        assert_moment(MOMENT_RFC3339, "2026-01-14t04:41:07z", INT64_C(1768365667000000));
        assert_moment(MOMENT_RFC3339, "9999-12-31T23:59:59Z", INT64_C(253402300799000000));
}
END_TEST

START_TEST(leap_days_and_centuries_count_right)
{
        assert_moment(MOMENT_RFC3339, "2000-02-29T00:00:00Z", INT64_C(951782400000000));
        assert_moment(MOMENT_RFC3339, "2000-03-01T00:00:00Z", INT64_C(951868800000000));
        assert_moment(MOMENT_RFC3339, "2024-12-31T00:00:00Z", INT64_C(1735603200000000));
        assert_moment(MOMENT_RFC3339, "2100-03-01T00:00:00Z", INT64_C(4107542400000000));
        assert_refused(MOMENT_RFC3339, "2100-02-29T00:00:00Z");
        assert_refused(MOMENT_RFC3339, "2026-02-29T00:00:00Z");
}
END_TEST

START_TEST(fractions_count_to_the_microsecond_and_are_cut_below)
{
        assert_moment(MOMENT_RFC3339, "1970-01-01T00:00:00.5Z", 500000);
        assert_moment(MOMENT_RFC3339, "1970-01-01T00:00:00.000001Z", 1);
        assert_moment(MOMENT_RFC3339, "1970-01-01T00:00:00.1234569Z", 123456);
        assert_refused(MOMENT_RFC3339, "1970-01-01T00:00:00.Z");
}
END_TEST

START_TEST(a_leap_second_is_the_second_after_it)
{
        assert_moment(MOMENT_RFC3339, "2016-12-31T23:59:60Z", INT64_C(1483228800000000));
        assert_refused(MOMENT_RFC3339, "2016-12-31T23:59:61Z");
}
END_TEST

START_TEST(what_is_no_rfc_3339_time_is_refused)
{
        static const char *const wrong[] = {
                "",
                "2026-01-14",
                "2026-01-14 12:41:07Z",
                "2026-01-14T12:41:07",
                "2026-01-14T12:41Z",
                "2026-1-14T12:41:07Z",
                "2026-13-14T12:41:07Z",
                "2026-00-14T12:41:07Z",
                "2026-01-32T12:41:07Z",
                "2026-01-00T12:41:07Z",
                "2026-01-14T24:00:00Z",
                "2026-01-14T12:60:00Z",
                "2026-01-14T12:41:07+8:00",
                "2026-01-14T12:41:07+0800",
                "2026-01-14T12:41:07+24:00",
                "2026-01-14T12:41:07+08:60",
                "2026-01-14T12:41:07Z ",
                "-026-01-14T12:41:07Z",
                "0000-01-01T00:00:00Z",
                "1969-12-31T23:59:59Z",
                "1970-01-01T00:00:00+00:01",
                "9999-12-31T23:59:59-00:01",
        };
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
                assert_refused(MOMENT_RFC3339, wrong[i]);
}
END_TEST

START_TEST(seconds_and_milliseconds_count_from_1970)
{
        assert_moment(MOMENT_SECONDS, "0", 0);
        assert_moment(MOMENT_SECONDS, "1768365667", INT64_C(1768365667000000));
        assert_moment(MOMENT_SECONDS, "253402300799", INT64_C(253402300799000000));
        assert_moment(MOMENT_MILLISECONDS, "1768365667231", INT64_C(1768365667231000));
        assert_moment(MOMENT_MILLISECONDS, "253402300799999", INT64_C(253402300799999000));
}
END_TEST

START_TEST(a_count_beyond_the_year_9999_or_not_of_digits_is_refused)
{
        assert_refused(MOMENT_SECONDS, "253402300800");
        assert_refused(MOMENT_MILLISECONDS, "253402300800000");
        assert_refused(MOMENT_MILLISECONDS, "99999999999999999999999999999999");
        assert_refused(MOMENT_SECONDS, "");
        assert_refused(MOMENT_SECONDS, "-1");
        assert_refused(MOMENT_SECONDS, "1.5");
        assert_refused(MOMENT_MILLISECONDS, " 1");
        assert_refused(MOMENT_MILLISECONDS, "1e3");
}
END_TEST

START_TEST(a_local_time_counts_in_the_zone_of_its_form)
{
        assert_moment(MOMENT_DATETIME, "2026-01-14 12:41:07", INT64_C(1768365667000000));
        assert_moment(MOMENT_DATETIME, "2026-01-14 12:41:07.371", INT64_C(1768365667371000));
        assert_moment(MOMENT_COMPACT, "20260114124107", INT64_C(1768365667000000));
        assert_refused(MOMENT_DATETIME, "2026-01-14T12:41:07");
        assert_refused(MOMENT_DATETIME, "2026-01-14 12:41:07+08:00");
        assert_refused(MOMENT_DATETIME, "1970-01-01 07:59:59");
        assert_refused(MOMENT_COMPACT, "2026011412410");
        assert_refused(MOMENT_COMPACT, "20260114124107.5");
        assert_refused(MOMENT_COMPACT, "20261314124107");
}
END_TEST

START_TEST(a_zone_is_hours_and_minutes_from_greenwich)
{
        int minutes;
        ck_assert(moment_zone("+08:00", &minutes) && minutes == 480);
        ck_assert(moment_zone("-05:30", &minutes) && minutes == -330);
        ck_assert(moment_zone("Z", &minutes) && minutes == 0);
        ck_assert(!moment_zone("8", &minutes));
        ck_assert(!moment_zone("+24:00", &minutes));
        ck_assert(!moment_zone("+08:00 ", &minutes));
        ck_assert(!moment_zone("Asia/Shanghai", &minutes));
}
END_TEST

UNIT_MAIN("moment", an_rfc_3339_time_counts_from_1970_in_utc, leap_days_and_centuries_count_right,
          fractions_count_to_the_microsecond_and_are_cut_below,
          a_leap_second_is_the_second_after_it, what_is_no_rfc_3339_time_is_refused,
          seconds_and_milliseconds_count_from_1970,
          a_count_beyond_the_year_9999_or_not_of_digits_is_refused,
          a_local_time_counts_in_the_zone_of_its_form, a_zone_is_hours_and_minutes_from_greenwich)
