#include "channel/money.h"

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool byte_is_digit(char byte)
{
        return byte >= '0' && byte <= '9';
}

static size_t digits_count(const char *text, size_t length)
{
        size_t count = 0;
        while (count < length && byte_is_digit(text[count]))
                count++;
        return count;
}

/* Appends count digits of text to *minor, zeros where text has ended. */
static bool digits_append(int64_t *minor, const char *text, size_t length, size_t count)
{
        for (size_t i = 0; i < count; i++) {
                int digit = i < length ? text[i] - '0' : 0;
                if (*minor > (MONEY_MINOR_MAX - digit) / 10)
                        return false;
                *minor = *minor * 10 + digit;
        }
        return true;
}

static bool digits_are_zero(const char *text, size_t length)
{
        for (size_t i = 0; i < length; i++)
                if (text[i] != '0')
                        return false;
        return true;
}

static enum po_class fail_malformed(struct po_error *error)
{
        return po_refuse(error, "AMOUNT_MALFORMED", "the amount is no decimal number");
}

static enum po_class fail_range(struct po_error *error)
{
        return po_refuse(error, "AMOUNT_OUT_OF_RANGE", "the amount is beyond %lld minor units",
                         (long long)MONEY_MINOR_MAX);
}

enum po_class money_parse_decimal(const char *text, size_t length, int exponent, int64_t *minor_out,
                                  struct po_error *error)
{
        assert(exponent >= 0 && exponent <= 4);
        size_t sign = length > 0 && text[0] == '-' ? 1 : 0;
        const char *whole = text + sign;
        size_t whole_count = digits_count(whole, length - sign);
        const char *fraction = whole + whole_count;
        size_t fraction_count = 0;
        bool pointed = sign + whole_count < length;

        if (pointed) {
                if (*fraction != '.')
                        return fail_malformed(error);
                fraction++;
                fraction_count = length - sign - whole_count - 1;
                if (fraction_count == 0 || digits_count(fraction, fraction_count) != fraction_count)
                        return fail_malformed(error);
        }
        if (whole_count == 0)
                return fail_malformed(error);
        if (fraction_count > (size_t)exponent &&
            !digits_are_zero(fraction + exponent, fraction_count - (size_t)exponent))
                return po_refuse(error, "AMOUNT_TOO_PRECISE",
                                 "the amount has more than the currency's %d decimals", exponent);

        int64_t minor = 0;
        if (!digits_append(&minor, whole, whole_count, whole_count) ||
            !digits_append(&minor, fraction, fraction_count, (size_t)exponent))
                return fail_range(error);
        *minor_out = sign ? -minor : minor;
        return PO_OK;
}

/* Without the sign first: INT64_MIN has no positive of its own. */
void money_print(char text_out[MONEY_TEXT_BYTES], int64_t minor, int exponent)
{
        static const uint64_t units[] = { 1, 10, 100, 1000, 10000 };
        assert(exponent >= 0 && exponent <= 4);
        uint64_t size = minor < 0 ? 0 - (uint64_t)minor : (uint64_t)minor;
        const char *sign = minor < 0 ? "-" : "";
        if (exponent == 0)
                snprintf(text_out, MONEY_TEXT_BYTES, "%s%" PRIu64, sign, size);
        else
                snprintf(text_out, MONEY_TEXT_BYTES, "%s%" PRIu64 ".%0*" PRIu64, sign,
                         size / units[exponent], exponent, size % units[exponent]);
}

enum po_class money_parse_minor(const char *text, size_t length, int64_t *minor_out,
                                struct po_error *error)
{
        size_t sign = length > 0 && text[0] == '-' ? 1 : 0;
        size_t whole_count = digits_count(text + sign, length - sign);
        size_t rest = length - sign - whole_count;

        if (whole_count == 0)
                return fail_malformed(error);
        if (rest > 1 && text[sign + whole_count] == '.' &&
            digits_count(text + length - rest + 1, rest - 1) == rest - 1)
                return po_refuse(error, "AMOUNT_NOT_INTEGER",
                                 "the amount has a fraction where minor units are counted");
        if (rest > 0)
                return fail_malformed(error);
        return money_parse_decimal(text, length, 0, minor_out, error);
}

enum po_class money_shift(int64_t minor, int from, int to, int64_t *minor_out,
                          struct po_error *error)
{
        for (; from < to; from++)
                if (__builtin_mul_overflow(minor, 10, &minor) || minor > MONEY_MINOR_MAX ||
                    minor < -MONEY_MINOR_MAX)
                        return fail_range(error);
        for (; from > to; from--) {
                if (minor % 10 != 0)
                        return po_refuse(error, "AMOUNT_TOO_PRECISE",
                                         "the amount has more than the currency's %d decimals", to);
                minor /= 10;
        }
        *minor_out = minor;
        return PO_OK;
}
