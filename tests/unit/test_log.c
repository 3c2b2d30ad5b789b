#include "unit.h"

#include <regex.h>

#include "base/log.h"

static struct unit_capture capture;
static char told[64];

static void remember(const char *code)
{
        snprintf(told, sizeof told, "%s", code);
}

static size_t lines_of(const char *text)
{
        size_t lines = 0;
        for (; *text != '\0'; text++)
                lines += *text == '\n';
        return lines;
}

START_TEST(an_event_is_one_line_of_time_level_event_and_pairs)
{
        unit_capture_begin(&capture, STDERR_FILENO);
        log_info("started", "worker=%d topic=%s", 7, "callbacks");
        const char *text = unit_capture_end(&capture);
        regex_t form;
        ck_assert_int_eq(
                regcomp(&form,
                        "^time=[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\\.[0-9]{3}Z level=info "
                        "event=started worker=7 topic=callbacks\n$",
                        REG_EXTENDED),
                0);
        ck_assert_msg(regexec(&form, text, 0, NULL, 0) == 0, "%s", text);
        regfree(&form);
}
END_TEST

START_TEST(an_event_without_pairs_ends_with_its_name)
{
        unit_capture_begin(&capture, STDERR_FILENO);
        log_info("started", "");
        const char *text = unit_capture_end(&capture);
        unit_assert_in(text, "event=started\n");
}
END_TEST

START_TEST(what_is_below_the_level_is_not_written)
{
        unit_capture_begin(&capture, STDERR_FILENO);
        log_debug("quiet", "");
        log_set_level(LOG_LEVEL_ERROR);
        log_warn("quiet", "");
        struct po_error error;
        po_fail(&error, PO_BUG, 0, "quiet");
        log_failure(LOG_LEVEL_WARN, "quiet", &error);
        log_error("loud", "");
        const char *text = unit_capture_end(&capture);
        unit_assert_not_in(text, "quiet");
        unit_assert_in(text, "event=loud");
}
END_TEST

START_TEST(the_record_in_hand_is_in_every_line_until_cleared)
{
        char topic[] = "callbacks";
        unit_capture_begin(&capture, STDERR_FILENO);
        log_set_record(topic, 3, 9000000000, NULL);
        topic[0] = 'X'; /* the record is copied: the source's memory moves on */
        log_info("one", "");
        log_set_record("callbacks", 3, 9000000000, "SQB:1:PAYMENT_RECEIVED");
        log_info("two", "a=b");
        log_clear_record();
        log_info("three", "");
        const char *text = unit_capture_end(&capture);
        unit_assert_in(text, "event=one topic=callbacks partition=3 offset=9000000000\n");
        unit_assert_in(text, "event=two topic=callbacks partition=3 offset=9000000000 "
                             "key=SQB:1:PAYMENT_RECEIVED a=b\n");
        unit_assert_in(text, "event=three\n");
}
END_TEST

START_TEST(a_failure_is_logged_with_class_code_reason_and_quoted_text)
{
        struct po_error error;
        po_refuse(&error, "NO_RULE", "no rule for \"X\"\nin file");
        unit_capture_begin(&capture, STDERR_FILENO);
        log_failure(LOG_LEVEL_WARN, "rejected", &error);
        const char *text = unit_capture_end(&capture);
        unit_assert_in(text, "class=RECORD code=0 reason=NO_RULE "
                             "error=\"no rule for \\\"X\\\"\\nin file\"\n");
}
END_TEST

START_TEST(an_alarm_names_code_and_key_once_and_is_told)
{
        log_set_alarm_observer(remember);
        log_set_level(LOG_LEVEL_ERROR);
        log_set_record("callbacks", 0, 1, "SQB:1:PAYMENT_RECEIVED");
        unit_capture_begin(&capture, STDERR_FILENO);
        log_alarm("PAYLOAD_CONFLICT", "SQB:1:PAYMENT_RECEIVED", "claim=%d", 12);
        const char *text = unit_capture_end(&capture);
        unit_assert_in(text, "level=error event=alarm topic=callbacks partition=0 offset=1 "
                             "alarm=PAYLOAD_CONFLICT key=SQB:1:PAYMENT_RECEIVED claim=12\n");
        ck_assert_str_eq(told, "PAYLOAD_CONFLICT");
}
END_TEST

START_TEST(an_alarm_without_a_key_takes_the_record_s_key)
{
        log_set_record("callbacks", 0, 1, "SQB:1:PAYMENT_RECEIVED");
        unit_capture_begin(&capture, STDERR_FILENO);
        log_alarm("FLOOD", NULL, "");
        const char *text = unit_capture_end(&capture);
        unit_assert_in(text, "key=SQB:1:PAYMENT_RECEIVED alarm=FLOOD\n");
}
END_TEST

START_TEST(no_byte_of_a_value_ends_the_line_or_breaks_utf8)
{
        unit_capture_begin(&capture, STDERR_FILENO);
        log_info("x", "a=%s b=%s", "1\n2\x1b[0m\x7f", "\xe4\xb8\xad\xe4\xb8");
        const char *text = unit_capture_end(&capture);
        unit_assert_in(text, "a=1?2?[0m? b=\xe4\xb8\xad??\n");
        ck_assert_uint_eq(lines_of(text), 1);
}
END_TEST

START_TEST(overlong_and_surrogate_utf8_is_masked)
{
        unit_capture_begin(&capture, STDERR_FILENO);
        log_info("x", "a=%s",
                 "\xc0\xaf \xe0\x80\xaf \xed\xa0\x80 \xf0\x80\x80\xaf \xf4\x90\x80\x80");
        unit_assert_in(unit_capture_end(&capture), "a=?? ??? ??? ???? ????\n");
}
END_TEST

START_TEST(a_line_over_its_bound_is_cut_and_still_one_line)
{
        char longer[9000];
        memset(longer, 'x', sizeof longer - 1);
        longer[sizeof longer - 1] = '\0';
        unit_capture_begin(&capture, STDERR_FILENO);
        log_info("x", "a=%s", longer);
        log_info("x", "b=%s c=%s", longer, longer);
        const char *text = unit_capture_end(&capture);
        ck_assert_uint_eq(lines_of(text), 2);
        ck_assert_uint_ge(strlen(text), 8000);
        ck_assert_int_eq(text[strlen(text) - 1], '\n');
}
END_TEST

START_TEST(a_quoted_text_escapes_what_logfmt_needs)
{
        char buffer[64];
        ck_assert_str_eq(log_quote(buffer, sizeof buffer, "a \"b\" \\ \n\r\t\x01"),
                         "\"a \\\"b\\\" \\\\ \\n\\r\\t\\x01\"");
        ck_assert_str_eq(log_quote(buffer, sizeof buffer, ""), "\"\"");
}
END_TEST

START_TEST(a_quoted_text_is_cut_between_escapes_and_closed)
{
        char buffer[8];
        ck_assert_str_eq(log_quote(buffer, 6, "abcdef"), "\"abc\"");
        ck_assert_str_eq(log_quote(buffer, 6, "ab\ncd"), "\"ab\"");
        ck_assert_str_eq(log_quote(buffer, 3, "x"), "\"\"");
        ck_assert_str_eq(log_quote(buffer, 2, "x"), "");
}
END_TEST

START_TEST(only_the_four_words_are_levels)
{
        enum log_level level = LOG_LEVEL_DEBUG;
        ck_assert_int_eq(log_level_parse("warn", &level), 0);
        ck_assert_int_eq(level, LOG_LEVEL_WARN);
        ck_assert_int_eq(log_level_parse("WARN", &level), -1);
        ck_assert_int_eq(log_level_parse("", &level), -1);
        ck_assert_int_eq(level, LOG_LEVEL_WARN);
}
END_TEST

UNIT_MAIN("log", an_event_is_one_line_of_time_level_event_and_pairs,
          an_event_without_pairs_ends_with_its_name, what_is_below_the_level_is_not_written,
          the_record_in_hand_is_in_every_line_until_cleared,
          a_failure_is_logged_with_class_code_reason_and_quoted_text,
          an_alarm_names_code_and_key_once_and_is_told,
          an_alarm_without_a_key_takes_the_record_s_key,
          no_byte_of_a_value_ends_the_line_or_breaks_utf8, overlong_and_surrogate_utf8_is_masked,
          a_line_over_its_bound_is_cut_and_still_one_line, a_quoted_text_escapes_what_logfmt_needs,
          a_quoted_text_is_cut_between_escapes_and_closed, only_the_four_words_are_levels)
