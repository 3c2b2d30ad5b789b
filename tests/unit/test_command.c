#include "unit.h"

#include "base/log.h"
#include "commands/command.h"
#include "ops/metrics.h"

static struct unit_capture capture;
static char called[256];

static int remember(int argc, char **argv)
{
        called[0] = '\0';
        for (int i = 0; i < argc; i++)
                snprintf(called + strlen(called), sizeof called - strlen(called), "%s%s",
                         i == 0 ? "" : " ", argv[i]);
        return EXIT_FINDINGS;
}

static const struct command commands[] = {
        { "run", "one worker", remember },
        { "migrate", "creates the tables", remember },
        { NULL, NULL, NULL },
};
static const struct command_set set = {
        .name = "postonce",
        .summary = "Posts.",
        .version = "1.2.3",
        .commands = commands,
};
static const struct command_set inner_set = {
        .name = "postonce order",
        .summary = "Orders.",
        .commands = commands,
};

/* What dispatch returns for these words; what it says on fd is in capture.text. */
static int dispatch(const struct command_set *in, int fd, const char *words)
{
        char copy[256], *argv[16];
        static char name[] = "postonce";
        int argc = 0;
        snprintf(copy, sizeof copy, "%s", words);
        argv[argc++] = name;
        char *rest = copy;
        for (char *word; *words != '\0' && (word = strsep(&rest, " ")) != NULL;)
                argv[argc++] = word;
        argv[argc] = NULL;
        unit_capture_begin(&capture, fd);
        int code = command_dispatch(in, argc, argv);
        unit_capture_end(&capture);
        return code;
}

START_TEST(a_command_gets_its_own_words_and_its_code_is_returned)
{
        ck_assert_int_eq(dispatch(&set, STDOUT_FILENO, "run --until-end x"), EXIT_FINDINGS);
        ck_assert_str_eq(called, "run --until-end x");
        ck_assert_str_eq(capture.text, "");
}
END_TEST

START_TEST(an_unknown_command_is_refused_with_the_nearest)
{
        ck_assert_int_eq(dispatch(&set, STDERR_FILENO, "migrat"), EXIT_USAGE);
        unit_assert_in(capture.text,
                       "postonce: unknown command \"migrat\"; did you mean \"migrate\"?");
        ck_assert_int_eq(dispatch(&set, STDERR_FILENO, "--verison"), EXIT_USAGE);
        unit_assert_in(capture.text, "postonce: unknown option \"--verison\"");
        ck_assert_int_eq(dispatch(&set, STDERR_FILENO, "help nothing"), EXIT_USAGE);
        unit_assert_in(capture.text, "unknown command \"nothing\"; known: run, migrate");
        ck_assert_str_eq(called, "");
}
END_TEST

START_TEST(help_lists_every_command_on_standard_output)
{
        static const char *const helps[] = { "--help", "-h", "help" };
        for (size_t i = 0; i < sizeof helps / sizeof helps[0]; i++) {
                ck_assert_int_eq(dispatch(&set, STDOUT_FILENO, helps[i]), EXIT_DONE);
                unit_assert_in(capture.text, "usage: postonce COMMAND [OPTION]...\nPosts.\n");
                unit_assert_in(capture.text, "  run            one worker\n");
                unit_assert_in(capture.text, "  migrate        creates the tables\n");
        }
}
END_TEST

START_TEST(no_command_is_a_wrong_command_line)
{
        ck_assert_int_eq(dispatch(&set, STDERR_FILENO, ""), EXIT_USAGE);
        unit_assert_in(capture.text, "usage: postonce COMMAND");
}
END_TEST

START_TEST(help_of_a_command_is_its_own)
{
        ck_assert_int_eq(dispatch(&set, STDOUT_FILENO, "help run"), EXIT_FINDINGS);
        ck_assert_str_eq(called, "run --help");
}
END_TEST

START_TEST(the_version_is_of_the_program_alone)
{
        ck_assert_int_eq(dispatch(&set, STDOUT_FILENO, "--version"), EXIT_DONE);
        ck_assert_str_eq(capture.text, "postonce 1.2.3\n");
        ck_assert_int_eq(dispatch(&inner_set, STDERR_FILENO, "--version"), EXIT_USAGE);
        unit_assert_in(capture.text, "Try: postonce order --help");
}
END_TEST

START_TEST(every_class_has_its_exit_code)
{
        ck_assert_int_eq(exit_code_of(PO_OK), 0);
        ck_assert_int_eq(exit_code_of(PO_TRANSIENT), 69);
        ck_assert_int_eq(exit_code_of(PO_UNCERTAIN), 69);
        ck_assert_int_eq(exit_code_of(PO_SYSTEMIC), 78);
        ck_assert_int_eq(exit_code_of(PO_RECORD), 1);
        ck_assert_int_eq(exit_code_of(PO_EXISTS), 70);
        ck_assert_int_eq(exit_code_of(PO_BUG), 70);
        ck_assert_int_eq(exit_code_of((enum po_class)99), 70);
}
END_TEST

START_TEST(a_failed_command_says_why_and_ends_with_its_class)
{
        struct po_error error;
        po_fail(&error, PO_TRANSIENT, 2002, "no server at 127.0.0.1");
        unit_capture_begin(&capture, STDERR_FILENO);
        int code = command_fail(&error);
        ck_assert_str_eq(unit_capture_end(&capture), "postonce: no server at 127.0.0.1\n");
        ck_assert_int_eq(code, EXIT_AWAY);
}
END_TEST

START_TEST(output_that_cannot_be_written_is_no_success)
{
        ck_assert_int_eq(command_finish(EXIT_DONE), EXIT_DONE);
        ck_assert_ptr_nonnull(freopen("/dev/full", "w", stdout));
        printf("lost");
        unit_capture_begin(&capture, STDERR_FILENO);
        int code = command_finish(EXIT_DONE);
        unit_assert_in(unit_capture_end(&capture), "could not be written");
        ck_assert_int_eq(code, EXIT_BUG);
}
END_TEST

START_TEST(every_command_counts_its_alarms)
{
        struct po_error error;
        unsetenv("POSTONCE_FAILPOINTS");
        ck_assert_int_eq(command_prepare(&error), PO_OK);
        unit_capture_begin(&capture, STDERR_FILENO);
        log_alarm("PAYLOAD_CONFLICT", NULL, "");
        unit_capture_end(&capture);
        unit_capture_begin(&capture, STDOUT_FILENO);
        metrics_print(stdout);
        unit_assert_in(unit_capture_end(&capture),
                       "postonce_alarms_total{code=\"PAYLOAD_CONFLICT\"} 1\n");
}
END_TEST

UNIT_MAIN("command", a_command_gets_its_own_words_and_its_code_is_returned,
          an_unknown_command_is_refused_with_the_nearest,
          help_lists_every_command_on_standard_output, no_command_is_a_wrong_command_line,
          help_of_a_command_is_its_own, the_version_is_of_the_program_alone,
          every_class_has_its_exit_code, a_failed_command_says_why_and_ends_with_its_class,
          output_that_cannot_be_written_is_no_success, every_command_counts_its_alarms)
