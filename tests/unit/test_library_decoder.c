/* Decoding through libpostonce: the same profiles, the record as another program holds it. */
#include "unit.h"

#include <string.h>

#include "postonce/decode.h"

static struct po_decoder *decoder;
static struct po_notification notifications[PO_NOTIFICATIONS_MAX];
static struct po_error error;
static size_t count;

static const char BODY[] =
        "{\"channel\":\"ENVELOPE\",\"txn\":\"T1\",\"event\":\"E\",\"order_no\":\"R\","
        "\"amount_minor\":7,\"currency\":\"CNY\"}";

static enum po_class decode(const struct po_header *headers, size_t headers_count,
                            const char *channel)
{
        const struct po_record record = { .topic = "http",
                                          .partition = -1,
                                          .value = BODY,
                                          .value_bytes = sizeof BODY - 1,
                                          .headers = headers,
                                          .headers_count = headers_count };
        return po_decode(decoder, &record, channel, notifications, PO_NOTIFICATIONS_MAX, &count,
                         &error);
}

static void open_decoder(void)
{
        const char *const profiles[] = { "deploy/channels/envelope.yaml" };
        ck_assert_int_eq(po_decoder_open(&decoder, getenv("POSTONCE_SOURCE"), profiles, 1, &error),
                         PO_OK);
}

START_TEST(the_channel_is_the_callers_or_the_last_headers)
{
        const struct po_header headers[] = { { "channel", "NOBODY", 6 },
                                             { "channel", "ENVELOPE", 8 },
                                             { "other", NULL, 0 } };
        open_decoder();
        ck_assert_int_eq(decode(NULL, 0, "ENVELOPE"), PO_OK);
        ck_assert_uint_eq(count, 1);
        ck_assert_str_eq(notifications[0].key, "ENVELOPE:T1:E");
        ck_assert_int_eq(decode(headers, 3, NULL), PO_OK);
        ck_assert_int_eq(decode(headers, 1, NULL), PO_RECORD);
        ck_assert_str_eq(error.reason, "UNKNOWN_CHANNEL");
        po_decoder_close(decoder);
}
END_TEST

START_TEST(too_little_room_is_the_callers_fault)
{
        const struct po_record record = { .topic = "http" };
        open_decoder();
        count = 1;
        ck_assert_int_eq(po_decode(decoder, &record, NULL, notifications, PO_NOTIFICATIONS_MAX - 1,
                                   &count, &error),
                         PO_BUG);
        ck_assert_uint_eq(count, 0);
        po_decoder_close(decoder);
}
END_TEST

START_TEST(a_profile_that_is_not_there_opens_nothing)
{
        const char *const profiles[] = { "deploy/channels/nothing.yaml" };
        ck_assert_int_eq(po_decoder_open(&decoder, getenv("POSTONCE_SOURCE"), profiles, 1, &error),
                         PO_SYSTEMIC);
        ck_assert_ptr_null(decoder);
        po_decoder_close(decoder);
}
END_TEST

UNIT_MAIN("library_decoder", the_channel_is_the_callers_or_the_last_headers,
          too_little_room_is_the_callers_fault, a_profile_that_is_not_there_opens_nothing)
