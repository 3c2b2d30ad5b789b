#include "kafka/dead_letter.h"

#include "../support/mock_kafka.h"
#include "unit.h"

static struct po_error error;

static struct record record_of(void)
{
        return (struct record){ .topic = "callbacks",
                                .partition = 3,
                                .offset = 41,
                                .timestamp_ms = 1700000000000,
                                .key = "k",
                                .key_bytes = 1,
                                .value = "v",
                                .value_bytes = 1 };
}

static void id_differs(const struct record *a, const struct record *b)
{
        char left[LETTER_ID_BYTES];
        char right[LETTER_ID_BYTES];
        letter_id(a, left);
        letter_id(b, right);
        ck_assert_str_ne(left, right);
}

START_TEST(the_id_of_a_letter_never_changes)
{
        struct record record = record_of();
        char id[LETTER_ID_BYTES];
        letter_id(&record, id);
        /* Letters written by every version so far carry it: a change here would send them twice. */
        ck_assert_str_eq(id, "40c3d2f6-7187-5785-ba3b-308d66be2eb8");
        ck_assert_int_eq(id[14], '5');
        struct record_header header = { "h", "1", 1 };
        record.headers = &header;
        record.headers_count = 1;
        char again[LETTER_ID_BYTES];
        letter_id(&record, again);
        ck_assert_str_eq(id, again);
}
END_TEST

START_TEST(records_that_differ_in_anything_have_different_ids)
{
        struct record a = record_of();
        struct record b = a;
        b.topic = "callback";
        id_differs(&a, &b);
        b = a, b.partition = 4;
        id_differs(&a, &b);
        b = a, b.offset = 42;
        id_differs(&a, &b);
        b = a, b.timestamp_ms = -1;
        id_differs(&a, &b);
        b = a, b.value = "w";
        id_differs(&a, &b);
        a.key = "kv", a.key_bytes = 2, a.value = "", a.value_bytes = 0;
        b = a, b.key = "k", b.key_bytes = 1, b.value = "v", b.value_bytes = 1;
        id_differs(&a, &b); /* the same bytes, cut elsewhere */
        b = a, b.value = NULL;
        id_differs(&a, &b); /* empty is not null */
}
END_TEST

static struct sink *sink_of(struct world *world)
{
        struct sink *sink = NULL;
        ck_assert_msg(sink_open(&sink, world->properties, world->properties_count, &error) == PO_OK,
                      "%s", error.text);
        return sink;
}

static const char *header_text(const struct record *record, const char *name)
{
        static char text[256];
        size_t found = 0;
        for (size_t i = 0; i < record->headers_count; i++)
                found += strcmp(record->headers[i].name, name) == 0;
        ck_assert_msg(found == 1, "%s stands %zu times", name, found);
        const struct record_header *header = record_header(record, name);
        snprintf(text, sizeof text, "%.*s", (int)header->value_bytes, (const char *)header->value);
        return text;
}

static void letter_send(struct sink *sink, const struct record *record, const char *reason)
{
        char id[LETTER_ID_BYTES];
        letter_id(record, id);
        struct letter letter = { .record = record,
                                 .id = id,
                                 .reason = reason,
                                 .text = "no rule for this event",
                                 .attempts = 5 };
        ck_assert_msg(letters_send(sink, TOPIC, &letter, 1, &error) == PO_OK, "%s", error.text);
        ck_assert_int_eq(letter.result, PO_OK);
        ck_assert_int_ge(letter.offset, 0);
}

START_TEST(a_letter_is_the_record_with_whence_and_why)
{
        struct world world = world_open(1);
        struct sink *sink = sink_of(&world);
        const struct record_header headers[] = { { "channel", "SQB", 3 },
                                                 { "x", NULL, 0 },
                                                 { "channel", "WECHAT", 6 } };
        struct record record = record_of();
        record.headers = headers;
        record.headers_count = 3;
        record.value = NULL; /* a tombstone stays one */
        record.value_bytes = 0;
        letter_send(sink, &record, "NO_RULE");

        struct source *source = world_source(&world, 1);
        const struct record *letter = NULL;
        ck_assert_uint_eq(world_take(source, WORLD_WAIT_MS, &letter), 1);
        ck_assert_mem_eq(letter->key, "k", 1);
        ck_assert_ptr_null(letter->value);
        ck_assert_int_eq(letter->timestamp_ms, 1700000000000);
        ck_assert_uint_eq(letter->headers_count, 12);
        for (int i = 0; i < 3; i++)
                ck_assert_str_eq(letter->headers[i].name, headers[i].name);
        ck_assert_mem_eq(letter->headers[2].value, "WECHAT", 6);
        char id[LETTER_ID_BYTES];
        letter_id(&record, id);
        ck_assert_str_eq(header_text(letter, "postonce.letter_id"), id);
        ck_assert_str_eq(header_text(letter, "postonce.reason"), "NO_RULE");
        ck_assert_str_eq(header_text(letter, "postonce.text"), "no rule for this event");
        ck_assert_str_eq(header_text(letter, "postonce.attempts"), "5");
        ck_assert_str_ne(header_text(letter, "postonce.version"), "");
        ck_assert_str_eq(header_text(letter, "postonce.topic"), "callbacks");
        ck_assert_str_eq(header_text(letter, "postonce.partition"), "3");
        ck_assert_str_eq(header_text(letter, "postonce.offset"), "41");
        ck_assert_str_eq(header_text(letter, "postonce.timestamp"), "1700000000000");
        world_source_close(source);
        sink_close(sink);
        world_close(&world);
}
END_TEST

/* B-6: headers of pass 20 are no larger than those of pass 1. */
START_TEST(a_letter_of_a_replayed_letter_does_not_grow_and_keeps_its_first_origin)
{
        struct world world = world_open(1);
        struct sink *sink = sink_of(&world);
        struct source *source = world_source(&world, 1);
        struct record record = record_of();
        letter_send(sink, &record, "NO_RULE");
        const struct record *letter = NULL;
        for (int pass = 0; pass < 20; pass++) {
                ck_assert_uint_eq(world_take(source, WORLD_WAIT_MS, &letter), 1);
                ck_assert_uint_eq(letter->headers_count, 9);
                ck_assert_str_eq(header_text(letter, "postonce.topic"), "callbacks");
                ck_assert_str_eq(header_text(letter, "postonce.partition"), "3");
                ck_assert_str_eq(header_text(letter, "postonce.offset"), "41");
                ck_assert_str_eq(header_text(letter, "postonce.reason"),
                                 pass % 2 ? "BAD_AMOUNT" : "NO_RULE");
                letter_send(sink, letter, pass % 2 ? "NO_RULE" : "BAD_AMOUNT");
        }
        world_source_close(source);
        sink_close(sink);
        world_close(&world);
}
END_TEST

START_TEST(an_origin_that_is_broken_is_replaced)
{
        struct world world = world_open(1);
        struct sink *sink = sink_of(&world);
        struct source *source = world_source(&world, 1);
        const struct record_header hostile[][4] = {
                { { "postonce.topic", "a b", 3 },
                  { "postonce.partition", "1", 1 },
                  { "postonce.offset", "1", 1 },
                  { "postonce.timestamp", "1", 1 } },
                { { "postonce.topic", "t", 1 },
                  { "postonce.partition", NULL, 0 },
                  { "postonce.offset", "1", 1 },
                  { "postonce.timestamp", "1", 1 } },
                { { "postonce.topic", "t", 1 },
                  { "postonce.partition", "-", 1 },
                  { "postonce.offset", "1", 1 },
                  { "postonce.timestamp", "1", 1 } },
                { { "postonce.topic", "t", 1 },
                  { "postonce.partition", "1", 1 },
                  { "postonce.offset", "1234567890123456789012345", 25 },
                  { "postonce.timestamp", "1", 1 } },
        };
        for (size_t i = 0; i < 4; i++) {
                struct record record = record_of();
                record.headers = hostile[i];
                record.headers_count = 4;
                letter_send(sink, &record, "NO_RULE");
                const struct record *letter = NULL;
                ck_assert_uint_eq(world_take(source, WORLD_WAIT_MS, &letter), 1);
                ck_assert_uint_eq(letter->headers_count, 9);
                ck_assert_str_eq(header_text(letter, "postonce.topic"), "callbacks");
                ck_assert_str_eq(header_text(letter, "postonce.offset"), "41");
        }
        world_source_close(source);
        sink_close(sink);
        world_close(&world);
}
END_TEST

START_TEST(of_several_letters_each_has_its_own_result)
{
        struct world world = world_open(1);
        struct sink *sink = sink_of(&world);
        enum { HUGE_BYTES = 2 * 1000 * 1000 };
        char *huge = calloc(1, HUGE_BYTES);
        struct record records[3] = { record_of(), record_of(), record_of() };
        records[1].value = huge;
        records[1].value_bytes = HUGE_BYTES;
        struct letter letters[3];
        for (int i = 0; i < 3; i++)
                letters[i] = (struct letter){
                        .record = &records[i], .id = "id", .reason = "R", .text = "t", .attempts = 1
                };
        ck_assert_int_eq(letters_send(sink, TOPIC, letters, 3, &error), PO_RECORD);
        ck_assert_str_eq(error.reason, "DEAD_LETTER_TOO_LARGE");
        ck_assert_int_eq(letters[0].result, PO_OK);
        ck_assert_int_eq(letters[1].result, PO_RECORD);
        ck_assert_int_eq(letters[2].result, PO_OK);
        ck_assert_int_eq(letters_send(sink, TOPIC, letters, 0, &error), PO_OK);
        free(huge);
        sink_close(sink);
        world_close(&world);
}
END_TEST

UNIT_MAIN("dead_letter", the_id_of_a_letter_never_changes,
          records_that_differ_in_anything_have_different_ids,
          a_letter_is_the_record_with_whence_and_why,
          a_letter_of_a_replayed_letter_does_not_grow_and_keeps_its_first_origin,
          an_origin_that_is_broken_is_replaced, of_several_letters_each_has_its_own_result)
