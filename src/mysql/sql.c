#include "mysql/sql.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/print.h"

enum {
        FIRST_BYTES = 4096,
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

void sql_raw_bytes(struct sql *sql, const char *literal, size_t bytes)
{
        append(sql, literal, bytes);
}

void sql_integer(struct sql *sql, int64_t value)
{
        char *at = reserve(sql, INTEGER_TEXT_BYTES);
        if (at != NULL)
                written(sql, at + integer_print(at, value));
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
        char *at = reserve(sql, TIME_TEXT_BYTES + 1);
        if (at == NULL)
                return;
        *at++ = '\'';
        time_print(at, time_us, ' ');
        at += TIME_TEXT_BYTES - 1;
        *at++ = '\'';
        written(sql, at);
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
