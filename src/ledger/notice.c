#include "ledger/notice.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "base/text.h"
#include "postonce/key.h"

static const char *const kind_words[] = {
        [PO_AMOUNT_NONE] = "none",
        [PO_AMOUNT_THIS] = "this",
        [PO_AMOUNT_CUMULATIVE] = "cumulative",
        [PO_AMOUNT_NET] = "net",
};
enum { KINDS = sizeof kind_words / sizeof kind_words[0] };

static const char raw_member[] = "raw_fingerprint";

static void put_member(struct text *text, const char *name, const char *value)
{
        text_format(text, ",\"%s\":", name);
        text_put_json(text, value);
}

/* The body it is the digest of is not at hand when a notice is read. */
static void put_raw_fingerprint(struct text *text, const unsigned char *bytes)
{
        char hex[2 * PO_FINGERPRINT_BYTES + 1];
        for (size_t i = 0; i < PO_FINGERPRINT_BYTES; i++)
                snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
        put_member(text, raw_member, hex);
}

void notice_write(const struct po_notification *notification, char *buffer, size_t capacity)
{
        struct text text;
        text_init(&text, buffer, capacity);
        text_format(&text, "{\"tenant_id\":%lld", (long long)notification->tenant_id);
        put_member(&text, "channel", notification->channel);
        put_member(&text, "txn", notification->txn);
        put_member(&text, "event", notification->event);
        put_member(&text, "order_no", notification->order_no);
        put_member(&text, "parent", notification->parent);
        put_member(&text, "refund_no", notification->refund_no);
        put_member(&text, "amount_kind", kind_words[notification->amount_kind]);
        text_format(&text, ",\"amount_minor\":%lld", (long long)notification->amount_minor);
        put_member(&text, "currency", notification->currency);
        if (notification->fee_minor != 0)
                text_format(&text, ",\"fee_minor\":%lld", (long long)notification->fee_minor);
        if (notification->occurred_at_us != PO_TIME_UNKNOWN)
                text_format(&text, ",\"occurred_at_us\":%lld",
                            (long long)notification->occurred_at_us);
        if (notification->fingerprint_version == PO_FINGERPRINT_RAW)
                put_raw_fingerprint(&text, notification->fingerprint);
        text_put(&text, "}");
        assert(!text.cut);
}

static bool read_text(struct json_object *tree, const char *name, char *buffer, size_t capacity)
{
        struct json_object *value;
        if (!json_object_object_get_ex(tree, name, &value) ||
            !json_object_is_type(value, json_type_string))
                return false;
        int length = snprintf(buffer, capacity, "%s", json_object_get_string(value));
        return length >= 0 && (size_t)length < capacity;
}

static bool read_integer(struct json_object *tree, const char *name, int64_t *value_out)
{
        struct json_object *value;
        if (!json_object_object_get_ex(tree, name, &value) ||
            !json_object_is_type(value, json_type_int))
                return false;
        *value_out = json_object_get_int64(value);
        return true;
}

static bool read_kind(struct json_object *tree, enum po_amount_kind *kind_out)
{
        char word[16];
        if (!read_text(tree, "amount_kind", word, sizeof word))
                return false;
        for (int kind = 0; kind < KINDS; kind++)
                if (strcmp(kind_words[kind], word) == 0) {
                        *kind_out = (enum po_amount_kind)kind;
                        return true;
                }
        return false;
}

static bool read_tree(struct json_object *tree, struct po_notification *out)
{
        memset(out, 0, sizeof *out);
        if (!read_integer(tree, "occurred_at_us", &out->occurred_at_us))
                out->occurred_at_us = PO_TIME_UNKNOWN;
        (void)read_integer(tree, "fee_minor", &out->fee_minor); /* left out: no fee */
        return read_integer(tree, "tenant_id", &out->tenant_id) &&
               read_text(tree, "channel", out->channel, sizeof out->channel) &&
               read_text(tree, "txn", out->txn, sizeof out->txn) &&
               read_text(tree, "event", out->event, sizeof out->event) &&
               read_text(tree, "order_no", out->order_no, sizeof out->order_no) &&
               read_text(tree, "parent", out->parent, sizeof out->parent) &&
               read_text(tree, "refund_no", out->refund_no, sizeof out->refund_no) &&
               read_kind(tree, &out->amount_kind) &&
               read_integer(tree, "amount_minor", &out->amount_minor) &&
               read_text(tree, "currency", out->currency, sizeof out->currency);
}

static bool digit_read(char digit, unsigned *value_out)
{
        static const char digits[] = "0123456789abcdef";
        const char *at = digit == '\0' ? NULL : strchr(digits, digit);
        *value_out = at != NULL ? (unsigned)(at - digits) : 0;
        return at != NULL;
}

/* The fingerprint that takes the place of the sealed one; false: it is there and not readable. */
static bool read_raw_fingerprint(struct json_object *tree, struct po_notification *out)
{
        char hex[2 * PO_FINGERPRINT_BYTES + 1];
        if (!json_object_object_get_ex(tree, raw_member, NULL))
                return true;
        if (!read_text(tree, raw_member, hex, sizeof hex) || strlen(hex) != sizeof hex - 1)
                return false;
        for (size_t i = 0; i < PO_FINGERPRINT_BYTES; i++) {
                unsigned high, low;
                if (!digit_read(hex[2 * i], &high) || !digit_read(hex[2 * i + 1], &low))
                        return false;
                out->fingerprint[i] = (unsigned char)(high << 4 | low);
        }
        out->fingerprint_version = PO_FINGERPRINT_RAW;
        return true;
}

enum po_class notice_read(const char *text, struct po_notification *notification_out,
                          struct po_error *error)
{
        struct json_object *tree = json_tokener_parse(text);
        enum po_class kind = PO_OK;
        bool understood = tree != NULL && read_tree(tree, notification_out);
        if (understood)
                kind = po_key_seal(notification_out, error);
        if (understood && kind == PO_OK)
                understood = read_raw_fingerprint(tree, notification_out);
        json_object_put(tree);
        if (!understood)
                return po_fail(error, PO_BUG, 0, "a parked notification is not readable");
        return kind;
}
