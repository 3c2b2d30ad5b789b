#include <stdio.h>

#include "commands/command.h"
#include "commands/options.h"
#include "version.h"

const char version_text[] = PO_VERSION;

int command_version(int argc, char **argv)
{
        static const struct option_row rows[] = { { .name = NULL } };
        static const struct options options = {
                .command = "postonce version",
                .summary = "Prints the program's version.",
                .example = "postonce version",
                .rows = rows,
        };
        int code;
        if (!options_read(&options, argc, argv, NULL, &code))
                return code;
        printf("postonce %s\n", version_text);
        return EXIT_DONE;
}
