/* Records to notifications. The payloads and their expectations: tests/data/channel/README.md. */
#include "unit.h"

#include <dirent.h>
#include <inttypes.h>
#include <sys/resource.h>

#include "base/limits.h"
#include "channel/decode.h"

enum { PATH_BYTES = 1024, TEXT_BYTES = 4096, HEADERS_MAX = 8, NOTIFICATIONS_MAX = 256 };

static char source_folder[PATH_BYTES / 2];
static char data_folder[PATH_BYTES - 300];
static struct dirent **payloads;
static int payloads_count;

static struct decoder *decoder;
static struct po_notification notifications[NOTIFICATIONS_PER_RECORD_MAX];
static size_t count;
static struct po_error error;

/* The shipped profiles take the names of key files from the environment. */
static void key_file_set(const char *variable, const char *name)
{
        char path[PATH_BYTES];
        snprintf(path, sizeof path, "%s/keys/%s", data_folder, name);
        ck_assert_int_eq(setenv(variable, path, 1), 0);
}

static void decoder_setup(void)
{
        static const char *const profiles[] = {
                "deploy/channels/sqb.yaml",
                "deploy/channels/envelope.yaml",
                "tests/data/generic.yaml",
                "tests/data/paypal.yaml",
                "deploy/channels/wechat.yaml",
                "deploy/channels/alipay.yaml",
                "deploy/channels/stripe.yaml",
                "deploy/channels/adyen.yaml",
                "deploy/channels/cloudevents.yaml",
                "tests/data/sqb-lite.yaml",
                "tests/data/square.yaml",
                "tests/data/mercadopago.yaml",
                "tests/data/language.yaml",
                "tests/data/signed-envelope.yaml",
                "tests/data/raw.yaml",
        };
        key_file_set("WECHAT_APIV3_KEY_FILE", "wechat-apiv3");
        key_file_set("WECHAT_APIV2_KEY_FILE", "wechat-apiv2");
        enum po_class kind = decoder_open(&decoder, source_folder, profiles,
                                          sizeof profiles / sizeof profiles[0], &error);
        ck_assert_msg(kind == PO_OK, "%s", error.text);
}

static void decoder_teardown(void)
{
        decoder_close(decoder);
}

static size_t file_read(const char *name, const char *extension, char *bytes, size_t capacity)
{
        char path[PATH_BYTES];
        snprintf(path, sizeof path, "%s/%s%s", data_folder, name, extension);
        FILE *file = fopen(path, "rb");
        ck_assert_msg(file != NULL, "%s cannot be read", path);
        size_t length = fread(bytes, 1, capacity, file);
        ck_assert_uint_lt(length, capacity);
        fclose(file);
        return length;
}

static enum po_class decode(const char *topic_channel, const struct record_header *header,
                            const char *text)
{
        struct record record = {
                .topic = "t",
                .value = text,
                .value_bytes = strlen(text),
                .headers = header,
                .headers_count = header != NULL,
        };
        error.reason = "none";
        return decode_record(decoder, &record, topic_channel, notifications,
                             NOTIFICATIONS_PER_RECORD_MAX, &count, &error);
}

static void text_add(char *text, const char *name, const char *value)
{
        size_t used = strlen(text);
        if (value[0] != '\0')
                snprintf(text + used, TEXT_BYTES - used, "%s %s\n", name, value);
}

static void notification_write(const struct po_notification *notification, char text[TEXT_BYTES])
{
        static const char *const kinds[] = { "none", "this", "cumulative", "net" };
        char number[80];
        snprintf(number, sizeof number, "%" PRId64, notification->tenant_id);
        text_add(text, "tenant", strcmp(number, "1") == 0 ? "" : number);
        text_add(text, "key", notification->key);
        text_add(text, "order_no", notification->order_no);
        text_add(text, "parent", notification->parent);
        text_add(text, "refund_no", notification->refund_no);
        snprintf(number, sizeof number, "%" PRId64 " %s %s", notification->amount_minor,
                 notification->currency, kinds[notification->amount_kind]);
        text_add(text, "amount", notification->amount_kind == PO_AMOUNT_NONE ? "" : number);
        snprintf(number, sizeof number, "%" PRId64, notification->fee_minor);
        text_add(text, "fee", notification->fee_minor == 0 ? "" : number);
        snprintf(number, sizeof number, "%" PRId64, notification->occurred_at_us);
        text_add(text, "occurred_at_us",
                 notification->occurred_at_us == PO_TIME_UNKNOWN ? "" : number);
}

/* The outcome in the words of an expectation. */
static void outcome_write(enum po_class kind, char text[TEXT_BYTES])
{
        if (kind != PO_OK) {
                ck_assert_msg(kind == PO_RECORD, "%s: %s", po_class_name(kind), error.text);
                ck_assert_uint_eq(count, 0);
                text_add(text, "refused", error.reason);
                return;
        }
        if (count == 0)
                snprintf(text, TEXT_BYTES, "ignored\n");
        for (size_t i = 0; i < count; i++)
                notification_write(&notifications[i], text);
}

/* A payload of the folder: its record, and what is expected of it. */
struct payload {
        char name[256];
        char bytes[65536];
        char text[TEXT_BYTES];
        const char *expected; /* in text, behind what concerns the record */
        const char *channel;  /* that the topic fixes, or NULL */
        struct record_header headers[HEADERS_MAX];
        struct record record;
};

/* Takes "word rest\n" off the front of what is expected; NULL: it begins otherwise. */
static char *line_take(struct payload *payload, const char *word)
{
        size_t length = strlen(word);
        if (strncmp(payload->expected, word, length) != 0 || payload->expected[length] != ' ')
                return NULL;
        char *rest = payload->text + (payload->expected - payload->text) + length + 1;
        char *end = strchr(rest, '\n');
        ck_assert_ptr_nonnull(end);
        *end = '\0';
        payload->expected = end + 1;
        return rest;
}

static void payload_read(struct payload *payload, const char *file_name)
{
        snprintf(payload->name, sizeof payload->name, "%s", file_name);
        char *extension = strrchr(payload->name, '.');
        payload->record = (struct record){ .topic = "t", .value = payload->bytes };
        payload->record.value_bytes =
                file_read(payload->name, "", payload->bytes, sizeof payload->bytes);
        *extension = '\0';
        payload->text[file_read(payload->name, ".expect", payload->text, TEXT_BYTES)] = '\0';
        payload->expected = payload->text;
        payload->channel = line_take(payload, "channel");
        payload->record.headers = payload->headers;
        for (char *line; (line = line_take(payload, "header")) != NULL;) {
                char *equals = strchr(line, '=');
                ck_assert(equals != NULL && payload->record.headers_count < HEADERS_MAX);
                *equals = '\0';
                payload->headers[payload->record.headers_count++] =
                        (struct record_header){ line, equals + 1, strlen(equals + 1) };
        }
}

static enum po_class payload_decode(const struct payload *payload)
{
        return decode_record(decoder, &payload->record, payload->channel, notifications,
                             NOTIFICATIONS_PER_RECORD_MAX, &count, &error);
}

START_TEST(every_payload_has_the_outcome_that_its_expectation_says)
{
        static struct payload payload;
        char got[TEXT_BYTES] = "";
        payload_read(&payload, payloads[_i]->d_name);
        outcome_write(payload_decode(&payload), got);
        ck_assert_msg(strcmp(got, payload.expected) == 0, "%s:\n%s(%s)\ninstead of\n%s",
                      payload.name, got, error.text, payload.expected);
}
END_TEST

/* Payloads of real channels; the hostile ones and the bare envelopes say different things under one
 * key on purpose. */
static bool payload_is_real(const char *name)
{
        return strncmp(name, "hostile-", 8) != 0 && strncmp(name, "envelope-", 9) != 0;
}

START_TEST(all_payloads_of_one_key_have_one_fingerprint)
{
        static struct payload payload;
        static struct po_notification seen[NOTIFICATIONS_MAX];
        size_t seen_count = 0, repeated = 0;
        for (int i = 0; i < payloads_count; i++) {
                if (!payload_is_real(payloads[i]->d_name))
                        continue;
                payload_read(&payload, payloads[i]->d_name);
                if (payload_decode(&payload) != PO_OK)
                        continue;
                ck_assert_uint_le(seen_count + count, NOTIFICATIONS_MAX);
                for (size_t n = 0; n < count; n++) {
                        for (size_t s = 0; s < seen_count; s++) {
                                if (strcmp(seen[s].key, notifications[n].key) != 0)
                                        continue;
                                repeated++;
                                ck_assert_msg(memcmp(seen[s].fingerprint,
                                                     notifications[n].fingerprint,
                                                     PO_FINGERPRINT_BYTES) == 0,
                                              "%s: another fingerprint under %s", payload.name,
                                              seen[s].key);
                        }
                        seen[seen_count++] = notifications[n];
                }
        }
        ck_assert_uint_gt(repeated, 8);
}
END_TEST

static void payload_first(const char *name, struct po_notification *first)
{
        static struct payload payload;
        payload_read(&payload, name);
        ck_assert_msg(payload_decode(&payload) == PO_OK && count > 0, "%s: %s", name, error.text);
        *first = notifications[0];
}

START_TEST(copies_of_one_payment_by_all_ways_share_one_key_and_fingerprint)
{
        static const char *const copies[][2] = {
                { "wechat3-transaction-success.json", "wechat3-transaction-success-repush.json" },
                { "wechat3-transaction-success.json", "wechat3-transaction-success-newid.json" },
                { "wechat3-transaction-success.json", "wechat2-pay-success.xml" },
                { "wechat3-transaction-success.json", "wechat2-pay-success-repush.xml" },
                { "wechat3-transaction-success.json", "cloudevents-structured.json" },
                { "wechat3-transaction-success.json", "cloudevents-binary.value.json" },
                { "wechat3-refund-success.json", "wechat2-refund-success.xml" },
                { "wechat3-refund-abnormal.json", "wechat2-refund-change.xml" },
                { "alipay-trade-success.form", "alipay-trade-success-repush.form" },
                { "alipay-trade-success.form", "alipay-trade-finished.form" },
                { "alipay-trade-success.form", "cloudevents-structured-base64.json" },
                { "stripe-payment_intent.succeeded.json",
                  "stripe-payment_intent.succeeded-twin.json" },
                { "adyen-authorisation.json", "adyen-authorisation-dup.json" },
                { "sqblite-split-payment.json", "sqblite-split-payment-repush.json" },
                { "square-completed.json", "square-completed-again.json" },
                { "mercadopago-approved.json", "mercadopago-refunded.json" },
        };
        for (size_t i = 0; i < sizeof copies / sizeof copies[0]; i++) {
                struct po_notification one, other;
                payload_first(copies[i][0], &one);
                payload_first(copies[i][1], &other);
                ck_assert_str_eq(one.key, other.key);
                ck_assert_mem_eq(one.fingerprint, other.fingerprint, PO_FINGERPRINT_BYTES);
        }
}
END_TEST

#define ENVELOPE(channel) "{" channel "\"txn\":\"1\",\"event\":\"E\"}"

START_TEST(the_topics_channel_goes_before_the_header)
{
        const struct record_header header = { "channel", "GENERIC", 7 };
        ck_assert_int_eq(decode("ENVELOPE", &header, ENVELOPE("")), PO_OK);
        ck_assert_str_eq(notifications[0].key, "ENVELOPE:1:E");
}
END_TEST

START_TEST(the_header_goes_before_the_envelopes_member)
{
        const struct record_header header = { "channel", "ENVELOPE!", 8 };
        ck_assert_int_eq(decode(NULL, &header, ENVELOPE("")), PO_OK);
        ck_assert_str_eq(notifications[0].key, "ENVELOPE:1:E");
        ck_assert_int_eq(decode(NULL, &header, ENVELOPE("\"channel\":\"SQB\",")), PO_RECORD);
        ck_assert_str_eq(error.reason, "CHANNEL_MISMATCH");
}
END_TEST

START_TEST(an_envelope_may_name_any_configured_channel_itself)
{
        ck_assert_int_eq(decode(NULL, NULL, ENVELOPE("\"channel\":\"SQB\",")), PO_OK);
        ck_assert_str_eq(notifications[0].key, "SQB:1:E");
        ck_assert_str_eq(notifications[0].channel, "SQB");
        ck_assert_int_eq(notifications[0].tenant_id, 1);
}
END_TEST

START_TEST(a_channel_without_a_profile_is_refused)
{
        const struct record_header unknown = { "channel", "NOSUCH", 6 };
        const struct record_header prefix = { "channel", "ENVELOPE", 7 };
        const struct record_header longer = { "channel", "ENVELOPE\0", 9 };
        const struct record_header bare = { "channel", NULL, 0 };
        static const char text[] = ENVELOPE("\"channel\":\"ENVELOPE\",");
        ck_assert_int_eq(decode("NOSUCH", NULL, text), PO_RECORD);
        ck_assert_str_eq(error.reason, "UNKNOWN_CHANNEL");
        ck_assert_int_eq(decode(NULL, &unknown, text), PO_RECORD);
        ck_assert_str_eq(error.reason, "UNKNOWN_CHANNEL");
        unit_assert_not_in(error.text, "NOSUCH");
        ck_assert_int_eq(decode(NULL, &prefix, text), PO_RECORD);
        ck_assert_int_eq(decode(NULL, &longer, text), PO_RECORD);
        ck_assert_int_eq(decode(NULL, &bare, text), PO_RECORD);
        ck_assert_str_eq(error.reason, "UNKNOWN_CHANNEL");
        ck_assert_int_eq(decode(NULL, NULL, "[1]"), PO_RECORD);
        ck_assert_str_eq(error.reason, "UNKNOWN_CHANNEL");
}
END_TEST

START_TEST(no_value_and_an_empty_value_are_told_apart)
{
        struct record record = { .topic = "t" };
        ck_assert_int_eq(decode_record(decoder, &record, "SQB", notifications,
                                       NOTIFICATIONS_PER_RECORD_MAX, &count, &error),
                         PO_RECORD);
        ck_assert_str_eq(error.reason, "NULL_VALUE");
        record.value = "";
        ck_assert_int_eq(decode_record(decoder, &record, "SQB", notifications,
                                       NOTIFICATIONS_PER_RECORD_MAX, &count, &error),
                         PO_RECORD);
        ck_assert_str_eq(error.reason, "EMPTY_VALUE");
}
END_TEST

START_TEST(a_value_beyond_the_limit_is_refused_before_it_is_read)
{
        struct record record = { .topic = "t", .value = "{}" };
        record.value_bytes = (size_t)VALUE_BYTES_MAX + 1; /* would crash if it were read */
        ck_assert_int_eq(decode_record(decoder, &record, "SQB", notifications,
                                       NOTIFICATIONS_PER_RECORD_MAX, &count, &error),
                         PO_RECORD);
        ck_assert_str_eq(error.reason, "VALUE_TOO_LARGE");
}
END_TEST

START_TEST(every_way_in_gives_one_event_one_key_and_fingerprint)
{
        static const char raw[] = "{\"sn\":\"7895\",\"client_sn\":\"R8\",\"order_status\":\"PAID\","
                                  "\"status\":\"SUCCESS\",\"total_amount\":\"12880\"}";
        static const char enveloped[] =
                "{\"channel\":\"SQB\",\"txn\":\"7895\",\"event\":\"PAYMENT_RECEIVED\","
                "\"order_no\":\"R8\",\"amount\":\"128.80\",\"currency\":\"CNY\","
                "\"occurred_at\":\"2026-01-14T12:41:07+08:00\"}";
        struct po_notification first;
        ck_assert_int_eq(decode("SQB", NULL, raw), PO_OK);
        first = notifications[0];
        ck_assert_int_eq(decode(NULL, NULL, enveloped), PO_OK);
        ck_assert_str_eq(notifications[0].key, first.key);
        ck_assert_mem_eq(notifications[0].fingerprint, first.fingerprint, PO_FINGERPRINT_BYTES);
}
END_TEST

START_TEST(a_raw_profile_tells_bodies_apart_by_their_bytes)
{
        static const char one[] =
                "{\"items\":[{\"id\":\"A\",\"amount\":1},{\"id\":\"B\",\"amount\":2}]}";
        static const char same[] =
                "{\"items\": [{\"id\":\"A\",\"amount\":1},{\"id\":\"B\",\"amount\":2}]}";
        struct po_notification first;
        ck_assert_msg(decode("RAW", NULL, one) == PO_OK, "%s", error.text);
        ck_assert_uint_eq(count, 2);
        first = notifications[0];
        ck_assert_int_eq(first.fingerprint_version, PO_FINGERPRINT_RAW);
        ck_assert_mem_eq(notifications[1].fingerprint, first.fingerprint, PO_FINGERPRINT_BYTES);
        ck_assert_int_eq(decode("RAW", NULL, same), PO_OK);
        ck_assert_str_eq(notifications[0].key, first.key);
        ck_assert_mem_ne(notifications[0].fingerprint, first.fingerprint, PO_FINGERPRINT_BYTES);
        ck_assert_int_eq(
                decode(NULL, NULL,
                       "{\"channel\":\"RAW\",\"txn\":\"A\",\"event\":\"PAYMENT_RECEIVED\"}"),
                PO_OK);
        ck_assert_int_eq(notifications[0].fingerprint_version, PO_FINGERPRINT_RAW);
}
END_TEST

START_TEST(a_later_copy_of_a_refund_with_a_larger_total_has_the_same_fingerprint)
{
        static const char format[] =
                "{\"sn\":\"7895\",\"client_sn\":\"R8\",\"status\":\"SUCCESS\","
                "\"order_status\":\"PARTIAL_REFUNDED\",\"client_tsn\":\"R8-1\","
                "\"total_amount\":\"12880\",\"net_amount\":\"%d\"}";
        char text[512];
        struct po_notification first;
        snprintf(text, sizeof text, format, 9880);
        ck_assert_int_eq(decode("SQB", NULL, text), PO_OK);
        first = notifications[0];
        snprintf(text, sizeof text, format, 7880);
        ck_assert_int_eq(decode("SQB", NULL, text), PO_OK);
        ck_assert_str_eq(notifications[0].key, first.key);
        ck_assert_int_eq(notifications[0].amount_minor, 5000);
        ck_assert_mem_eq(notifications[0].fingerprint, first.fingerprint, PO_FINGERPRINT_BYTES);
}
END_TEST

START_TEST(a_refused_record_leaves_no_trace_in_the_next)
{
        ck_assert_int_eq(decode(NULL, NULL,
                                "{\"channel\":\"SQB\",\"txn\":\"1\",\"event\":\"E\","
                                "\"order_no\":\"R8\",\"parent\":\"P\",\"amount\":\"1.00\","
                                "\"currency\":\"RMB\"}"),
                         PO_RECORD);
        ck_assert_uint_eq(count, 0);
        ck_assert_int_eq(decode(NULL, NULL, ENVELOPE("\"channel\":\"SQB\",")), PO_OK);
        ck_assert_uint_eq(count, 1);
        ck_assert_str_eq(notifications[0].order_no, "");
        ck_assert_str_eq(notifications[0].parent, "");
}
END_TEST

static void event_add(void *context, const char *channel, const char *event)
{
        text_add(context, channel, event);
}

START_TEST(every_event_of_a_profile_is_told_once)
{
        char text[TEXT_BYTES] = "";
        decoder_events(decoder, event_add, text);
        ck_assert_str_eq(text, "SQB PAYMENT_RECEIVED\nSQB REFUND_SUCCEEDED\n"
                               "GENERIC PAYMENT_RECEIVED\n"
                               "PAYPAL PAYMENT_RECEIVED\nPAYPAL REFUND_SUCCEEDED\n"
                               "WECHAT PAYMENT_RECEIVED\nWECHAT REFUND_SUCCEEDED\n"
                               "WECHAT REFUND_ABNORMAL\nWECHAT REFUND_FAILED\n"
                               "ALIPAY REFUND_SUCCEEDED\nALIPAY PAYMENT_RECEIVED\n"
                               "STRIPE PAYMENT_RECEIVED\nSTRIPE REFUND_SUCCEEDED\n"
                               "STRIPE REFUND_FAILED\nSTRIPE PAYMENT_DISPUTED\n"
                               "ADYEN PAYMENT_AUTHORISED\nADYEN PAYMENT_RECEIVED\n"
                               "ADYEN PAYMENT_REVERSED\nADYEN REFUND_SUCCEEDED\n"
                               "ADYEN REFUND_REVERSED\nADYEN PAYMENT_CANCELLED\n"
                               "CLOUDEVENTS PAYMENT_RECEIVED\nCLOUDEVENTS REFUND_SUCCEEDED\n"
                               "SQBLITE PAYMENT_RECEIVED\nSQBLITE REFUND_SUCCEEDED\n"
                               "SQUARE PAYMENT_RECEIVED\nSQUARE REFUND_SUCCEEDED\n"
                               "MERCADOPAGO PAYMENT_RECEIVED\nMERCADOPAGO REFUND_SUCCEEDED\n"
                               "LANGUAGE PAID_BY_STEPS\nLANGUAGE REFUND_SUCCEEDED\n"
                               "LANGUAGE PAYMENT_RECEIVED\n"
                               "RAW PAYMENT_RECEIVED\n");
}
END_TEST

START_TEST(the_worked_example_of_the_documentation_is_the_tested_one)
{
        static char page[65536], profile[16384];
        char path[PATH_BYTES];
        static const char *const names[] = { "docs/channels.md", "tests/data/paypal.yaml" };
        char *const texts[] = { page, profile };
        const size_t rooms[] = { sizeof page, sizeof profile };
        for (size_t i = 0; i < 2; i++) {
                snprintf(path, sizeof path, "%s/%s", source_folder, names[i]);
                FILE *file = fopen(path, "rb");
                ck_assert_msg(file != NULL, "%s cannot be read", path);
                texts[i][fread(texts[i], 1, rooms[i] - 1, file)] = '\0';
                fclose(file);
        }
        ck_assert_msg(strstr(page, profile) != NULL, "%s is not in %s", names[1], names[0]);
}
END_TEST

START_TEST(two_profiles_of_one_channel_are_refused)
{
        static const char *const twice[] = { "deploy/channels/sqb.yaml",
                                             "deploy/channels/sqb.yaml" };
        struct decoder *other = decoder;
        ck_assert_int_eq(decoder_open(&other, source_folder, twice, 2, &error), PO_SYSTEMIC);
        unit_assert_in(error.text, "channel SQB");
        ck_assert_ptr_null(other);
}
END_TEST

START_TEST(a_profile_path_from_the_root_is_taken_as_it_is)
{
        char path[PATH_BYTES];
        snprintf(path, sizeof path, "%s/deploy/channels/sqb.yaml", source_folder);
        const char *const paths[] = { path };
        struct decoder *other;
        ck_assert_int_eq(decoder_open(&other, "/no/such/folder", paths, 1, &error), PO_OK);
        decoder_close(other);
        ck_assert_int_eq(decoder_open(&other, "/no/such/folder", (const char *const[]){ "x.yaml" },
                                      1, &error),
                         PO_SYSTEMIC);
        unit_assert_in(error.text, "/no/such/folder/x.yaml");
        decoder_close(NULL);
}
END_TEST

START_TEST(an_envelope_is_no_way_around_a_channels_signatures)
{
        ck_assert_int_eq(decode(NULL, NULL, ENVELOPE("\"channel\":\"WECHAT\",")), PO_RECORD);
        ck_assert_str_eq(error.reason, "SIGNATURE_INVALID");
        ck_assert_uint_eq(count, 0);
}
END_TEST

static void unverified_add(void *context, const char *channel, const char *missing)
{
        text_add(context, channel, missing != NULL ? missing : "verify");
}

START_TEST(every_channel_whose_keys_are_not_configured_is_told)
{
        char text[TEXT_BYTES] = "";
        decoder_unverified(decoder, unverified_add, text);
        ck_assert_str_eq(text, "SQB ${env:SQB_PUBLIC_KEY_FILE}\n"
                               "WECHAT ${env:WECHATPAY_KEY_ID}\n"
                               "ALIPAY ${env:ALIPAY_PUBLIC_KEY_FILE}\n"
                               "STRIPE ${env:STRIPE_ENDPOINT_SECRET_FILE}\n"
                               "ADYEN ${env:ADYEN_HMAC_KEY_FILE}\n");
}
END_TEST

enum { LARGE_BYTES = 10 * 1024 * 1024, RESIDENT_MAX_KIB = 512 * 1024 };

/* Ten megabytes: head, then piece again and again, then tail. */
static const struct {
        const char *head, *piece, *tail, *content_type, *reason; /* NULL: it decodes */
} large_bodies[] = {
        { "{\"txn\":\"T\",\"amount\":\"1\",\"currency\":\"CNY\",\"pad\":\"", "x", "\"}", "", NULL },
        { "{\"txn\":\"T\",\"amount\":\"1\",\"currency\":\"CNY\"}", " ", "", "", NULL },
        { "{\"txn\":\"T\",\"amount\":\"", "9", "\",\"currency\":\"CNY\"}", "",
          "AMOUNT_OUT_OF_RANGE" },
        { "{\"txn\":\"", "x", "\",\"amount\":\"1\",\"currency\":\"CNY\"}", "", "KEY_TOO_LONG" },
        { "{\"txn\":\"T\",\"amount_minor\":", "9", "}", "", "NUMBER_OUT_OF_RANGE" },
        { "", "[", "", "", "NESTING_TOO_DEEP" },
        { "", "{\"a\":", "", "", "NESTING_TOO_DEEP" },
        { "{\"a\":[0", ",0", "]}", "", "TOO_MANY_VALUES" },
        { "{\"a\":[\"\"", ",{}", "]}", "", "TOO_MANY_VALUES" },
        { "{\"a\":0", ",\"a\":0", "}", "", "DUPLICATE_MEMBER" },
        { "<xml>", "<a>", "", "", "NESTING_TOO_DEEP" },
        { "<xml><a>", "x", "</a></xml>", "", "NO_RULE" },
        { "<xml><b>1</b><a ", "b='1' ", "/></xml>", "", "MALFORMED_XML" },
        { "a=", "x", "", "application/x-www-form-urlencoded", "NO_RULE" },
        { "a=", "&a=", "", "application/x-www-form-urlencoded", "DUPLICATE_FIELD" },
        { "a=", "%41", "", "application/x-www-form-urlencoded", "NO_RULE" },
};

static char *large_make(size_t body, size_t *length_out)
{
        const char *head = large_bodies[body].head, *piece = large_bodies[body].piece;
        size_t head_length = strlen(head), piece_length = strlen(piece);
        size_t tail_length = strlen(large_bodies[body].tail);
        size_t pieces = (LARGE_BYTES - head_length - tail_length) / piece_length;
        char *bytes = malloc(LARGE_BYTES);
        ck_assert_ptr_nonnull(bytes);
        memcpy(bytes, head, head_length);
        for (size_t i = 0; i < pieces; i++)
                memcpy(bytes + head_length + i * piece_length, piece, piece_length);
        *length_out = head_length + pieces * piece_length + tail_length;
        memcpy(bytes + *length_out - tail_length, large_bodies[body].tail, tail_length);
        return bytes;
}

START_TEST(ten_megabytes_are_decoded_or_refused_in_bounded_memory)
{
        size_t length;
        char *bytes = large_make((size_t)_i, &length);
        const char *type = large_bodies[_i].content_type, *reason = large_bodies[_i].reason;
        const struct record_header header = { "content-type", type, strlen(type) };
        const struct record record = { .topic = "t",
                                       .value = bytes,
                                       .value_bytes = length,
                                       .headers = &header,
                                       .headers_count = 1 };
        error.reason = "none";
        enum po_class kind = decode_record(decoder, &record, "GENERIC", notifications,
                                           NOTIFICATIONS_PER_RECORD_MAX, &count, &error);
        ck_assert_msg(kind == (reason == NULL ? PO_OK : PO_RECORD), "%s: %s", error.reason,
                      error.text);
        if (reason != NULL)
                ck_assert_str_eq(error.reason, reason);
        free(bytes);
        struct rusage usage;
        ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
        ck_assert_int_lt(usage.ru_maxrss, RESIDENT_MAX_KIB);
}
END_TEST

static int is_payload(const struct dirent *entry)
{
        const char *dot = strrchr(entry->d_name, '.');
        return dot != NULL &&
               (strcmp(dot, ".json") == 0 || strcmp(dot, ".form") == 0 || strcmp(dot, ".xml") == 0);
}

static Suite *decode_suite(void)
{
        Suite *suite = suite_create("decode");
        TCase *tcase = tcase_create("decode");
        tcase_add_checked_fixture(tcase, decoder_setup, decoder_teardown);
        tcase_add_loop_test(tcase, every_payload_has_the_outcome_that_its_expectation_says, 0,
                            payloads_count);
        tcase_add_test(tcase, all_payloads_of_one_key_have_one_fingerprint);
        tcase_add_test(tcase, copies_of_one_payment_by_all_ways_share_one_key_and_fingerprint);
        tcase_add_test(tcase, the_topics_channel_goes_before_the_header);
        tcase_add_test(tcase, the_header_goes_before_the_envelopes_member);
        tcase_add_test(tcase, an_envelope_may_name_any_configured_channel_itself);
        tcase_add_test(tcase, a_channel_without_a_profile_is_refused);
        tcase_add_test(tcase, no_value_and_an_empty_value_are_told_apart);
        tcase_add_test(tcase, a_value_beyond_the_limit_is_refused_before_it_is_read);
        tcase_add_test(tcase, every_way_in_gives_one_event_one_key_and_fingerprint);
        tcase_add_test(tcase, a_raw_profile_tells_bodies_apart_by_their_bytes);
        tcase_add_test(tcase,
                       a_later_copy_of_a_refund_with_a_larger_total_has_the_same_fingerprint);
        tcase_add_test(tcase, a_refused_record_leaves_no_trace_in_the_next);
        tcase_add_loop_test(tcase, ten_megabytes_are_decoded_or_refused_in_bounded_memory, 0,
                            sizeof large_bodies / sizeof large_bodies[0]);
        tcase_add_test(tcase, an_envelope_is_no_way_around_a_channels_signatures);
        tcase_add_test(tcase, every_channel_whose_keys_are_not_configured_is_told);
        tcase_add_test(tcase, every_event_of_a_profile_is_told_once);
        tcase_add_test(tcase, the_worked_example_of_the_documentation_is_the_tested_one);
        tcase_add_test(tcase, two_profiles_of_one_channel_are_refused);
        tcase_add_test(tcase, a_profile_path_from_the_root_is_taken_as_it_is);
        suite_add_tcase(suite, tcase);
        return suite;
}

int main(void)
{
        const char *source = getenv("POSTONCE_SOURCE");
        snprintf(source_folder, sizeof source_folder, "%s", source != NULL ? source : ".");
        snprintf(data_folder, sizeof data_folder, "%s/tests/data/channel", source_folder);
        payloads_count = scandir(data_folder, &payloads, is_payload, alphasort);
        if (payloads_count <= 0) {
                fprintf(stderr, "no payloads in %s\n", data_folder);
                return EXIT_FAILURE;
        }
        SRunner *runner = srunner_create(decode_suite());
        srunner_run_all(runner, CK_ENV);
        int failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        for (int i = 0; i < payloads_count; i++)
                free(payloads[i]);
        free(payloads);
        return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
