/* `postonce pause` and `postonce resume`: what is typed, and what it stops or starts. */
#include "desk_fixture.h"

START_TEST(without_a_channel_the_whole_intake_is_meant)
{
        db = fake_db_open();
        ck_assert_int_eq(typed(STDOUT_FILENO, command_pause, "pause", "--why", "move"), EXIT_DONE);
        ck_assert_str_eq(capture.text, "intake paused\n");
        fake_saw("BEGIN", "INSERT INTO pause (channel, at, who, why) VALUES ('',",
                 "INSERT INTO audit", "COMMIT");
        ck_assert_int_eq(typed(STDOUT_FILENO, command_resume, "resume", "--why", "moved"),
                         EXIT_DONE);
        ck_assert_str_eq(capture.text, "intake resumed\n");
        fake_saw("BEGIN", "INSERT INTO intake_pause", "UPDATE review",
                 "DELETE FROM pause WHERE channel = ''", "INSERT INTO audit", "COMMIT");
        unit_assert_in(fake_statement("INSERT INTO audit"), "'ann','resume','intake','moved'");
}
END_TEST

START_TEST(a_channel_is_paused_and_resumed_alone)
{
        db = fake_db_open();
        ck_assert_int_eq(typed(STDOUT_FILENO, command_pause, "pause", "--channel", "WECHAT",
                               "--why", "wrong amounts"),
                         EXIT_DONE);
        ck_assert_str_eq(capture.text, "WECHAT paused\n");
        fake_saw("BEGIN", "INSERT INTO pause (channel, at, who, why) VALUES ('WECHAT',",
                 "INSERT INTO audit", "COMMIT");
        ck_assert_int_eq(typed(STDOUT_FILENO, command_resume, "resume", "--channel", "WECHAT",
                               "--why", "mended"),
                         EXIT_DONE);
        fake_saw("BEGIN", "DELETE FROM pause WHERE channel = 'WECHAT'", "INSERT INTO audit",
                 "COMMIT", "SELECT COALESCE(MAX(claim_id), 0)");
}
END_TEST

START_TEST(a_label_that_no_profile_makes_is_told_and_paused_all_the_same)
{
        db = fake_db_open();
        ck_assert_int_eq(typed(STDERR_FILENO, command_pause, "pause", "--channel", "WECHT", "--why",
                               "wrong amounts"),
                         EXIT_DONE);
        unit_assert_in(capture.text, "no profile makes WECHT");
        ck_assert_uint_eq(fake_count("INSERT INTO pause"), 1);
}
END_TEST

START_TEST(what_is_no_label_pauses_neither_nothing_nor_everything)
{
        static const char *const labels[] = { "",        "wechat",
                                              "WE CHAT", "WECHAT ",
                                              "支付",    "X2345678901234567890123456789012X" };
        db = fake_db_open();
        for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
                ck_assert_int_eq(typed(STDERR_FILENO, command_pause, "pause", "--channel",
                                       labels[i], "--why", "x"),
                                 EXIT_USAGE);
                ck_assert_int_eq(typed(STDERR_FILENO, command_resume, "resume", "--channel",
                                       labels[i], "--why", "x"),
                                 EXIT_USAGE);
        }
        fake_saw_nothing();
}
END_TEST

START_TEST(without_a_reason_nothing_is_done)
{
        db = fake_db_open();
        ck_assert_int_eq(typed(STDERR_FILENO, command_pause, "pause"), EXIT_USAGE);
        unit_assert_in(capture.text, "--why");
        ck_assert_int_eq(typed(STDERR_FILENO, command_resume, "resume", "--why", ""), EXIT_USAGE);
        ck_assert_int_eq(typed(STDERR_FILENO, command_pause, "pause", "WECHAT", "--why", "x"),
                         EXIT_USAGE);
        fake_saw_nothing();
}
END_TEST

START_TEST(what_fails_is_said_and_is_no_success)
{
        db = fake_db_open();
        fake_fail("INSERT INTO pause", PO_SYSTEMIC, 1142);
        ck_assert_int_eq(typed(STDERR_FILENO, command_pause, "pause", "--why", "x"),
                         EXIT_CONFIGURATION);
        unit_assert_in(capture.text, "pause intake");
}
END_TEST

UNIT_MAIN("pause_command", without_a_channel_the_whole_intake_is_meant,
          a_channel_is_paused_and_resumed_alone,
          a_label_that_no_profile_makes_is_told_and_paused_all_the_same,
          what_is_no_label_pauses_neither_nothing_nor_everything, without_a_reason_nothing_is_done,
          what_fails_is_said_and_is_no_success)
