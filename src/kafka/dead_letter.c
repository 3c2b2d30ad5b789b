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
        TEXT_BYTES_SHORT = 200,     /* of a letter that was too large */
        FOREIGN_BYTES_SMALL = 4096, /* headers that such a letter keeps */
        KEY_BYTES_SMALL = 512,      /* a key that a pointer keeps */
        POINTER_TEXT_BYTES = LETTER_POINTER_PREFIX_BYTES + LETTER_ID_BYTES,
        ORIGIN_HEADERS = 4,
        OUR_HEADERS = 8 + ORIGIN_HEADERS,
        NAME_BYTES_MAX = 4 * NUMBER_BYTES + TOPIC_BYTES + DIGEST_BYTES,
};

/* How much of the record a letter carries; each is tried when the one before it is too large. */
enum letter_form {
        LETTER_WHOLE,
        LETTER_TRIMMED, /* headers beyond a budget stay away */
        LETTER_POINTER, /* only whence and why, and where the record is kept */
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

void letter_id_of_key(const struct record *record, const char *key, char id_out[LETTER_ID_BYTES])
{
        letter_id(record, id_out);
        if (key == NULL)
                return;
        uuid_t of_record, id;
        int read = uuid_parse(id_out, of_record);
        assert(read == 0);
        uuid_generate_sha1(id, of_record, key, strlen(key));
        uuid_unparse_lower(id, id_out);
}

/* The texts that a letter's headers point to. */
struct letter_texts {
        char attempts[NUMBER_TEXT_BYTES];
        char partition[NUMBER_TEXT_BYTES];
        char offset[NUMBER_TEXT_BYTES];
        char timestamp[NUMBER_TEXT_BYTES];
        char trimmed[NUMBER_TEXT_BYTES];
        char pointer[POINTER_TEXT_BYTES];
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
        return (struct record_header){ .name = name,
                                       .value = text,
                                       .value_bytes = strnlen(text, TEXT_BYTES_MAX) };
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

static const struct record_header *kept_pointer(const struct record *record)
{
        const struct record_header *pointer = record_header(record, LETTER_POINTER_HEADER);
        uuid_t id;
        char text[POINTER_TEXT_BYTES];
        if (record->value_bytes > 0 || pointer == NULL || pointer->value == NULL ||
            pointer->value_bytes != sizeof text - 1)
                return NULL;
        memcpy(text, pointer->value, sizeof text - 1);
        text[sizeof text - 1] = '\0';
        if (strncmp(text, LETTER_POINTER_PREFIX, LETTER_POINTER_PREFIX_BYTES) != 0 ||
            uuid_parse(text + LETTER_POINTER_PREFIX_BYTES, id) != 0)
                return NULL;
        return pointer;
}

/*
 * What is about earlier letters and must not be forgotten: how often the record was replayed (the
 * limit of loops rests on it), and where a pointer led that somebody copied as it was.
 */
static size_t past_put(const struct record *record, enum letter_form form,
                       struct record_header *headers)
{
        size_t count = 0;
        const struct record_header *replays = record_header(record, LETTER_REPLAYS_HEADER);
        if (is_number(replays))
                headers[count++] = *replays;
        const struct record_header *pointer = kept_pointer(record);
        if (pointer != NULL && form != LETTER_POINTER)
                headers[count++] = *pointer;
        return count;
}

static size_t header_cost(const struct record_header *header)
{
        return strlen(header->name) + header->value_bytes;
}

/* The record's own headers in their order, as far as the form has room for them. */
static size_t foreign_put(struct letter *letter, enum letter_form form,
                          struct record_header *headers)
{
        static const size_t budgets[] = { SIZE_MAX, FOREIGN_BYTES_SMALL, 0 };
        const struct record *record = letter->record;
        size_t count = 0, left_bytes = budgets[form];
        letter->left_out = 0;
        for (size_t i = 0; i < record->headers_count; i++) {
                const struct record_header *header = &record->headers[i];
                if (is_ours(header))
                        continue;
                if (header_cost(header) > left_bytes || form == LETTER_POINTER) {
                        letter->left_out++;
                        continue;
                }
                if (form != LETTER_WHOLE)
                        left_bytes -= header_cost(header);
                headers[count++] = *header;
        }
        return count;
}

/* Fills headers (room for the record's and OUR_HEADERS) and returns how many there are. */
static size_t headers_fill(struct letter *letter, enum letter_form form, struct letter_texts *texts,
                           struct record_header *headers)
{
        size_t count = foreign_put(letter, form, headers);
        snprintf(texts->attempts, sizeof texts->attempts, "%u", letter->attempts);
        headers[count++] = text_header(OUR_PREFIX "letter_id", letter->id);
        headers[count++] = text_header(OUR_PREFIX "reason", letter->reason);
        headers[count] = text_header(OUR_PREFIX "text", letter->text);
        if (form != LETTER_WHOLE && headers[count].value_bytes > TEXT_BYTES_SHORT)
                headers[count].value_bytes = TEXT_BYTES_SHORT;
        count++;
        headers[count++] = text_header(OUR_PREFIX "attempts", texts->attempts);
        headers[count++] = text_header(OUR_PREFIX "version", PO_VERSION);
        if (form != LETTER_WHOLE) {
                snprintf(texts->trimmed, sizeof texts->trimmed, "%zu headers", letter->left_out);
                headers[count++] = text_header(LETTER_TRIMMED_HEADER, texts->trimmed);
        }
        if (form == LETTER_POINTER) {
                snprintf(texts->pointer, sizeof texts->pointer, LETTER_POINTER_PREFIX "%s",
                         letter->id);
                headers[count++] = text_header(LETTER_POINTER_HEADER, texts->pointer);
        }
        count += past_put(letter->record, form, &headers[count]);
        origin_put(letter->record, texts, &headers[count]);
        return count + ORIGIN_HEADERS;
}

static void letter_fill(struct letter *letter, enum letter_form form, const char *topic,
                        struct letter_texts *texts, struct record_header *headers,
                        struct sink_message *message_out)
{
        const struct record *record = letter->record;
        *message_out = (struct sink_message){
                .topic = topic,
                .key = record->key,
                .key_bytes = record->key_bytes,
                .value = record->value,
                .value_bytes = record->value_bytes,
                .headers = headers,
                .headers_count = headers_fill(letter, form, texts, headers),
                .timestamp_ms = record->timestamp_ms,
        };
        letter->keep = letter->left_out > 0 || form == LETTER_POINTER;
        if (form != LETTER_POINTER)
                return;
        message_out->value = record->value != NULL ? "" : NULL;
        message_out->value_bytes = 0;
        if (record->key_bytes <= KEY_BYTES_SMALL)
                return;
        message_out->key = NULL;
        message_out->key_bytes = 0;
}

static void letter_note(struct letter *letter, const struct sink_message *message)
{
        letter->result = message->result;
        letter->partition = message->partition;
        letter->offset = message->offset;
}

/*
 * A letter that was too large, alone: in company even a small one may be, since the topic's bound
 * is on what is sent together. What its row could not keep must not stay away from the letter.
 */
static enum po_class letter_shrink(struct sink *sink, const char *topic, struct letter *letter,
                                   enum letter_form first, struct record_header *headers,
                                   struct po_error *error)
{
        for (enum letter_form form = first; form <= LETTER_POINTER; form++) {
                struct letter_texts texts;
                struct sink_message message;
                letter_fill(letter, form, topic, &texts, headers, &message);
                if (letter->keep && !letter->may_keep)
                        continue;
                enum po_class kind = sink_send(sink, &message, 1, error);
                letter_note(letter, &message);
                if (kind != PO_RECORD)
                        return kind;
        }
        po_refuse(error, LETTER_TOO_LARGE, "too large for %s, %s", topic,
                  letter->may_keep ? "even as a pointer"
                                   : "and for a row of the database (max_allowed_packet)");
        return po_within(error, "kafka: send");
}

static enum po_class letters_shrink(struct sink *sink, const char *topic, struct letter *letters,
                                    size_t count, struct record_header *headers, enum po_class sent,
                                    struct po_error *error)
{
        struct po_error alone;
        enum po_class first = PO_OK;
        enum letter_form form = count > 1 ? LETTER_WHOLE : LETTER_TRIMMED;
        bool away = false; /* each further try would wait for its own time-out */
        for (size_t i = 0; i < count; i++) {
                if (letters[i].result == PO_RECORD && away)
                        letters[i].result = alone.kind;
                if (letters[i].result == PO_RECORD &&
                    letter_shrink(sink, topic, &letters[i], form, headers, &alone) != PO_OK) {
                        away = alone.kind != PO_RECORD;
                        if (first == PO_OK) {
                                *error = alone;
                                first = alone.kind;
                        }
                }
                if (letters[i].result == PO_OK || first != PO_OK)
                        continue;
                first = letters[i].result;
                if (first != sent)
                        po_fail(error, first, 0, "kafka: send: a letter is not acknowledged");
        }
        return first;
}

/* Memory of one letters_send(). */
struct sending {
        struct sink_message *messages;
        struct letter_texts *texts;
        struct record_header *headers;
};

static void sending_free(struct sending *sending)
{
        free(sending->messages);
        free(sending->texts);
        free(sending->headers);
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
        CLEANUP(sending_free)
        struct sending sending = { .messages = calloc(count, sizeof *sending.messages),
                                   .texts = calloc(count, sizeof *sending.texts),
                                   .headers = calloc(headers_count, sizeof *sending.headers) };
        if (sending.messages == NULL || sending.texts == NULL || sending.headers == NULL)
                return po_fail(error, PO_TRANSIENT, 0, "no memory for %zu dead letters", count);
        struct record_header *next = sending.headers;
        for (size_t i = 0; i < count; i++) {
                letter_fill(&letters[i], LETTER_WHOLE, topic, &sending.texts[i], next,
                            &sending.messages[i]);
                next += sending.messages[i].headers_count;
        }
        enum po_class sent = sink_send(sink, sending.messages, count, error);
        for (size_t i = 0; i < count; i++)
                letter_note(&letters[i], &sending.messages[i]);
        if (sent == PO_OK)
                return PO_OK;
        return letters_shrink(sink, topic, letters, count, sending.headers, sent, error);
}
