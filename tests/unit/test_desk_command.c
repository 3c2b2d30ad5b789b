/* A command at the desk: what it is told, when it acts, how it ends; the desk is closed always. */
#include "desk_fixture.h"

#include "commands/desk_command.h"

static int acts; /* how often the command acted */
static bool finds;
static enum po_class ends;

static const struct table_column columns[] = { { "key", TABLE_TEXT },
                                               { "tries", TABLE_NUMBER },
                                               { NULL, TABLE_TEXT } };

static enum po_class act(struct desk *desk, struct po_error *error)
{
        acts++;
        ck_assert_int_eq(opened, 1);
        ck_assert_ptr_eq(desk->db, db);
        ck_assert_str_eq(desk->operands[0], "A-1");
        ck_assert_int_eq(desk->tenant, 7);
        desk->findings = finds;
        return ends == PO_OK ? PO_OK : po_fail(error, ends, 0, "it went wrong");
}

static enum po_class list(struct desk *desk, struct po_error *error)
{
        sql_reset(&desk->sql);
        sql_raw(&desk->sql, "SELECT");
        if (db_query(desk->db, &desk->sql, error) != PO_OK)
                return error->kind;
        return desk_print_rows(desk, "things", columns, error);
}

static int command(int argc, char **argv, const char *operands, desk_act does)
{
        struct desk desk = { .tenant = 1 };
        const struct option_row rows[] = {
                OPTION_ROW_OUTPUT(&desk.format),
                OPTION_ROW_TENANT("whose", &desk.tenant),
                { .name = NULL },
        };
        const struct options options = {
                .command = "postonce try", .operands = operands, .summary = "Tries.", .rows = rows
        };
        return desk_command(&desk, &options, argc, argv, does);
}

static int command_try(int argc, char **argv)
{
        return command(argc, argv, "NO", act);
}

static int command_list(int argc, char **argv)
{
        return command(argc, argv, NULL, list);
}

static int try_it(void)
{
        return typed(STDERR_FILENO, command_try, "try", "--tenant", "7", "A-1");
}

static void begin(void)
{
        db = fake_db_open();
        acts = 0;
        finds = false;
        ends = PO_OK;
        opening_code = EXIT_DONE;
}

START_TEST(it_acts_once_at_the_open_desk_with_what_was_typed)
{
        begin();
        ck_assert_int_eq(try_it(), EXIT_DONE);
        ck_assert_int_eq(acts, 1);
        ck_assert_str_eq(capture.text, "");
}
END_TEST

START_TEST(what_it_finds_is_its_exit_code)
{
        begin();
        finds = true;
        ck_assert_int_eq(try_it(), EXIT_FINDINGS);
        ck_assert_str_eq(capture.text, "");
}
END_TEST

START_TEST(what_goes_wrong_is_said_and_is_its_exit_code)
{
        begin();
        ends = PO_TRANSIENT;
        finds = true;
        ck_assert_int_eq(try_it(), EXIT_AWAY);
        ck_assert_str_eq(capture.text, "postonce: it went wrong\n");
        ends = PO_BUG;
        ck_assert_int_eq(try_it(), EXIT_BUG);
}
END_TEST

START_TEST(at_a_desk_that_does_not_open_nothing_is_done)
{
        begin();
        opening_code = EXIT_CONFIGURATION;
        ck_assert_int_eq(try_it(), EXIT_CONFIGURATION);
        ck_assert_int_eq(acts, 0);
}
END_TEST

START_TEST(a_wrong_command_line_and_help_open_no_desk)
{
        begin();
        opening_code = EXIT_BUG; /* would be the exit code */
        ck_assert_int_eq(typed(STDERR_FILENO, command_try, "try", "--tenant", "0", "A-1"),
                         EXIT_USAGE);
        ck_assert_int_eq(typed(STDERR_FILENO, command_try, "try"), EXIT_USAGE);
        ck_assert_int_eq(typed(STDOUT_FILENO, command_try, "try", "--help"), EXIT_DONE);
        ck_assert_int_eq(acts, 0);
}
END_TEST

START_TEST(the_databases_rows_are_a_table_in_either_form)
{
        begin();
        fake_rows("SELECT");
        fake_row("K-1", "3");
        fake_row("K-2", NULL);
        ck_assert_int_eq(typed(STDOUT_FILENO, command_list, "list"), EXIT_DONE);
        unit_assert_in(capture.text, "KEY TRIES\nK-1     3\nK-2 ");

        fake_rows("SELECT");
        fake_row("K-1", "3");
        ck_assert_int_eq(typed(STDOUT_FILENO, command_list, "list", "-o", "json"), EXIT_DONE);
        unit_assert_in(capture.text, "\"things\"");
        unit_assert_in(capture.text, "\"tries\": 3");
}
END_TEST

UNIT_MAIN("desk_command", it_acts_once_at_the_open_desk_with_what_was_typed,
          what_it_finds_is_its_exit_code, what_goes_wrong_is_said_and_is_its_exit_code,
          at_a_desk_that_does_not_open_nothing_is_done, a_wrong_command_line_and_help_open_no_desk,
          the_databases_rows_are_a_table_in_either_form)
