#include "postonce/key.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "channel/fingerprint.h"

static bool byte_is_word(unsigned char byte)
{
        return (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '_';
}

static bool byte_is_unreserved(unsigned char byte)
{
        return byte_is_word(byte) || (byte >= 'a' && byte <= 'z') || byte == '.' || byte == '~' ||
               byte == '-';
}

enum po_class po_key_encode(char *buffer, size_t capacity, const char *text, size_t length,
                            struct po_error *error)
{
        static const char hex[] = "0123456789ABCDEF";
        size_t start = strnlen(buffer, capacity);
        size_t used = start;

        for (size_t i = 0; i < length; i++) {
                unsigned char byte = (unsigned char)text[i];
                size_t needed = byte_is_unreserved(byte) ? 1 : 3;
                if (used + needed >= capacity) {
                        if (start < capacity)
                                buffer[start] = '\0';
                        return po_refuse(error, "KEY_TOO_LONG",
                                         "a key part needs more than the %zu bytes there are",
                                         capacity - start);
                }
                if (needed == 1) {
                        buffer[used++] = (char)byte;
                        continue;
                }
                buffer[used++] = '%';
                buffer[used++] = hex[byte >> 4];
                buffer[used++] = hex[byte & 15];
        }
        if (used < capacity)
                buffer[used] = '\0';
        return PO_OK;
}

static enum po_class word_check(const char *word, const char *name, struct po_error *error)
{
        if (word[0] == '\0')
                return po_refuse(error, "KEY_PART_EMPTY", "the key's %s is empty", name);
        for (const char *at = word; *at != '\0'; at++)
                if (!byte_is_word((unsigned char)*at))
                        return po_refuse(error, "KEY_PART_MALFORMED",
                                         "the key's %s holds more than A-Z, 0-9 and _", name);
        return PO_OK;
}

/* Parts as po_key_encode() leaves them, joined by '/', none of them empty. */
static enum po_class txn_check(const char *txn, struct po_error *error)
{
        if (txn[0] == '\0')
                return po_refuse(error, "KEY_PART_EMPTY", "the key's txn is empty");
        for (const char *at = txn; *at != '\0'; at++) {
                if (*at == '/' && (at == txn || at[1] == '/' || at[1] == '\0'))
                        return po_refuse(error, "KEY_PART_EMPTY",
                                         "a part of the key's txn is empty");
                if (*at != '/' && *at != '%' && !byte_is_unreserved((unsigned char)*at))
                        return po_refuse(error, "KEY_PART_MALFORMED",
                                         "the key's txn is not percent-encoded");
        }
        return PO_OK;
}

enum po_class po_key_seal(struct po_notification *notification, struct po_error *error)
{
        if (word_check(notification->channel, "channel", error) != PO_OK ||
            txn_check(notification->txn, error) != PO_OK ||
            word_check(notification->event, "event", error) != PO_OK)
                return error->kind;

        char buffer[sizeof notification->channel + sizeof notification->txn +
                    sizeof notification->event];
        struct text key;
        text_init(&key, buffer, sizeof buffer);
        text_put(&key, notification->channel);
        text_put(&key, ":");
        text_put(&key, notification->txn);
        text_put(&key, ":");
        text_put(&key, notification->event);
        if (key.length >= PO_KEY_BYTES)
                return po_refuse(error, "KEY_TOO_LONG", "the key has %zu bytes, %d are the most",
                                 key.length, PO_KEY_BYTES - 1);
        memcpy(notification->key, buffer, key.length + 1);
        return fingerprint_seal(notification, error);
}
