#include "desk/letter_facts.h"

#include <stdio.h>
#include <string.h>

#include <uuid/uuid.h>

#include "desk/foreign_letter.h"

#define OURS(name) (LETTER_OUR_PREFIX name)

enum { NUMBER_DIGITS_MAX = 18, REPLAYS_DIGITS_MAX = 2 };

const struct record_header *letter_header_first(const struct record *letter, const char *name)
{
        for (size_t i = 0; i < letter->headers_count; i++)
                if (strcmp(letter->headers[i].name, name) == 0)
                        return &letter->headers[i];
        return NULL;
}

bool letter_text(const struct record_header *header, char *buffer, size_t capacity)
{
        buffer[0] = '\0';
        if (header == NULL || header->value == NULL || header->value_bytes == 0 ||
            header->value_bytes >= capacity ||
            memchr(header->value, '\0', header->value_bytes) != NULL)
                return false;
        memcpy(buffer, header->value, header->value_bytes);
        buffer[header->value_bytes] = '\0';
        return true;
}

bool letter_number(const struct record_header *header, int64_t *number_out)
{
        char text[NUMBER_DIGITS_MAX + 1];
        *number_out = 0;
        if (!letter_text(header, text, sizeof text))
                return false;
        for (const char *at = text; *at != '\0'; at++) {
                if (*at < '0' || *at > '9')
                        return false;
                *number_out = *number_out * 10 + (*at - '0');
        }
        return true;
}

static bool is_uuid(const char *text)
{
        uuid_t id;
        return uuid_parse(text, id) == 0;
}

static bool is_topic(const char *text)
{
        static const char allowed[] =
                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
        return text[strspn(text, allowed)] == '\0';
}

/* More than two digits is nothing that replay wrote. */
static unsigned replays_read(const struct record *letter)
{
        const struct record_header *header = record_header(letter, LETTER_REPLAYS_HEADER);
        int64_t number;
        if (!letter_number(header, &number) || header->value_bytes > REPLAYS_DIGITS_MAX)
                return 0;
        return (unsigned)number;
}

/* Where the whole record is kept, when this letter is not it. */
static void body_read(const struct record *letter, struct letter_facts *facts)
{
        char text[LETTER_POINTER_PREFIX_BYTES + LETTER_ID_BYTES];
        if (letter_text(record_header(letter, LETTER_POINTER_HEADER), text, sizeof text) &&
            strncmp(text, LETTER_POINTER_PREFIX, LETTER_POINTER_PREFIX_BYTES) == 0 &&
            is_uuid(text + LETTER_POINTER_PREFIX_BYTES))
                snprintf(facts->body_id, sizeof facts->body_id, "%s",
                         text + LETTER_POINTER_PREFIX_BYTES);
        else if (record_header(letter, LETTER_TRIMMED_HEADER) != NULL)
                memcpy(facts->body_id, facts->id, sizeof facts->body_id);
}

static bool ours_read(const struct record *letter, struct letter_facts *facts)
{
        int64_t partition;
        if (!letter_text(record_header(letter, OURS("letter_id")), facts->id, sizeof facts->id) ||
            !is_uuid(facts->id)) {
                facts->id[0] = '\0';
                return false;
        }
        letter_text(record_header(letter, OURS("topic")), facts->topic, sizeof facts->topic);
        if (letter_number(record_header(letter, OURS("partition")), &partition) &&
            partition <= INT32_MAX)
                facts->partition = (int32_t)partition;
        if (!letter_number(record_header(letter, OURS("offset")), &facts->offset))
                facts->offset = -1;
        if (!letter_number(record_header(letter, OURS("timestamp")), &facts->timestamp_ms))
                facts->timestamp_ms = -1;
        letter_text(record_header(letter, OURS("reason")), facts->reason, sizeof facts->reason);
        body_read(letter, facts);
        return true;
}

/* The same letter sent twice by another system gets one id. */
static void id_make(const struct record *letter, struct letter_facts *facts)
{
        if (facts->topic[0] == '\0' || facts->partition < 0 || facts->offset < 0)
                return;
        struct record origin = *letter;
        origin.topic = facts->topic;
        origin.partition = facts->partition;
        origin.offset = facts->offset;
        origin.timestamp_ms = facts->timestamp_ms;
        letter_id(&origin, facts->id);
}

void letter_facts_read(const struct record *letter, struct letter_facts *facts_out)
{
        *facts_out = (struct letter_facts){ .partition = -1, .offset = -1, .timestamp_ms = -1 };
        facts_out->replays = replays_read(letter);
        if (ours_read(letter, facts_out))
                facts_out->kind = LETTER_OURS;
        else if (spring_letter_read(letter, facts_out))
                facts_out->kind = LETTER_OF_SPRING;
        else if (connect_letter_read(letter, facts_out))
                facts_out->kind = LETTER_OF_CONNECT;
        if (!is_topic(facts_out->topic))
                facts_out->topic[0] = '\0';
        if (facts_out->id[0] == '\0')
                id_make(letter, facts_out);
        if (facts_out->reason[0] == '\0')
                snprintf(facts_out->reason, sizeof facts_out->reason, "UNKNOWN");
}
