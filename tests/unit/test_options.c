#include "unit.h"

#include "commands/command.h"
#include "commands/options.h"

static struct unit_capture capture;

static bool flag;
static const char *config;
static struct option_texts topics;
static int64_t count;
static int format;
static int first, code;

static const struct option_row rows[] = {
        OPTION_ROW_CONFIG(&config),
        OPTION_ROW_OUTPUT(&format),
        { .name = "dry-run", .kind = OPTION_FLAG, .help = "changes nothing", .target = &flag },
        { .name = "topic",
          .letter = 't',
          .kind = OPTION_TEXTS,
          .argument = "NAME",
          .help = "a topic",
          .target = &topics },
        { .name = "count",
          .letter = 'n',
          .kind = OPTION_INTEGER,
          .argument = "N",
          .help = "how many",
          .target = &count,
          .min = -5,
          .max = 100 },
        { .name = NULL },
};
static const struct options options = {
        .command = "postonce try",
        .operands = "NO [STATE]",
        .summary = "Tries.",
        .example = "postonce try A-1\npostonce try A-1 PAID",
        .rows = rows,
};

/* Reads the words and returns whether to go on; argv stays for the operands. */
static char *argv[16];

static bool read_words(const char *words)
{
        static char copy[512];
        static char name[] = "try";
        int argc = 0;
        snprintf(copy, sizeof copy, "%s", words);
        argv[argc++] = name;
        char *rest = copy;
        for (char *word; (word = strsep(&rest, " ")) != NULL;)
                argv[argc++] = word;
        argv[argc] = NULL;
        return options_read(&options, argc, argv, &first, &code);
}

static void refuse(const char *words, const char *complaint)
{
        unit_capture_begin(&capture, STDERR_FILENO);
        bool goes_on = read_words(words);
        const char *text = unit_capture_end(&capture);
        ck_assert(!goes_on);
        ck_assert_int_eq(code, EXIT_USAGE);
        unit_assert_in(text, complaint);
        unit_assert_in(text, "Try: postonce try --help\n");
}

START_TEST(what_is_not_given_keeps_its_value)
{
        config = "default";
        count = 7;
        ck_assert(read_words("A-1"));
        ck_assert_str_eq(config, "default");
        ck_assert_int_eq(count, 7);
        ck_assert(!flag);
        ck_assert_uint_eq(topics.count, 0);
        ck_assert_int_eq(format, TABLE_FORMAT_TABLE);
}
END_TEST

START_TEST(long_and_short_forms_fill_the_targets)
{
        ck_assert(read_words("--config=a.yaml -o json --dry-run -t one --topic two -n -5 A-1"));
        ck_assert_str_eq(config, "a.yaml");
        ck_assert_int_eq(format, TABLE_FORMAT_JSON);
        ck_assert(flag);
        ck_assert_uint_eq(topics.count, 2);
        ck_assert_str_eq(topics.items[0], "one");
        ck_assert_str_eq(topics.items[1], "two");
        ck_assert_int_eq(count, -5);
}
END_TEST

START_TEST(options_may_stand_behind_operands)
{
        ck_assert(read_words("A-1 --dry-run PAID -c x.yaml"));
        ck_assert_str_eq(argv[first], "A-1");
        ck_assert_str_eq(argv[first + 1], "PAID");
        ck_assert(flag);
        ck_assert_str_eq(config, "x.yaml");
}
END_TEST

START_TEST(behind_two_dashes_everything_is_an_operand)
{
        ck_assert(read_words("-- --dry-run"));
        ck_assert_str_eq(argv[first], "--dry-run");
        ck_assert(!flag);
}
END_TEST

START_TEST(a_second_reading_starts_afresh)
{
        ck_assert(read_words("A-1 -n 1"));
        ck_assert(read_words("-n 2 A-2"));
        ck_assert_int_eq(count, 2);
        ck_assert_str_eq(argv[first], "A-2");
}
END_TEST

START_TEST(an_unknown_option_is_refused_with_the_nearest)
{
        refuse("--topik x A-1", "postonce try: unknown option --topik; did you mean \"topic\"?");
        refuse("--topik=secret A-1", "postonce try: unknown option --topik; did");
        unit_assert_not_in(capture.text, "secret");
        refuse("--nonsense A-1", "known: help, config, output, dry-run, topic, count");
        refuse("-x A-1", "postonce try: unknown option -x");
}
END_TEST

START_TEST(a_missing_or_surplus_value_is_refused)
{
        refuse("A-1 --config", "postonce try: --config: a value is missing");
        refuse("A-1 -n", "postonce try: -n: a value is missing");
        refuse("A-1 --dry-run=yes", "postonce try: --dry-run takes no value");
}
END_TEST

START_TEST(a_number_out_of_range_or_no_number_is_refused)
{
        refuse("-n 101 A-1", "--count: \"101\" is no integer in -5…100");
        refuse("-n -6 A-1", "--count: \"-6\" is no integer");
        refuse("-n 1x A-1", "--count: \"1x\" is no integer");
        refuse("-n 0x10 A-1", "--count: \"0x10\" is no integer");
        refuse("-n 99999999999999999999 A-1", "is no integer");
        refuse("--count= A-1", "--count: \"\" is no integer");
}
END_TEST

START_TEST(a_word_that_is_no_choice_is_refused)
{
        refuse("-o jsn A-1", "--output: \"jsn\" is not known; did you mean \"json\"?");
        refuse("-o xml A-1", "--output: \"xml\" is not known; known: table, json");
}
END_TEST

START_TEST(operands_are_counted)
{
        refuse("--dry-run", "postonce try: expected NO [STATE]");
        refuse("A-1 PAID third", "postonce try: unexpected \"third\"");
}
END_TEST

START_TEST(without_a_text_that_is_needed_nothing_goes_on)
{
        static char name[] = "try", option[] = "--why", reason[] = "moved", none[] = "";
        const char *why = NULL;
        const struct option_row needs[] = { OPTION_ROW_WHY(&why), { .name = NULL } };
        const struct options needy = { .command = "postonce try", .rows = needs };
        char *lines[][4] = { { name, NULL },
                             { name, option, none, NULL },
                             { name, option, reason, NULL } };
        unit_capture_begin(&capture, STDERR_FILENO);
        ck_assert(!options_read(&needy, 1, lines[0], NULL, &code));
        ck_assert_str_eq(unit_capture_end(&capture),
                         "postonce try: expected --why TEXT\nTry: postonce try --help\n");
        ck_assert_int_eq(code, EXIT_USAGE);
        unit_capture_begin(&capture, STDERR_FILENO);
        ck_assert(!options_read(&needy, 3, lines[1], NULL, &code));
        unit_assert_in(unit_capture_end(&capture), "expected --why TEXT");
        ck_assert(options_read(&needy, 3, lines[2], NULL, &code));
        ck_assert_str_eq(why, "moved");
}
END_TEST

START_TEST(a_repeated_option_has_a_bound)
{
        char words[512] = "A-1";
        for (int i = 0; i <= OPTION_TEXTS_MAX; i++)
                snprintf(words + strlen(words), sizeof words - strlen(words), " -tx");
        char *many[OPTION_TEXTS_MAX + 4];
        int argc = 0;
        char *rest = words;
        static char name[] = "try";
        many[argc++] = name;
        for (char *word; (word = strsep(&rest, " ")) != NULL;)
                many[argc++] = word;
        many[argc] = NULL;
        unit_capture_begin(&capture, STDERR_FILENO);
        bool goes_on = options_read(&options, argc, many, &first, &code);
        unit_assert_in(unit_capture_end(&capture), "--topic is given more than 64 times");
        ck_assert(!goes_on);
}
END_TEST

START_TEST(help_goes_to_standard_output_with_every_option_and_the_example)
{
        unit_capture_begin(&capture, STDOUT_FILENO);
        bool goes_on = read_words("--help");
        const char *text = unit_capture_end(&capture);
        ck_assert(!goes_on);
        ck_assert_int_eq(code, EXIT_DONE);
        unit_assert_in(text, "usage: postonce try [OPTION]... NO [STATE]\nTries.\n");
        unit_assert_in(text, "      --dry-run               changes nothing\n");
        unit_assert_in(text, "  -h, --help                  this text\n");
        unit_assert_in(text,
                       "  -c, --config FILE           configuration (default: $POSTONCE_CONFIG,\n"
                       "                              ./postonce.yaml, "
                       "/etc/postonce/postonce.yaml)\n");
        unit_assert_in(text, "example:\n  postonce try A-1\n  postonce try A-1 PAID\n");
        unit_capture_begin(&capture, STDOUT_FILENO);
        ck_assert(!read_words("A-1 -h"));
        unit_assert_in(unit_capture_end(&capture), "usage: postonce try");
}
END_TEST

UNIT_MAIN("options", what_is_not_given_keeps_its_value, long_and_short_forms_fill_the_targets,
          options_may_stand_behind_operands, behind_two_dashes_everything_is_an_operand,
          a_second_reading_starts_afresh, an_unknown_option_is_refused_with_the_nearest,
          a_missing_or_surplus_value_is_refused, a_number_out_of_range_or_no_number_is_refused,
          a_word_that_is_no_choice_is_refused, operands_are_counted,
          without_a_text_that_is_needed_nothing_goes_on, a_repeated_option_has_a_bound,
          help_goes_to_standard_output_with_every_option_and_the_example)
