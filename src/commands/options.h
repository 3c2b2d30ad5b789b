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
        int64_t min, max;         /* OPTION_INTEGER */
        const char *const *words; /* OPTION_CHOICE; NULL at the end */
};

/* The options that many commands have. */
#define OPTION_ROW_CONFIG(variable)                                                                \
        {                                                                                          \
                .name = "config", .letter = 'c', .kind = OPTION_TEXT, .argument = "FILE",          \
                .help = "configuration (default: $POSTONCE_CONFIG, ./postonce.yaml, "              \
                        "/etc/postonce/postonce.yaml)",                                            \
                .target = (variable)                                                               \
        }
/* variable: an int *, filled with an enum table_format. */
#define OPTION_ROW_OUTPUT(variable)                                                                \
        {                                                                                          \
                .name = "output", .letter = 'o', .kind = OPTION_CHOICE, .argument = "table|json",  \
                .help = "form of what is printed (default: table)", .target = (variable),          \
                .words = table_format_words                                                        \
        }

struct options {
        const char *command;  /* as it is typed: "postonce order set" */
        const char *operands; /* in the usage line: "NO STATE"; NULL: none */
        const char
                *summary; /* what the command does: whole sentences, without a newline at the end */
        const char *example; /* command lines, one a line, without a newline at the end */
        const struct option_row *rows;
        int operands_min, operands_max;
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
