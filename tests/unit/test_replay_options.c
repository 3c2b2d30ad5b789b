#include "unit.h"

#include "commands/command.h"
#include "commands/replay_options.h"

static struct replay_request request;
static int code;

#define READ(...)                                                                                  \
        read_all((const char *const[]){ "replay", __VA_ARGS__ },                                   \
                 sizeof((const char *const[]){ "replay", __VA_ARGS__ }) / sizeof(const char *))

static const char *output;

static bool read_all(const char *const *words, size_t count)
{
        static struct unit_capture capture;
        static char *argv[64]; /* lives as long as what request points to */
        for (size_t i = 0; i < 64; i++)
                free(argv[i]);
        memset(argv, 0, sizeof argv);
        char *given[64] = { NULL };
        for (size_t i = 0; i < count; i++)
                given[i] = argv[i] = strdup(words[i]);
        unit_capture_begin(&capture, STDERR_FILENO);
        bool read = replay_request_read(&request, (int)count, given, &code);
        output = unit_capture_end(&capture);
        return read;
}

static void refuses(const char *text)
{
        ck_assert_int_eq(code, EXIT_USAGE);
        unit_assert_in(output, text);
}

START_TEST(without_filters_the_defaults_stand)
{
        ck_assert(READ("--why", "x"));
        ck_assert(!letter_filter_is_set(&request.filter));
        ck_assert_int_eq(request.max_replays, 3);
        ck_assert_int_eq(request.stop_after, 10);
        ck_assert_int_eq(request.limit, 0);
        ck_assert_int_eq(request.rate, 0);
        char text[256];
        replay_request_describe(&request, text, sizeof text);
        ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(each_condition_makes_a_filter)
{
        ck_assert(READ("--dry-run", "--reason", "A", "--reason", "B"));
        ck_assert_uint_eq(request.filter.reasons.count, 2);
        ck_assert(letter_filter_is_set(&request.filter));
        ck_assert(READ("--dry-run", "--from-time", "1970-01-01T00:00:01.5Z"));
        ck_assert_int_eq(request.filter.from_ms, 1500);
        ck_assert(letter_filter_is_set(&request.filter));
        ck_assert(READ("--dry-run", "--partition", "0"));
        ck_assert(letter_filter_is_set(&request.filter));
        ck_assert(READ("--dry-run", "--partition", "0", "--from-offset", "0", "--to-offset", "7"));
        ck_assert_int_eq(request.filter.to_offset, 7);
}
END_TEST

START_TEST(the_description_names_everything_that_was_asked)
{
        char text[512];
        ck_assert(READ("--why", "x", "--reason", "A", "--channel", "SQB", "--key", "K*",
                       "--partition", "1", "--from-offset", "2", "--to-offset", "3", "--to", "t",
                       "--limit", "4", "--max-replays", "0", "--again", "--commit"));
        replay_request_describe(&request, text, sizeof text);
        ck_assert_str_eq(text, " reason=A channel=SQB key=K* partition=1 from-offset=2 to-offset=3"
                               " to=t limit=4 max-replays=0 again commit");
}
END_TEST

START_TEST(what_does_not_go_together_is_refused)
{
        ck_assert(!READ("--limit", "1"));
        refuses("--why");
        ck_assert(!READ("--why", ""));
        refuses("--why");
        ck_assert(!READ("--dry-run", "--from-offset", "1"));
        refuses("--partition");
        ck_assert(!READ("--dry-run", "--from-time", "2026-13-01T00:00:00Z"));
        refuses("--from-time");
        ck_assert(!READ("--dry-run", "--partition", "0", "--from-beginning", "--from-offset", "1"));
        refuses("--from-beginning");
        ck_assert(!READ("--dry-run", "--max-replays", "100"));
        refuses("--max-replays");
}
END_TEST

UNIT_MAIN("replay_options", without_filters_the_defaults_stand, each_condition_makes_a_filter,
          the_description_names_everything_that_was_asked, what_does_not_go_together_is_refused)
