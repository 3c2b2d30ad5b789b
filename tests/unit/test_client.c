#include "kafka/client.h"

#include "base/cleanup.h"
#include "unit.h"

START_TEST(a_configuration_that_contradicts_itself_is_refused_in_the_librarys_words)
{
        struct po_error error;
        char text[256];
        CLEANUP(client_conf_free) rd_kafka_conf_t *conf = client_conf_new(NULL);
        rd_kafka_conf_set(conf, "group.id", "g", text, sizeof text);
        rd_kafka_conf_set(conf, "session.timeout.ms", "9000", text, sizeof text);
        rd_kafka_conf_set(conf, "max.poll.interval.ms", "1000", text, sizeof text);
        rd_kafka_t *client = NULL;
        ck_assert_int_eq(client_new(&client, RD_KAFKA_CONSUMER, &conf, &error), PO_SYSTEMIC);
        unit_assert_in(error.text, "max.poll.interval.ms");
        ck_assert_ptr_nonnull(conf); /* still the caller's */
}
END_TEST

START_TEST(what_librdkafka_logs_becomes_a_line_of_ours)
{
        static struct unit_capture capture;
        struct po_error error;
        char text[256];
        unit_capture_begin(&capture, STDERR_FILENO);
        CLEANUP(client_conf_free) rd_kafka_conf_t *conf = client_conf_new(NULL);
        rd_kafka_conf_set(conf, "linger.ms", "100", text, sizeof text);
        rd_kafka_conf_set(conf, "group.id", "g", text, sizeof text);
        rd_kafka_t *client = NULL;
        ck_assert_int_eq(client_new(&client, RD_KAFKA_CONSUMER, &conf, &error), PO_OK);
        rd_kafka_destroy(client);
        const char *lines = unit_capture_end(&capture);
        unit_assert_in(lines, "level=warn event=librdkafka facility=CONFWARN");
        ck_assert_ptr_null(conf);
        client_conf_free(&conf);
}
END_TEST

UNIT_MAIN("client", a_configuration_that_contradicts_itself_is_refused_in_the_librarys_words,
          what_librdkafka_logs_becomes_a_line_of_ours)
