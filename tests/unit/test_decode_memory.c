/* Decoding keeps nothing: after 20,000 records there is as much memory in use as after 10,000. */
#include "unit.h"

#include <malloc.h>

#include "base/limits.h"
#include "channel/decode.h"

enum { PATH_BYTES = 1024, BYTES_MAX = 65536, RECORDS = 20000 };

static const char *const profiles[] = {
        "deploy/channels/sqb.yaml",      "deploy/channels/wechat.yaml",
        "deploy/channels/alipay.yaml",   "deploy/channels/adyen.yaml",
        "deploy/channels/envelope.yaml", "deploy/channels/stripe.yaml",
};

static const char *source_path(char path[PATH_BYTES], const char *name)
{
        const char *source = getenv("POSTONCE_SOURCE");
        snprintf(path, PATH_BYTES, "%s/%s", source != NULL ? source : ".", name);
        return path;
}

static struct decoder *decoder_of_all(void)
{
        struct decoder *decoder;
        struct po_error error;
        char path[PATH_BYTES];
        setenv("WECHAT_APIV3_KEY_FILE", source_path(path, "tests/data/channel/keys/wechat-apiv3"),
               1);
        setenv("WECHAT_APIV2_KEY_FILE", source_path(path, "tests/data/channel/keys/wechat-apiv2"),
               1);
        enum po_class kind = decoder_open(&decoder, source_path(path, "."), profiles,
                                          sizeof profiles / sizeof profiles[0], &error);
        ck_assert_msg(kind == PO_OK, "%s", error.text);
        return decoder;
}

/* Of a payload that comes 20,000 times: bytes in use between the first and the second half. */
static void assert_flat(const char *name, const char *channel)
{
        static char bytes[BYTES_MAX];
        static struct po_notification notifications[NOTIFICATIONS_PER_RECORD_MAX];
        char path[PATH_BYTES], relative[PATH_BYTES / 2];
        snprintf(relative, sizeof relative, "tests/data/channel/%s", name);
        FILE *file = fopen(source_path(path, relative), "rb");
        ck_assert_msg(file != NULL, "%s cannot be read", path);
        struct record record = { .topic = "t", .value = bytes };
        record.value_bytes = fread(bytes, 1, sizeof bytes, file);
        fclose(file);

        struct decoder *decoder = decoder_of_all();
        size_t halfway = 0;
        for (int i = 0; i < RECORDS; i++) {
                struct po_error error;
                size_t count;
                enum po_class kind = decode_record(decoder, &record, channel, notifications,
                                                   NOTIFICATIONS_PER_RECORD_MAX, &count, &error);
                ck_assert_int_ne(kind, PO_BUG);
                if (i + 1 == RECORDS / 2)
                        halfway = mallinfo2().uordblks;
        }
        /* The allocator's own caches count as in use and vary; a leak is 16 bytes a record at
         * least. */
        ck_assert_uint_lt(mallinfo2().uordblks, halfway + RECORDS / 2);
        decoder_close(decoder);
}

START_TEST(json_leaves_nothing_behind)
{
        assert_flat("sqb-paid.json", "SQB");
        assert_flat("adyen-batch.json", "ADYEN");
        assert_flat("envelope-minor.json", "ENVELOPE");
}
END_TEST

START_TEST(a_form_leaves_nothing_behind)
{
        assert_flat("alipay-trade-success-gbk.form", "ALIPAY");
}
END_TEST

START_TEST(xml_and_what_is_encrypted_leave_nothing_behind)
{
        assert_flat("wechat2-refund-success.xml", "WECHAT");
        assert_flat("wechat3-transaction-success.json", "WECHAT");
}
END_TEST

START_TEST(what_is_refused_leaves_nothing_behind)
{
        assert_flat("hostile-duplicate-key.json", "SQB");
        assert_flat("hostile-truncated.json", "SQB");
        assert_flat("hostile-xxe.xml", "WECHAT");
        assert_flat("wechat2-pay-touched.xml", "WECHAT");
        assert_flat("hostile-duplicate-field.form", "ALIPAY");
}
END_TEST

UNIT_MAIN("decode_memory", json_leaves_nothing_behind, a_form_leaves_nothing_behind,
          xml_and_what_is_encrypted_leave_nothing_behind, what_is_refused_leaves_nothing_behind)
