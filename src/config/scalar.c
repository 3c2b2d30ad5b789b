#include "config/scalar.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "config/nearest.h"

enum {
        SHOWN_BYTES_MAX = 40, /* of a value in a complaint */
        SHOWN_BUFFER_BYTES = SHOWN_BYTES_MAX + 3,
        HINT_BYTES = 256,
        VARIABLE_BYTES = 128,
};

static const struct unit {
        const char *name;
        int64_t ms;
} units[] = {
        { "d", 86400000 }, { "h", 3600000 }, { "m", 60000 }, { "s", 1000 }, { "ms", 1 },
};
enum { UNITS = sizeof units / sizeof units[0] };

enum po_class scalar_fail(const struct node *node, const struct field *field,
                          struct po_error *error, const char *format, ...)
{
        char what[PO_ERROR_TEXT_BYTES];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(what, sizeof what, format, arguments);
        va_end(arguments);
        if (field->name == NULL)
                return node_fail(node, error, "%s", what);
        return node_fail(node, error, "%s: %s", field->name, what);
}

static bool has_control_character(const char *text)
{
        for (; *text != '\0'; text++)
                if (iscntrl((unsigned char)*text))
                        return true;
        return false;
}

/* The value as it is written, or words for it when it is secret, long or not printable. */
static const char *shown(const struct node *node, const struct field *field,
                         char buffer[static SHOWN_BUFFER_BYTES])
{
        const char *text = node_text(node);
        if (field->secret || strlen(text) > SHOWN_BYTES_MAX || has_control_character(text))
                return "the value";
        snprintf(buffer, SHOWN_BUFFER_BYTES, "\"%s\"", text);
        return buffer;
}

/* text begins with "${"; *end_out is what stands behind the closing brace. */
static enum po_class variable_value(const struct node *node, const struct field *field,
                                    const char *text, const char **value_out, const char **end_out,
                                    struct po_error *error)
{
        static const char opening[] = "${env:";
        static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
        char name[VARIABLE_BYTES];

        if (strncmp(text, opening, sizeof opening - 1) != 0)
                return scalar_fail(node, field, error,
                                   "\"${\" begins ${env:NAME} and nothing else");
        text += sizeof opening - 1;
        size_t length = strspn(text, letters);
        while (length > 0 &&
               (isdigit((unsigned char)text[length]) || strspn(text + length, letters) > 0))
                length++;
        if (length == 0 || length >= sizeof name || text[length] != '}')
                return scalar_fail(node, field, error,
                                   "\"${env:\" wants a variable's name and \"}\"");

        memcpy(name, text, length);
        name[length] = '\0';
        *value_out = getenv(name);
        *end_out = text + length + 1;
        if (*value_out == NULL)
                return scalar_fail(node, field, error, "the environment has no variable %s", name);
        return PO_OK;
}

static enum po_class text_replaced(const struct node *node, const struct field *field,
                                   const char **text_out, struct po_error *error)
{
        const char *rest = node_text(node);
        size_t joined_bytes = 0;
        CLEANUP(cleanup_free) char *joined = malloc(DOCUMENT_BYTES_MAX);
        if (joined == NULL)
                return scalar_fail(node, field, error, "out of memory");

        while (*rest != '\0') {
                const char *piece = rest;
                const char *next = strstr(rest, "${");
                size_t piece_bytes = next == NULL ? strlen(rest) : (size_t)(next - rest);
                rest += piece_bytes;
                if (piece_bytes == 0) {
                        enum po_class kind =
                                variable_value(node, field, rest, &piece, &rest, error);
                        if (kind != PO_OK)
                                return kind;
                        piece_bytes = strlen(piece);
                }
                if (piece_bytes > DOCUMENT_BYTES_MAX - joined_bytes)
                        return scalar_fail(node, field, error, "longer than %d bytes",
                                           (int)DOCUMENT_BYTES_MAX);
                memcpy(joined + joined_bytes, piece, piece_bytes);
                joined_bytes += piece_bytes;
        }
        *text_out = node_keep(node, joined, joined_bytes);
        return *text_out != NULL ? PO_OK : scalar_fail(node, field, error, "out of memory");
}

static bool has_variable(const struct node *node)
{
        return strstr(node_text(node), "${") != NULL;
}

static bool is_null(const struct node *node)
{
        static const char *const nulls[] = { "", "~", "null", "Null", "NULL" };
        if (!node_is_plain(node))
                return false;
        for (size_t i = 0; i < sizeof nulls / sizeof nulls[0]; i++)
                if (strcmp(node_text(node), nulls[i]) == 0)
                        return true;
        return false;
}

static enum po_class read_scalar(const struct node *node, const struct field *field,
                                 const char **text_out, struct po_error *error)
{
        if (node_kind(node) != NODE_TEXT)
                return scalar_fail(node, field, error, "must be one value, not a %s",
                                   node_kind(node) == NODE_LIST ? "list" : "map");
        if (is_null(node))
                return scalar_fail(node, field, error, "has no value: give one or leave it out");
        if (has_variable(node))
                return text_replaced(node, field, text_out, error);
        *text_out = node_text(node);
        return PO_OK;
}

static enum po_class check_words(const struct node *node, const struct field *field,
                                 const char *text, size_t *index_out, struct po_error *error)
{
        for (size_t i = 0; field->words[i] != NULL; i++) {
                if (strcmp(field->words[i], text) == 0) {
                        *index_out = i;
                        return PO_OK;
                }
        }
        char value[SHOWN_BUFFER_BYTES], hint[HINT_BYTES];
        nearest_hint(hint, sizeof hint, text, field->words);
        return scalar_fail(node, field, error, "%s is not known; %s", shown(node, field, value),
                           hint);
}

static enum po_class read_text(const struct node *node, const struct field *field,
                               const char **text_out, struct po_error *error)
{
        size_t index;
        enum po_class kind = read_scalar(node, field, text_out, error);
        if (kind != PO_OK)
                return kind;
        if (**text_out == '\0')
                return scalar_fail(node, field, error, "must not be empty");
        return field->words == NULL ? PO_OK : check_words(node, field, *text_out, &index, error);
}

static enum po_class read_word(const struct node *node, const struct field *field, char *buffer,
                               struct po_error *error)
{
        const char *text;
        enum po_class kind = read_text(node, field, &text, error);
        if (kind != PO_OK)
                return kind;
        size_t length = strlen(text);
        if (length >= field->size)
                return scalar_fail(node, field, error, "%zu bytes long; at most %zu are allowed",
                                   length, field->size - 1);
        if (has_control_character(text))
                return scalar_fail(node, field, error, "must not hold control characters");
        if (text[0] == ' ' || text[length - 1] == ' ')
                return scalar_fail(node, field, error, "must not begin or end with a space");
        memcpy(buffer, text, length + 1);
        return PO_OK;
}

static void duration_print(char *buffer, size_t buffer_bytes, int64_t ms)
{
        if (ms == 0) {
                snprintf(buffer, buffer_bytes, "0");
                return;
        }
        size_t i = 0;
        while (ms % units[i].ms != 0) /* ends at 1 ms */
                i++;
        snprintf(buffer, buffer_bytes, "%" PRId64 "%s", ms / units[i].ms, units[i].name);
}

void scalar_range(char buffer[static SCALAR_RANGE_BYTES], const struct field *field)
{
        if (field->kind == FIELD_DURATION) {
                char min[32], max[32];
                duration_print(min, sizeof min, field->min);
                duration_print(max, sizeof max, field->max);
                snprintf(buffer, SCALAR_RANGE_BYTES, "%s to %s", min, max);
                return;
        }
        snprintf(buffer, SCALAR_RANGE_BYTES, "%" PRId64 " to %" PRId64 "%s%s", field->min,
                 field->max, field->unit != NULL ? " " : "",
                 field->unit != NULL ? field->unit : "");
}

static enum po_class fail_number(const struct node *node, const struct field *field,
                                 struct po_error *error, const char *what)
{
        char value[SHOWN_BUFFER_BYTES], range[SCALAR_RANGE_BYTES];
        scalar_range(range, field);
        return scalar_fail(node, field, error, "%s %s; allowed: %s", shown(node, field, value),
                           what, range);
}

/* Digits without a sign or leading zeros; *end_out is what follows. False: none, or too large. */
static bool digits_parse(const char *text, int64_t *value_out, const char **end_out)
{
        char *end;
        if (!isdigit((unsigned char)text[0]) || (text[0] == '0' && isdigit((unsigned char)text[1])))
                return false;
        errno = 0;
        long long value = strtoll(text, &end, 10);
        *value_out = value;
        *end_out = end;
        return errno == 0;
}

/* A quoted scalar is text, unless a variable makes the quotes necessary ({ port: "${env:X}" }). */
static bool is_quoted_literal(const struct node *node)
{
        return !node_is_plain(node) && !has_variable(node);
}

static enum po_class read_integer(const struct node *node, const struct field *field,
                                  int64_t *value_out, struct po_error *error)
{
        const char *text, *end;
        enum po_class kind = read_scalar(node, field, &text, error);
        if (kind != PO_OK)
                return kind;
        if (is_quoted_literal(node))
                return fail_number(node, field, error, "is quoted, so it is no integer");

        bool negative = text[0] == '-';
        int64_t value;
        if (!digits_parse(text + negative, &value, &end) || *end != '\0')
                return fail_number(node, field, error, "is no decimal integer in range");
        value = negative ? -value : value;
        if (value < field->min || value > field->max)
                return fail_number(node, field, error, "is out of range");
        *value_out = value;
        return PO_OK;
}

static enum po_class read_duration(const struct node *node, const struct field *field,
                                   int64_t *ms_out, struct po_error *error)
{
        const char *text, *unit;
        enum po_class kind = read_scalar(node, field, &text, error);
        if (kind != PO_OK)
                return kind;

        int64_t count;
        size_t i = 0;
        if (!digits_parse(text, &count, &unit))
                return fail_number(node, field, error, "is no duration such as 250ms, 5s, 30m, 7d");
        if (count == 0 && *unit == '\0')
                unit = "ms";
        while (i < UNITS && strcmp(units[i].name, unit) != 0)
                i++;
        if (i == UNITS)
                return fail_number(node, field, error, "lacks a unit: ms, s, m, h or d");
        if (count > INT64_MAX / units[i].ms || count * units[i].ms < field->min ||
            count * units[i].ms > field->max)
                return fail_number(node, field, error, "is out of range");
        *ms_out = count * units[i].ms;
        return PO_OK;
}

static enum po_class read_boolean(const struct node *node, const struct field *field,
                                  bool *value_out, struct po_error *error)
{
        const char *text;
        char value[SHOWN_BUFFER_BYTES];
        enum po_class kind = read_scalar(node, field, &text, error);
        if (kind != PO_OK)
                return kind;
        if (is_quoted_literal(node) || (strcmp(text, "true") != 0 && strcmp(text, "false") != 0))
                return scalar_fail(node, field, error, "%s is neither true nor false",
                                   shown(node, field, value));
        *value_out = strcmp(text, "true") == 0;
        return PO_OK;
}

enum po_class scalar_read(const struct node *node, const struct field *field, void *target,
                          struct po_error *error)
{
        switch (field->kind) {
        case FIELD_TEXT:
                return read_text(node, field, target, error);
        case FIELD_WORD:
                return read_word(node, field, target, error);
        case FIELD_INTEGER:
                return read_integer(node, field, target, error);
        case FIELD_BOOLEAN:
                return read_boolean(node, field, target, error);
        case FIELD_DURATION:
                return read_duration(node, field, target, error);
        case FIELD_SECTION:
        case FIELD_CUSTOM:
                break;
        }
        assert(!"a field of this kind is no scalar");
        return po_fail(error, PO_BUG, 0, "field %s is no scalar", field->name);
}

enum po_class schema_text(const struct node *node, const char **text_out, struct po_error *error)
{
        return read_scalar(node, &(struct field){ .kind = FIELD_TEXT }, text_out, error);
}

enum po_class schema_word(const struct node *node, char *buffer, size_t buffer_bytes,
                          struct po_error *error)
{
        struct field field = { .kind = FIELD_WORD, .size = buffer_bytes };
        return read_word(node, &field, buffer, error);
}

enum po_class schema_choice(const struct node *node, const char *const *words, size_t *index_out,
                            struct po_error *error)
{
        const char *text;
        struct field field = { .kind = FIELD_TEXT, .words = words };
        enum po_class kind = read_scalar(node, &field, &text, error);
        return kind != PO_OK ? kind : check_words(node, &field, text, index_out, error);
}

enum po_class schema_integer(const struct node *node, int64_t min, int64_t max, int64_t *value_out,
                             struct po_error *error)
{
        struct field field = { .kind = FIELD_INTEGER, .min = min, .max = max };
        return read_integer(node, &field, value_out, error);
}

enum po_class schema_duration(const struct node *node, int64_t min_ms, int64_t max_ms,
                              int64_t *ms_out, struct po_error *error)
{
        struct field field = { .kind = FIELD_DURATION, .min = min_ms, .max = max_ms };
        return read_duration(node, &field, ms_out, error);
}

enum po_class schema_boolean(const struct node *node, bool *value_out, struct po_error *error)
{
        return read_boolean(node, &(struct field){ .kind = FIELD_BOOLEAN }, value_out, error);
}
