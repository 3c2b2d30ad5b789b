#include "channel/verify.h"

#include <string.h>
#include <strings.h>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include "channel/signature.h"
#include "channel/verify_form.h"

enum { SECONDS_DIGITS_MAX = 12 };

#define MS_PER_SECOND INT64_C(1000)

static bool span_starts(const struct span *span, const char *prefix)
{
        return strlen(prefix) <= span->length && memcmp(span->bytes, prefix, strlen(prefix)) == 0;
}

/* The last header of that name, in any case; false: none, or it is empty. */
static bool header_take(const struct record *record, const char *name, struct span *span_out)
{
        for (size_t i = record->headers_count; i > 0; i--) {
                const struct record_header *header = &record->headers[i - 1];
                if (strcasecmp(header->name, name) != 0)
                        continue;
                *span_out = (struct span){ header->value, header->value_bytes };
                return header->value != NULL && header->value_bytes > 0;
        }
        return false;
}

static struct span record_body(const struct record *record)
{
        return (struct span){ record->value, record->value_bytes };
}

/* The signature of the op's own header. */
static enum po_class signature_take(const struct verify *verify, const struct record *record,
                                    struct span *text_out, struct po_error *error)
{
        if (!header_take(record, verify->header, text_out))
                return signature_fail(error, "the header with the signature is not there");
        if (verify->prefix == NULL)
                return PO_OK;
        if (!span_starts(text_out, verify->prefix))
                return signature_fail(error, "the signature has another beginning");
        text_out->bytes += strlen(verify->prefix);
        text_out->length -= strlen(verify->prefix);
        return PO_OK;
}

static enum po_class verify_hmac(const struct verify *verify, const struct record *record,
                                 struct po_error *error)
{
        struct span text;
        unsigned char hmac[HMAC_BYTES];
        struct message message = { 0 };
        bool proven = false;
        if (signature_take(verify, record, &text, error) != PO_OK)
                return error->kind;
        if (!signature_read_hmac(&text, verify->base64, hmac))
                return signature_fail(error, "the signature is not written as it must be");
        message_add(&message, record_body(record));
        if (signature_check_hmac(verify, &message, hmac, &proven, error) != PO_OK)
                return error->kind;
        return proven ? PO_OK : signature_fail(error, "no key gives this signature");
}

static enum po_class verify_rsa(const struct verify *verify, const struct record *record,
                                struct po_error *error)
{
        struct span text;
        struct message message = { 0 };
        bool proven = false;
        if (signature_take(verify, record, &text, error) != PO_OK)
                return error->kind;
        message_add(&message, record_body(record));
        if (signature_check_rsa(verify, NULL, RSA_SHA256, &message, &text, &proven, error) != PO_OK)
                return error->kind;
        return proven ? PO_OK : signature_fail(error, "no key proves this signature");
}

/* The next "name=value" of a list with commas; false at its end. */
static bool pair_take(struct span *list, struct span *pair_out)
{
        if (list->length == 0)
                return false;
        const char *comma = memchr(list->bytes, ',', list->length);
        size_t length = comma != NULL ? (size_t)(comma - list->bytes) : list->length;
        *pair_out = (struct span){ list->bytes, length };
        size_t used = comma != NULL ? length + 1 : length;
        list->bytes += used;
        list->length -= used;
        return true;
}

static bool seconds_read(const struct span *text, int64_t *seconds_out)
{
        *seconds_out = 0;
        if (text->length == 0 || text->length > SECONDS_DIGITS_MAX)
                return false;
        for (size_t i = 0; i < text->length; i++) {
                if (text->bytes[i] < '0' || text->bytes[i] > '9')
                        return false;
                *seconds_out = *seconds_out * 10 + (text->bytes[i] - '0');
        }
        return true;
}

/* A record without a time of its own (a file that is tried) is not judged by it. */
static bool time_is_near(const struct verify *verify, const struct record *record, int64_t seconds)
{
        int64_t difference_ms = record->timestamp_ms - seconds * MS_PER_SECOND;
        return record->timestamp_ms < 0 ||
               (difference_ms <= verify->tolerance_ms && difference_ms >= -verify->tolerance_ms);
}

static enum po_class verify_stripe(const struct verify *verify, const struct record *record,
                                   struct po_error *error)
{
        struct span header, pair, stamp = { 0 };
        int64_t seconds;
        if (!header_take(record, "stripe-signature", &header))
                return signature_fail(error, "the header Stripe-Signature is not there");
        for (struct span list = header; stamp.length == 0 && pair_take(&list, &pair);)
                if (span_starts(&pair, "t="))
                        stamp = (struct span){ pair.bytes + 2, pair.length - 2 };
        if (!seconds_read(&stamp, &seconds))
                return signature_fail(error, "Stripe-Signature names no time");
        if (!time_is_near(verify, record, seconds))
                return signature_fail(error, "it was signed too long before or after the record");

        struct message message = { 0 };
        message_add(&message, stamp);
        message_add(&message, span_of("."));
        message_add(&message, record_body(record));
        bool proven = false;
        while (!proven && pair_take(&header, &pair)) {
                unsigned char hmac[HMAC_BYTES];
                struct span text = { pair.bytes + 3, pair.length - 3 };
                if (!span_starts(&pair, "v1=") || !signature_read_hmac(&text, false, hmac))
                        continue;
                enum po_class kind = signature_check_hmac(verify, &message, hmac, &proven, error);
                if (kind != PO_OK)
                        return kind;
        }
        return proven ? PO_OK : signature_fail(error, "no key gives one of its signatures");
}

static bool serial_is_known(const struct verify *verify, const struct span *serial)
{
        for (size_t i = 0; i < verify->keys_count; i++)
                if (strlen(verify->keys[i].serial) == serial->length &&
                    memcmp(verify->keys[i].serial, serial->bytes, serial->length) == 0)
                        return true;
        return false;
}

static enum po_class verify_wechat(const struct verify *verify, const struct record *record,
                                   struct po_error *error)
{
        struct span stamp, nonce, serial, text;
        if (!header_take(record, "wechatpay-timestamp", &stamp) ||
            !header_take(record, "wechatpay-nonce", &nonce) ||
            !header_take(record, "wechatpay-serial", &serial) ||
            !header_take(record, "wechatpay-signature", &text))
                return signature_fail(error, "a header Wechatpay-… is not there");
        /* What WeChat sends to see whether anybody verifies at all. */
        if (span_starts(&text, "WECHATPAY/SIGNTEST/"))
                return signature_fail(error, "a probe of WeChat's, which a gateway must refuse");
        if (!serial_is_known(verify, &serial))
                return signature_fail(error, "there is no key of its serial");

        struct message message = { 0 };
        message_add(&message, stamp);
        message_add(&message, span_of("\n"));
        message_add(&message, nonce);
        message_add(&message, span_of("\n"));
        message_add(&message, record_body(record));
        message_add(&message, span_of("\n"));
        bool proven = false;
        if (signature_check_rsa(verify, &serial, RSA_SHA256, &message, &text, &proven, error) !=
            PO_OK)
                return error->kind;
        return proven ? PO_OK : signature_fail(error, "the key of its serial does not prove it");
}

static enum po_class op_verify(const struct verify *verify, const struct record *record,
                               struct po_error *error)
{
        switch (verify->op) {
        case VERIFY_NONE:
        case VERIFY_WECHAT_V2:
        case VERIFY_ADYEN:
                return PO_OK;
        case VERIFY_HMAC_SHA256:
                return verify_hmac(verify, record, error);
        case VERIFY_RSA_SHA256:
                return verify_rsa(verify, record, error);
        case VERIFY_STRIPE:
                return verify_stripe(verify, record, error);
        case VERIFY_WECHAT_V3:
                return verify_wechat(verify, record, error);
        case VERIFY_ALIPAY:
                return verify_form(verify, record, error);
        }
        return signature_fail(error, "there is no way to verify it");
}

enum po_class verify_record(const struct verify *verify, const struct record *record,
                            struct po_error *error)
{
        if (verify->is_open)
                return PO_OK;
        enum po_class kind = op_verify(verify, record, error);
        /* OpenSSL's queue of errors is the thread's: whoever speaks TLS on it would read ours. */
        if (kind != PO_OK)
                ERR_clear_error();
        return kind;
}

void verify_reset(struct verify *verify)
{
        for (size_t i = 0; i < verify->keys_count; i++) {
                OPENSSL_cleanse(verify->keys[i].secret, sizeof verify->keys[i].secret);
                EVP_PKEY_free(verify->keys[i].public_key);
        }
        *verify = (struct verify){ 0 };
}
