#include "unit.h"

#include "base/record.h"

static const struct record_header headers[] = {
        { .name = "channel", .value = "OLD", .value_bytes = 3 },
        { .name = "empty", .value = NULL },
        { .name = "channel", .value = "SQB", .value_bytes = 3 },
};
static const struct record record = { .headers = headers, .headers_count = 3 };

START_TEST(of_repeated_headers_the_last_counts)
{
        ck_assert_ptr_eq(record_header(&record, "channel"), &headers[2]);
}
END_TEST

START_TEST(a_header_without_a_value_is_found)
{
        const struct record_header *header = record_header(&record, "empty");
        ck_assert_ptr_eq(header, &headers[1]);
        ck_assert_ptr_null(header->value);
}
END_TEST

START_TEST(a_header_that_is_not_there_is_null)
{
        ck_assert_ptr_null(record_header(&record, "Channel"));
        const struct record bare = { .topic = "t" };
        ck_assert_ptr_null(record_header(&bare, "channel"));
}
END_TEST

UNIT_MAIN("record", of_repeated_headers_the_last_counts, a_header_without_a_value_is_found,
          a_header_that_is_not_there_is_null)
