#include "channel/utf8.h"

size_t utf8_length(const unsigned char *bytes, size_t length)
{
        unsigned char first = bytes[0];
        size_t needed = first >= 0xC2 && first <= 0xDF   ? 2
                        : first >= 0xE0 && first <= 0xEF ? 3
                        : first >= 0xF0 && first <= 0xF4 ? 4
                                                         : 0;
        if (needed == 0 || needed > length)
                return 0;
        unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
        unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
        if (bytes[1] < low || bytes[1] > high)
                return 0;
        for (size_t i = 2; i < needed; i++)
                if ((bytes[i] & 0xC0) != 0x80)
                        return 0;
        return needed;
}

size_t utf8_check(const char *bytes, size_t length)
{
        const unsigned char *at = (const unsigned char *)bytes;
        for (size_t i = 0; i < length;) {
                size_t sequence = at[i] < 0x80 ? 1 : utf8_length(at + i, length - i);
                if (sequence == 0)
                        return i;
                i += sequence;
        }
        return length;
}
