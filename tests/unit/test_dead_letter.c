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

enum { BOUND_BYTES = 20000, FOREIGN_MAX = 100 };

/* A world whose topic takes no more than BOUND_BYTES; here the producer says so. */
static struct world narrow_world(void)
{
        struct world world = world_open(1);
        world_set(&world, "message.max.bytes", "20000");
        return world;
}

static size_t letter_bytes(const struct record *letter)
{
        size_t bytes = letter->key_bytes + letter->value_bytes;
        for (size_t i = 0; i < letter->headers_count; i++)
                bytes += strlen(letter->headers[i].name) + letter->headers[i].value_bytes;
        return bytes;
}

static struct letter letter_of(const struct record *record, const char *text, bool may_keep)
{
        static char id[LETTER_ID_BYTES];
        letter_id(record, id);
        return (struct letter){ .record = record,
                                .id = id,
                                .reason = "NO_RULE",
                                .text = text,
                                .attempts = 1,
                                .may_keep = may_keep };
}

START_TEST(a_letter_that_is_whole_needs_no_body)
{
        struct world world = narrow_world();
        struct sink *sink = sink_of(&world);
        struct record record = record_of();
        struct letter letter = letter_of(&record, "t", true);
        ck_assert_int_eq(letters_send(sink, TOPIC, &letter, 1, &error), PO_OK);
        ck_assert(!letter.keep);
        sink_close(sink);
        world_close(&world);
}
END_TEST

START_TEST(of_a_letter_that_is_too_large_text_and_headers_give_way_first)
{
        struct world world = narrow_world();
        struct sink *sink = sink_of(&world);
        static char large[8000], text[900];
        memset(text, 'x', sizeof text - 1);
        struct record_header headers[] = {
                { "channel", "SQB", 3 },         { "first", large, 3000 },
                { "huge", large, sizeof large }, { "second", large, 3000 },
                { "channel", "WECHAT", 6 },      { "none", NULL, 0 }
        };
        struct record record = record_of();
        record.value = large;
        record.value_bytes = sizeof large;
        record.headers = headers;
        record.headers_count = 6;
        struct letter letter = letter_of(&record, text, true);
        ck_assert_int_eq(letters_send(sink, TOPIC, &letter, 1, &error), PO_OK);
        ck_assert(letter.keep);
        ck_assert_uint_eq(letter.left_out, 2);

        struct source *source = world_source(&world, 1);
        const struct record *found = NULL;
        ck_assert_uint_eq(world_take(source, WORLD_WAIT_MS, &found), 1);
        ck_assert_uint_eq(found->value_bytes, sizeof large);
        ck_assert_str_eq(header_text(found, "postonce.trimmed"), "2 headers");
        ck_assert_ptr_null(record_header(found, "postonce.pointer"));
        ck_assert_uint_eq(record_header(found, "postonce.text")->value_bytes, 200);
        /* What is kept stands in its order. */
        static const char *const kept[] = { "channel", "first", "channel", "none" };
        for (size_t i = 0; i < 4; i++)
                ck_assert_str_eq(found->headers[i].name, kept[i]);
        ck_assert_ptr_null(found->headers[3].value);
        world_source_close(source);
        sink_close(sink);
        world_close(&world);
}
END_TEST

START_TEST(a_letter_still_too_large_is_a_pointer)
{
        static char large[BOUND_BYTES + 1];
        static const struct record_header headers[] = { { "channel", "SQB", 3 },
                                                        { "postonce.replays", "2", 1 } };
        for (int long_key = 0; long_key < 2; long_key++) {
                struct world world = narrow_world();
                struct sink *sink = sink_of(&world);
                struct record record = record_of();
                record.value = large;
                record.value_bytes = sizeof large;
                record.headers = headers;
                record.headers_count = 2;
                if (long_key) {
                        record.key = large;
                        record.key_bytes = 1000;
                }
                struct letter letter = letter_of(&record, "t", true);
                ck_assert_int_eq(letters_send(sink, TOPIC, &letter, 1, &error), PO_OK);
                ck_assert(letter.keep);

                struct source *source = world_source(&world, 1);
                const struct record *found = NULL;
                ck_assert_uint_eq(world_take(source, WORLD_WAIT_MS, &found), 1);
                ck_assert_ptr_nonnull(found->value);
                ck_assert_uint_eq(found->value_bytes, 0);
                ck_assert_int_eq(found->key == NULL, long_key);
                char pointer[64];
                snprintf(pointer, sizeof pointer, "dead_letter:%s", letter.id);
                ck_assert_str_eq(header_text(found, "postonce.pointer"), pointer);
                ck_assert_str_eq(header_text(found, "postonce.trimmed"), "1 headers");
                ck_assert_str_eq(header_text(found, "postonce.replays"), "2");
                ck_assert_str_eq(header_text(found, "postonce.reason"), "NO_RULE");
                ck_assert_str_eq(header_text(found, "postonce.offset"), "41");
                ck_assert_ptr_null(record_header(found, "channel"));
                ck_assert_uint_lt(letter_bytes(found), 1000);
                world_source_close(source);
                sink_close(sink);
                world_close(&world);
        }
}
END_TEST

START_TEST(what_no_row_could_keep_is_not_cut)
{
        struct world world = narrow_world();
        struct sink *sink = sink_of(&world);
        static char large[BOUND_BYTES + 1];
        struct record record = record_of();
        record.value = large;
        record.value_bytes = sizeof large;
        struct letter letter = letter_of(&record, "t", false);
        ck_assert_int_eq(letters_send(sink, TOPIC, &letter, 1, &error), PO_RECORD);
        ck_assert_int_eq(letter.result, PO_RECORD);
        ck_assert_str_eq(error.reason, LETTER_TOO_LARGE);
        unit_assert_in(error.text, "max_allowed_packet");

        /* Nothing of the record's stays away when only our own text gives way. */
        static char text[1001];
        memset(text, 'x', sizeof text - 1);
        record.value_bytes = BOUND_BYTES - 1100;
        letter = letter_of(&record, text, false);
        ck_assert_msg(letters_send(sink, TOPIC, &letter, 1, &error) == PO_OK, "%s", error.text);
        ck_assert(!letter.keep);
        sink_close(sink);
        world_close(&world);
}
END_TEST

/* B-6: headers of pass 20 are no larger than those of pass 1, with many headers and a long text. */
START_TEST(twenty_passes_of_a_large_letter_do_not_grow_it)
{
        struct world world = narrow_world();
        struct sink *sink = sink_of(&world);
        struct source *source = world_source(&world, 1);
        static char large[300], text[50000];
        memset(text, 'x', sizeof text - 1);
        static char names[FOREIGN_MAX][16];
        struct record_header headers[FOREIGN_MAX];
        for (size_t i = 0; i < FOREIGN_MAX; i++) {
                snprintf(names[i], sizeof names[i], "foreign-%zu", i);
                headers[i] = (struct record_header){ names[i], large, sizeof large };
        }
        struct record record = record_of();
        record.headers = headers;
        record.headers_count = FOREIGN_MAX;
        const struct record *letter = &record;
        size_t first_bytes = 0;
        for (int pass = 0; pass < 20; pass++) {
                struct letter again = letter_of(letter, text, true);
                ck_assert_int_eq(letters_send(sink, TOPIC, &again, 1, &error), PO_OK);
                ck_assert_uint_eq(world_take(source, WORLD_WAIT_MS, &letter), 1);
                ck_assert_uint_eq(letter->value_bytes, 1);
                if (pass == 0)
                        first_bytes = letter_bytes(letter);
                /* What fits as it is has its text at full length again: our own 1,000 bytes. */
                ck_assert_uint_le(letter_bytes(letter), first_bytes + 1000);
                if (pass >= 2)
                        ck_assert_uint_le(letter_bytes(letter), first_bytes + 800);
                ck_assert_str_eq(header_text(letter, "postonce.offset"), "41");
        }
        world_source_close(source);
        sink_close(sink);
        world_close(&world);
}
END_TEST

START_TEST(a_pointer_that_was_copied_back_is_not_lost)
{
        struct world world = world_open(1);
        struct sink *sink = sink_of(&world);
        struct source *source = world_source(&world, 1);
        static const char pointer[] = "dead_letter:40c3d2f6-7187-5785-ba3b-308d66be2eb8";
        static const char *const broken[] = { "dead_letter:40c3d2f6-7187-5785-ba3b-308d66be2eb",
                                              "dead_letter:zzc3d2f6-7187-5785-ba3b-308d66be2eb8",
                                              "review_item:40c3d2f6-7187-5785-ba3b-308d66be2eb8" };
        struct record_header header = { "postonce.pointer", pointer, sizeof pointer - 1 };
        struct record record = record_of();
        record.headers = &header;
        record.headers_count = 1;
        record.value = "";
        record.value_bytes = 0;
        letter_send(sink, &record, "NO_RULE");
        const struct record *letter = NULL;
        ck_assert_uint_eq(world_take(source, WORLD_WAIT_MS, &letter), 1);
        ck_assert_str_eq(header_text(letter, "postonce.pointer"), pointer);
        for (size_t i = 0; i < 3; i++) {
                header.value = broken[i];
                header.value_bytes = strlen(broken[i]);
                letter_send(sink, &record, "NO_RULE");
                ck_assert_uint_eq(world_take(source, WORLD_WAIT_MS, &letter), 1);
                ck_assert_ptr_null(record_header(letter, "postonce.pointer"));
        }
        world_source_close(source);
        sink_close(sink);
        world_close(&world);
}
END_TEST

START_TEST(null_and_empty_stay_apart_and_hostile_headers_come_through)
{
        struct world world = world_open(1);
        struct sink *sink = sink_of(&world);
        struct source *source = world_source(&world, 1);
        enum { HEADERS = 500 };
        static struct record_header headers[HEADERS];
        for (size_t i = 0; i < HEADERS; i++)
                headers[i] = (struct record_header){ i % 2 ? "attempt" : "n\xff\xfe",
                                                     i % 3 ? "\x80\0\0\0\0\0\0\0" : NULL,
                                                     i % 3 ? 1 + i % 8 : 0 };
        for (int i = 0; i < 4; i++) {
                struct record record = record_of();
                record.key = i & 1 ? NULL : "";
                record.value = i & 2 ? NULL : "";
                record.key_bytes = record.value_bytes = 0;
                record.headers = headers;
                record.headers_count = HEADERS;
                letter_send(sink, &record, "NO_RULE");
                const struct record *letter = NULL;
                ck_assert_uint_eq(world_take(source, WORLD_WAIT_MS, &letter), 1);
                ck_assert_int_eq(letter->key == NULL, record.key == NULL);
                ck_assert_int_eq(letter->value == NULL, record.value == NULL);
                ck_assert_uint_eq(letter->key_bytes + letter->value_bytes, 0);
                ck_assert_uint_eq(letter->headers_count, HEADERS + 9);
                for (size_t h = 0; h < HEADERS; h++) {
                        ck_assert_str_eq(letter->headers[h].name, headers[h].name);
                        ck_assert_uint_eq(letter->headers[h].value_bytes, headers[h].value_bytes);
                        ck_assert_int_eq(letter->headers[h].value == NULL,
                                         headers[h].value == NULL);
                }
        }
        world_source_close(source);
        sink_close(sink);
        world_close(&world);
}
END_TEST

START_TEST(of_several_letters_each_has_its_own_result)
{
        struct world world = narrow_world();
        struct sink *sink = sink_of(&world);
        static char huge[BOUND_BYTES];
        struct record records[3] = { record_of(), record_of(), record_of() };
        records[1].value = huge;
        records[1].value_bytes = sizeof huge;
        struct letter letters[3];
        for (int i = 0; i < 3; i++)
                letters[i] = letter_of(&records[i], "t", false);
        ck_assert_int_eq(letters_send(sink, TOPIC, letters, 3, &error), PO_RECORD);
        ck_assert_str_eq(error.reason, LETTER_TOO_LARGE);
        ck_assert_int_eq(letters[0].result, PO_OK);
        ck_assert_int_eq(letters[1].result, PO_RECORD);
        ck_assert_int_eq(letters[2].result, PO_OK);
        letters[1].may_keep = true;
        ck_assert_int_eq(letters_send(sink, TOPIC, letters, 3, &error), PO_OK);
        ck_assert(!letters[0].keep && letters[1].keep && !letters[2].keep);
        ck_assert_int_eq(letters_send(sink, TOPIC, letters, 0, &error), PO_OK);
        sink_close(sink);
        world_close(&world);
}
END_TEST

enum { API_PRODUCE = 0, KAFKA_MESSAGE_TOO_LARGE = 10 };

/* The topic's bound is on a batch, which librdkafka fails as a whole. */
START_TEST(small_letters_refused_in_company_go_alone)
{
        struct world world = world_open(1);
        struct sink *sink = sink_of(&world);
        struct record records[3] = { record_of(), record_of(), record_of() };
        struct letter letters[3];
        for (int i = 0; i < 3; i++)
                letters[i] = letter_of(&records[i], "t", true);
        rd_kafka_mock_push_request_errors(world.mock, API_PRODUCE, 1, KAFKA_MESSAGE_TOO_LARGE);
        ck_assert_msg(letters_send(sink, TOPIC, letters, 3, &error) == PO_OK, "%s", error.text);
        for (int i = 0; i < 3; i++)
                ck_assert(!letters[i].keep);
        struct source *source = world_source(&world, 10);
        const struct record *found = NULL;
        for (size_t i = 0; i < 3; i += world_take(source, WORLD_WAIT_MS, &found))
                ;
        ck_assert_mem_eq(found[0].value, "v", 1);
        world_source_close(source);
        sink_close(sink);
        world_close(&world);
}
END_TEST

START_TEST(a_parked_notifications_letter_is_not_that_of_its_record_nor_of_another_key)
{
        const struct record record = { .topic = "t", .value = "v", .value_bytes = 1 };
        char whole[LETTER_ID_BYTES], one[LETTER_ID_BYTES], other[LETTER_ID_BYTES];
        letter_id(&record, whole);
        letter_id_of_key(&record, NULL, one);
        ck_assert_str_eq(one, whole);
        letter_id_of_key(&record, "SQB:T1:X", one);
        letter_id_of_key(&record, "SQB:T2:X", other);
        ck_assert_str_ne(one, whole);
        ck_assert_str_ne(one, other);
        letter_id_of_key(&record, "SQB:T1:X", other);
        ck_assert_str_eq(one, other);
}
END_TEST

UNIT_MAIN("dead_letter", the_id_of_a_letter_never_changes,
          records_that_differ_in_anything_have_different_ids,
          a_letter_is_the_record_with_whence_and_why,
          a_letter_of_a_replayed_letter_does_not_grow_and_keeps_its_first_origin,
          an_origin_that_is_broken_is_replaced, a_letter_that_is_whole_needs_no_body,
          of_a_letter_that_is_too_large_text_and_headers_give_way_first,
          a_letter_still_too_large_is_a_pointer, what_no_row_could_keep_is_not_cut,
          twenty_passes_of_a_large_letter_do_not_grow_it,
          a_pointer_that_was_copied_back_is_not_lost,
          null_and_empty_stay_apart_and_hostile_headers_come_through,
          of_several_letters_each_has_its_own_result, small_letters_refused_in_company_go_alone,
          a_parked_notifications_letter_is_not_that_of_its_record_nor_of_another_key)
