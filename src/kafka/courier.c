#include "kafka/courier.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/failpoint.h"
#include "base/limits.h"
#include "kafka/client.h"
#include "kafka/codes.h"
#include "kafka/delivery.h"

enum {
        OPEN_WAIT_MS = 30 * 1000,
        SEND_WAIT_MS = 21 * 1000, /* longer than message.timeout.ms: each gets its report */
        COMMIT_WAIT_MS = 20 * 1000,
        ABORT_WAIT_MS = 5 * 1000,
        ASK_WAIT_MS = 2 * 1000,
        STEP_MS = 1000,
};

static const struct kafka_property settings[] = {
        { "acks", "all" },
        { "enable.idempotence", "true" },
        /* A relay that died in a transaction keeps readers of committed records waiting so long. */
        { "transaction.timeout.ms", "30000" },
        { "message.timeout.ms", "20000" },
        { "message.max.bytes", "67108864" },
        { "topic.metadata.propagation.max.ms", "5000" },
        { "client.id", "postonce-relay" },
        /* A key lies where Kafka's own clients, Debezium among them, would put it. */
        { "partitioner", "murmur2_random" },
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

struct courier {
        rd_kafka_t *client;
        int refused; /* the latest SYSTEMIC error of the client (login, TLS), or 0 */
        struct delivery delivery;
        char known_topic[TOPIC_BYTES]; /* the latest one that was asked for */
};

static void report(rd_kafka_t *client, const rd_kafka_message_t *message, void *opaque)
{
        (void)client;
        struct courier *courier = opaque;
        if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR)
                courier->refused = 0;
        delivery_report(&courier->delivery, message);
}

static void hear(rd_kafka_t *client, int code, const char *reason, void *opaque)
{
        (void)client;
        (void)reason;
        struct courier *courier = opaque;
        if (code != RD_KAFKA_RESP_ERR__FATAL && kafka_class(code) == PO_SYSTEMIC)
                courier->refused = code;
}

static int fatal_cause(rd_kafka_t *client)
{
        char text[PO_ERROR_TEXT_BYTES];
        return rd_kafka_fatal_error(client, text, sizeof text);
}

static bool is_fenced(int code)
{
        return code == RD_KAFKA_RESP_ERR__FENCED || code == RD_KAFKA_RESP_ERR_PRODUCER_FENCED ||
               code == RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH;
}

/* Why: what ended the producer, else what the brokers refuse, else what was met. */
static enum po_class fail(struct courier *courier, int code, const char *context,
                          struct po_error *error)
{
        int fatal = fatal_cause(courier->client);
        if (fatal != 0)
                code = fatal;
        else if (kafka_class(code) == PO_TRANSIENT && courier->refused != 0)
                code = courier->refused;
        kafka_fail(error, code, context);
        if (is_fenced(code))
                error->reason = COURIER_FENCED;
        return po_within(error, "kafka: transaction");
}

/* Also ends the error's life. OK for none. */
static enum po_class fail_with(struct courier *courier, rd_kafka_error_t *failure,
                               const char *context, struct po_error *error)
{
        if (failure == NULL)
                return PO_OK;
        int code = rd_kafka_error_code(failure);
        rd_kafka_error_destroy(failure);
        return fail(courier, code, context, error);
}

typedef rd_kafka_error_t *(*transaction_call)(rd_kafka_t *client, int timeout_ms);

/* These calls go on where they were when they are called again. NULL: done. */
static rd_kafka_error_t *call_until(rd_kafka_t *client, transaction_call call, int64_t wait_ms)
{
        int64_t deadline_ms = clock_ms() + wait_ms;
        for (;;) {
                rd_kafka_error_t *failure = call(client, STEP_MS);
                if (failure == NULL || !rd_kafka_error_is_retriable(failure) ||
                    clock_ms() >= deadline_ms)
                        return failure;
                rd_kafka_error_destroy(failure);
                rd_kafka_poll(client, 0);
        }
}

static enum po_class conf_fill(rd_kafka_conf_t *conf, const char *id,
                               const struct kafka_property *properties, size_t count,
                               struct po_error *error)
{
        for (size_t i = 0; i < SETTINGS; i++)
                if (property_set(conf, settings[i].name, settings[i].value, error) != PO_OK)
                        return error->kind;
        if (property_set(conf, "transactional.id", id, error) != PO_OK)
                return error->kind;
        return properties_apply(conf, PROPERTY_OF_PRODUCER, properties, count, error);
}

static void courier_drop(struct courier **courier)
{
        courier_close(*courier);
}

enum po_class courier_open(struct courier **courier_out, const char *id,
                           const struct kafka_property *properties, size_t count,
                           struct po_error *error)
{
        *courier_out = NULL;
        CLEANUP(courier_drop) struct courier *courier = calloc(1, sizeof *courier);
        if (courier == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "no memory for the courier");
        CLEANUP(client_conf_free) rd_kafka_conf_t *conf = client_conf_new(courier);
        rd_kafka_conf_set_dr_msg_cb(conf, report);
        rd_kafka_conf_set_error_cb(conf, hear);
        if (conf_fill(conf, id, properties, count, error) != PO_OK ||
            client_new(&courier->client, RD_KAFKA_PRODUCER, &conf, error) != PO_OK)
                return error->kind;
        rd_kafka_error_t *failure =
                call_until(courier->client, rd_kafka_init_transactions, OPEN_WAIT_MS);
        if (fail_with(courier, failure, "take over", error) != PO_OK)
                return error->kind;
        *courier_out = MOVE(courier);
        return PO_OK;
}

void courier_close(struct courier *courier)
{
        if (courier == NULL)
                return;
        if (courier->client != NULL) {
                rd_kafka_purge(courier->client, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT |
                                                        RD_KAFKA_PURGE_F_NON_BLOCKING);
                rd_kafka_destroy(courier->client);
        }
        free(courier);
}

/* Else the first message of a topic would wait for librdkafka's own next look, up to a second. */
static void topics_learn(struct courier *courier, const struct sink_message *messages, size_t count)
{
        for (size_t i = 0; i < count; i++) {
                const struct rd_kafka_metadata *metadata = NULL;
                if (strcmp(courier->known_topic, messages[i].topic) == 0)
                        continue;
                snprintf(courier->known_topic, sizeof courier->known_topic, "%s",
                         messages[i].topic);
                rd_kafka_topic_t *topic =
                        rd_kafka_topic_new(courier->client, messages[i].topic, NULL);
                if (topic == NULL)
                        continue;
                if (rd_kafka_metadata(courier->client, 0, topic, &metadata, ASK_WAIT_MS) ==
                    RD_KAFKA_RESP_ERR_NO_ERROR)
                        rd_kafka_metadata_destroy(metadata);
                rd_kafka_topic_destroy(topic);
        }
}

static enum po_class send_all(struct courier *courier, struct sink_message *messages, size_t count,
                              struct po_error *error)
{
        delivery_run(&courier->delivery, courier->client, messages, count, SEND_WAIT_MS);
        enum po_class kind = delivery_result(&courier->delivery, messages, error);
        if (kind == PO_OK || kind == PO_RECORD)
                return kind;
        return fail(courier, error->code, messages[0].topic, error);
}

static enum po_class commit(struct courier *courier, struct po_error *error)
{
        rd_kafka_error_t *failure =
                call_until(courier->client, rd_kafka_commit_transaction, COMMIT_WAIT_MS);
        return fail_with(courier, failure, "commit", error);
}

/*
 * Readers need not wait for what is aborted. What became of it says more than why: with a fence
 * nothing was committed.
 */
static enum po_class take_back(struct courier *courier, struct po_error *error)
{
        struct po_error aborting;
        rd_kafka_error_t *failure =
                call_until(courier->client, rd_kafka_abort_transaction, ABORT_WAIT_MS);
        if (fail_with(courier, failure, "abort", &aborting) != PO_OK && aborting.reason != NULL)
                *error = aborting;
        return error->kind;
}

enum po_class courier_deliver(struct courier *courier, struct sink_message *messages, size_t count,
                              struct po_error *error)
{
        topics_learn(courier, messages, count);
        if (fail_with(courier, rd_kafka_begin_transaction(courier->client), "begin", error) !=
            PO_OK)
                return error->kind;
        if (send_all(courier, messages, count, error) == PO_OK &&
            PO_FAILPOINT("courier.sent") == PO_OK && commit(courier, error) == PO_OK)
                return PO_OK;
        return take_back(courier, error);
}
