#include "channel/shape_load.h"

#include <stdlib.h>
#include <string.h>

#include "channel/condition_load.h"
#include "channel/currency.h"
#include "channel/rule_load.h"

enum { EXPONENT_MAX = 4 };

enum po_class shape_read_body(const struct node *node, const struct field *field, void *target,
                              struct po_error *error)
{
        static const char *const bodies[] = {
                [BODY_JSON] = "json",
                [BODY_FORM] = "form",
                [BODY_XML] = "xml",
                [BODY_ENVELOPE] = "envelope",
                [BODY_CLOUDEVENTS] = "cloudevents",
                [BODY_CLOUDEVENTS + 1] = NULL,
        };
        (void)field;
        size_t index;
        enum po_class kind = schema_choice(node, bodies, &index, error);
        if (kind == PO_OK)
                *(enum body_kind *)target = (enum body_kind)index;
        return kind;
}

static enum po_class read_charset_name(const struct node *node, const struct field *field,
                                       void *target, struct po_error *error)
{
        (void)field;
        const char *name;
        enum po_class kind = schema_text(node, &name, error);
        if (kind != PO_OK)
                return kind;
        return charset_find(name, target)
                       ? PO_OK
                       : node_fail(node, error, "known are utf-8, gbk, gb2312 and gb18030");
}

enum po_class shape_read_charset(const struct node *node, const struct field *field, void *target,
                                 struct po_error *error)
{
        static const struct field fields[] = {
                { .name = "field",
                  .kind = FIELD_TEXT,
                  .offset = offsetof(struct charset_map, field),
                  .help = "the form's field that names the character set" },
                { .name = "default",
                  .kind = FIELD_CUSTOM,
                  .offset = offsetof(struct charset_map, fallback),
                  .fallback = "utf-8",
                  .reader = read_charset_name,
                  .help = "where no field names it" },
                { 0 },
        };
        struct charset_map *map = target;
        (void)field;
        enum po_class kind = schema_read(node, fields, map, error);
        map->needs_converter = map->field != NULL || map->fallback != CHARSET_UTF8;
        return kind;
}

enum po_class shape_read_exponents(const struct node *node, const struct field *field, void *target,
                                   struct po_error *error)
{
        struct exponent_table *table = target;
        if (node_kind(node) != NODE_MAP || node_count(node) == 0 ||
            node_count(node) > EXPONENTS_MAX)
                return node_fail(node, error,
                                 "%s wants 1 to %d pairs of a currency and its decimals",
                                 field->name, EXPONENTS_MAX);
        for (; table->count < node_count(node); table->count++) {
                const struct node *key = node_key(node, table->count);
                int exponent;
                int64_t value;
                if (!currency_find(node_text(key), &exponent))
                        return node_fail(key, error, "no currency code of ISO 4217");
                if (schema_integer(node_at(node, table->count), 0, EXPONENT_MAX, &value, error) !=
                    PO_OK)
                        return error->kind;
                table->items[table->count].code = node_text(key);
                table->items[table->count].exponent = (int)value;
        }
        return PO_OK;
}

enum po_class shape_read_nothing(const struct node *node, const struct field *field, void *target,
                                 struct po_error *error)
{
        (void)node;
        (void)field;
        (void)target;
        (void)error;
        return PO_OK;
}

static bool always_matches(const struct rule *rule)
{
        return rule->when.count == 0 && !rule->goes_on;
}

static enum po_class rules_load(const struct node *node, struct shape *shape,
                                struct po_error *error)
{
        struct rule_list *rules = &shape->rules;
        if (node_kind(node) != NODE_LIST || node_count(node) == 0 ||
            node_count(node) > SHAPE_RULES_MAX)
                return node_fail(node, error, "rules wants a list of 1 to %d rules",
                                 SHAPE_RULES_MAX);
        rules->items = calloc(node_count(node), sizeof *rules->items);
        if (rules->items == NULL)
                return node_fail(node, error, "no memory for the rules");
        for (; rules->count < node_count(node); rules->count++) {
                const struct node *item = node_at(node, rules->count);
                if (rules->count > 0 && always_matches(&rules->items[rules->count - 1]))
                        return node_fail(item, error,
                                         "never reached: the rule before it always matches");
                enum po_class kind = rule_load(item, pointer_is_given(&shape->each),
                                               &rules->items[rules->count], error);
                if (kind != PO_OK)
                        return kind;
        }
        return PO_OK;
}

static enum po_class items_check(const struct node *node, const struct shape *shape,
                                 struct po_error *error)
{
        bool each = pointer_is_given(&shape->each), item = pointer_is_given(&shape->item);
        if (each && pointer_starts_at(&shape->each, '@'))
                return node_fail(node_member(node, "each"), error,
                                 "the list of all items stands in no item");
        if (item && !each)
                return node_fail(node_member(node, "item"), error,
                                 "item stands in a list's elements, and no each names a list");
        if (item && (pointer_starts_at(&shape->item, '@') || pointer_starts_at(&shape->item, '#')))
                return node_fail(node_member(node, "item"), error,
                                 "item starts with '/', from the list's element");
        if (!each && conditions_start_at(&shape->guard, '@'))
                return node_fail(node_member(node, "guard"), error,
                                 "\"@/\" points into an item, and no each names a list");
        return PO_OK;
}

/* Whether the way to verify fits what is verified; without any, bodies are believed. */
static enum po_class verify_check(const struct node *node, struct shape *shape,
                                  struct po_error *error)
{
        const struct node *verify = node_member(node, "verify");
        enum verify_op op = shape->verify.op;
        if (verify == NULL)
                shape->verify.is_open = true;
        if (op == VERIFY_ALIPAY && shape->body != BODY_FORM)
                return node_fail(verify, error, "alipay signs forms: body: form");
        if (op == VERIFY_ADYEN && (shape->body != BODY_JSON || !pointer_is_given(&shape->each)))
                return node_fail(verify, error, "adyen signs the items of each, in body: json");
        if (shape->body == BODY_ENVELOPE &&
            (op == VERIFY_ALIPAY || op == VERIFY_ADYEN || op == VERIFY_WECHAT_V2))
                return node_fail(verify, error, "an envelope carries no signature of this op");
        return PO_OK;
}

enum po_class shape_finish(const struct node *node, struct shape *shape, struct po_error *error)
{
        const struct node *rules = node_member(node, "rules");
        if (verify_check(node, shape, error) != PO_OK)
                return error->kind;
        if (shape->body == BODY_ENVELOPE) {
                static const char *const others[] = { "charset", "unwrap",    "guard", "each",
                                                      "item",    "exponents", "rules" };
                for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
                        if (node_member(node, others[i]) != NULL)
                                return node_fail(node_member(node, others[i]), error,
                                                 "an envelope says itself what it means: no %s",
                                                 others[i]);
                return PO_OK;
        }
        if (rules == NULL)
                return node_fail(node, error, "required member \"rules\" is missing");
        if (shape->charset.field != NULL && shape->body != BODY_FORM &&
            shape->body != BODY_CLOUDEVENTS)
                return node_fail(node_member(node, "charset"), error,
                                 "only a form can name its character set in a field");
        enum po_class kind = items_check(node, shape, error);
        return kind == PO_OK ? rules_load(rules, shape, error) : kind;
}

/* One byte. target: char. */
static enum po_class read_first(const struct node *node, const struct field *field, void *target,
                                struct po_error *error)
{
        (void)field;
        const char *text;
        enum po_class kind = schema_text(node, &text, error);
        if (kind != PO_OK)
                return kind;
        if (text[0] <= ' ' || text[0] > '~' || text[1] != '\0')
                return node_fail(node, error, "first is one visible ASCII character");
        *(char *)target = text[0];
        return PO_OK;
}

enum po_class shape_load(const struct node *node, struct shape *shape, struct po_error *error)
{
        static const struct field fields[] = {
                { .name = "first",
                  .kind = FIELD_CUSTOM,
                  .offset = offsetof(struct shape, first),
                  .reader = read_first,
                  .help = "the body's first byte that is no white space" },
                { .name = "when",
                  .kind = FIELD_CUSTOM,
                  .offset = offsetof(struct shape, when),
                  .reader = read_conditions,
                  .help = "conditions on the record's headers (#/…)" },
                SHAPE_FIELDS(0),
                { 0 },
        };
        if (schema_read(node, fields, shape, error) != PO_OK)
                return error->kind;
        if (shape->body == BODY_ENVELOPE)
                return node_fail(node, error, "an envelope has no shapes beside it");
        if (conditions_start_at(&shape->when, '/') || conditions_start_at(&shape->when, '@'))
                return node_fail(node_member(node, "when"), error,
                                 "a shape is chosen before the body is read: by \"#/…\" and first");
        return shape_finish(node, shape, error);
}

void shape_reset(struct shape *shape)
{
        verify_reset(&shape->verify);
        unwrap_reset(&shape->unwrap);
        free(shape->rules.items);
        shape->rules = (struct rule_list){ 0 };
}
