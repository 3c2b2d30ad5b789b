#include "commands/command.h"

#include <assert.h>
#include <langinfo.h>
#include <locale.h>
#include <stdbool.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/failpoint.h"
#include "base/log.h"
#include "config/nearest.h"
#include "ops/metrics.h"

enum { COMMANDS_MAX = 64, HINT_BYTES = 512, NAME_COLUMN = 14 };

enum exit_code exit_code_of(enum po_class kind)
{
        switch (kind) {
        case PO_OK:
                return EXIT_DONE;
        case PO_TRANSIENT:
        case PO_UNCERTAIN:
                return EXIT_AWAY;
        case PO_SYSTEMIC:
                return EXIT_CONFIGURATION;
        case PO_RECORD:
                return EXIT_FINDINGS;
        case PO_EXISTS: /* whoever can explain one has done so before it comes here */
        case PO_BUG:
                return EXIT_BUG;
        }
        return EXIT_BUG;
}

static const struct command *command_find(const struct command_set *set, const char *name)
{
        for (const struct command *command = set->commands; command->name != NULL; command++)
                if (strcmp(command->name, name) == 0)
                        return command;
        return NULL;
}

static void command_list(const struct command_set *set, FILE *stream)
{
        fprintf(stream, "usage: %s COMMAND [OPTION]...\n%s\n\n", set->name, set->summary);
        for (const struct command *command = set->commands; command->name != NULL; command++)
                fprintf(stream, "  %-*s %s\n", NAME_COLUMN, command->name, command->help);
        fprintf(stream, "\n%s COMMAND --help tells a command's options.\n", set->name);
}

static int refuse_unknown(const struct command_set *set, const char *name)
{
        const char *names[COMMANDS_MAX + 1] = { NULL };
        for (size_t i = 0; set->commands[i].name != NULL; i++) {
                assert(i < COMMANDS_MAX);
                names[i] = set->commands[i].name;
        }
        char hint[HINT_BYTES];
        nearest_hint(hint, sizeof hint, name, names);
        fprintf(stderr, "%s: unknown %s \"%s\"; %s\nTry: %s --help\n", set->name,
                name[0] == '-' ? "option" : "command", name, hint, set->name);
        return EXIT_USAGE;
}

static int help_of(const struct command_set *set, const char *name)
{
        const struct command *command = command_find(set, name);
        if (command == NULL)
                return refuse_unknown(set, name);
        char command_name[64], option[] = "--help";
        snprintf(command_name, sizeof command_name, "%s", name);
        char *argv[] = { command_name, option, NULL };
        return command->run(2, argv);
}

static bool is_one_of(const char *word, const char *const *words)
{
        for (; *words != NULL; words++)
                if (strcmp(word, *words) == 0)
                        return true;
        return false;
}

int command_dispatch(const struct command_set *set, int argc, char **argv)
{
        static const char *const helps[] = { "--help", "-h", "help", NULL };
        static const char *const versions[] = { "--version", "-V", NULL };
        if (argc < 2) {
                command_list(set, stderr);
                return EXIT_USAGE;
        }
        if (strcmp(argv[1], "help") == 0 && argc > 2)
                return help_of(set, argv[2]);
        if (is_one_of(argv[1], helps)) {
                command_list(set, stdout);
                return EXIT_DONE;
        }
        if (set->version != NULL && is_one_of(argv[1], versions)) {
                printf("%s %s\n", set->name, set->version);
                return EXIT_DONE;
        }
        const struct command *command = command_find(set, argv[1]);
        return command == NULL ? refuse_unknown(set, argv[1]) : command->run(argc - 1, argv + 1);
}

enum po_class command_prepare(struct po_error *error)
{
        if (setlocale(LC_CTYPE, "") == NULL || strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
                setlocale(LC_CTYPE, "C.UTF-8");
        signal(SIGPIPE, SIG_IGN); /* a server that goes away is an error, not the end */
        log_set_alarm_observer(metric_alarm);
        return failpoint_init(error);
}

int command_fail(const struct po_error *error)
{
        fprintf(stderr, "postonce: %s\n", error->text);
        return (int)exit_code_of(error->kind);
}

int command_finish(int code)
{
        bool failed = fflush(stdout) != 0;
        if (!failed && !ferror(stdout))
                return code;
        fputs("postonce: the output could not be written\n", stderr);
        return code == EXIT_DONE ? EXIT_BUG : code;
}
