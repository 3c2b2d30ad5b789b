#include "kafka/delivery.h"

#include "base/clock.h"
#include "kafka/codes.h"

/* A message opaque is "send number, index": a report that comes late finds no memory to write to.
 */
_Static_assert(sizeof(void *) >= sizeof(uint64_t), "the opaque of a message holds two numbers");

enum { POLL_STEP_MS = 100, QUEUE_FULL_WAIT_MS = 20, ARGUMENTS = 8 };

static void message_fail(struct delivery *delivery, size_t index, int code)
{
        if (delivery->explain != NULL)
                code = delivery->explain(delivery->owner, code);
        delivery->messages[index].result = kafka_class(code);
        if (index < delivery->failed) {
                delivery->failed = index;
                delivery->failed_code = code;
        }
}

void delivery_report(struct delivery *delivery, const rd_kafka_message_t *message)
{
        uint64_t mark = (uint64_t)(uintptr_t)message->_private;
        size_t index = (size_t)(mark & UINT32_MAX);
        if (delivery->messages == NULL || mark >> 32 != delivery->number ||
            index >= delivery->count)
                return;
        delivery->pending--;
        if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
                message_fail(delivery, index, message->err);
                return;
        }
        delivery->messages[index].result = PO_OK;
        delivery->messages[index].partition = message->partition;
        delivery->messages[index].offset = message->offset;
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

/* Copies the message: nothing of the caller's is referred to after delivery_run(). */
static int message_enqueue(const struct delivery *delivery, rd_kafka_t *client, size_t index)
{
        const struct sink_message *message = &delivery->messages[index];
        rd_kafka_headers_t *headers = headers_new(message);
        uintptr_t mark = (uintptr_t)((uint64_t)delivery->number << 32 | index);
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
        rd_kafka_error_t *refused = rd_kafka_produceva(client, arguments, ARGUMENTS);
        if (refused == NULL)
                return RD_KAFKA_RESP_ERR_NO_ERROR;
        int code = rd_kafka_error_code(refused);
        rd_kafka_error_destroy(refused);
        rd_kafka_headers_destroy(headers); /* still ours: the message was not taken */
        return code;
}

static void send_one(struct delivery *delivery, rd_kafka_t *client, size_t index,
                     int64_t deadline_ms)
{
        int code = message_enqueue(delivery, client, index);
        while (code == RD_KAFKA_RESP_ERR__QUEUE_FULL && clock_ms() < deadline_ms) {
                rd_kafka_poll(client, QUEUE_FULL_WAIT_MS);
                code = message_enqueue(delivery, client, index);
        }
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
                delivery->pending++;
        else
                message_fail(delivery, index, code);
}

void delivery_run(struct delivery *delivery, rd_kafka_t *client, struct sink_message *messages,
                  size_t count, int64_t wait_ms)
{
        int64_t deadline_ms = clock_ms() + wait_ms;
        delivery->number++;
        delivery->messages = messages;
        delivery->count = count;
        delivery->failed = count;
        delivery->pending = 0;
        for (size_t i = 0; i < count; i++) {
                messages[i].result = PO_TRANSIENT;
                messages[i].partition = -1;
                messages[i].offset = -1;
        }
        for (size_t i = 0; i < count; i++)
                send_one(delivery, client, i, deadline_ms);
        while (delivery->pending > 0 && clock_ms() < deadline_ms)
                rd_kafka_poll(client, POLL_STEP_MS);
        delivery->messages = NULL;
}

enum po_class delivery_result(const struct delivery *delivery, const struct sink_message *messages,
                              struct po_error *error)
{
        if (delivery->failed < delivery->count) {
                kafka_fail(error, delivery->failed_code, messages[delivery->failed].topic);
                return po_within(error, "kafka: send");
        }
        if (delivery->pending > 0)
                return po_fail(error, PO_TRANSIENT, RD_KAFKA_RESP_ERR__TIMED_OUT,
                               "kafka: send: %zu of %zu without an acknowledgement",
                               delivery->pending, delivery->count);
        return PO_OK;
}
