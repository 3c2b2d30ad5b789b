#include "channel/json_scan.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/limits.h"
#include "channel/json_tree.h"
#include "channel/utf8.h"

enum { WORD_BYTES = sizeof(uint64_t) };

struct scanner {
        const unsigned char *bytes;
        size_t at, length;
        size_t members, values;
        struct json_tree *tree; /* NULL: nothing is built */
        struct po_error *error;
};

static enum po_class refuse_at(struct scanner *scanner, const char *reason, size_t at,
                               const char *what)
{
        return po_refuse_at(scanner->error, reason, at, "%s at byte %zu", what, at);
}

/* What stands here is not what must stand here: the text ends, or it is wrong. */
static enum po_class refuse_here(struct scanner *scanner, const char *expected)
{
        if (scanner->at >= scanner->length)
                return po_refuse_at(scanner->error, "TRUNCATED_JSON", scanner->at,
                                    "the JSON text ends at byte %zu where %s must stand",
                                    scanner->at, expected);
        return po_refuse_at(scanner->error, "MALFORMED_JSON", scanner->at,
                            "%s must stand at byte %zu", expected, scanner->at);
}

/* The byte here, or -1 at the end. */
static int peek(const struct scanner *scanner)
{
        return scanner->at < scanner->length ? scanner->bytes[scanner->at] : -1;
}

static void skip_space(struct scanner *scanner)
{
        while (scanner->at < scanner->length) {
                unsigned char byte = scanner->bytes[scanner->at];
                if (byte != ' ' && byte != '\n' && byte != '\r' && byte != '\t')
                        return;
                scanner->at++;
        }
}

static int hex_digit(unsigned char byte)
{
        if (byte >= '0' && byte <= '9')
                return byte - '0';
        byte |= 0x20;
        return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* The four digits after "\u"; scanner->at stands on the first. */
static enum po_class scan_hex(struct scanner *scanner, unsigned *unit_out)
{
        unsigned unit = 0;
        for (int i = 0; i < 4; i++, scanner->at++) {
                int digit =
                        scanner->at < scanner->length ? hex_digit(scanner->bytes[scanner->at]) : -1;
                if (digit < 0)
                        return refuse_here(scanner, "a hexadecimal digit");
                unit = unit * 16 + (unsigned)digit;
        }
        *unit_out = unit;
        return PO_OK;
}

static enum po_class scan_unicode_escape(struct scanner *scanner)
{
        size_t start = scanner->at - 2;
        unsigned unit = 0, second = 0;
        if (scan_hex(scanner, &unit) != PO_OK)
                return scanner->error->kind;
        if (unit == 0)
                return refuse_at(scanner, "NUL_IN_TEXT", start, "an escaped NUL");
        if (unit < 0xD800 || unit > 0xDFFF)
                return PO_OK;
        if (unit > 0xDBFF || scanner->length - scanner->at < 2 ||
            memcmp(scanner->bytes + scanner->at, "\\u", 2) != 0)
                return refuse_at(scanner, "LONE_SURROGATE", start, "half a surrogate pair");
        scanner->at += 2;
        if (scan_hex(scanner, &second) != PO_OK)
                return scanner->error->kind;
        if (second < 0xDC00 || second > 0xDFFF)
                return refuse_at(scanner, "LONE_SURROGATE", start, "half a surrogate pair");
        return PO_OK;
}

static enum po_class scan_escape(struct scanner *scanner)
{
        scanner->at++;
        switch (peek(scanner)) {
        case '"':
        case '\\':
        case '/':
        case 'b':
        case 'f':
        case 'n':
        case 'r':
        case 't':
                scanner->at++;
                return PO_OK;
        case 'u':
                scanner->at++;
                return scan_unicode_escape(scanner);
        default:
                return refuse_here(scanner, "an escape that JSON knows");
        }
}

/* ASCII but for quotes, escapes and control characters: what needs no look. */
static bool byte_is_plain(unsigned char byte)
{
        return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

/*
 * Eight bytes at once: a byte that is not plain sets its highest bit in one of the four, and only
 * such a one borrows from the next.
 */
static bool word_is_plain(const unsigned char *bytes)
{
        static const uint64_t ones = UINT64_C(0x0101010101010101);
        uint64_t word;
        memcpy(&word, bytes, sizeof word);
        uint64_t below_space = word - ones * 0x20;
        uint64_t quote = (word ^ ones * '"') - ones;
        uint64_t backslash = (word ^ ones * '\\') - ones;
        return ((word | below_space | quote | backslash) & ones * 0x80) == 0;
}

static void skip_plain(struct scanner *scanner)
{
        const unsigned char *bytes = scanner->bytes;
        size_t at = scanner->at, length = scanner->length;
        while (length - at >= WORD_BYTES && word_is_plain(bytes + at))
                at += WORD_BYTES;
        while (at < length && byte_is_plain(bytes[at]))
                at++;
        scanner->at = at;
}

/* A string's bytes between its quotes. */
struct string {
        size_t begin, length;
        bool escaped; /* there is a backslash in it */
};

static enum po_class scan_string(struct scanner *scanner, struct string *string_out)
{
        *string_out = (struct string){ .begin = ++scanner->at };
        for (skip_plain(scanner); scanner->at < scanner->length; skip_plain(scanner)) {
                unsigned char byte = scanner->bytes[scanner->at];
                if (byte == '"') {
                        string_out->length = scanner->at++ - string_out->begin;
                        return PO_OK;
                }
                if (byte < 0x20)
                        return refuse_here(scanner, "no bare control character, but an escape,");
                if (byte == '\\') {
                        string_out->escaped = true;
                        if (scan_escape(scanner) != PO_OK)
                                return scanner->error->kind;
                        continue;
                }
                size_t sequence =
                        utf8_length(scanner->bytes + scanner->at, scanner->length - scanner->at);
                if (sequence == 0)
                        return refuse_at(scanner, "INVALID_UTF8", scanner->at, "no UTF-8");
                scanner->at += sequence;
        }
        return refuse_here(scanner, "the end of a string");
}

static const char *text_at(const struct scanner *scanner, size_t at)
{
        return (const char *)scanner->bytes + at;
}

static enum po_class scan_text(struct scanner *scanner)
{
        struct string string;
        if (scan_string(scanner, &string) != PO_OK)
                return scanner->error->kind;
        if (scanner->tree == NULL)
                return PO_OK;
        return json_tree_text(scanner->tree, text_at(scanner, string.begin), string.length,
                              string.escaped, scanner->error);
}

static enum po_class scan_name(struct scanner *scanner)
{
        struct string string;
        scanner->members++;
        if (scan_string(scanner, &string) != PO_OK)
                return scanner->error->kind;
        if (scanner->tree == NULL)
                return PO_OK;
        return json_tree_name(scanner->tree, text_at(scanner, string.begin), string.length,
                              string.escaped, string.begin - 1, scanner->error);
}

static size_t skip_digits(struct scanner *scanner)
{
        size_t start = scanner->at;
        while (scanner->at < scanner->length && scanner->bytes[scanner->at] >= '0' &&
               scanner->bytes[scanner->at] <= '9')
                scanner->at++;
        return scanner->at - start;
}

/* Digits without sign and leading zeros: does their number fit int64? */
static bool integer_fits(const unsigned char *digits, size_t count, bool negative)
{
        static const char most[] = "9223372036854775807", least[] = "9223372036854775808";
        enum { MOST_COUNT = sizeof most - 1 };
        if (count != MOST_COUNT)
                return count < MOST_COUNT;
        return memcmp(digits, negative ? least : most, MOST_COUNT) <= 0;
}

static enum po_class scan_number(struct scanner *scanner)
{
        size_t start = scanner->at;
        bool negative = peek(scanner) == '-';
        if (negative)
                scanner->at++;
        const unsigned char *digits = scanner->bytes + scanner->at;
        bool zero = peek(scanner) == '0';
        size_t count = skip_digits(scanner);
        if (count == 0)
                return refuse_here(scanner, "a digit");
        if (zero && count > 1)
                return refuse_at(scanner, "MALFORMED_JSON", start, "a leading zero");

        bool whole = true;
        if (peek(scanner) == '.') {
                scanner->at++;
                whole = false;
                if (skip_digits(scanner) == 0)
                        return refuse_here(scanner, "a digit");
        }
        if (peek(scanner) == 'e' || peek(scanner) == 'E') {
                scanner->at++;
                whole = false;
                if (peek(scanner) == '+' || peek(scanner) == '-')
                        scanner->at++;
                if (skip_digits(scanner) == 0)
                        return refuse_here(scanner, "a digit");
        }
        if (whole && !integer_fits(digits, count, negative))
                return refuse_at(scanner, "NUMBER_OUT_OF_RANGE", start,
                                 "an integer beyond 64 bits");
        if (scanner->tree == NULL)
                return PO_OK;
        return json_tree_number(scanner->tree, text_at(scanner, start), scanner->at - start, whole,
                                scanner->error);
}

static enum po_class scan_word(struct scanner *scanner, const char *word)
{
        for (const char *at = word; *at != '\0'; at++, scanner->at++)
                if (peek(scanner) != *at)
                        return refuse_here(scanner, word);
        return scanner->tree == NULL ? PO_OK : json_tree_word(scanner->tree, word, scanner->error);
}

static enum po_class scan_value(struct scanner *scanner, int depth);

static enum po_class scan_list(struct scanner *scanner, int depth)
{
        scanner->at++;
        skip_space(scanner);
        if (peek(scanner) == ']') {
                scanner->at++;
                return PO_OK;
        }
        for (;;) {
                if (scan_value(scanner, depth) != PO_OK)
                        return scanner->error->kind;
                skip_space(scanner);
                int byte = peek(scanner);
                if (byte != ',' && byte != ']')
                        return refuse_here(scanner, "',' or ']'");
                scanner->at++;
                if (byte == ']')
                        return PO_OK;
        }
}

static enum po_class scan_member(struct scanner *scanner, int depth)
{
        skip_space(scanner);
        if (peek(scanner) != '"')
                return refuse_here(scanner, "a member's name");
        if (scan_name(scanner) != PO_OK)
                return scanner->error->kind;
        skip_space(scanner);
        if (peek(scanner) != ':')
                return refuse_here(scanner, "':'");
        scanner->at++;
        return scan_value(scanner, depth);
}

static enum po_class scan_object(struct scanner *scanner, int depth)
{
        scanner->at++;
        skip_space(scanner);
        if (peek(scanner) == '}') {
                scanner->at++;
                return PO_OK;
        }
        for (;;) {
                if (scan_member(scanner, depth) != PO_OK)
                        return scanner->error->kind;
                skip_space(scanner);
                int byte = peek(scanner);
                if (byte != ',' && byte != '}')
                        return refuse_here(scanner, "',' or '}'");
                scanner->at++;
                if (byte == '}')
                        return PO_OK;
        }
}

static enum po_class scan_nest(struct scanner *scanner, bool object, int depth)
{
        if (scanner->tree != NULL &&
            json_tree_begin(scanner->tree, object, scanner->error) != PO_OK)
                return scanner->error->kind;
        enum po_class kind = object ? scan_object(scanner, depth) : scan_list(scanner, depth);
        if (kind == PO_OK && scanner->tree != NULL)
                json_tree_end(scanner->tree);
        return kind;
}

/* depth: how many lists and objects this value stands in; bounds the recursion. */
static enum po_class scan_value(struct scanner *scanner, int depth)
{
        skip_space(scanner);
        if (++scanner->values > JSON_VALUES_MAX)
                return refuse_at(scanner, "TOO_MANY_VALUES", scanner->at, "one value too many");
        int byte = peek(scanner);
        if ((byte == '{' || byte == '[') && depth == JSON_DEPTH_MAX)
                return refuse_at(scanner, "NESTING_TOO_DEEP", scanner->at, "one level too many");
        switch (byte) {
        case '{':
        case '[':
                return scan_nest(scanner, byte == '{', depth + 1);
        case '"':
                return scan_text(scanner);
        case 't':
                return scan_word(scanner, "true");
        case 'f':
                return scan_word(scanner, "false");
        case 'n':
                return scan_word(scanner, "null");
        case '-':
        case '0':
        case '1':
        case '2':
        case '3':
        case '4':
        case '5':
        case '6':
        case '7':
        case '8':
        case '9':
                return scan_number(scanner);
        default:
                return refuse_here(scanner, "a value");
        }
}

enum po_class json_scan(const char *bytes, size_t length, struct json_tree *tree,
                        struct json_scan *scan_out, struct po_error *error)
{
        static const char byte_order_mark[] = "\xEF\xBB\xBF";
        struct scanner scanner = {
                .bytes = (const unsigned char *)bytes,
                .length = length,
                .tree = tree,
                .error = error,
        };
        if (length >= 3 && memcmp(bytes, byte_order_mark, 3) == 0)
                scanner.at = 3;
        skip_space(&scanner);
        scan_out->begin = scanner.at;
        if (scan_value(&scanner, 0) != PO_OK)
                return error->kind;
        scan_out->end = scanner.at;
        skip_space(&scanner);
        if (scanner.at < length)
                return refuse_at(&scanner, "TRAILING_BYTES", scanner.at, "more than one value");
        scan_out->members = scanner.members;
        scan_out->values = scanner.values;
        return PO_OK;
}
