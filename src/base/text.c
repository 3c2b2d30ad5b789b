#include "base/text.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/print.h"

void text_copy(char *buffer, size_t capacity, const char *text)
{
        assert(capacity > 0);
        size_t length = strnlen(text, capacity - 1);
        memcpy(buffer, text, length);
        buffer[length] = '\0';
}

void text_init(struct text *text, char *buffer, size_t capacity)
{
        assert(capacity > 0);
        text->buffer = buffer;
        text->capacity = capacity;
        text->length = 0;
        text->cut = false;
        buffer[0] = '\0';
}

static void put_bytes(struct text *text, const char *bytes, size_t count)
{
        size_t room = text->capacity - 1 - text->length;
        if (count > room) {
                count = room;
                text->cut = true;
        }
        memcpy(text->buffer + text->length, bytes, count);
        text->length += count;
        text->buffer[text->length] = '\0';
}

void text_put(struct text *text, const char *piece)
{
        put_bytes(text, piece, strlen(piece));
}

void text_format(struct text *text, const char *format, ...)
{
        size_t room = text->capacity - text->length;
        va_list arguments;
        va_start(arguments, format);
        int wanted = vsnprintf(text->buffer + text->length, room, format, arguments);
        va_end(arguments);
        if (wanted < 0 || (size_t)wanted >= room) {
                text->cut = true;
                text->length += strlen(text->buffer + text->length);
                return;
        }
        text->length += (size_t)wanted;
}

static bool is_plain_in_json(unsigned char byte)
{
        return byte >= 0x20 && byte != '"' && byte != '\\';
}

void text_put_json(struct text *text, const char *piece)
{
        put_bytes(text, "\"", 1);
        for (const char *at = piece; *at != '\0';) {
                const char *run = at;
                while (is_plain_in_json((unsigned char)*at))
                        at++;
                put_bytes(text, run, (size_t)(at - run));
                if (*at == '\0')
                        break;
                unsigned char byte = (unsigned char)*at++;
                if (byte < 0x20) {
                        text_format(text, "\\u%04x", byte);
                } else {
                        char escaped[2] = { '\\', (char)byte };
                        put_bytes(text, escaped, 2);
                }
        }
        put_bytes(text, "\"", 1);
}

void text_put_integer(struct text *text, int64_t value)
{
        char digits[INTEGER_TEXT_BYTES];
        put_bytes(text, digits, integer_print(digits, value));
}

void text_put_time(struct text *text, int64_t time_us)
{
        char moment[TIME_TEXT_BYTES + 1];
        time_print(moment, time_us, 'T');
        moment[TIME_TEXT_BYTES - 1] = 'Z';
        put_bytes(text, moment, TIME_TEXT_BYTES);
}
