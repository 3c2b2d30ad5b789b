/* A record through its packed form and back. */
#include "unit.h"

#include "base/record_pack.h"

enum { HEADERS_MAX = 8 };

static struct po_error error;
static struct record_header unpacked[HEADERS_MAX];

static const struct record_header headers[] = {
        { .name = "channel", .value = "OLD", .value_bytes = 3 },
        { .name = "none", .value = NULL },
        { .name = "empty", .value = "", .value_bytes = 0 },
        { .name = "channel", .value = "SQ\0B", .value_bytes = 4 },
        { .name = "", .value = "nameless", .value_bytes = 8 },
};

static struct record whole(void)
{
        return (struct record){
                .topic = "callbacks",
                .partition = 3,
                .offset = INT64_C(0x123456789abcdef0),
                .timestamp_ms = 1762835696789,
                .key = "k\0y",
                .key_bytes = 3,
                .value = "{\"a\":\"\0\"}",
                .value_bytes = 9,
                .headers = headers,
                .headers_count = 5,
                .slot = 7,
                .epoch = 9,
        };
}

/* Exactly as large as said, so that a sanitizer sees a write or read beyond. */
static unsigned char *packed(const struct record *record, size_t *count_out)
{
        *count_out = record_pack_bytes(record);
        unsigned char *bytes = malloc(*count_out);
        record_pack(record, bytes);
        return bytes;
}

static void assert_bytes(const void *is, size_t is_bytes, const void *must, size_t must_bytes)
{
        ck_assert_int_eq(is == NULL, must == NULL);
        if (must != NULL) {
                ck_assert_uint_eq(is_bytes, must_bytes);
                ck_assert_mem_eq(is, must, must_bytes);
        } else {
                ck_assert_uint_eq(is_bytes, 0);
        }
}

static void assert_survives(const struct record *record)
{
        size_t count;
        unsigned char *bytes = packed(record, &count);
        ck_assert_uint_eq(record_pack_headers(bytes, count), record->headers_count);
        struct record found;
        ck_assert_int_eq(record_unpack(bytes, count, &found, unpacked, HEADERS_MAX, &error), PO_OK);
        ck_assert_str_eq(found.topic, record->topic);
        ck_assert_int_eq(found.partition, record->partition);
        ck_assert_int_eq(found.offset, record->offset);
        ck_assert_int_eq(found.timestamp_ms, record->timestamp_ms);
        assert_bytes(found.key, found.key_bytes, record->key, record->key_bytes);
        assert_bytes(found.value, found.value_bytes, record->value, record->value_bytes);
        ck_assert_uint_eq(found.headers_count, record->headers_count);
        for (size_t i = 0; i < record->headers_count; i++) {
                ck_assert_str_eq(found.headers[i].name, record->headers[i].name);
                assert_bytes(found.headers[i].value, found.headers[i].value_bytes,
                             record->headers[i].value, record->headers[i].value_bytes);
        }
        ck_assert_uint_eq(found.slot, 0);
        ck_assert_uint_eq(found.epoch, 0);
        free(bytes);
}

START_TEST(a_whole_record_survives)
{
        struct record record = whole();
        assert_survives(&record);
}
END_TEST

START_TEST(null_and_empty_key_and_value_stay_what_they_are)
{
        static const struct {
                const void *bytes;
                size_t count;
        } given[] = { { NULL, 0 }, { "", 0 }, { "x", 1 } };
        for (size_t key = 0; key < 3; key++) {
                for (size_t value = 0; value < 3; value++) {
                        struct record record = whole();
                        record.key = given[key].bytes;
                        record.key_bytes = given[key].count;
                        record.value = given[value].bytes;
                        record.value_bytes = given[value].count;
                        assert_survives(&record);
                        record.headers = NULL;
                        record.headers_count = 0;
                        assert_survives(&record);
                }
        }
}
END_TEST

START_TEST(the_least_numbers_survive)
{
        struct record record = whole();
        record.partition = -1;
        record.offset = INT64_MIN;
        record.timestamp_ms = -1;
        assert_survives(&record);
}
END_TEST

START_TEST(the_layout_never_changes)
{
        static const unsigned char must[] = "POR1"
                                            "\0\0\0\2"
                                            "\0\0\0\1"
                                            "\0\0\0\0\0\0\0\x29"
                                            "\xff\xff\xff\xff\xff\xff\xff\xff"
                                            "\0\0\0\1t\0"
                                            "\xff\xff\xff\xff"
                                            "\0\0\0\0"
                                            "\0\0\0\1a\0"
                                            "\0\0\0\2xy"
                                            "\0\0\0\1b\0"
                                            "\xff\xff\xff\xff";
        static const struct record_header two[] = { { "a", "xy", 2 }, { "b", NULL, 0 } };
        const struct record record = { .topic = "t",
                                       .partition = 1,
                                       .offset = 41,
                                       .timestamp_ms = -1,
                                       .value = "",
                                       .headers = two,
                                       .headers_count = 2 };
        size_t count;
        unsigned char *bytes = packed(&record, &count);
        ck_assert_uint_eq(count, sizeof must - 1);
        ck_assert_mem_eq(bytes, must, count);
        free(bytes);
}
END_TEST

START_TEST(what_is_cut_short_anywhere_is_refused)
{
        struct record record = whole(), found;
        size_t count;
        unsigned char *bytes = packed(&record, &count);
        for (size_t cut = 0; cut < count; cut++) {
                unsigned char *piece = malloc(cut > 0 ? cut : 1);
                memcpy(piece, bytes, cut);
                ck_assert_int_eq(record_unpack(piece, cut, &found, unpacked, HEADERS_MAX, &error),
                                 PO_BUG);
                free(piece);
        }
        free(bytes);
}
END_TEST

START_TEST(what_is_followed_by_more_is_refused)
{
        struct record record = whole(), found;
        size_t count = record_pack_bytes(&record);
        unsigned char *bytes = calloc(1, count + 1);
        record_pack(&record, bytes);
        ck_assert_int_eq(record_unpack(bytes, count + 1, &found, unpacked, HEADERS_MAX, &error),
                         PO_BUG);
        unit_assert_in(error.text, "followed by more");
        free(bytes);
}
END_TEST

START_TEST(other_bytes_are_no_record)
{
        struct record found;
        static const unsigned char other[40] = "POR2";
        ck_assert_int_eq(record_unpack(other, sizeof other, &found, unpacked, HEADERS_MAX, &error),
                         PO_BUG);
        ck_assert_uint_eq(record_pack_headers(other, sizeof other), 0);
        ck_assert_uint_eq(record_pack_headers(NULL, 0), 0);
}
END_TEST

START_TEST(more_headers_than_there_is_room_for_are_refused)
{
        struct record record = whole(), found;
        size_t count;
        unsigned char *bytes = packed(&record, &count);
        ck_assert_int_eq(record_unpack(bytes, count, &found, unpacked, 4, &error), PO_BUG);
        unit_assert_in(error.text, "5 headers");
        memset(bytes + 4, 0xff, 4);
        ck_assert_uint_eq(record_pack_headers(bytes, count), 0);
        free(bytes);
}
END_TEST

START_TEST(a_name_with_a_nul_inside_is_refused)
{
        struct record record = whole(), found;
        size_t count;
        unsigned char *bytes = packed(&record, &count);
        const size_t topic_at = 4 + 4 + 4 + 8 + 8 + 4;
        ck_assert_mem_eq(bytes + topic_at, "callbacks", 10);
        bytes[topic_at + 3] = '\0';
        ck_assert_int_eq(record_unpack(bytes, count, &found, unpacked, HEADERS_MAX, &error),
                         PO_BUG);
        bytes[topic_at + 3] = 'l';
        bytes[topic_at + 9] = 'x';
        ck_assert_int_eq(record_unpack(bytes, count, &found, unpacked, HEADERS_MAX, &error),
                         PO_BUG);
        free(bytes);
}
END_TEST

UNIT_MAIN("record_pack", a_whole_record_survives, null_and_empty_key_and_value_stay_what_they_are,
          the_least_numbers_survive, the_layout_never_changes,
          what_is_cut_short_anywhere_is_refused, what_is_followed_by_more_is_refused,
          other_bytes_are_no_record, more_headers_than_there_is_room_for_are_refused,
          a_name_with_a_nul_inside_is_refused)
