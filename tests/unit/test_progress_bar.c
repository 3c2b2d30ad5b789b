#include "unit.h"

#include "commands/progress_bar.h"

static void shows(int64_t done, int64_t total, const char *expected)
{
        char text[128];
        progress_bar_text(text, sizeof text, "replay", done, total);
        ck_assert_str_eq(text, expected);
}

START_TEST(the_bar_grows_from_nothing_to_all)
{
        shows(0, 500, "replay [------------------------------]   0% 0/500");
        shows(250, 500, "replay [###############---------------]  50% 250/500");
        shows(499, 500, "replay [#############################-]  99% 499/500");
        shows(500, 500, "replay [##############################] 100% 500/500");
}
END_TEST

START_TEST(what_cannot_be_is_shown_within_bounds)
{
        shows(7, 5, "replay [##############################] 100% 5/5");
        shows(-1, 5, "replay [------------------------------]   0% 0/5");
        shows(0, 0, "replay [##############################] 100% 0/0");
        shows(INT64_MAX, INT64_MAX,
              "replay [##############################] 100% "
              "9223372036854775807/9223372036854775807");
}
END_TEST

START_TEST(a_line_that_does_not_fit_is_cut)
{
        char text[10];
        progress_bar_text(text, sizeof text, "replay", 1, 2);
        ck_assert_str_eq(text, "replay [#");
}
END_TEST

START_TEST(nothing_is_drawn_where_no_terminal_is)
{
        struct unit_capture capture;
        struct progress_bar bar;
        unit_capture_begin(&capture, STDERR_FILENO);
        progress_bar_begin(&bar, "replay", 5);
        progress_bar_show(&bar, 3);
        progress_bar_clear(&bar);
        ck_assert_str_eq(unit_capture_end(&capture), "");
}
END_TEST

START_TEST(a_bar_is_drawn_and_taken_away)
{
        struct unit_capture capture;
        struct progress_bar bar;
        unit_capture_begin(&capture, STDERR_FILENO);
        progress_bar_begin(&bar, "replay", 5);
        bar.on = true;
        progress_bar_show(&bar, 3);
        progress_bar_show(&bar, 4); /* too soon */
        progress_bar_clear(&bar);
        progress_bar_clear(&bar);
        ck_assert_str_eq(unit_capture_end(&capture),
                         "\rreplay [##################------------]  60% 3/5\033[K\r\033[K");
}
END_TEST

UNIT_MAIN("progress_bar", the_bar_grows_from_nothing_to_all, what_cannot_be_is_shown_within_bounds,
          a_line_that_does_not_fit_is_cut, nothing_is_drawn_where_no_terminal_is,
          a_bar_is_drawn_and_taken_away)
