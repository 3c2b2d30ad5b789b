#include "channel/rule.h"

#include <assert.h>
#include <string.h>

#include "channel/value.h"

static bool text_equals(const struct value_text *text, const char *word)
{
        return strlen(word) == text->length && memcmp(text->bytes, word, text->length) == 0;
}

static bool text_starts(const struct value_text *text, const char *word)
{
        size_t length = strlen(word);
        return length <= text->length && memcmp(text->bytes, word, length) == 0;
}

/* A number without a minus, with a digit above zero in front of its exponent. */
static bool text_is_positive(const struct value_text *text)
{
        bool positive = false;
        if (text->length == 0 || text->bytes[0] == '-' ||
            strspn(text->bytes, "0123456789.eE+-") != text->length)
                return false;
        for (size_t i = 0; i < text->length; i++) {
                char byte = text->bytes[i];
                if (byte == 'e' || byte == 'E')
                        break;
                positive = positive || (byte >= '1' && byte <= '9');
        }
        return positive;
}

static bool condition_holds(const struct condition *condition, struct json_object *root)
{
        struct json_object *value = pointer_find(&condition->at, root);
        if (condition->test == CONDITION_EXISTS)
                return value != NULL;
        if (condition->test == CONDITION_ABSENT)
                return value == NULL;

        struct value_text text;
        if (value == NULL || !value_written(value, &text))
                return false;
        if (condition->test == CONDITION_PREFIX)
                return text_starts(&text, condition->words[0]);
        if (condition->test == CONDITION_GT0)
                return text_is_positive(&text);
        for (size_t i = 0; i < condition->words_count; i++)
                if (text_equals(&text, condition->words[i]))
                        return true;
        return false;
}

bool rule_matches(const struct rule *rule, struct json_object *root)
{
        for (size_t i = 0; i < rule->when.count; i++)
                if (!condition_holds(&rule->when.items[i], root))
                        return false;
        return true;
}

static enum po_class parts_apply(const struct pointer_list *parts, struct json_object *root,
                                 char txn[PO_TXN_BYTES], struct po_error *error)
{
        for (size_t i = 0; i < parts->count; i++) {
                const struct pointer *part = &parts->items[i];
                if (fill_txn_part(txn, pointer_find(part, root), part->source, error) != PO_OK)
                        return error->kind;
        }
        return PO_OK;
}

static bool parts_are_there(const struct pointer_list *parts, struct json_object *root)
{
        for (size_t i = 0; i < parts->count; i++)
                if (pointer_find(&parts->items[i], root) == NULL)
                        return false;
        return true;
}

/* The code for the channel's word, or NULL: the map lacks it. */
static const char *currency_code(const struct currency_map *map, const char *word)
{
        if (map->names_count == 0)
                return word;
        for (size_t i = 0; i < map->names_count; i++)
                if (strcmp(map->names[i].text, word) == 0)
                        return map->names[i].code;
        return NULL;
}

static void letters_raise(char *text)
{
        for (; *text != '\0'; text++)
                if (*text >= 'a' && *text <= 'z')
                        *text = (char)(*text - 'a' + 'A');
}

static enum po_class currency_apply(const struct currency_map *map, struct json_object *root,
                                    struct po_notification *notification, struct po_error *error)
{
        if (map->constant != NULL)
                return fill_currency(notification, map->constant, error);
        struct json_object *value = pointer_find(&map->at, root);
        if (value == NULL && map->fallback != NULL)
                return fill_currency(notification, map->fallback, error);
        if (value == NULL)
                return po_refuse(error, "CURRENCY_MISSING", "%s is absent or empty",
                                 map->at.source);

        char word[CURRENCY_WORD_BYTES];
        if (value_copy(value, map->at.source, "CURRENCY_UNKNOWN", word, sizeof word, error) !=
            PO_OK)
                return error->kind;
        if (map->upper)
                letters_raise(word);
        const char *code = currency_code(map, word);
        if (code == NULL)
                return po_refuse(error, "CURRENCY_UNKNOWN",
                                 "the map of currencies lacks the word at %s", map->at.source);
        return fill_currency(notification, code, error);
}

static enum po_class amount_apply(const struct amount_map *map, struct json_object *root,
                                  struct po_notification *notification, struct po_error *error)
{
        struct json_object *value = pointer_find(&map->at, root);
        if (value == NULL)
                return po_refuse(error, "AMOUNT_MISSING", "%s is absent or empty", map->at.source);
        struct json_object *minus = NULL;
        if (pointer_is_given(&map->minus)) {
                minus = pointer_find(&map->minus, root);
                if (minus == NULL)
                        return po_refuse(error, "AMOUNT_MISSING", "%s is absent or empty",
                                         map->minus.source);
        }
        return fill_amount(notification, map->kind, map->format, value, minus, error);
}

static enum po_class names_apply(const struct rule *rule, struct json_object *root,
                                 struct po_notification *notification, struct po_error *error)
{
        if (parts_apply(&rule->txn, root, notification->txn, error) != PO_OK)
                return error->kind;
        if (parts_are_there(&rule->parent, root) &&
            parts_apply(&rule->parent, root, notification->parent, error) != PO_OK)
                return error->kind;
        if (fill_order_no(notification, pointer_find(&rule->order, root), rule->order.source,
                          error) != PO_OK)
                return error->kind;
        return fill_refund_no(notification, pointer_find(&rule->refund_no, root),
                              rule->refund_no.source, error);
}

enum po_class rule_apply(const struct rule *rule, struct json_object *root,
                         struct po_notification *notification, struct po_error *error)
{
        assert(!rule->ignore);
        memcpy(notification->event, rule->event, sizeof notification->event);
        notification->occurred_at_us = PO_TIME_UNKNOWN;
        if (names_apply(rule, root, notification, error) != PO_OK)
                return error->kind;
        if (pointer_is_given(&rule->amount.at) &&
            (currency_apply(&rule->currency, root, notification, error) != PO_OK ||
             amount_apply(&rule->amount, root, notification, error) != PO_OK))
                return error->kind;
        return fill_occurred_at(notification, rule->occurred_at.format,
                                pointer_find(&rule->occurred_at.at, root), error);
}
