#include "base/record_pack.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

enum { LENGTH_BYTES = 4, FIXED_BYTES = 4 + 4 + 4 + 8 + 8 };

#define NULL_LENGTH UINT32_MAX

static const unsigned char magic[4] = { 'P', 'O', 'R', '1' };

static unsigned char *number_put(unsigned char *at, uint64_t number, size_t size_bytes)
{
        for (size_t i = 0; i < size_bytes; i++)
                at[i] = (unsigned char)(number >> (8 * (size_bytes - 1 - i)));
        return at + size_bytes;
}

static unsigned char *name_put(unsigned char *at, const char *name)
{
        size_t length = strlen(name);
        assert(length < NULL_LENGTH);
        at = number_put(at, length, LENGTH_BYTES);
        memcpy(at, name, length + 1);
        return at + length + 1;
}

static unsigned char *bytes_put(unsigned char *at, const void *bytes, size_t length)
{
        if (bytes == NULL)
                return number_put(at, NULL_LENGTH, LENGTH_BYTES);
        assert(length < NULL_LENGTH);
        at = number_put(at, length, LENGTH_BYTES);
        memcpy(at, bytes, length);
        return at + length;
}

static size_t name_bytes(const char *name)
{
        return LENGTH_BYTES + strlen(name) + 1;
}

static size_t value_bytes(const void *bytes, size_t length)
{
        return LENGTH_BYTES + (bytes == NULL ? 0 : length);
}

size_t record_pack_bytes(const struct record *record)
{
        size_t count = FIXED_BYTES + name_bytes(record->topic) +
                       value_bytes(record->key, record->key_bytes) +
                       value_bytes(record->value, record->value_bytes);
        for (size_t i = 0; i < record->headers_count; i++)
                count += name_bytes(record->headers[i].name) +
                         value_bytes(record->headers[i].value, record->headers[i].value_bytes);
        return count;
}

void record_pack(const struct record *record, unsigned char *buffer)
{
        assert(record->headers_count < NULL_LENGTH);
        unsigned char *at = buffer;
        memcpy(at, magic, sizeof magic);
        at = number_put(at + sizeof magic, record->headers_count, 4);
        at = number_put(at, (uint32_t)record->partition, 4);
        at = number_put(at, (uint64_t)record->offset, 8);
        at = number_put(at, (uint64_t)record->timestamp_ms, 8);
        at = name_put(at, record->topic);
        at = bytes_put(at, record->key, record->key_bytes);
        at = bytes_put(at, record->value, record->value_bytes);
        for (size_t i = 0; i < record->headers_count; i++) {
                at = name_put(at, record->headers[i].name);
                at = bytes_put(at, record->headers[i].value, record->headers[i].value_bytes);
        }
}

/* What is left to read; one read beyond the end makes all that follow fail. */
struct reader {
        const unsigned char *at;
        size_t left;
        bool broken;
};

static const unsigned char *take(struct reader *reader, size_t count)
{
        if (reader->broken || count > reader->left) {
                reader->broken = true;
                return NULL;
        }
        const unsigned char *taken = reader->at;
        reader->at += count;
        reader->left -= count;
        return taken;
}

static uint64_t number_take(struct reader *reader, size_t size_bytes)
{
        const unsigned char *bytes = take(reader, size_bytes);
        uint64_t number = 0;
        for (size_t i = 0; bytes != NULL && i < size_bytes; i++)
                number = number << 8 | bytes[i];
        return number;
}

static const char *name_take(struct reader *reader)
{
        size_t length = (size_t)number_take(reader, LENGTH_BYTES);
        const unsigned char *name = take(reader, length + 1);
        if (name == NULL || memchr(name, '\0', length + 1) != name + length) {
                reader->broken = true;
                return NULL;
        }
        return (const char *)name;
}

static const void *bytes_take(struct reader *reader, size_t *length_out)
{
        size_t length = (size_t)number_take(reader, LENGTH_BYTES);
        *length_out = length == NULL_LENGTH ? 0 : length;
        return length == NULL_LENGTH ? NULL : take(reader, length);
}

static bool magic_take(struct reader *reader)
{
        const unsigned char *found = take(reader, sizeof magic);
        return found != NULL && memcmp(found, magic, sizeof magic) == 0;
}

size_t record_pack_headers(const unsigned char *bytes, size_t count)
{
        struct reader reader = { .at = bytes, .left = count };
        if (!magic_take(&reader))
                return 0;
        size_t headers = (size_t)number_take(&reader, 4);
        /* A number that the bytes cannot hold is not worth memory. */
        return headers <= count / (2 * LENGTH_BYTES) ? headers : 0;
}

enum po_class record_unpack(const unsigned char *bytes, size_t count, struct record *record_out,
                            struct record_header *headers, size_t headers_max,
                            struct po_error *error)
{
        struct reader reader = { .at = bytes, .left = count };
        if (!magic_take(&reader))
                return po_fail(error, PO_BUG, 0, "%zu bytes are no packed record", count);
        size_t headers_count = (size_t)number_take(&reader, 4);
        if (headers_count > headers_max)
                return po_fail(error, PO_BUG, 0, "a packed record has %zu headers, not at most %zu",
                               headers_count, headers_max);
        *record_out = (struct record){ .headers = headers, .headers_count = headers_count };
        record_out->partition = (int32_t)number_take(&reader, 4);
        record_out->offset = (int64_t)number_take(&reader, 8);
        record_out->timestamp_ms = (int64_t)number_take(&reader, 8);
        record_out->topic = name_take(&reader);
        record_out->key = bytes_take(&reader, &record_out->key_bytes);
        record_out->value = bytes_take(&reader, &record_out->value_bytes);
        for (size_t i = 0; i < headers_count && !reader.broken; i++) {
                headers[i].name = name_take(&reader);
                headers[i].value = bytes_take(&reader, &headers[i].value_bytes);
        }
        if (reader.broken || reader.left > 0)
                return po_fail(error, PO_BUG, 0, "a packed record of %zu bytes is %s", count,
                               reader.broken ? "cut short" : "followed by more");
        return PO_OK;
}
