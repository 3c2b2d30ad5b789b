#include "kafka/properties.h"

#include <string.h>
#include <strings.h>

#include <librdkafka/rdkafka.h>

enum { LIBRARY_TEXT_BYTES = 512 };

#define BOTH     PROPERTY_OF_BOTH
#define CONSUMER PROPERTY_OF_CONSUMER
#define PRODUCER PROPERTY_OF_PRODUCER

#define OFFSETS_ARE_OURS "postonce stores an offset only when everything below it is settled"
#define ACKS_ARE_OURS    "a dead letter counts once every replica that must have it has it"
#define OURS             "postonce sets it itself"

static const struct property_rule rules[] = {
        /* Offsets: P2, no record is lost. */
        { "enable.auto.commit", CONSUMER, "false", OFFSETS_ARE_OURS },
        { "auto.commit.enable", CONSUMER, "false", OFFSETS_ARE_OURS },
        { "enable.auto.offset.store", CONSUMER, "false", OFFSETS_ARE_OURS },
        { "auto.commit.interval.ms", CONSUMER, NULL, OFFSETS_ARE_OURS },
        { "offset.store.method", CONSUMER, "broker", "offsets belong to the group, not to a file" },
        { "offset.store.path", CONSUMER, NULL, "offsets belong to the group, not to a file" },
        { "offset.store.sync.interval.ms", CONSUMER, NULL,
          "offsets belong to the group, not to a file" },
        { "auto.offset.reset", CONSUMER, "error",
          "it would jump over records or back without a word; a group without offsets begins at "
          "the beginning, an offset out of range stops its partition" },
        { "isolation.level", CONSUMER, "read_committed",
          "records of aborted transactions would be posted" },
        { "enable.partition.eof", CONSUMER, "true", "the end of a partition must be seen" },
        { "check.crcs", CONSUMER, "true",
          "payments are not read from bytes that failed a checksum" },
        { "allow.auto.create.topics", BOTH, "false",
          "a misspelt topic would be created and read as empty" },
        { "group.protocol", CONSUMER, "classic",
          "the rebalance of the consumer protocol is another one and not proven here" },
        { "group.protocol.type", CONSUMER, "consumer", "other members would not understand it" },
        { "topic.blacklist", BOTH, NULL,
          "postonce leaves the dead letters' topic out itself; narrow the pattern for others" },
        { "consume.callback.max.messages", CONSUMER, NULL, "records are polled one at a time" },
        /* The producer's acknowledgements. */
        { "enable.idempotence", PRODUCER, "true", ACKS_ARE_OURS },
        { "acks", PRODUCER, "all", ACKS_ARE_OURS },
        { "request.required.acks", PRODUCER, "all", ACKS_ARE_OURS },
        { "delivery.report.only.error", PRODUCER, "false", ACKS_ARE_OURS },
        { "enable.gapless.guarantee", PRODUCER, "false", "one failure would end the producer" },
        { "message.timeout.ms", PRODUCER, NULL, OURS },
        { "delivery.timeout.ms", PRODUCER, NULL, OURS },
        { "transactional.id", PRODUCER, NULL, "dead letters are not sent in transactions" },
        { "transaction.timeout.ms", PRODUCER, NULL, "dead letters are not sent in transactions" },
        { "queuing.strategy", PRODUCER, "fifo", "the order of letters would be lost" },
        /* Ways around the program. */
        { "enabled_events", BOTH, NULL, "rebalances are served by callbacks" },
        { "log.queue", BOTH, "false", OURS },
        { "internal.termination.signal", BOTH, NULL, "signals are postonce's" },
        { "test.mock.num.brokers", BOTH, NULL,
          "an in-process broker forgets all it had; see `postonce dev-broker`" },
        { "test.mock.broker.rtt", BOTH, NULL, "see `postonce dev-broker`" },
        /* Whose the others are: a client warns about what the other one has. */
        { "group.id", CONSUMER, NULL, NULL },
        { "group.instance.id", CONSUMER, NULL, NULL },
        { "partition.assignment.strategy", CONSUMER, NULL, NULL },
        { "session.timeout.ms", CONSUMER, NULL, NULL },
        { "heartbeat.interval.ms", CONSUMER, NULL, NULL },
        { "coordinator.query.interval.ms", CONSUMER, NULL, NULL },
        { "max.poll.interval.ms", CONSUMER, NULL, NULL },
        { "queued.min.messages", CONSUMER, NULL, NULL },
        { "queued.max.messages.kbytes", CONSUMER, NULL, NULL },
        { "fetch.wait.max.ms", CONSUMER, NULL, NULL },
        { "fetch.queue.backoff.ms", CONSUMER, NULL, NULL },
        { "fetch.message.max.bytes", CONSUMER, NULL, NULL },
        { "max.partition.fetch.bytes", CONSUMER, NULL, NULL },
        { "fetch.max.bytes", CONSUMER, NULL, NULL },
        { "fetch.min.bytes", CONSUMER, NULL, NULL },
        { "fetch.error.backoff.ms", CONSUMER, NULL, NULL },
        { "queue.buffering.max.messages", PRODUCER, NULL, NULL },
        { "queue.buffering.max.kbytes", PRODUCER, NULL, NULL },
        { "queue.buffering.max.ms", PRODUCER, NULL, NULL },
        { "queue.buffering.backpressure.threshold", PRODUCER, NULL, NULL },
        { "linger.ms", PRODUCER, NULL, NULL },
        { "message.send.max.retries", PRODUCER, NULL, NULL },
        { "retries", PRODUCER, NULL, NULL },
        { "retry.backoff.ms", PRODUCER, NULL, NULL },
        { "request.timeout.ms", PRODUCER, NULL, NULL },
        { "compression.codec", PRODUCER, NULL, NULL },
        { "compression.type", PRODUCER, NULL, NULL },
        { "compression.level", PRODUCER, NULL, NULL },
        { "batch.num.messages", PRODUCER, NULL, NULL },
        { "batch.size", PRODUCER, NULL, NULL },
        { "partitioner", PRODUCER, NULL, NULL },
        { "sticky.partitioning.linger.ms", PRODUCER, NULL, NULL },
};
enum { RULES = sizeof rules / sizeof rules[0] };

/* Parts of the names of secrets: their values never stand in an error. */
static const char *const secret_parts[] = { "password", "secret", ".pem", "oauthbearer.config" };
enum { SECRET_PARTS = sizeof secret_parts / sizeof secret_parts[0] };

const struct property_rule *property_rules(size_t *count_out)
{
        *count_out = RULES;
        return rules;
}

static const struct property_rule *rule_find(const char *name)
{
        for (size_t i = 0; i < RULES; i++) {
                if (strcmp(rules[i].name, name) == 0)
                        return &rules[i];
        }
        return NULL;
}

const char *properties_find(const struct kafka_property *properties, size_t count, const char *name)
{
        const char *value = NULL;
        for (size_t i = 0; i < count; i++) {
                if (strcmp(properties[i].name, name) == 0)
                        value = properties[i].value;
        }
        return value;
}

static bool is_secret(const char *name)
{
        for (size_t i = 0; i < SECRET_PARTS; i++) {
                if (strstr(name, secret_parts[i]) != NULL)
                        return true;
        }
        return false;
}

enum po_class property_set(rd_kafka_conf_t *conf, const char *name, const char *value,
                           struct po_error *error)
{
        char text[LIBRARY_TEXT_BYTES];
        if (rd_kafka_conf_set(conf, name, value, text, sizeof text) == RD_KAFKA_CONF_OK)
                return PO_OK;
        if (is_secret(name))
                return po_fail(error, PO_SYSTEMIC, RD_KAFKA_RESP_ERR__INVALID_ARG,
                               "kafka: %s: librdkafka does not take the value (not shown)", name);
        return po_fail(error, PO_SYSTEMIC, RD_KAFKA_RESP_ERR__INVALID_ARG, "kafka: %s: %s", name,
                       text);
}

static enum po_class property_refuse(const struct kafka_property *property, struct po_error *error)
{
        const struct property_rule *rule = rule_find(property->name);
        if (rule == NULL || rule->reason == NULL)
                return PO_OK;
        if (rule->only == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "kafka: %s cannot be set: %s", rule->name,
                               rule->reason);
        if (strcasecmp(rule->only, property->value) == 0)
                return PO_OK;
        return po_fail(error, PO_SYSTEMIC, 0, "kafka: %s can only be %s: %s", rule->name,
                       rule->only, rule->reason);
}

static enum po_class property_require(const struct kafka_property *properties, size_t count,
                                      const char *name, const char *alias, struct po_error *error)
{
        const char *value = properties_find(properties, count, name);
        if (value == NULL && alias != NULL)
                value = properties_find(properties, count, alias);
        if (value != NULL && value[0] != '\0')
                return PO_OK;
        return po_fail(error, PO_SYSTEMIC, 0, "kafka: %s is required", name);
}

static void conf_free(rd_kafka_conf_t **conf)
{
        if (*conf != NULL)
                rd_kafka_conf_destroy(*conf);
}

enum po_class properties_check(const struct kafka_property *properties, size_t count,
                               struct po_error *error)
{
        __attribute__((cleanup(conf_free))) rd_kafka_conf_t *scratch = rd_kafka_conf_new();
        for (size_t i = 0; i < count; i++) {
                if (property_refuse(&properties[i], error) != PO_OK)
                        return error->kind;
                /* A classic-only library does not know this one; its only value means nothing. */
                if (strcmp(properties[i].name, "group.protocol") == 0)
                        continue;
                if (property_set(scratch, properties[i].name, properties[i].value, error) != PO_OK)
                        return error->kind;
        }
        if (property_require(properties, count, "bootstrap.servers", "metadata.broker.list",
                             error) != PO_OK)
                return error->kind;
        return property_require(properties, count, "group.id", NULL, error);
}

enum po_class properties_apply(rd_kafka_conf_t *conf, enum property_owner client,
                               const struct kafka_property *properties, size_t count,
                               struct po_error *error)
{
        for (size_t i = 0; i < count; i++) {
                const struct property_rule *rule = rule_find(properties[i].name);
                if (rule != NULL && rule->reason != NULL)
                        continue; /* its only value is what the client is opened with anyway */
                if (rule != NULL && rule->owner != PROPERTY_OF_BOTH && rule->owner != client)
                        continue;
                if (property_set(conf, properties[i].name, properties[i].value, error) != PO_OK)
                        return error->kind;
        }
        return PO_OK;
}
