#include "mysql/sql.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
        FIRST_BYTES = 4096,
        INTEGER_BYTES = 20,                       /* -9223372036854775808 */
        NAME_BYTES_MAX = 64,                      /* both servers' limit */
        STATEMENT_BYTES_MAX = 1024 * 1024 * 1024, /* the largest max_allowed_packet there is */
};

/* The letter that follows the backslash; 0: the byte stands for itself. */
static const char escapes[256] = {
        ['\0'] = '0',  ['\n'] = 'n', ['\r'] = 'r', ['\\'] = '\\',
        ['\''] = '\'', ['"'] = '"',  [0x1a] = 'Z',
};

void sql_reset(struct sql *sql)
{
        sql->length = 0;
        sql->failed = sql->too_long = false;
        if (sql->text != NULL)
                sql->text[0] = '\0';
}

void sql_free(struct sql *sql)
{
        free(sql->text);
        *sql = (struct sql){ 0 };
}

/* Room for more bytes and a NUL; where they go, or NULL when there is none. */
static char *reserve(struct sql *sql, size_t more)
{
        if (sql->failed)
                return NULL;
        if (more < sql->capacity - sql->length)
                return sql->text + sql->length;

        size_t needed = sql->length + more + 1;
        if (needed > STATEMENT_BYTES_MAX) {
                sql->failed = sql->too_long = true;
                return NULL;
        }
        size_t capacity = sql->capacity > 0 ? sql->capacity : FIRST_BYTES;
        while (capacity < needed)
                capacity *= 2;
        char *text = realloc(sql->text, capacity);
        if (text == NULL) {
                sql->failed = true;
                return NULL;
        }
        sql->text = text;
        sql->capacity = capacity;
        return text + sql->length;
}

/* What stands between reserve()'s answer and end is written. */
static void written(struct sql *sql, char *end)
{
        *end = '\0';
        sql->length = (size_t)(end - sql->text);
}

static void append(struct sql *sql, const char *bytes, size_t count)
{
        char *at = reserve(sql, count);
        if (at == NULL)
                return;
        memcpy(at, bytes, count);
        written(sql, at + count);
}

void sql_raw(struct sql *sql, const char *literal)
{
        append(sql, literal, strlen(literal));
}

void sql_integer(struct sql *sql, int64_t value)
{
        char digits[INTEGER_BYTES];
        char *first = digits + sizeof digits;
        uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
        do {
                *--first = (char)('0' + rest % 10);
                rest /= 10;
        } while (rest > 0);
        if (value < 0)
                *--first = '-';
        append(sql, first, (size_t)(digits + sizeof digits - first));
}

void sql_text(struct sql *sql, const char *text)
{
        sql_text_bytes(sql, text, text != NULL ? strlen(text) : 0);
}

void sql_text_bytes(struct sql *sql, const char *text, size_t bytes)
{
        if (text == NULL) {
                append(sql, "NULL", 4);
                return;
        }
        if (bytes > STATEMENT_BYTES_MAX) {
                sql->failed = sql->too_long = true;
                return;
        }
        char *at = reserve(sql, 2 * bytes + 2);
        if (at == NULL)
                return;
        *at++ = '\'';
        for (size_t i = 0; i < bytes; i++) {
                char letter = escapes[(unsigned char)text[i]];
                if (letter != 0)
                        *at++ = '\\';
                *at++ = letter != 0 ? letter : text[i];
        }
        *at++ = '\'';
        written(sql, at);
}

void sql_binary(struct sql *sql, const void *bytes, size_t count)
{
        static const char digits[16] = { '0', '1', '2', '3', '4', '5', '6', '7',
                                         '8', '9', 'A', 'B', 'C', 'D', 'E', 'F' };
        if (bytes == NULL) {
                append(sql, "NULL", 4);
                return;
        }
        if (count > STATEMENT_BYTES_MAX) {
                sql->failed = sql->too_long = true;
                return;
        }
        char *at = reserve(sql, 2 * count + 3);
        if (at == NULL)
                return;
        const unsigned char *from = bytes;
        *at++ = 'X';
        *at++ = '\'';
        for (size_t i = 0; i < count; i++) {
                *at++ = digits[from[i] >> 4];
                *at++ = digits[from[i] & 15];
        }
        *at++ = '\'';
        written(sql, at);
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

void sql_time(struct sql *sql, int64_t time_us)
{
        static const int64_t end_us = INT64_C(253402300800000000); /* 10000-01-01 */
        if (time_us == INT64_MIN) {
                append(sql, "NULL", 4);
                return;
        }
        if (time_us < 0 || time_us >= end_us) {
                sql_raw(sql, "'no time of 1970-9999'");
                return;
        }
        int64_t seconds = time_us / 1000000;
        unsigned year, month, day, second_of_day = (unsigned)(seconds % 86400);
        civil_date(seconds / 86400, &year, &month, &day);
        char text[] = "'0000-00-00 00:00:00.000000'";
        put_digits(text + 1, year, 4);
        put_digits(text + 6, month, 2);
        put_digits(text + 9, day, 2);
        put_digits(text + 12, second_of_day / 3600, 2);
        put_digits(text + 15, second_of_day / 60 % 60, 2);
        put_digits(text + 18, second_of_day % 60, 2);
        put_digits(text + 21, (unsigned)(time_us % 1000000), 6);
        append(sql, text, sizeof text - 1);
}

void sql_name(struct sql *sql, const char *name)
{
        size_t bytes = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                    "0123456789_$-");
        assert(bytes > 0 && bytes <= NAME_BYTES_MAX && name[bytes] == '\0');
        append(sql, "`", 1);
        append(sql, name, bytes);
        append(sql, "`", 1);
}
