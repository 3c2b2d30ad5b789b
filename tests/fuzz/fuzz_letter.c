/*
 * The headers of a dead letter, as whoever writes to the topic may set them. The input is packed as
 * record_pack.h says; what is no such thing is taken as lines "name=value".
 */
#include "fuzz.h"

#include <string.h>

#include "base/record_pack.h"
#include "desk/letter_facts.h"

enum { HEADERS_MAX = 32 };

static void look(const struct record *letter)
{
        struct letter_facts facts;
        letter_facts_read(letter, &facts);
        FUZZ_MUST(facts.kind <= LETTER_OF_CONNECT);
        FUZZ_MUST(memchr(facts.id, 0, sizeof facts.id) &&
                  memchr(facts.topic, 0, sizeof facts.topic));
        FUZZ_MUST(memchr(facts.reason, 0, sizeof facts.reason) && facts.reason[0] != '\0');
        FUZZ_MUST(memchr(facts.body_id, 0, sizeof facts.body_id));
        FUZZ_MUST(facts.partition >= -1 && facts.offset >= -1 && facts.timestamp_ms >= -1);
        FUZZ_MUST(facts.replays <= LETTER_REPLAYS_MOST);
        FUZZ_MUST(strspn(facts.topic, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789._-") == strlen(facts.topic));
}

static void look_lines(char *text, size_t length)
{
        struct record_header headers[HEADERS_MAX];
        struct record letter = { .topic = "t.DLT", .headers = headers };
        for (char *at = text, *end; at < text + length && letter.headers_count < HEADERS_MAX;
             at = end + 1) {
                end = memchr(at, '\n', (size_t)(text + length - at));
                if (end == NULL)
                        end = text + length;
                *end = '\0';
                char *equals = strchr(at, '=');
                if (equals != NULL)
                        *equals = '\0';
                headers[letter.headers_count++] = (struct record_header){
                        .name = at,
                        .value = equals == NULL ? NULL : equals + 1,
                        .value_bytes = equals == NULL ? 0 : (size_t)(end - equals - 1),
                };
        }
        look(&letter);
}

void fuzz_letter(const uint8_t *bytes, size_t length)
{
        struct record_header headers[HEADERS_MAX];
        struct record letter;
        struct po_error error;
        if (record_unpack(bytes, length, &letter, headers, HEADERS_MAX, &error) == PO_OK) {
                look(&letter);
                return;
        }
        char *text = malloc(length + 1);
        FUZZ_MUST(text != NULL);
        if (length > 0)
                memcpy(text, bytes, length);
        text[length] = '\0';
        look_lines(text, length);
        free(text);
}
