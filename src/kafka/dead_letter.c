#include "kafka/dead_letter.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <openssl/evp.h>
#include <uuid/uuid.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "version.h"

/* Ours for good: with another one, every letter written so far would get another id. */
static const uuid_t letter_namespace = { 0x9d, 0x41, 0x5e, 0x0b, 0x27, 0xc8, 0x4f, 0x63,
                                         0xa1, 0x7c, 0x3e, 0x90, 0xd2, 0x58, 0xb6, 0x1f };

#define OUR_PREFIX "postonce."

enum {
        DIGEST_BYTES = 32,
        NUMBER_BYTES = 8,
        NUMBER_TEXT_BYTES = 24,
        TEXT_BYTES_MAX = 1000,
        ORIGIN_HEADERS = 4,
        OUR_HEADERS = 5 + ORIGIN_HEADERS,
        NAME_BYTES_MAX = 4 * NUMBER_BYTES + TOPIC_BYTES + DIGEST_BYTES,
};

static size_t number_put(unsigned char *out, uint64_t number)
{
        for (int i = 0; i < NUMBER_BYTES; i++)
                out[i] = (unsigned char)(number >> (8 * (NUMBER_BYTES - 1 - i)));
        return NUMBER_BYTES;
}

/* Length first, so that no two pairs of key and value look alike; null is not empty. */
static void digest_put(EVP_MD_CTX *digest, const void *bytes, size_t size_bytes)
{
        unsigned char length[NUMBER_BYTES];
        number_put(length, bytes == NULL ? UINT64_MAX : size_bytes);
        int done = EVP_DigestUpdate(digest, length, sizeof length);
        if (done == 1 && bytes != NULL)
                done = EVP_DigestUpdate(digest, bytes, size_bytes);
        assert(done == 1);
}

static void content_digest(const struct record *record, unsigned char digest_out[DIGEST_BYTES])
{
        EVP_MD_CTX *digest = EVP_MD_CTX_new();
        assert(digest != NULL);
        int done = EVP_DigestInit_ex(digest, EVP_sha256(), NULL);
        assert(done == 1);
        digest_put(digest, record->key, record->key_bytes);
        digest_put(digest, record->value, record->value_bytes);
        unsigned int size = 0;
        done = EVP_DigestFinal_ex(digest, digest_out, &size);
        assert(done == 1 && size == DIGEST_BYTES);
        EVP_MD_CTX_free(digest);
}

void letter_id(const struct record *record, char id_out[LETTER_ID_BYTES])
{
        unsigned char name[NAME_BYTES_MAX];
        size_t topic_bytes = strlen(record->topic);
        assert(topic_bytes < TOPIC_BYTES);
        size_t used = number_put(name, topic_bytes);
        memcpy(name + used, record->topic, topic_bytes);
        used += topic_bytes;
        used += number_put(name + used, (uint64_t)record->partition);
        used += number_put(name + used, (uint64_t)record->offset);
        used += number_put(name + used, (uint64_t)record->timestamp_ms);
        content_digest(record, name + used);
        used += DIGEST_BYTES;

        uuid_t id;
        uuid_generate_sha1(id, letter_namespace, (const char *)name, used);
        uuid_unparse_lower(id, id_out);
}

/* The texts that a letter's headers point to. */
struct letter_texts {
        char attempts[NUMBER_TEXT_BYTES];
        char partition[NUMBER_TEXT_BYTES];
        char offset[NUMBER_TEXT_BYTES];
        char timestamp[NUMBER_TEXT_BYTES];
};

static bool is_ours(const struct record_header *header)
{
        return strncmp(header->name, OUR_PREFIX, strlen(OUR_PREFIX)) == 0;
}

static bool is_number(const struct record_header *header)
{
        const char *text = header != NULL ? header->value : NULL;
        if (text == NULL || header->value_bytes == 0 || header->value_bytes >= NUMBER_TEXT_BYTES)
                return false;
        size_t sign = text[0] == '-' ? 1 : 0;
        if (sign == header->value_bytes)
                return false;
        for (size_t i = sign; i < header->value_bytes; i++) {
                if (text[i] < '0' || text[i] > '9')
                        return false;
        }
        return true;
}

static bool is_topic(const struct record_header *header)
{
        static const char allowed[] =
                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
        const char *text = header != NULL ? header->value : NULL;
        if (text == NULL || header->value_bytes == 0 || header->value_bytes >= TOPIC_BYTES)
                return false;
        for (size_t i = 0; i < header->value_bytes; i++) {
                if (text[i] == '\0' || strchr(allowed, text[i]) == NULL)
                        return false;
        }
        return true;
}

static struct record_header text_header(const char *name, const char *text)
{
        size_t size_bytes = strlen(text);
        if (size_bytes > TEXT_BYTES_MAX)
                size_bytes = TEXT_BYTES_MAX;
        return (struct record_header){ .name = name, .value = text, .value_bytes = size_bytes };
}

/*
 * A replayed record keeps the origin of its first failure, if it carries a whole and well-formed
 * one: that is where people look for it. No decision rests on it.
 */
static void origin_put(const struct record *record, struct letter_texts *texts,
                       struct record_header headers_out[ORIGIN_HEADERS])
{
        const struct record_header *topic = record_header(record, OUR_PREFIX "topic");
        const struct record_header *partition = record_header(record, OUR_PREFIX "partition");
        const struct record_header *offset = record_header(record, OUR_PREFIX "offset");
        const struct record_header *timestamp = record_header(record, OUR_PREFIX "timestamp");
        if (is_topic(topic) && is_number(partition) && is_number(offset) && is_number(timestamp)) {
                headers_out[0] = *topic;
                headers_out[1] = *partition;
                headers_out[2] = *offset;
                headers_out[3] = *timestamp;
                return;
        }
        snprintf(texts->partition, sizeof texts->partition, "%" PRId32, record->partition);
        snprintf(texts->offset, sizeof texts->offset, "%" PRId64, record->offset);
        snprintf(texts->timestamp, sizeof texts->timestamp, "%" PRId64, record->timestamp_ms);
        headers_out[0] = text_header(OUR_PREFIX "topic", record->topic);
        headers_out[1] = text_header(OUR_PREFIX "partition", texts->partition);
        headers_out[2] = text_header(OUR_PREFIX "offset", texts->offset);
        headers_out[3] = text_header(OUR_PREFIX "timestamp", texts->timestamp);
}

/* Fills headers (room for the record's and OUR_HEADERS) and returns how many there are. */
static size_t headers_fill(const struct letter *letter, struct letter_texts *texts,
                           struct record_header *headers)
{
        const struct record *record = letter->record;
        size_t count = 0;
        for (size_t i = 0; i < record->headers_count; i++) {
                if (!is_ours(&record->headers[i]))
                        headers[count++] = record->headers[i];
        }
        snprintf(texts->attempts, sizeof texts->attempts, "%u", letter->attempts);
        headers[count++] = text_header(OUR_PREFIX "letter_id", letter->id);
        headers[count++] = text_header(OUR_PREFIX "reason", letter->reason);
        headers[count++] = text_header(OUR_PREFIX "text", letter->text);
        headers[count++] = text_header(OUR_PREFIX "attempts", texts->attempts);
        headers[count++] = text_header(OUR_PREFIX "version", PO_VERSION);
        origin_put(record, texts, &headers[count]);
        return count + ORIGIN_HEADERS;
}

static void letter_fill(const struct letter *letter, const char *topic, struct letter_texts *texts,
                        struct record_header *headers, struct sink_message *message_out)
{
        const struct record *record = letter->record;
        *message_out = (struct sink_message){
                .topic = topic,
                .key = record->key,
                .key_bytes = record->key_bytes,
                .value = record->value,
                .value_bytes = record->value_bytes,
                .headers = headers,
                .headers_count = headers_fill(letter, texts, headers),
                .timestamp_ms = record->timestamp_ms,
        };
}

enum po_class letters_send(struct sink *sink, const char *topic, struct letter *letters,
                           size_t count, struct po_error *error)
{
        size_t headers_count = 0;
        for (size_t i = 0; i < count; i++) {
                letters[i].result = PO_TRANSIENT;
                headers_count += letters[i].record->headers_count + OUR_HEADERS;
        }
        if (count == 0)
                return PO_OK;
        CLEANUP(cleanup_free) struct sink_message *messages = calloc(count, sizeof *messages);
        CLEANUP(cleanup_free) struct letter_texts *texts = calloc(count, sizeof *texts);
        CLEANUP(cleanup_free)
        struct record_header *headers = calloc(headers_count, sizeof *headers);
        if (messages == NULL || texts == NULL || headers == NULL)
                return po_fail(error, PO_TRANSIENT, 0, "no memory for %zu dead letters", count);
        struct record_header *next = headers;
        for (size_t i = 0; i < count; i++) {
                letter_fill(&letters[i], topic, &texts[i], next, &messages[i]);
                next += messages[i].headers_count;
        }
        enum po_class result = sink_send(sink, messages, count, error);
        for (size_t i = 0; i < count; i++) {
                letters[i].result = messages[i].result;
                letters[i].partition = messages[i].partition;
                letters[i].offset = messages[i].offset;
        }
        return result;
}
