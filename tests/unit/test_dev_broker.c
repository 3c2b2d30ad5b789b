#include "kafka/dev_broker.h"

#include "../support/mock_kafka.h"
#include "unit.h"

START_TEST(topics_have_the_partitions_that_were_asked_for)
{
        struct po_error error;
        struct dev_broker_topic topics[] = { { TOPIC, 3 }, { "callbacks.DLT", 1 } };
        struct dev_broker *broker = NULL;
        ck_assert_int_eq(dev_broker_open(&broker, topics, 2, &error), PO_OK);
        unit_assert_in(dev_broker_address(broker), "127.0.0.1:");

        char text[256];
        rd_kafka_conf_t *conf = rd_kafka_conf_new();
        rd_kafka_conf_set(conf, "bootstrap.servers", dev_broker_address(broker), text, sizeof text);
        rd_kafka_t *client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
        const struct rd_kafka_metadata *metadata = NULL;
        ck_assert_int_eq(rd_kafka_metadata(client, 1, NULL, &metadata, WORLD_WAIT_MS), 0);
        ck_assert_int_eq(metadata->topic_cnt, 2);
        for (int i = 0; i < metadata->topic_cnt; i++)
                ck_assert_int_eq(metadata->topics[i].partition_cnt,
                                 strcmp(metadata->topics[i].topic, TOPIC) == 0 ? 3 : 1);
        rd_kafka_metadata_destroy(metadata);
        rd_kafka_destroy(client);
        dev_broker_close(broker);
        dev_broker_close(NULL);
}
END_TEST

START_TEST(a_topic_named_twice_is_refused)
{
        struct po_error error;
        struct dev_broker_topic topics[] = { { TOPIC, 1 }, { TOPIC, 1 } };
        struct dev_broker *broker = NULL;
        ck_assert_int_eq(dev_broker_open(&broker, topics, 2, &error), PO_SYSTEMIC);
        unit_assert_in(error.text, TOPIC);
        ck_assert_ptr_null(broker);
}
END_TEST

UNIT_MAIN("dev_broker", topics_have_the_partitions_that_were_asked_for,
          a_topic_named_twice_is_refused)
