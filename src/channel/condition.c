#include "channel/condition.h"

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

static bool condition_holds(const struct condition *condition, const struct scope *scope)
{
        struct json_object *value = pointer_find(&condition->at, scope);
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

const struct condition *conditions_fail(const struct condition_list *list,
                                        const struct scope *scope)
{
        for (size_t i = 0; i < list->count; i++)
                if (!condition_holds(&list->items[i], scope))
                        return &list->items[i];
        return NULL;
}

bool conditions_start_at(const struct condition_list *list, char origin)
{
        for (size_t i = 0; i < list->count; i++)
                if (pointer_starts_at(&list->items[i].at, origin))
                        return true;
        return false;
}
