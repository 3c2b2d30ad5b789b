/* What GB18030 becomes is UTF-8, and fits the room that is promised. */
#include "fuzz.h"

#include "channel/charset.h"
#include "channel/utf8.h"

void fuzz_charset(const uint8_t *bytes, size_t length)
{
        static struct charset_converter *converter;
        struct po_error error;
        if (converter == NULL)
                FUZZ_MUST(charset_open(&converter, &error) == PO_OK);
        char *buffer = malloc(charset_room(length) + 1);
        size_t converted;
        FUZZ_MUST(buffer != NULL);
        if (charset_convert(converter, (const char *)bytes, length, buffer, &converted, &error) ==
            PO_OK) {
                FUZZ_MUST(converted <= charset_room(length));
                FUZZ_MUST(utf8_check(buffer, converted) == converted);
        } else {
                FUZZ_MUST(error.place >= 0 && error.place <= (int64_t)length);
        }
        free(buffer);
}
