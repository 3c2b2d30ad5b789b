#include "unit.h"

#include "desk/replay_report.h"

START_TEST(letters_are_counted_by_reason_and_channel)
{
        static struct replay_report report;
        replay_report_add(&report, "NO_RULE", "SQB", REPLAY_SENT);
        replay_report_add(&report, "NO_RULE", "WECHAT", REPLAY_SENT);
        replay_report_add(&report, "NO_RULE", "SQB", REPLAY_SENT);
        replay_report_add(&report, "NO_RULE", "SQB", REPLAY_LOOP_LIMIT);
        replay_report_add(&report, "NO_RULE", "SQB", REPLAY_COPY);
        ck_assert_uint_eq(report.rows_count, 2);
        ck_assert_int_eq(report.rows[0].counts[REPLAY_SENT], 2);
        ck_assert_int_eq(replay_row_left(&report.rows[0]), 1);
        ck_assert_int_eq(report.totals[REPLAY_SENT], 3);
        ck_assert_int_eq(replay_report_left(&report), 1);
}
END_TEST

START_TEST(what_has_no_row_left_is_counted_together)
{
        static struct replay_report report;
        char reason[16];
        for (int i = 0; i < REPLAY_ROWS_MAX + 50; i++) {
                snprintf(reason, sizeof reason, "R%d", i);
                replay_report_add(&report, reason, "SQB", REPLAY_SENT);
        }
        replay_report_add(&report, "R3", "SQB", REPLAY_FAILED);
        ck_assert_uint_eq(report.rows_count, REPLAY_ROWS_MAX + 1);
        ck_assert_str_eq(report.rows[REPLAY_ROWS_MAX].reason, "(other)");
        ck_assert_int_eq(report.rows[REPLAY_ROWS_MAX].counts[REPLAY_SENT], 50);
        ck_assert_int_eq(report.rows[3].counts[REPLAY_FAILED], 1);
        ck_assert_int_eq(report.totals[REPLAY_SENT], REPLAY_ROWS_MAX + 50);
}
END_TEST

START_TEST(every_fate_has_its_words)
{
        for (int fate = 0; fate < REPLAY_FATES; fate++) {
                ck_assert_str_ne(replay_fate_word((enum replay_fate)fate), "");
                ck_assert_str_ne(replay_fate_meaning((enum replay_fate)fate), "");
        }
        ck_assert(!replay_fate_is_left(REPLAY_SENT));
        ck_assert(replay_fate_is_left(REPLAY_FAILED));
}
END_TEST

UNIT_MAIN("replay_report", letters_are_counted_by_reason_and_channel,
          what_has_no_row_left_is_counted_together, every_fate_has_its_words)
