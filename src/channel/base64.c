#include "channel/base64.h"

#include <stdint.h>

static int digit_value(char digit)
{
        if (digit >= 'A' && digit <= 'Z')
                return digit - 'A';
        if (digit >= 'a' && digit <= 'z')
                return digit - 'a' + 26;
        if (digit >= '0' && digit <= '9')
                return digit - '0' + 52;
        return digit == '+' ? 62 : digit == '/' ? 63 : -1;
}

bool base64_decode(const char *text, size_t length, unsigned char *buffer, size_t *length_out)
{
        size_t used = 0, padding = 0;
        if (length % 4 != 0)
                return false;
        if (length > 0 && text[length - 1] == '=')
                padding = text[length - 2] == '=' ? 2 : 1;
        for (size_t at = 0; at < length; at += 4) {
                size_t digits = at + 4 == length ? 4 - padding : 4;
                uint32_t bits = 0;
                for (size_t i = 0; i < 4; i++) {
                        int value = i < digits ? digit_value(text[at + i]) : 0;
                        if (value < 0)
                                return false;
                        bits = bits << 6 | (uint32_t)value;
                }
                /* What the padding cuts off must be zero, or one thing could be written twice. */
                if ((bits & ((1U << (8 * (4 - digits))) - 1)) != 0)
                        return false;
                for (size_t i = 0; i < digits - 1; i++)
                        buffer[used++] = (unsigned char)(bits >> (16 - 8 * i));
        }
        *length_out = used;
        return true;
}
