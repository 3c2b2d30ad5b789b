#include "settings_fixture.h"

#include "commands/command.h"
#include "ledger/rules.h"

START_TEST(a_socket_stands_instead_of_host_and_port)
{
        enter();
        load(KAFKA TOPICS EVENTS "mysql: { user: u, database: d, socket: /run/x.sock }\n");
        ck_assert_str_eq(settings->mysql.socket, "/run/x.sock");
        ck_assert_ptr_null(settings->mysql.host);
        refuse(KAFKA TOPICS EVENTS
               "mysql: { user: u, database: d, host: a, socket: /run/x.sock }\n",
               "postonce.yaml:8:49: socket: excludes host");
        refuse(KAFKA TOPICS EVENTS
               "mysql: { user: u, database: d, port: 1, socket: /run/x.sock }\n",
               "postonce.yaml:8:49: socket: excludes port");
        leave();
}
END_TEST

START_TEST(password_and_password_file_exclude_each_other)
{
        enter();
        refuse(KAFKA TOPICS EVENTS
               "mysql: { user: u, database: d, password: hush, password_file: /x }\n",
               "postonce.yaml:8:63: password_file: excludes password");
        unit_assert_not_in(error.text, "hush");
        leave();
}
END_TEST

START_TEST(tls_without_an_authority_or_with_half_a_certificate_is_refused)
{
        enter();
        refuse(KAFKA TOPICS EVENTS "mysql: { user: u, database: d, tls: { cert: c, key: k } }\n",
               "postonce.yaml:8:37: tls: ca is missing");
        refuse(KAFKA TOPICS EVENTS "mysql: { user: u, database: d, tls: { ca: a, cert: c } }\n",
               "postonce.yaml:8:37: tls: cert and key go together");
        leave();
}
END_TEST

START_TEST(a_database_time_out_stays_below_the_poll_interval)
{
        enter();
        refuse(KAFKA TOPICS EVENTS "mysql: { user: u, database: d, read_timeout: 300s }\n",
               "postonce.yaml:8:46: read_timeout: 300000ms must be below kafka's "
               "max.poll.interval.ms (300000ms): a worker that waits longer");
        load(KAFKA TOPICS EVENTS "mysql: { user: u, database: d, read_timeout: 299s }\n");
        refuse(KAFKA "  max.poll.interval.ms: 45000\n" TOPICS EVENTS
                     "mysql: { user: u, database: d, write_timeout: 3s }\n",
               "postonce.yaml:9:8: read_timeout: 60000ms must be below kafka's "
               "max.poll.interval.ms (45000ms)");
        refuse(KAFKA "  max.poll.interval.ms: soon\n" TOPICS MYSQL EVENTS,
               "postonce.yaml:4:25: kafka: max.poll.interval.ms");
        refuse(KAFKA TOPICS EVENTS "mysql: { user: u, database: d, wait_timeout: 1500ms }\n",
               "postonce.yaml:8:46: wait_timeout: must be whole seconds");
        leave();
}
END_TEST

START_TEST(a_property_that_breaks_a_promise_is_refused_at_its_place)
{
        enter();
        refuse(KAFKA "  enable.auto.commit: true\n" TOPICS MYSQL EVENTS, "postonce.yaml:4:23: ");
        unit_assert_in(error.text, "enable.auto.commit");
        refuse("kafka: { bootstrap.servers: a }\n" TOPICS MYSQL EVENTS, "postonce.yaml:1:8: ");
        unit_assert_in(error.text, "group.id");
        refuse(KAFKA "  a: [ b ]\n" TOPICS MYSQL EVENTS, "postonce.yaml:4:6: must be one value");
        leave();
}
END_TEST

START_TEST(without_a_file_the_places_are_named)
{
        enter();
        enum po_class kind = settings_load(NULL, &settings, &error);
        /* On a machine where postonce is installed the last place is taken. */
        if (access("/etc/postonce/postonce.yaml", F_OK) != 0) {
                ck_assert_int_eq(kind, PO_SYSTEMIC);
                ck_assert_str_eq(error.reason, SETTINGS_NO_FILE);
                ck_assert_str_eq(
                        error.text,
                        "no configuration: --config is not given, $POSTONCE_CONFIG is not set, "
                        "and there is neither ./postonce.yaml nor /etc/postonce/postonce.yaml");
        }
        leave();
}
END_TEST

START_TEST(the_option_comes_before_the_variable_and_that_before_the_folder)
{
        enter();
        write_file("postonce.yaml", WHOLE "log: { level: debug }\n");
        write_file("other.yaml", WHOLE "log: { level: warn }\n");
        write_file("third.yaml", WHOLE "log: { level: error }\n");
        ck_assert_int_eq(settings_load(NULL, &settings, &error), PO_OK);
        ck_assert_int_eq(settings->log.level, LOG_LEVEL_DEBUG);
        settings_close(settings);
        setenv("POSTONCE_CONFIG", "other.yaml", 1);
        ck_assert_int_eq(settings_load(NULL, &settings, &error), PO_OK);
        ck_assert_int_eq(settings->log.level, LOG_LEVEL_WARN);
        settings_close(settings);
        ck_assert_int_eq(settings_load("third.yaml", &settings, &error), PO_OK);
        ck_assert_int_eq(settings->log.level, LOG_LEVEL_ERROR);
        unlink("other.yaml");
        unlink("third.yaml");
        leave();
}
END_TEST

START_TEST(a_named_file_that_is_not_there_is_not_replaced_by_another)
{
        enter();
        write_file("postonce.yaml", WHOLE);
        ck_assert_int_eq(settings_load("nowhere.yaml", &settings, &error), PO_SYSTEMIC);
        unit_assert_in(error.text, "nowhere.yaml");
        ck_assert_ptr_null(error.reason);
        setenv("POSTONCE_CONFIG", "nowhere.yaml", 1);
        ck_assert_int_eq(settings_load(NULL, &settings, &error), PO_SYSTEMIC);
        unit_assert_in(error.text, "nowhere.yaml");
        leave();
}
END_TEST

START_TEST(without_a_file_a_command_prints_a_working_start)
{
        static struct unit_capture capture;
        enter();
        if (access("/etc/postonce/postonce.yaml", F_OK) != 0) {
                unit_capture_begin(&capture, STDERR_FILENO);
                int code = settings_open(NULL, &settings);
                const char *text = unit_capture_end(&capture);
                ck_assert_int_eq(code, EXIT_CONFIGURATION);
                unit_assert_in(text, "postonce: no configuration: ");
                unit_assert_in(text, settings_minimal);
        }
        write_file("postonce.yaml", "kafka: 1\n");
        unit_capture_begin(&capture, STDERR_FILENO);
        ck_assert_int_eq(settings_open(NULL, &settings), EXIT_CONFIGURATION);
        const char *text = unit_capture_end(&capture);
        unit_assert_in(text, "postonce: ./postonce.yaml:1:8: kafka: must be a map\n");
        unit_assert_not_in(text, "A working start");
        leave();
}
END_TEST

START_TEST(the_working_start_is_accepted_with_its_rules)
{
        enter();
        load(settings_minimal);
        struct rules *rules;
        ck_assert_msg(rules_read(settings->orders, settings->events, &rules, &error) == PO_OK, "%s",
                      error.text);
        ck_assert_ptr_nonnull(rules_find(rules, "PAYMENT_RECEIVED"));
        rules_free(rules);
        leave();
}
END_TEST

START_TEST(a_profile_is_looked_for_beside_the_file)
{
        enter();
        char path[512], small[4];
        write_file("postonce.yaml", WHOLE);
        char absolute[256];
        snprintf(absolute, sizeof absolute, "%s/postonce.yaml", folder);
        ck_assert_int_eq(settings_load(absolute, &settings, &error), PO_OK);
        ck_assert(settings_resolve(settings, "channels/sqb.yaml", path, sizeof path));
        char expected[512];
        snprintf(expected, sizeof expected, "%s/channels/sqb.yaml", folder);
        ck_assert_str_eq(path, expected);
        ck_assert(settings_resolve(settings, "/etc/x.yaml", path, sizeof path));
        ck_assert_str_eq(path, "/etc/x.yaml");
        ck_assert(!settings_resolve(settings, "channels/sqb.yaml", small, sizeof small));
        load(WHOLE);
        ck_assert(settings_resolve(settings, "x.yaml", path, sizeof path));
        ck_assert_str_eq(path, "./x.yaml");
        leave();
}
END_TEST

UNIT_MAIN("settings", a_socket_stands_instead_of_host_and_port,
          password_and_password_file_exclude_each_other,
          tls_without_an_authority_or_with_half_a_certificate_is_refused,
          a_database_time_out_stays_below_the_poll_interval,
          a_property_that_breaks_a_promise_is_refused_at_its_place,
          without_a_file_the_places_are_named,
          the_option_comes_before_the_variable_and_that_before_the_folder,
          a_named_file_that_is_not_there_is_not_replaced_by_another,
          without_a_file_a_command_prints_a_working_start,
          the_working_start_is_accepted_with_its_rules, a_profile_is_looked_for_beside_the_file)
