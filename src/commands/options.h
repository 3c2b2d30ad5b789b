/*
 * A command's options as a table: getopt_long underneath, the complaints, --help and its text from
 * the same rows.
 */
#ifndef COMMANDS_OPTIONS_H
#define COMMANDS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "commands/table.h"

enum { OPTION_ROWS_MAX = 32, OPTION_TEXTS_MAX = 64 };

/* An option that may be given several times. */
struct option_texts {
        size_t count;
        const char *items[OPTION_TEXTS_MAX];
};

enum option_kind {
        OPTION_FLAG,    /* bool: given or not */
        OPTION_TEXT,    /* const char *, points into argv; given twice: the last counts */
        OPTION_TEXTS,   /* struct option_texts */
        OPTION_INTEGER, /* int64_t in min…max, decimal */
        OPTION_CHOICE,  /* int: index into words */
};

struct option_row {
        const char *name; /* without its dashes; NULL: end of the table */
        char letter;      /* the short form; '\0': none */
        enum option_kind kind;
        const char *argument;     /* its name in the help: "FILE"; NULL for a flag */
        const char *help;         /* one sentence without a full stop; says the default */
        void *target;             /* what kind says; keeps its value when the option is not given */
        bool needed;              /* OPTION_TEXT: absent or empty is refused */
        int64_t min, max;         /* OPTION_INTEGER */
        const char *const *words; /* OPTION_CHOICE; NULL at the end */
};

/* Rows without a short form. A variable of another type than the kind's does not compile. */
#define OPTION_ROW_FLAG(name_, help_, variable)                                                    \
        {                                                                                          \
                .name = (name_), .kind = OPTION_FLAG, .help = (help_),                             \
                .target = OPTION_TARGET(bool, variable)                                            \
        }
#define OPTION_ROW_TEXT(name_, argument_, help_, variable)                                         \
        {                                                                                          \
                .name = (name_), .kind = OPTION_TEXT, .argument = (argument_), .help = (help_),    \
                .target = OPTION_TARGET(const char *, variable)                                    \
        }
#define OPTION_ROW_TEXTS(name_, argument_, help_, variable)                                        \
        {                                                                                          \
                .name = (name_), .kind = OPTION_TEXTS, .argument = (argument_), .help = (help_),   \
                .target = OPTION_TARGET(struct option_texts, variable)                             \
        }
#define OPTION_ROW_INTEGER(name_, argument_, help_, variable, min_, max_)                          \
        {                                                                                          \
                .name = (name_), .kind = OPTION_INTEGER, .argument = (argument_), .help = (help_), \
                .target = OPTION_TARGET(int64_t, variable), .min = (min_), .max = (max_)           \
        }
#define OPTION_ROW_CHOICE(name_, argument_, help_, variable, words_)                               \
        {                                                                                          \
                .name = (name_), .kind = OPTION_CHOICE, .argument = (argument_), .help = (help_),  \
                .target = OPTION_TARGET(int, variable), .words = (words_)                          \
        }
#define OPTION_TARGET(type, variable) (1 ? (variable) : (type *)NULL)

/* The options that many commands have. */
#define OPTION_ROW_CONFIG(variable)                                                                \
        {                                                                                          \
                .name = "config", .letter = 'c', .kind = OPTION_TEXT, .argument = "FILE",          \
                .help = "configuration (default: $POSTONCE_CONFIG, ./postonce.yaml, "              \
                        "/etc/postonce/postonce.yaml)",                                            \
                .target = OPTION_TARGET(const char *, variable)                                    \
        }
/* variable: an int *, filled with an enum table_format. */
#define OPTION_ROW_OUTPUT(variable)                                                                \
        {                                                                                          \
                .name = "output", .letter = 'o', .kind = OPTION_CHOICE, .argument = "table|json",  \
                .help = "form of what is printed (default: table)",                                \
                .target = OPTION_TARGET(int, variable), .words = table_format_words                \
        }
#define OPTION_ROW_TENANT(help_, variable)                                                         \
        OPTION_ROW_INTEGER("tenant", "ID", help_, variable, 1, INT64_MAX)
#define OPTION_ROW_WHY(variable)                                                                   \
        {                                                                                          \
                .name = "why", .kind = OPTION_TEXT, .argument = "TEXT",                            \
                .help = "the reason, kept in the audit", .needed = true,                           \
                .target = OPTION_TARGET(const char *, variable)                                    \
        }

struct options {
        const char *command; /* as it is typed: "postonce order set" */
        /* In the usage line; as many are taken: of "NO [STATE]" one or two, of NULL none. */
        const char *operands;
        const char
                *summary; /* what the command does: whole sentences, without a newline at the end */
        const char *example; /* command lines, one a line, without a newline at the end */
        const struct option_row *rows;
};

/*
 * Reads argv (argv[0] is not looked at) into the targets. True: go on; the operands, in their
 * order, are argv[*first_out] and up to argv[argc - 1] (argv is permuted; first_out may be NULL if
 * there are none). False: end with *code_out, all is said: EXIT_DONE after --help on standard
 * output, EXIT_USAGE after a complaint on standard error.
 */
bool options_read(const struct options *options, int argc, char **argv, int *first_out,
                  int *code_out);

/*
 * A command's own complaint about its command line, in the same form as those of options_read().
 * Returns EXIT_USAGE.
 */
int options_refuse(const struct options *options, const char *format, ...) PO_FORMAT(2, 3);

#endif
