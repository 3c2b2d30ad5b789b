#include "kafka/properties.h"

#include <librdkafka/rdkafka.h>

#include "unit.h"

static struct po_error error;

static enum po_class check_with(const char *name, const char *value)
{
        struct kafka_property properties[] = { { "bootstrap.servers", "127.0.0.1:1" },
                                               { "group.id", "g" },
                                               { name, value } };
        return properties_check(properties, 3, &error);
}

START_TEST(every_rule_with_a_reason_refuses_what_breaks_a_promise_and_says_it)
{
        size_t count;
        const struct property_rule *rules = property_rules(&count);
        ck_assert_uint_gt(count, 10);
        for (size_t i = 0; i < count; i++) {
                for (size_t j = 0; j < i; j++)
                        ck_assert_str_ne(rules[i].name, rules[j].name);
                if (rules[i].reason == NULL)
                        continue;
                ck_assert_int_eq(check_with(rules[i].name, "other"), PO_SYSTEMIC);
                unit_assert_in(error.text, rules[i].name);
                unit_assert_in(error.text, rules[i].reason);
                if (rules[i].only != NULL)
                        ck_assert_msg(check_with(rules[i].name, rules[i].only) == PO_OK, "%s",
                                      error.text);
        }
}
END_TEST

/* A name that librdkafka does not know would let the property through unnoticed. */
START_TEST(every_rule_names_a_property_of_librdkafka)
{
        size_t count;
        const struct property_rule *rules = property_rules(&count);
        char text[256];
        for (size_t i = 0; i < count; i++) {
                rd_kafka_conf_t *conf = rd_kafka_conf_new();
                rd_kafka_conf_res_t known =
                        rd_kafka_conf_set(conf, rules[i].name, "0", text, sizeof text);
                rd_kafka_conf_destroy(conf);
                bool newer = strcmp(rules[i].name, "group.protocol") == 0 ||
                             strcmp(rules[i].name, "fetch.queue.backoff.ms") == 0;
                ck_assert_msg(known != RD_KAFKA_CONF_UNKNOWN || newer, "%s", text);
        }
}
END_TEST

START_TEST(the_promises_of_the_contract_are_among_the_rules)
{
        ck_assert_int_eq(check_with("enable.auto.commit", "true"), PO_SYSTEMIC);
        ck_assert_int_eq(check_with("enable.auto.offset.store", "true"), PO_SYSTEMIC);
        ck_assert_int_eq(check_with("auto.offset.reset", "latest"), PO_SYSTEMIC);
        ck_assert_int_eq(check_with("auto.offset.reset", "earliest"), PO_SYSTEMIC);
        ck_assert_int_eq(check_with("isolation.level", "read_uncommitted"), PO_SYSTEMIC);
        ck_assert_int_eq(check_with("enable.partition.eof", "false"), PO_SYSTEMIC);
        ck_assert_int_eq(check_with("check.crcs", "false"), PO_SYSTEMIC);
        ck_assert_int_eq(check_with("acks", "1"), PO_SYSTEMIC);
        ck_assert_int_eq(check_with("enable.idempotence", "false"), PO_SYSTEMIC);
        ck_assert_int_eq(check_with("isolation.level", "READ_COMMITTED"), PO_OK);
}
END_TEST

START_TEST(login_membership_and_tuning_pass_through)
{
        ck_assert_int_eq(check_with("security.protocol", "SASL_SSL"), PO_OK);
        ck_assert_int_eq(check_with("sasl.mechanisms", "SCRAM-SHA-512"), PO_OK);
        ck_assert_int_eq(check_with("sasl.password", "s3cret"), PO_OK);
        ck_assert_int_eq(check_with("ssl.ca.location", "/etc/ssl/ca.pem"), PO_OK);
        ck_assert_int_eq(check_with("group.instance.id", "worker-1"), PO_OK);
        ck_assert_int_eq(check_with("partition.assignment.strategy", "cooperative-sticky"), PO_OK);
        ck_assert_int_eq(check_with("fetch.max.bytes", "1000000"), PO_OK);
}
END_TEST

START_TEST(an_unknown_or_malformed_property_is_refused_in_the_librarys_words)
{
        ck_assert_int_eq(check_with("fetch.max.byte", "1"), PO_SYSTEMIC);
        unit_assert_in(error.text, "No such configuration property");
        ck_assert_int_eq(check_with("session.timeout.ms", "soon"), PO_SYSTEMIC);
        unit_assert_in(error.text, "session.timeout.ms");
}
END_TEST

START_TEST(a_secret_never_stands_in_an_error)
{
        ck_assert_int_eq(check_with("ssl.key.pem", "s3cret"), PO_OK);
        check_with("sasl.oauthbearer.client.secret.x", "s3cret");
        unit_assert_not_in(error.text, "s3cret");
        rd_kafka_conf_t *conf = rd_kafka_conf_new();
        ck_assert_int_eq(property_set(conf, "no.such.password", "s3cret", &error), PO_SYSTEMIC);
        unit_assert_not_in(error.text, "s3cret");
        rd_kafka_conf_destroy(conf);
}
END_TEST

START_TEST(brokers_and_group_are_required)
{
        struct kafka_property properties[] = { { "bootstrap.servers", "127.0.0.1:1" },
                                               { "group.id", "" } };
        ck_assert_int_eq(properties_check(properties, 2, &error), PO_SYSTEMIC);
        unit_assert_in(error.text, "group.id");
        properties[0] = (struct kafka_property){ "group.id", "g" };
        ck_assert_int_eq(properties_check(properties, 1, &error), PO_SYSTEMIC);
        unit_assert_in(error.text, "bootstrap.servers");
        properties[1] = (struct kafka_property){ "metadata.broker.list", "127.0.0.1:1" };
        ck_assert_int_eq(properties_check(properties, 2, &error), PO_OK);
        ck_assert_str_eq(properties_find(properties, 2, "group.id"), "g");
        ck_assert_ptr_null(properties_find(properties, 2, "client.id"));
}
END_TEST

START_TEST(each_client_gets_only_what_it_has)
{
        struct kafka_property properties[] = {
                { "group.id", "g" }, { "linger.ms", "7" }, { "client.id", "w1" }, { "acks", "all" }
        };
        char value[64];
        size_t size = sizeof value;
        rd_kafka_conf_t *conf = rd_kafka_conf_new();
        ck_assert_int_eq(properties_apply(conf, PROPERTY_OF_PRODUCER, properties, 4, &error),
                         PO_OK);
        ck_assert_int_eq(rd_kafka_conf_get(conf, "group.id", NULL, &size), RD_KAFKA_CONF_UNKNOWN);
        size = sizeof value;
        ck_assert_int_eq(rd_kafka_conf_get(conf, "linger.ms", value, &size), RD_KAFKA_CONF_OK);
        ck_assert_str_eq(value, "7");
        rd_kafka_conf_destroy(conf);
        conf = rd_kafka_conf_new();
        ck_assert_int_eq(properties_apply(conf, PROPERTY_OF_CONSUMER, properties, 4, &error),
                         PO_OK);
        size = sizeof value;
        ck_assert_int_eq(rd_kafka_conf_get(conf, "group.id", value, &size), RD_KAFKA_CONF_OK);
        ck_assert_str_eq(value, "g");
        size = sizeof value;
        ck_assert_int_eq(rd_kafka_conf_get(conf, "linger.ms", value, &size), RD_KAFKA_CONF_OK);
        ck_assert_str_ne(value, "7");
        rd_kafka_conf_destroy(conf);
}
END_TEST

UNIT_MAIN("properties", every_rule_with_a_reason_refuses_what_breaks_a_promise_and_says_it,
          every_rule_names_a_property_of_librdkafka,
          the_promises_of_the_contract_are_among_the_rules,
          login_membership_and_tuning_pass_through,
          an_unknown_or_malformed_property_is_refused_in_the_librarys_words,
          a_secret_never_stands_in_an_error, brokers_and_group_are_required,
          each_client_gets_only_what_it_has)
