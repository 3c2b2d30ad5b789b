#include <stdlib.h>

#include "base/limits.h"
#include "kafka/source_internal.h"

/* Payments are small; a batch of huge records ends early instead of filling the memory. */
enum { BATCH_BYTES_MAX = 2 * VALUE_BYTES_MAX, HEADERS_FIRST = 64 };

enum po_class hand_open(struct hand *hand, size_t records_max, struct po_error *error)
{
        hand->capacity = records_max;
        hand->messages = calloc(records_max, sizeof *hand->messages);
        hand->records = calloc(records_max, sizeof *hand->records);
        if (hand->messages == NULL || hand->records == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "no memory for batches of %zu", records_max);
        return PO_OK;
}

void hand_close(struct hand *hand)
{
        free(hand->messages);
        free(hand->records);
        free(hand->headers);
        *hand = (struct hand){ 0 };
}

void hand_release(struct hand *hand)
{
        for (size_t i = 0; i < hand->count; i++)
                rd_kafka_message_destroy(hand->messages[i]);
        hand->count = 0;
        hand->size_bytes = 0;
        hand->headers_count = 0;
}

bool hand_is_full(const struct hand *hand)
{
        return hand->count == hand->capacity || hand->size_bytes >= BATCH_BYTES_MAX;
}

static bool headers_grow(struct hand *hand, size_t wanted)
{
        if (wanted <= hand->headers_capacity)
                return true;
        size_t capacity = hand->headers_capacity > 0 ? hand->headers_capacity : HEADERS_FIRST;
        while (capacity < wanted)
                capacity *= 2;
        struct record_header *headers = realloc(hand->headers, capacity * sizeof *headers);
        if (headers == NULL)
                return false;
        hand->headers = headers;
        hand->headers_capacity = capacity;
        return true;
}

/* Names and values stay in the message's memory; only the pointers are copied. */
static bool headers_copy(struct hand *hand, const rd_kafka_message_t *message, size_t *count_out)
{
        *count_out = 0;
        rd_kafka_headers_t *headers = NULL;
        if (rd_kafka_message_headers(message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR)
                return true;
        size_t count = rd_kafka_header_cnt(headers);
        if (!headers_grow(hand, hand->headers_count + count))
                return false;
        for (size_t i = 0; i < count; i++) {
                struct record_header *header = &hand->headers[hand->headers_count + i];
                if (rd_kafka_header_get_all(headers, i, &header->name, &header->value,
                                            &header->value_bytes) != RD_KAFKA_RESP_ERR_NO_ERROR)
                        return false;
        }
        hand->headers_count += count;
        *count_out = count;
        return true;
}

bool hand_add(struct hand *hand, rd_kafka_message_t *message, const struct partition *partition,
              size_t slot)
{
        size_t headers_count;
        if (!headers_copy(hand, message, &headers_count)) {
                rd_kafka_message_destroy(message);
                return false;
        }
        rd_kafka_timestamp_type_t type;
        int64_t timestamp_ms = rd_kafka_message_timestamp(message, &type);
        hand->records[hand->count] = (struct record){
                .topic = partition->topic,
                .partition = partition->number,
                .offset = message->offset,
                .timestamp_ms = type == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? -1 : timestamp_ms,
                .key = message->key,
                .key_bytes = message->key_len,
                .value = message->payload,
                .value_bytes = message->len,
                .headers_count = headers_count,
                .slot = slot,
                .epoch = partition->epoch,
        };
        hand->messages[hand->count] = message;
        hand->count++;
        hand->size_bytes += message->key_len + message->len;
        return true;
}

void hand_finish(struct hand *hand, const struct partitions *partitions)
{
        size_t kept = 0;
        size_t headers_before = 0;
        for (size_t i = 0; i < hand->count; i++) {
                struct record record = hand->records[i];
                const struct partition *partition = &partitions->items[record.slot];
                record.headers = record.headers_count > 0 ? &hand->headers[headers_before] : NULL;
                headers_before += record.headers_count;
                if (!partition->assigned || partition->epoch != record.epoch) {
                        rd_kafka_message_destroy(hand->messages[i]);
                        continue;
                }
                hand->messages[kept] = hand->messages[i];
                hand->records[kept] = record;
                kept++;
        }
        hand->count = kept;
}
