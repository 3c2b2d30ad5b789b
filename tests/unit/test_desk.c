/* The desk: opened whole, or not at all with the reason said; closed either way. */
#include "settings_fixture.h"

#include "commands/command.h"
#include "commands/desk.h"

static struct desk desk;
static struct unit_capture capture;

static int open_desk(void)
{
        desk = (struct desk){ .config = NULL };
        unit_capture_begin(&capture, STDERR_FILENO);
        int code = desk_open(&desk);
        unit_capture_end(&capture);
        return code;
}

START_TEST(without_a_configuration_it_does_not_open)
{
        enter();
        ck_assert_int_eq(open_desk(), EXIT_CONFIGURATION);
        desk_close(&desk);
        leave();
}
END_TEST

START_TEST(a_rule_that_does_nothing_is_said_before_anything_is_connected)
{
        enter();
        write_file("postonce.yaml", WHOLE);
        ck_assert_int_eq(open_desk(), EXIT_CONFIGURATION);
        unit_assert_in(capture.text, "event PAYMENT_RECEIVED does nothing");
        ck_assert_ptr_null(desk.db);
        desk_close(&desk);
        leave();
}
END_TEST

START_TEST(a_server_that_is_away_is_said_and_the_desk_closes)
{
        enter();
        setenv("SUDO_USER", "ann", 1);
        write_file("postonce.yaml",
                   KAFKA TOPICS "mysql: { user: nobody, database: none, host: 127.0.0.1, port: 1,\n"
                                "  connect_timeout: 1s }\n"
                                "events:\n"
                                "  PAYMENT_RECEIVED:\n"
                                "    order: { from: [PENDING_PAY], to: PAID }\n");
        ck_assert_int_eq(open_desk(), EXIT_AWAY);
        ck_assert_str_eq(desk.who, "ann");
        ck_assert_ptr_nonnull(desk.rules);
        desk_close(&desk);
        leave();
}
END_TEST

UNIT_MAIN("desk", without_a_configuration_it_does_not_open,
          a_rule_that_does_nothing_is_said_before_anything_is_connected,
          a_server_that_is_away_is_said_and_the_desk_closes)
