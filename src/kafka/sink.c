#include "kafka/sink.h"

#include <assert.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "kafka/codes.h"
#include "kafka/client.h"

/* A message opaque is "send number, index": a report that comes late finds no memory to write to.
 */
_Static_assert(sizeof(void *) >= sizeof(uint64_t), "the opaque of a message holds two numbers");

enum {
        SEND_WAIT_MS =
                30 * 1000, /* longer than message.timeout.ms, so each message gets its report */
        POLL_STEP_MS = 100,
        QUEUE_FULL_WAIT_MS = 20,
        REFRESH_WAIT_MS = 2000,
        ARGUMENTS = 8,
};

static const struct kafka_property settings[] = {
        { "acks", "all" },
        { "enable.idempotence", "true" },
        { "message.timeout.ms", "20000" },
        /* The topic's own bound is to count, not librdkafka's million: a record that was read is
           larger by our headers when it is sent on. */
        { "message.max.bytes", "67108864" },
        /* How long a topic that the brokers do not know is waited for. */
        { "topic.metadata.propagation.max.ms", "5000" },
        { "client.id", "postonce" },
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

struct sink {
        rd_kafka_t *client;
        rd_kafka_conf_t *conf; /* to open the client again after a fatal error */
        int refused;           /* the latest SYSTEMIC error of the client (login, TLS), or 0 */
        bool topics_stale;     /* a topic was refused: librdkafka would remember it for minutes */
        /* The send under way: */
        uint32_t number;
        struct sink_message *messages; /* NULL: none */
        size_t count, pending;
        size_t failed; /* the lowest index that failed; count: none */
        int failed_code;
};

static int fatal_cause(rd_kafka_t *client)
{
        char text[PO_ERROR_TEXT_BYTES];
        return rd_kafka_fatal_error(client, text, sizeof text);
}

/* A time-out says less than the refusal that caused it. */
static int code_explain(const struct sink *sink, int code)
{
        if (code == RD_KAFKA_RESP_ERR__FATAL)
                return fatal_cause(sink->client);
        if (kafka_class(code) == PO_TRANSIENT && sink->refused != 0)
                return sink->refused;
        return code;
}

static void message_fail(struct sink *sink, size_t index, int code)
{
        code = code_explain(sink, code);
        sink->messages[index].result = kafka_class(code);
        if (sink->messages[index].result == PO_SYSTEMIC)
                sink->topics_stale = true;
        if (index < sink->failed) {
                sink->failed = index;
                sink->failed_code = code;
        }
}

static void report(rd_kafka_t *client, const rd_kafka_message_t *message, void *opaque)
{
        (void)client;
        struct sink *sink = opaque;
        uint64_t mark = (uint64_t)(uintptr_t)message->_private;
        size_t index = (size_t)(mark & UINT32_MAX);
        if (sink->messages == NULL || mark >> 32 != sink->number || index >= sink->count)
                return;
        sink->pending--;
        if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
                message_fail(sink, index, message->err);
                return;
        }
        sink->refused = 0;
        sink->messages[index].result = PO_OK;
        sink->messages[index].partition = message->partition;
        sink->messages[index].offset = message->offset;
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

static enum po_class conf_fill(rd_kafka_conf_t *conf, const struct kafka_property *properties,
                               size_t count, struct po_error *error)
{
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

static rd_kafka_headers_t *headers_new(const struct sink_message *message)
{
        rd_kafka_headers_t *headers = rd_kafka_headers_new(message->headers_count);
        for (size_t i = 0; i < message->headers_count; i++)
                rd_kafka_header_add(headers, message->headers[i].name, -1,
                                    message->headers[i].value,
                                    (ssize_t)message->headers[i].value_bytes);
        return headers;
}

/* Copies the message: nothing of the caller's is referred to after sink_send(). */
static int message_enqueue(struct sink *sink, size_t index)
{
        const struct sink_message *message = &sink->messages[index];
        rd_kafka_headers_t *headers = headers_new(message);
        uintptr_t mark = (uintptr_t)((uint64_t)sink->number << 32 | index);
        rd_kafka_vu_t arguments[ARGUMENTS] = {
                { .vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = message->topic },
                { .vtype = RD_KAFKA_VTYPE_PARTITION,
                  .u.i32 = message->to_partition != NULL ? *message->to_partition
                                                         : RD_KAFKA_PARTITION_UA },
                { .vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY },
                { .vtype = RD_KAFKA_VTYPE_KEY,
                  .u.mem = { .ptr = (void *)(uintptr_t)message->key, .size = message->key_bytes } },
                { .vtype = RD_KAFKA_VTYPE_VALUE,
                  .u.mem = { .ptr = (void *)(uintptr_t)message->value,
                             .size = message->value_bytes } },
                { .vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = headers },
                { .vtype = RD_KAFKA_VTYPE_OPAQUE, .u.ptr = (void *)mark },
                { .vtype = RD_KAFKA_VTYPE_TIMESTAMP,
                  .u.i64 = message->timestamp_ms > 0 ? message->timestamp_ms : 0 },
        };
        rd_kafka_error_t *refused = rd_kafka_produceva(sink->client, arguments, ARGUMENTS);
        if (refused == NULL)
                return RD_KAFKA_RESP_ERR_NO_ERROR;
        int code = rd_kafka_error_code(refused);
        rd_kafka_error_destroy(refused);
        rd_kafka_headers_destroy(headers); /* still ours: the message was not taken */
        return code;
}

static void send_one(struct sink *sink, size_t index, int64_t deadline_ms)
{
        int code = message_enqueue(sink, index);
        while (code == RD_KAFKA_RESP_ERR__QUEUE_FULL && clock_ms() < deadline_ms) {
                rd_kafka_poll(sink->client, QUEUE_FULL_WAIT_MS);
                code = message_enqueue(sink, index);
        }
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
                sink->pending++;
        else
                message_fail(sink, index, code);
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

static enum po_class send_result(const struct sink *sink, struct po_error *error)
{
        if (sink->failed < sink->count) {
                kafka_fail(error, sink->failed_code, sink->messages[sink->failed].topic);
                if (error->kind == PO_RECORD)
                        error->reason = "DEAD_LETTER_TOO_LARGE";
                return po_within(error, "kafka: send");
        }
        if (sink->pending > 0)
                return po_fail(error, PO_TRANSIENT, RD_KAFKA_RESP_ERR__TIMED_OUT,
                               "kafka: send: %zu of %zu without an acknowledgement", sink->pending,
                               sink->count);
        return PO_OK;
}

enum po_class sink_send(struct sink *sink, struct sink_message *messages, size_t count,
                        struct po_error *error)
{
        assert(count <= UINT32_MAX);
        int64_t deadline_ms = clock_ms() + SEND_WAIT_MS;
        if (fatal_cause(sink->client) != 0) {
                sink_disconnect(sink);
                sink->refused = 0;
        }
        if (sink->client == NULL && sink_connect(sink, error) != PO_OK)
                return error->kind;
        if (sink->topics_stale)
                topics_refresh(sink);
        sink->number++;
        sink->messages = messages;
        sink->count = count;
        sink->failed = count;
        sink->pending = 0;
        for (size_t i = 0; i < count; i++) {
                messages[i].result = PO_TRANSIENT;
                messages[i].partition = -1;
                messages[i].offset = -1;
        }
        for (size_t i = 0; i < count; i++)
                send_one(sink, i, deadline_ms);
        while (sink->pending > 0 && clock_ms() < deadline_ms)
                rd_kafka_poll(sink->client, POLL_STEP_MS);
        enum po_class result = send_result(sink, error);
        sink->messages = NULL;
        return result;
}
