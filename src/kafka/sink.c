#include "kafka/sink.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "kafka/codes.h"
#include "kafka/client.h"
#include "kafka/delivery.h"

enum {
        MESSAGE_WAIT_MS = 20 * 1000, /* of one message, at most */
        MESSAGE_WAIT_LEAST_MS = 500,
        POLL_INTERVAL_MS = 300 * 1000, /* librdkafka's default of max.poll.interval.ms */
        POLL_SHARE = 4,       /* while a message is waited for the consumer does not poll */
        TOPIC_WAIT_MS = 5000, /* how long a topic that the brokers do not know is waited for */
        REFRESH_WAIT_MS = 2000,
};

static const struct kafka_property settings[] = {
        { "acks", "all" },
        { "enable.idempotence", "true" },
        /* The topic's own bound is to count, not librdkafka's million: a record that was read is
           larger by our headers when it is sent on. */
        { "message.max.bytes", "67108864" },
        { "client.id", "postonce" },
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

struct sink {
        rd_kafka_t *client;
        rd_kafka_conf_t *conf; /* to open the client again after a fatal error */
        int refused;           /* the latest SYSTEMIC error of the client (login, TLS), or 0 */
        int64_t wait_ms;       /* of one message */
        bool topics_stale;     /* a topic was refused: librdkafka would remember it for minutes */
        struct delivery delivery;
};

static int fatal_cause(rd_kafka_t *client)
{
        char text[PO_ERROR_TEXT_BYTES];
        return rd_kafka_fatal_error(client, text, sizeof text);
}

/* A time-out says less than the refusal that caused it. */
static int code_explain(void *owner, int code)
{
        struct sink *sink = owner;
        if (code == RD_KAFKA_RESP_ERR__FATAL)
                code = fatal_cause(sink->client);
        else if (kafka_class(code) == PO_TRANSIENT && sink->refused != 0)
                code = sink->refused;
        if (kafka_class(code) == PO_SYSTEMIC)
                sink->topics_stale = true;
        return code;
}

static void report(rd_kafka_t *client, const rd_kafka_message_t *message, void *opaque)
{
        (void)client;
        struct sink *sink = opaque;
        if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR)
                sink->refused = 0;
        delivery_report(&sink->delivery, message);
}

static void hear(rd_kafka_t *client, int code, const char *reason, void *opaque)
{
        struct sink *sink = opaque;
        char quoted[2 * PO_ERROR_TEXT_BYTES];
        if (code == RD_KAFKA_RESP_ERR__FATAL)
                code = fatal_cause(client);
        bool refused = kafka_class(code) == PO_SYSTEMIC;
        if (refused && sink->refused == 0)
                log_warn("sink_refused", "code=%s reason=%s",
                         rd_kafka_err2name((rd_kafka_resp_err_t)code),
                         log_quote(quoted, sizeof quoted, reason));
        if (refused)
                sink->refused = code;
}

static enum po_class sink_connect(struct sink *sink, struct po_error *error)
{
        CLEANUP(client_conf_free) rd_kafka_conf_t *conf = rd_kafka_conf_dup(sink->conf);
        return client_new(&sink->client, RD_KAFKA_PRODUCER, &conf, error);
}

static void sink_disconnect(struct sink *sink)
{
        if (sink->client == NULL)
                return;
        rd_kafka_purge(sink->client, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT |
                                             RD_KAFKA_PURGE_F_NON_BLOCKING);
        rd_kafka_destroy(sink->client);
        sink->client = NULL;
}

/* Well below what the group allows between two polls of its consumer. */
static int64_t message_wait_ms(const struct kafka_property *properties, size_t count)
{
        const char *interval = properties_find(properties, count, "max.poll.interval.ms");
        int64_t interval_ms = interval != NULL ? strtoll(interval, NULL, 10) : POLL_INTERVAL_MS;
        int64_t wait_ms = interval_ms / POLL_SHARE;
        if (wait_ms > MESSAGE_WAIT_MS)
                return MESSAGE_WAIT_MS;
        return wait_ms < MESSAGE_WAIT_LEAST_MS ? MESSAGE_WAIT_LEAST_MS : wait_ms;
}

static enum po_class conf_fill(rd_kafka_conf_t *conf, const struct kafka_property *properties,
                               size_t count, struct po_error *error)
{
        char message[24], topic[24];
        int64_t wait_ms = message_wait_ms(properties, count);
        snprintf(message, sizeof message, "%lld", (long long)wait_ms);
        snprintf(topic, sizeof topic, "%lld",
                 (long long)(wait_ms < TOPIC_WAIT_MS ? wait_ms : TOPIC_WAIT_MS));
        if (property_set(conf, "message.timeout.ms", message, error) != PO_OK ||
            property_set(conf, "topic.metadata.propagation.max.ms", topic, error) != PO_OK)
                return error->kind;
        for (size_t i = 0; i < SETTINGS; i++) {
                if (property_set(conf, settings[i].name, settings[i].value, error) != PO_OK)
                        return error->kind;
        }
        return properties_apply(conf, PROPERTY_OF_PRODUCER, properties, count, error);
}

static void sink_drop(struct sink **sink)
{
        sink_close(*sink);
}

enum po_class sink_open(struct sink **sink_out, const struct kafka_property *properties,
                        size_t count, struct po_error *error)
{
        if (properties_check(properties, count, error) != PO_OK)
                return error->kind;
        CLEANUP(sink_drop) struct sink *sink = calloc(1, sizeof *sink);
        if (sink == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "no memory for the sink");
        sink->delivery = (struct delivery){ .explain = code_explain, .owner = sink };
        sink->wait_ms = message_wait_ms(properties, count);
        sink->conf = client_conf_new(sink);
        rd_kafka_conf_set_dr_msg_cb(sink->conf, report);
        rd_kafka_conf_set_error_cb(sink->conf, hear);
        if (conf_fill(sink->conf, properties, count, error) != PO_OK ||
            sink_connect(sink, error) != PO_OK)
                return error->kind;
        *sink_out = MOVE(sink);
        return PO_OK;
}

void sink_close(struct sink *sink)
{
        if (sink == NULL)
                return;
        sink_disconnect(sink);
        client_conf_free(&sink->conf);
        free(sink);
}

static void topics_refresh(struct sink *sink)
{
        const struct rd_kafka_metadata *metadata = NULL;
        rd_kafka_resp_err_t code =
                rd_kafka_metadata(sink->client, 0, NULL, &metadata, REFRESH_WAIT_MS);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
                return;
        rd_kafka_metadata_destroy(metadata);
        sink->topics_stale = false;
}

enum po_class sink_send(struct sink *sink, struct sink_message *messages, size_t count,
                        struct po_error *error)
{
        assert(count <= UINT32_MAX);
        if (fatal_cause(sink->client) != 0) {
                sink_disconnect(sink);
                sink->refused = 0;
        }
        if (sink->client == NULL && sink_connect(sink, error) != PO_OK)
                return error->kind;
        if (sink->topics_stale)
                topics_refresh(sink);
        /* Longer than a message's own time, so that each gets its report. */
        delivery_run(&sink->delivery, sink->client, messages, count,
                     sink->wait_ms + sink->wait_ms / 2);
        enum po_class kind = delivery_result(&sink->delivery, messages, error);
        if (kind == PO_RECORD)
                error->reason = "DEAD_LETTER_TOO_LARGE";
        return kind;
}
