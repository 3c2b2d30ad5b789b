#include "channel/moment.h"

#include <string.h>

#define US_PER_SECOND INT64_C(1000000)
#define SECONDS_MAX   INT64_C(253402300799) /* 9999-12-31T23:59:59Z */

enum { SECONDS_PER_MINUTE = 60, SECONDS_PER_HOUR = 3600, SECONDS_PER_DAY = 86400 };

struct cursor {
        const char *text;
        size_t at, length;
};

static enum po_class fail_malformed(struct po_error *error, const char *what)
{
        return po_refuse(error, "TIME_MALFORMED", "the time is not %s of the years 1970 to 9999",
                         what);
}

static bool byte_is_digit(char byte)
{
        return byte >= '0' && byte <= '9';
}

static bool take_number(struct cursor *cursor, size_t digits, int *value_out)
{
        int value = 0;
        if (cursor->length - cursor->at < digits)
                return false;
        for (size_t i = 0; i < digits; i++) {
                char byte = cursor->text[cursor->at++];
                if (!byte_is_digit(byte))
                        return false;
                value = value * 10 + (byte - '0');
        }
        *value_out = value;
        return true;
}

/* Takes one byte if it is one of the two (upper and lower case of a letter, say). */
static bool take_byte(struct cursor *cursor, char one, char other)
{
        if (cursor->at == cursor->length)
                return false;
        char byte = cursor->text[cursor->at];
        if (byte != one && byte != other)
                return false;
        cursor->at++;
        return true;
}

static int days_in_month(int year, int month)
{
        static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
        bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        return month == 2 && leap ? 29 : days[month - 1];
}

/* Days since 1970-01-01: years counted from March, so that a leap day ends one. */
static int64_t days_from_civil(int year, int month, int day)
{
        int64_t march_year = month <= 2 ? year - 1 : year;
        int64_t march_month = month <= 2 ? month + 9 : month - 3;
        int64_t day_of_year = (153 * march_month + 2) / 5 + day - 1;
        return march_year * 365 + march_year / 4 - march_year / 100 + march_year / 400 +
               day_of_year - 719468;
}

/* Between two numbers; '\0': nothing stands there. */
static bool take_separator(struct cursor *cursor, char separator)
{
        return separator == '\0' || take_byte(cursor, separator, separator);
}

static bool take_date(struct cursor *cursor, char separator, int64_t *seconds)
{
        int year, month, day;
        if (!take_number(cursor, 4, &year) || !take_separator(cursor, separator) ||
            !take_number(cursor, 2, &month) || !take_separator(cursor, separator) ||
            !take_number(cursor, 2, &day))
                return false;
        if (month < 1 || month > 12 || day < 1 || day > days_in_month(year, month))
                return false;
        *seconds = days_from_civil(year, month, day) * SECONDS_PER_DAY;
        return true;
}

static bool take_clock(struct cursor *cursor, char separator, int64_t *seconds)
{
        int hour, minute, second;
        if (!take_number(cursor, 2, &hour) || !take_separator(cursor, separator) ||
            !take_number(cursor, 2, &minute) || !take_separator(cursor, separator) ||
            !take_number(cursor, 2, &second))
                return false;
        /* 60 is a leap second and stands for the second after it. */
        if (hour > 23 || minute > 59 || second > 60)
                return false;
        *seconds += hour * SECONDS_PER_HOUR + minute * SECONDS_PER_MINUTE + second;
        return true;
}

static bool take_fraction(struct cursor *cursor, int64_t *us)
{
        *us = 0;
        if (!take_byte(cursor, '.', '.'))
                return true;
        size_t start = cursor->at;
        for (int64_t unit = US_PER_SECOND / 10;
             cursor->at < cursor->length && byte_is_digit(cursor->text[cursor->at]); unit /= 10)
                *us += (cursor->text[cursor->at++] - '0') * unit;
        return cursor->at > start;
}

static bool take_offset(struct cursor *cursor, int64_t *seconds)
{
        if (take_byte(cursor, 'Z', 'z'))
                return true;
        int hours, minutes;
        bool east = take_byte(cursor, '+', '+');
        if (!east && !take_byte(cursor, '-', '-'))
                return false;
        if (!take_number(cursor, 2, &hours) || !take_byte(cursor, ':', ':') ||
            !take_number(cursor, 2, &minutes) || hours > 23 || minutes > 59)
                return false;
        int64_t offset = hours * SECONDS_PER_HOUR + minutes * SECONDS_PER_MINUTE;
        *seconds -= east ? offset : -offset;
        return true;
}

bool moment_zone(const char *text, int *minutes_out)
{
        struct cursor cursor = { .text = text, .length = strlen(text) };
        int64_t seconds = 0;
        if (!take_offset(&cursor, &seconds) || cursor.at != cursor.length)
                return false;
        *minutes_out = (int)(-seconds / SECONDS_PER_MINUTE);
        return true;
}

static enum po_class parse_rfc3339(const char *text, size_t length, int64_t *us_out,
                                   struct po_error *error)
{
        struct cursor cursor = { .text = text, .length = length };
        int64_t seconds, fraction_us;
        if (!take_date(&cursor, '-', &seconds) || !take_byte(&cursor, 'T', 't') ||
            !take_clock(&cursor, ':', &seconds) || !take_fraction(&cursor, &fraction_us) ||
            !take_offset(&cursor, &seconds) || cursor.at != length || seconds < 0 ||
            seconds > SECONDS_MAX)
                return fail_malformed(error, "an RFC 3339 date and time");
        *us_out = seconds * US_PER_SECOND + fraction_us;
        return PO_OK;
}

/* A date and time of a clock on a wall, in the zone that the profile names. */
static enum po_class parse_local(const struct moment_form *form, const char *text, size_t length,
                                 int64_t *us_out, struct po_error *error)
{
        struct cursor cursor = { .text = text, .length = length };
        bool compact = form->format == MOMENT_COMPACT;
        int64_t seconds, fraction_us = 0;
        bool taken =
                compact ? take_date(&cursor, '\0', &seconds) && take_clock(&cursor, '\0', &seconds)
                        : take_date(&cursor, '-', &seconds) && take_byte(&cursor, ' ', ' ') &&
                                  take_clock(&cursor, ':', &seconds) &&
                                  take_fraction(&cursor, &fraction_us);
        if (taken)
                seconds -= (int64_t)form->zone_minutes * SECONDS_PER_MINUTE;
        if (!taken || cursor.at != length || seconds < 0 || seconds > SECONDS_MAX)
                return fail_malformed(error, compact ? "yyyyMMddHHmmss" : "yyyy-MM-dd HH:mm:ss");
        *us_out = seconds * US_PER_SECOND + fraction_us;
        return PO_OK;
}

static enum po_class parse_count(const char *text, size_t length, int64_t per_second,
                                 const char *what, int64_t *us_out, struct po_error *error)
{
        int64_t limit = SECONDS_MAX * per_second + per_second - 1;
        int64_t count = 0;
        for (size_t i = 0; i < length; i++) {
                if (!byte_is_digit(text[i]))
                        return fail_malformed(error, what);
                count = count * 10 + (text[i] - '0');
                if (count > limit)
                        return fail_malformed(error, what);
        }
        if (length == 0)
                return fail_malformed(error, what);
        *us_out = count * (US_PER_SECOND / per_second);
        return PO_OK;
}

enum po_class moment_parse(const struct moment_form *form, const char *text, size_t length,
                           int64_t *us_out, struct po_error *error)
{
        switch (form->format) {
        case MOMENT_RFC3339:
                return parse_rfc3339(text, length, us_out, error);
        case MOMENT_SECONDS:
                return parse_count(text, length, 1, "a number of seconds", us_out, error);
        case MOMENT_MILLISECONDS:
                return parse_count(text, length, 1000, "a number of milliseconds", us_out, error);
        case MOMENT_DATETIME:
        case MOMENT_COMPACT:
                return parse_local(form, text, length, us_out, error);
        }
        return fail_malformed(error, "in a known form");
}
