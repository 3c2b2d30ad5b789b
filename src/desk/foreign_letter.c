#include "desk/foreign_letter.h"

enum { INT_BYTES = 4, LONG_BYTES = 8 };

/* The names of one dialect. */
struct dialect {
        const char *topic, *partition, *offset, *timestamp, *reason;
};

static const struct dialect spring[] = {
        { "kafka_dlt-original-topic", "kafka_dlt-original-partition", "kafka_dlt-original-offset",
          "kafka_dlt-original-timestamp", "kafka_dlt-exception-fqcn" },
        { "kafka_original-topic", "kafka_original-partition", "kafka_original-offset",
          "kafka_original-timestamp", "kafka_exception-fqcn" },
};
enum { SPRING = sizeof spring / sizeof spring[0] };

/* A Java int or long as ByteBuffer writes it; -1 when the header is none of that size, or < 0. */
static int64_t big_endian(const struct record_header *header, size_t size_bytes)
{
        if (header == NULL || header->value == NULL || header->value_bytes != size_bytes)
                return -1;
        const unsigned char *bytes = header->value;
        if (bytes[0] > 0x7f)
                return -1;
        uint64_t number = 0;
        for (size_t i = 0; i < size_bytes; i++)
                number = number << 8 | bytes[i];
        return (int64_t)number;
}

bool spring_letter_read(const struct record *letter, struct letter_facts *facts)
{
        for (size_t i = 0; i < SPRING; i++) {
                const struct dialect *names = &spring[i];
                if (!letter_text(letter_header_first(letter, names->topic), facts->topic,
                                 sizeof facts->topic))
                        continue;
                facts->partition = (int32_t)big_endian(
                        letter_header_first(letter, names->partition), INT_BYTES);
                facts->offset = big_endian(letter_header_first(letter, names->offset), LONG_BYTES);
                facts->timestamp_ms =
                        big_endian(letter_header_first(letter, names->timestamp), LONG_BYTES);
                letter_text(record_header(letter, names->reason), facts->reason,
                            sizeof facts->reason);
                return true;
        }
        return false;
}

bool connect_letter_read(const struct record *letter, struct letter_facts *facts)
{
        int64_t partition;
        if (!letter_text(letter_header_first(letter, "__connect.errors.topic"), facts->topic,
                         sizeof facts->topic))
                return false;
        if (letter_number(letter_header_first(letter, "__connect.errors.partition"), &partition) &&
            partition <= INT32_MAX)
                facts->partition = (int32_t)partition;
        if (!letter_number(letter_header_first(letter, "__connect.errors.offset"), &facts->offset))
                facts->offset = -1;
        facts->timestamp_ms = letter->timestamp_ms < 0 ? -1 : letter->timestamp_ms;
        letter_text(record_header(letter, "__connect.errors.exception.class.name"), facts->reason,
                    sizeof facts->reason);
        return true;
}
