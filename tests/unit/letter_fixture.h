/* Letters for the tests of src/desk: headers as a table, the rest as given. */
#ifndef LETTER_FIXTURE_H
#define LETTER_FIXTURE_H

#include "unit.h"

#include "desk/letter_facts.h"

#define LETTER_ID  "40c3d2f6-7187-5785-ba3b-308d66be2eb8"
#define TEXT(text) (text), sizeof(text) - 1
#define HEADERS(...)                                                                               \
        (const struct record_header[]){ __VA_ARGS__ },                                             \
                sizeof((const struct record_header[]){ __VA_ARGS__ }) /                            \
                        sizeof(struct record_header)

static inline struct record letter_with(const struct record_header *headers, size_t count)
{
        return (struct record){ .topic = "callbacks.DLT",
                                .partition = 0,
                                .offset = 5,
                                .timestamp_ms = 1700000000000,
                                .key = "k",
                                .key_bytes = 1,
                                .value = "v",
                                .value_bytes = 1,
                                .headers = headers,
                                .headers_count = count };
}

static inline struct letter_facts facts_of(const struct record_header *headers, size_t count)
{
        struct record letter = letter_with(headers, count);
        struct letter_facts facts;
        letter_facts_read(&letter, &facts);
        return facts;
}

#endif
