#include "desk/replay_message.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_ours(const struct record_header *header)
{
        return strncmp(header->name, LETTER_OUR_PREFIX, strlen(LETTER_OUR_PREFIX)) == 0;
}

static bool stays(const struct record_header *header)
{
        static const char *const gone[] = { LETTER_OUR_PREFIX "text", LETTER_POINTER_HEADER,
                                            LETTER_TRIMMED_HEADER, LETTER_REPLAYS_HEADER };
        for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++)
                if (strcmp(header->name, gone[i]) == 0)
                        return false;
        return true;
}

static struct record_header text_header(const char *name, const char *text)
{
        return (struct record_header){ name, text, strlen(text) };
}

static size_t origin_put(const struct letter_facts *facts, struct replay_texts *texts,
                         struct record_header *headers)
{
        if (facts->topic[0] == '\0' || facts->partition < 0 || facts->offset < 0)
                return 0;
        snprintf(texts->partition, sizeof texts->partition, "%" PRId32, facts->partition);
        snprintf(texts->offset, sizeof texts->offset, "%" PRId64, facts->offset);
        snprintf(texts->timestamp, sizeof texts->timestamp, "%" PRId64, facts->timestamp_ms);
        headers[0] = text_header(LETTER_OUR_PREFIX "topic", facts->topic);
        headers[1] = text_header(LETTER_OUR_PREFIX "partition", texts->partition);
        headers[2] = text_header(LETTER_OUR_PREFIX "offset", texts->offset);
        headers[3] = text_header(LETTER_OUR_PREFIX "timestamp", texts->timestamp);
        return 4;
}

static size_t headers_fill(const struct record *letter, const struct record *record,
                           const struct letter_facts *facts, struct replay_texts *texts,
                           struct record_header *headers, size_t *bare_out)
{
        size_t count = 0;
        for (size_t i = 0; i < record->headers_count; i++)
                if (!is_ours(&record->headers[i]))
                        headers[count++] = record->headers[i];
        *bare_out = count;
        for (size_t i = 0; i < letter->headers_count && facts->kind == LETTER_OURS; i++)
                if (is_ours(&letter->headers[i]) && stays(&letter->headers[i]))
                        headers[count++] = letter->headers[i];
        if (facts->kind != LETTER_OURS)
                count += origin_put(facts, texts, headers + count);
        unsigned replays = facts->replays + 1;
        if (replays > LETTER_REPLAYS_MOST)
                replays = LETTER_REPLAYS_MOST;
        snprintf(texts->replays, sizeof texts->replays, "%02u", replays);
        headers[count++] = text_header(LETTER_REPLAYS_HEADER, texts->replays);
        return count;
}

size_t replay_message_fill(const struct record *letter, const struct record *record,
                           const struct letter_facts *facts, struct replay_texts *texts,
                           struct record_header *headers, struct sink_message *message_out)
{
        size_t bare = 0;
        *message_out = (struct sink_message){
                .key = record->key,
                .key_bytes = record->key_bytes,
                .value = record->value,
                .value_bytes = record->value_bytes,
                .headers = headers,
                .headers_count = headers_fill(letter, record, facts, texts, headers, &bare),
                .timestamp_ms = record->timestamp_ms,
        };
        return bare;
}
