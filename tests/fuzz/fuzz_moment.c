/* Every form of a time; years 1970 to 9999 and nothing else comes out. */
#include "fuzz.h"

#include <string.h>

#include "channel/moment.h"

void fuzz_moment(const uint8_t *bytes, size_t length)
{
        static const int64_t year_10000_us = INT64_C(253402300800000000);
        char text[64];
        int minutes;
        for (int format = MOMENT_RFC3339; format <= MOMENT_COMPACT; format++) {
                const struct moment_form form = { (enum moment_format)format, 480 };
                struct po_error error;
                int64_t us;
                enum po_class kind = moment_parse(&form, (const char *)bytes, length, &us, &error);
                FUZZ_MUST(kind == PO_OK || kind == PO_RECORD);
                FUZZ_MUST(kind != PO_OK || (us >= 0 && us < year_10000_us));
        }
        if (length >= sizeof text)
                return;
        memcpy(text, bytes, length);
        text[length] = '\0';
        if (moment_zone(text, &minutes))
                FUZZ_MUST(minutes >= -ZONE_MINUTES_MAX && minutes <= ZONE_MINUTES_MAX);
}
