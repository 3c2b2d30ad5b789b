#include "channel/json_tree.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

enum { PLAIN_KEEP_BYTES = 64 * 1024, NUMBER_BYTES = 64 };

_Static_assert((TREE_NAMES_MAX & (TREE_NAMES_MAX - 1)) == 0, "a hash is cut to it by a mask");

static enum po_class fail_memory(struct po_error *error)
{
        return po_fail(error, PO_BUG, 0, "no memory for a JSON tree");
}

void json_tree_reset(struct json_tree *tree)
{
        json_object_put(tree->root);
        tree->root = NULL;
        tree->depth = 0;
        tree->in_unread = false;
        free(tree->long_name);
        tree->long_name = NULL;
        if (tree->plain_room > PLAIN_KEEP_BYTES) {
                free(tree->plain);
                tree->plain = NULL;
                tree->plain_room = 0;
        }
}

void json_tree_close(struct json_tree *tree)
{
        json_tree_reset(tree);
        free(tree->plain);
        *tree = (struct json_tree){ .root = NULL };
}

struct json_object *json_tree_take(struct json_tree *tree)
{
        return MOVE(tree->root);
}

static unsigned hex_value(const char *digits)
{
        unsigned value = 0;
        for (int i = 0; i < 4; i++) {
                unsigned byte = (unsigned char)digits[i];
                value = value * 16 + (byte <= '9' ? byte - '0' : (byte | 0x20) - 'a' + 10);
        }
        return value;
}

static size_t utf8_put(char *buffer, unsigned code)
{
        if (code < 0x80) {
                buffer[0] = (char)code;
                return 1;
        }
        size_t more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        static const unsigned char lead[] = { 0, 0xC0, 0xE0, 0xF0 };
        buffer[0] = (char)(lead[more] | code >> (6 * more));
        for (size_t i = 1; i <= more; i++)
                buffer[i] = (char)(0x80 | (code >> (6 * (more - i)) & 0x3F));
        return more + 1;
}

/* What the escape at raw stands for, into buffer; *taken_out: its length in the text. */
static size_t escape_put(const char *raw, char *buffer, size_t *taken_out)
{
        static const char letters[] = "bfnrt", controls[] = "\b\f\n\r\t";
        *taken_out = 2;
        if (raw[1] == 'u') {
                unsigned code = hex_value(raw + 2);
                *taken_out = 6;
                if (code >= 0xD800 && code <= 0xDBFF) {
                        code = 0x10000 + ((code - 0xD800) << 10) + (hex_value(raw + 8) - 0xDC00);
                        *taken_out = 12;
                }
                return utf8_put(buffer, code);
        }
        const char *letter = strchr(letters, raw[1]);
        *buffer = letter != NULL ? controls[letter - letters] : raw[1];
        return 1;
}

/* The string without its escapes in tree->plain, NUL-terminated; no escape grows. */
static bool plain_fill(struct json_tree *tree, const char *raw, size_t length, size_t *length_out)
{
        if (tree->plain_room < length + 1) {
                char *grown = realloc(tree->plain, length + 1);
                if (grown == NULL)
                        return false;
                tree->plain = grown;
                tree->plain_room = length + 1;
        }
        size_t used = 0;
        for (const char *at = raw, *end = raw + length; at < end;) {
                size_t taken = 1;
                if (*at == '\\')
                        used += escape_put(at, tree->plain + used, &taken);
                else
                        tree->plain[used++] = *at;
                at += taken;
        }
        tree->plain[used] = '\0';
        *length_out = used;
        return true;
}

/* Where a name is kept, from now on if there is room; TREE_NAMES_MAX: there is none. */
static size_t name_keep(struct json_tree *tree, const char *text, size_t length)
{
        if (length == 0 || length >= TREE_NAME_BYTES)
                return TREE_NAMES_MAX;
        uint32_t hash = 2166136261u; /* FNV-1a */
        for (size_t i = 0; i < length; i++)
                hash = (hash ^ (unsigned char)text[i]) * 16777619u;
        /* A quarter stays free, so that every search ends. */
        size_t slot = (hash ^ hash >> 16) & (TREE_NAMES_MAX - 1);
        for (; tree->names[slot].length != 0; slot = (slot + 1) & (TREE_NAMES_MAX - 1))
                if (tree->names[slot].length == length &&
                    memcmp(tree->names[slot].text, text, length) == 0)
                        return slot;
        if (tree->names_count >= TREE_NAMES_MAX / 4 * 3)
                return TREE_NAMES_MAX;
        tree->names_count++;
        tree->names[slot].length = length;
        memcpy(tree->names[slot].text, text, length); /* its NUL is there: zeroed at first */
        return slot;
}

enum po_class json_tree_name(struct json_tree *tree, const char *raw, size_t length, bool escaped,
                             size_t place, struct po_error *error)
{
        if (escaped) {
                if (!plain_fill(tree, raw, length, &length))
                        return fail_memory(error);
                raw = tree->plain;
        }
        tree->name_place = place;
        tree->name_slot = name_keep(tree, raw, length);
        if (tree->name_slot < TREE_NAMES_MAX) {
                tree->name = tree->names[tree->name_slot].text;
        } else {
                free(tree->long_name);
                tree->name = tree->long_name = strndup(raw, length);
        }
        if (tree->name == NULL)
                return fail_memory(error);
        if (tree->depth == 1)
                tree->in_unread = tree->unread != NULL && strcmp(tree->name, tree->unread) == 0;
        return PO_OK;
}

/* Whether the innermost object has the name for the first time: of a kept one a bit tells. */
static bool name_is_new(struct json_tree *tree, struct json_object *object)
{
        if (tree->name_slot == TREE_NAMES_MAX)
                return !json_object_object_get_ex(object, tree->name, NULL);
        uint64_t *seen = &tree->seen[tree->depth - 1][tree->name_slot / 64];
        uint64_t bit = UINT64_C(1) << tree->name_slot % 64;
        bool is_new = (*seen & bit) == 0;
        *seen |= bit;
        return is_new;
}

/* Takes value over when it is OK. */
static enum po_class member_add(struct json_tree *tree, struct json_object *object,
                                struct json_object *value, struct po_error *error)
{
        bool kept = tree->name_slot < TREE_NAMES_MAX;
        unsigned flags = JSON_C_OBJECT_ADD_KEY_IS_NEW | (kept ? JSON_C_OBJECT_ADD_CONSTANT_KEY : 0);
        if (!name_is_new(tree, object))
                return po_refuse_at(error, "DUPLICATE_MEMBER", tree->name_place,
                                    "an object has one member twice, again at byte %zu",
                                    tree->name_place);
        if (value == NULL && tree->in_unread && kept)
                return PO_OK;
        return json_object_object_add_ex(object, tree->name, value, flags) == 0
                       ? PO_OK
                       : fail_memory(error);
}

/* value: taken over; NULL is the null of JSON. */
static enum po_class value_add(struct json_tree *tree, struct json_object *value,
                               struct po_error *error)
{
        if (tree->depth == 0) {
                tree->root = value;
                return PO_OK;
        }
        struct json_object *parent = tree->levels[tree->depth - 1];
        enum po_class kind = PO_OK;
        if (json_object_is_type(parent, json_type_object))
                kind = member_add(tree, parent, value, error);
        else if (json_object_array_add(parent, value) != 0)
                kind = fail_memory(error);
        if (kind != PO_OK)
                json_object_put(value);
        return kind;
}

enum po_class json_tree_begin(struct json_tree *tree, bool object, struct po_error *error)
{
        assert(tree->depth < JSON_DEPTH_MAX);
        struct json_object *value = object ? json_object_new_object() : json_object_new_array();
        if (value == NULL)
                return fail_memory(error);
        if (value_add(tree, value, error) != PO_OK)
                return error->kind;
        memset(tree->seen[tree->depth], 0, sizeof tree->seen[0]);
        tree->levels[tree->depth++] = value;
        return PO_OK;
}

void json_tree_end(struct json_tree *tree)
{
        assert(tree->depth > 0);
        tree->depth--;
}

enum po_class json_tree_text(struct json_tree *tree, const char *raw, size_t length, bool escaped,
                             struct po_error *error)
{
        if (tree->in_unread)
                return value_add(tree, NULL, error);
        if (escaped) {
                if (!plain_fill(tree, raw, length, &length))
                        return fail_memory(error);
                raw = tree->plain;
        }
        struct json_object *value = json_object_new_string_len(raw, (int)length);
        return value != NULL ? value_add(tree, value, error) : fail_memory(error);
}

/* Digits that fit, with or without a minus. */
static int64_t integer_read(const char *raw, size_t length)
{
        uint64_t number = 0;
        bool negative = raw[0] == '-';
        for (size_t i = negative; i < length; i++)
                number = number * 10 + (uint64_t)(raw[i] - '0');
        return negative ? (int64_t)(0 - number) : (int64_t)number;
}

/* json-c wants a number's value as well; nobody here may look at it, so it is 0. */
static struct json_object *written_number(struct json_tree *tree, const char *raw, size_t length)
{
        return plain_fill(tree, raw, length, &length) ? json_object_new_double_s(0, tree->plain)
                                                      : NULL;
}

enum po_class json_tree_number(struct json_tree *tree, const char *raw, size_t length, bool whole,
                               struct po_error *error)
{
        if (tree->in_unread)
                return value_add(tree, NULL, error);
        struct json_object *value = whole ? json_object_new_int64(integer_read(raw, length))
                                          : written_number(tree, raw, length);
        return value != NULL ? value_add(tree, value, error) : fail_memory(error);
}

enum po_class json_tree_word(struct json_tree *tree, const char *word, struct po_error *error)
{
        if (word[0] == 'n')
                return value_add(tree, NULL, error);
        struct json_object *value = json_object_new_boolean(word[0] == 't');
        return value != NULL ? value_add(tree, value, error) : fail_memory(error);
}
