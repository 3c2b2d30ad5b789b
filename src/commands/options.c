#include "commands/options.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/command.h"
#include "config/nearest.h"

enum {
        LONG_BASE = 256, /* getopt's value of row i is LONG_BASE + i: no letter's value */
        LONG_HELP = LONG_BASE + OPTION_ROWS_MAX,
        FORM_COLUMN = 30, /* where the help of an option begins */
        LINE_COLUMNS = 80,
        HINT_BYTES = 512,
        WORD_BYTES = 128,
};

static const char help_text[] = "this text";

int options_refuse(const struct options *options, const char *format, ...)
{
        fprintf(stderr, "%s: ", options->command);
        va_list arguments;
        va_start(arguments, format);
        vfprintf(stderr, format, arguments);
        va_end(arguments);
        fprintf(stderr, "\nTry: %s --help\n", options->command);
        return EXIT_USAGE;
}

/* Words from FORM_COLUMN on, in lines that end before LINE_COLUMNS. */
static void help_wrap(const char *help)
{
        int column = FORM_COLUMN;
        for (const char *word = help; *word != '\0';) {
                int bytes = (int)strcspn(word, " ");
                bool first = word == help;
                if (!first && column + 1 + bytes > LINE_COLUMNS) {
                        printf("\n%*s", FORM_COLUMN, "");
                        column = FORM_COLUMN;
                        first = true;
                }
                column += printf("%s%.*s", first ? "" : " ", bytes, word);
                word += bytes;
                word += strspn(word, " ");
        }
        putchar('\n');
}

static void help_row(char letter, const char *name, const char *argument, const char *help)
{
        int used =
                letter == '\0' ? printf("      --%s", name) : printf("  -%c, --%s", letter, name);
        if (argument != NULL)
                used += printf(" %s", argument);
        if (used > FORM_COLUMN - 2)
                used = printf("\n") - 1;
        printf("%*s", FORM_COLUMN - used, "");
        help_wrap(help);
}

static void help_print(const struct options *options)
{
        printf("usage: %s [OPTION]...%s%s\n%s\n\n", options->command,
               options->operands == NULL ? "" : " ",
               options->operands == NULL ? "" : options->operands, options->summary);
        for (const struct option_row *row = options->rows; row->name != NULL; row++)
                help_row(row->letter, row->name, row->argument, row->help);
        help_row('h', "help", NULL, help_text);
        printf("\nexample:\n");
        for (const char *line = options->example; line != NULL && *line != '\0';) {
                int bytes = (int)strcspn(line, "\n");
                printf("  %.*s\n", bytes, line);
                line += bytes + (line[bytes] == '\n');
        }
}

/* getopt's own tables. */
struct forms {
        struct option longs[OPTION_ROWS_MAX + 2];
        char shorts[2 * OPTION_ROWS_MAX + sizeof ":h"];
};

static void forms_fill(struct forms *forms, const struct option_row *rows)
{
        size_t i = 0, length = 0;
        memset(forms, 0, sizeof *forms);
        forms->shorts[length++] = ':'; /* a missing argument is told from an unknown option */
        for (; rows[i].name != NULL; i++) {
                assert(i < OPTION_ROWS_MAX);
                bool takes = rows[i].kind != OPTION_FLAG;
                assert(takes == (rows[i].argument != NULL));
                forms->longs[i] = (struct option){ .name = rows[i].name,
                                                   .has_arg = takes,
                                                   .val = LONG_BASE + (int)i };
                if (rows[i].letter == '\0')
                        continue;
                forms->shorts[length++] = rows[i].letter;
                if (takes)
                        forms->shorts[length++] = ':';
        }
        forms->longs[i] = (struct option){ .name = "help", .val = LONG_HELP };
        forms->shorts[length] = 'h';
}

static const struct option_row *row_of(const struct option_row *rows, int value)
{
        if (value >= LONG_BASE)
                return &rows[value - LONG_BASE];
        while (rows->name != NULL && rows->letter != value)
                rows++;
        return rows;
}

static bool integer_set(const struct options *options, const struct option_row *row,
                        const char *text)
{
        char *end;
        errno = 0;
        long long value = strtoll(text, &end, 10);
        bool decimal = *end == '\0' && end != text && strspn(text, "-0123456789") == strlen(text);
        if (decimal && errno == 0 && value >= row->min && value <= row->max) {
                *(int64_t *)row->target = value;
                return true;
        }
        options_refuse(options, "--%s: \"%s\" is no integer in %" PRId64 "…%" PRId64, row->name,
                       text, row->min, row->max);
        return false;
}

static bool choice_set(const struct options *options, const struct option_row *row,
                       const char *text)
{
        for (int i = 0; row->words[i] != NULL; i++) {
                if (strcmp(row->words[i], text) == 0) {
                        *(int *)row->target = i;
                        return true;
                }
        }
        char hint[HINT_BYTES];
        nearest_hint(hint, sizeof hint, text, row->words);
        options_refuse(options, "--%s: \"%s\" is not known; %s", row->name, text, hint);
        return false;
}

static bool texts_add(const struct options *options, const struct option_row *row, const char *text)
{
        struct option_texts *texts = row->target;
        if (texts->count < OPTION_TEXTS_MAX) {
                texts->items[texts->count++] = text;
                return true;
        }
        options_refuse(options, "--%s is given more than %d times", row->name, OPTION_TEXTS_MAX);
        return false;
}

static bool row_set(const struct options *options, const struct option_row *row, const char *text)
{
        switch (row->kind) {
        case OPTION_FLAG:
                *(bool *)row->target = true;
                return true;
        case OPTION_TEXT:
                *(const char **)row->target = text;
                return true;
        case OPTION_TEXTS:
                return texts_add(options, row, text);
        case OPTION_INTEGER:
                return integer_set(options, row, text);
        case OPTION_CHOICE:
                return choice_set(options, row, text);
        }
        return false;
}

/* getopt says '?' for a word it does not know, and for --flag=value. */
static void refuse_unknown(const struct options *options, const char *word)
{
        if (optopt >= LONG_BASE) {
                const char *name =
                        optopt == LONG_HELP ? "help" : options->rows[optopt - LONG_BASE].name;
                options_refuse(options, "--%s takes no value", name);
                return;
        }
        if (optopt != 0) {
                options_refuse(options, "unknown option -%c", optopt);
                return;
        }
        const char *names[OPTION_ROWS_MAX + 2] = { "help" };
        for (size_t i = 0; options->rows[i].name != NULL; i++)
                names[i + 1] = options->rows[i].name;
        char hint[HINT_BYTES], name[WORD_BYTES];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
        nearest_hint(hint, sizeof hint, name + strspn(name, "-"), names);
        options_refuse(options, "unknown option %s; %s", name, hint);
}

/* Of "NO [STATE]" two, one of them needed. */
static void operands_count(const char *operands, int *needed_out, int *most_out)
{
        *needed_out = *most_out = 0;
        for (const char *word = operands; word != NULL && *word != '\0';) {
                *most_out += 1;
                *needed_out += *word != '[';
                word += strcspn(word, " ");
                word += strspn(word, " ");
        }
}

static bool operands_check(const struct options *options, int count, char *const *words)
{
        int needed, most;
        operands_count(options->operands, &needed, &most);
        if (count < needed) {
                options_refuse(options, "expected %s", options->operands);
                return false;
        }
        if (count > most) {
                options_refuse(options, "unexpected \"%s\"", words[most]);
                return false;
        }
        return true;
}

static bool needed_check(const struct options *options)
{
        for (const struct option_row *row = options->rows; row->name != NULL; row++) {
                if (!row->needed)
                        continue;
                assert(row->kind == OPTION_TEXT);
                const char *text = *(const char **)row->target;
                if (text == NULL || text[0] == '\0') {
                        options_refuse(options, "expected --%s %s", row->name, row->argument);
                        return false;
                }
        }
        return true;
}

/* Reads the options; the rest is argv[optind] and up. */
static bool rows_read(const struct options *options, int argc, char **argv, int *code_out)
{
        struct forms forms;
        forms_fill(&forms, options->rows);
        optind = 0; /* 0, not 1: glibc then forgets a scan before this one */
        opterr = 0;
        *code_out = EXIT_USAGE;
        for (;;) {
                int value = getopt_long(argc, argv, forms.shorts, forms.longs, NULL);
                if (value == -1)
                        return true;
                if (value == 'h' || value == LONG_HELP) {
                        help_print(options);
                        *code_out = EXIT_DONE;
                        return false;
                }
                if (value == ':') {
                        options_refuse(options, "%s: a value is missing", argv[optind - 1]);
                        return false;
                }
                if (value == '?') {
                        refuse_unknown(options, argv[optind - 1]);
                        return false;
                }
                if (!row_set(options, row_of(options->rows, value), optarg))
                        return false;
        }
}

bool options_read(const struct options *options, int argc, char **argv, int *first_out,
                  int *code_out)
{
        if (!rows_read(options, argc, argv, code_out))
                return false;
        if (!operands_check(options, argc - optind, argv + optind) || !needed_check(options))
                return false;
        if (first_out != NULL)
                *first_out = optind;
        return true;
}
