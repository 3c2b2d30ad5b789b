#include "unit.h"

#include <ctype.h>

#include "commands/command.h"

static struct unit_capture capture;

START_TEST(the_command_prints_name_and_number)
{
        char name[] = "version", *argv[] = { name, NULL };
        unit_capture_begin(&capture, STDOUT_FILENO);
        int code = command_version(1, argv);
        const char *text = unit_capture_end(&capture);
        ck_assert_int_eq(code, EXIT_DONE);
        ck_assert_int_eq(strncmp(text, "postonce ", 9), 0);
        ck_assert(isdigit((unsigned char)text[9]));
        unit_assert_in(text, version_text);
}
END_TEST

START_TEST(the_command_takes_no_operands)
{
        char name[] = "version", more[] = "more", *argv[] = { name, more, NULL };
        unit_capture_begin(&capture, STDERR_FILENO);
        int code = command_version(2, argv);
        unit_assert_in(unit_capture_end(&capture), "unexpected \"more\"");
        ck_assert_int_eq(code, EXIT_USAGE);
}
END_TEST

UNIT_MAIN("version", the_command_prints_name_and_number, the_command_takes_no_operands)
