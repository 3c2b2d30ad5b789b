#include "base/print.h"

#include <assert.h>
#include <string.h>

#define TIME_END_US INT64_C(253402300800000000) /* 10000-01-01 */

size_t integer_print(char text_out[INTEGER_TEXT_BYTES], int64_t value)
{
        char digits[INTEGER_TEXT_BYTES];
        char *end = digits + sizeof digits;
        char *first = end;
        uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
        *--first = '\0';
        do {
                *--first = (char)('0' + rest % 10);
                rest /= 10;
        } while (rest > 0);
        if (value < 0)
                *--first = '-';
        memcpy(text_out, first, (size_t)(end - first));
        return (size_t)(end - first) - 1;
}

/* Howard Hinnant's civil_from_days, for days ≥ 0 since 1970-01-01. */
static void civil_date(int64_t days, unsigned *year_out, unsigned *month_out, unsigned *day_out)
{
        int64_t shifted = days + 719468; /* since 0000-03-01 */
        int64_t era = shifted / 146097;
        unsigned day_of_era = (unsigned)(shifted % 146097);
        unsigned year_of_era =
                (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
        unsigned day_of_year =
                day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        unsigned shifted_month = (5 * day_of_year + 2) / 153;
        *day_out = day_of_year - (153 * shifted_month + 2) / 5 + 1;
        *month_out = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
        *year_out = (unsigned)(era * 400) + year_of_era + (*month_out <= 2);
}

static void put_digits(char *at, unsigned value, size_t width)
{
        for (; width > 0; value /= 10)
                at[--width] = (char)('0' + value % 10);
}

void time_print(char text_out[TIME_TEXT_BYTES], int64_t time_us, char separator)
{
        assert(time_us >= 0 && time_us < TIME_END_US);
        int64_t seconds = time_us / 1000000;
        unsigned year, month, day, second_of_day = (unsigned)(seconds % 86400);
        civil_date(seconds / 86400, &year, &month, &day);
        memcpy(text_out, "0000-00-00 00:00:00.000000", TIME_TEXT_BYTES);
        text_out[10] = separator;
        put_digits(text_out, year, 4);
        put_digits(text_out + 5, month, 2);
        put_digits(text_out + 8, day, 2);
        put_digits(text_out + 11, second_of_day / 3600, 2);
        put_digits(text_out + 14, second_of_day / 60 % 60, 2);
        put_digits(text_out + 17, second_of_day % 60, 2);
        put_digits(text_out + 20, (unsigned)(time_us % 1000000), 6);
}
