#include "channel/rule.h"

#include <assert.h>
#include <string.h>

#include "channel/value.h"

static enum po_class parts_apply(const struct pointer_list *parts, const struct scope *scope,
                                 char txn[PO_TXN_BYTES], struct po_error *error)
{
        for (size_t i = 0; i < parts->count; i++) {
                const struct pointer *part = &parts->items[i];
                if (fill_txn_part(txn, pointer_find(part, scope), part->source, error) != PO_OK)
                        return error->kind;
        }
        return PO_OK;
}

static bool parts_are_there(const struct pointer_list *parts, const struct scope *scope)
{
        for (size_t i = 0; i < parts->count; i++)
                if (pointer_find(&parts->items[i], scope) == NULL)
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

static enum po_class currency_apply(const struct currency_map *map, const struct scope *scope,
                                    struct po_notification *notification, struct po_error *error)
{
        if (map->constant != NULL)
                return fill_currency(notification, map->constant, error);
        struct json_object *value = pointer_find(&map->at, scope);
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

static int exponent_find(const struct exponent_table *exponents, const char *currency)
{
        for (size_t i = 0; i < exponents->count; i++)
                if (strcmp(exponents->items[i].code, currency) == 0)
                        return exponents->items[i].exponent;
        return AMOUNT_EXPONENT_ISO;
}

static enum po_class amount_apply(const struct amount_map *map,
                                  const struct exponent_table *exponents, const struct scope *scope,
                                  struct po_notification *notification, struct po_error *error)
{
        struct json_object *value = pointer_find(&map->at, scope);
        if (value == NULL)
                return po_refuse(error, "AMOUNT_MISSING", "%s is absent or empty", map->at.source);
        struct json_object *minus = NULL;
        if (pointer_is_given(&map->minus)) {
                minus = pointer_find(&map->minus, scope);
                if (minus == NULL)
                        return po_refuse(error, "AMOUNT_MISSING", "%s is absent or empty",
                                         map->minus.source);
        }
        struct amount_form form = map->form;
        form.exponent = exponent_find(exponents, notification->currency);
        return fill_amount(notification, &form, value, minus, error);
}

static enum po_class fee_apply(const struct amount_map *map, const struct exponent_table *exponents,
                               const struct scope *scope, struct po_notification *notification,
                               struct po_error *error)
{
        struct amount_form form = map->form;
        form.exponent = exponent_find(exponents, notification->currency);
        return fill_fee(notification, &form, pointer_find(&map->at, scope), error);
}

static enum po_class event_apply(const struct rule *rule, const struct scope *scope,
                                 struct po_notification *notification, struct po_error *error)
{
        const char *event = rule->event;
        if (pointer_is_given(&rule->event_map.at))
                event = word_map_find(&rule->event_map, scope);
        if (event == NULL)
                return po_refuse(error, "EVENT_UNKNOWN", "the map of events lacks the word at %s",
                                 rule->event_map.at.source);
        memcpy(notification->event, event, strlen(event) + 1);
        return PO_OK;
}

static enum po_class names_apply(const struct rule *rule, const struct scope *scope,
                                 struct po_notification *notification, struct po_error *error)
{
        if (parts_apply(&rule->txn, scope, notification->txn, error) != PO_OK)
                return error->kind;
        if (parts_are_there(&rule->parent, scope) &&
            parts_apply(&rule->parent, scope, notification->parent, error) != PO_OK)
                return error->kind;
        if (fill_order_no(notification, pointer_find(&rule->order, scope), rule->order.source,
                          error) != PO_OK)
                return error->kind;
        return fill_refund_no(notification, pointer_find(&rule->refund_no, scope),
                              rule->refund_no.source, error);
}

enum po_class rule_apply(const struct rule *rule, const struct exponent_table *exponents,
                         const struct scope *scope, struct po_notification *notification,
                         struct po_error *error)
{
        assert(!rule->ignore);
        notification->occurred_at_us = PO_TIME_UNKNOWN;
        if (event_apply(rule, scope, notification, error) != PO_OK ||
            names_apply(rule, scope, notification, error) != PO_OK)
                return error->kind;
        if (pointer_is_given(&rule->amount.at) &&
            (currency_apply(&rule->currency, scope, notification, error) != PO_OK ||
             amount_apply(&rule->amount, exponents, scope, notification, error) != PO_OK ||
             fee_apply(&rule->fee, exponents, scope, notification, error) != PO_OK))
                return error->kind;
        return fill_occurred_at(notification, &rule->occurred_at.form,
                                pointer_find(&rule->occurred_at.at, scope), error);
}
