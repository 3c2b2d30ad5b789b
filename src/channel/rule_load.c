#include "channel/rule_load.h"

#include <string.h>

#include "channel/condition_load.h"
#include "channel/currency.h"
#include "config/schema.h"

static enum po_class code_load(const struct node *node, const char **code_out,
                               struct po_error *error)
{
        int exponent;
        enum po_class kind = schema_text(node, code_out, error);
        if (kind != PO_OK)
                return kind;
        if (!currency_find(*code_out, &exponent))
                return node_fail(node, error, "no currency code of ISO 4217");
        return PO_OK;
}

static enum po_class read_code(const struct node *node, const struct field *field, void *target,
                               struct po_error *error)
{
        (void)field;
        return code_load(node, target, error);
}

static enum po_class read_names(const struct node *node, const struct field *field, void *target,
                                struct po_error *error)
{
        struct currency_map *map = target;
        if (node_kind(node) != NODE_MAP || node_count(node) == 0 ||
            node_count(node) > CURRENCY_MAP_MAX)
                return node_fail(node, error, "%s wants 1 to %d pairs of a word and a code",
                                 field->name, CURRENCY_MAP_MAX);
        for (; map->names_count < node_count(node); map->names_count++) {
                struct currency_name *name = &map->names[map->names_count];
                const struct node *key = node_key(node, map->names_count);
                name->text = node_text(key);
                if (strlen(name->text) >= CURRENCY_WORD_BYTES)
                        return node_fail(key, error, "a word for a currency has at most %d bytes",
                                         CURRENCY_WORD_BYTES - 1);
                enum po_class kind = code_load(node_at(node, map->names_count), &name->code, error);
                if (kind != PO_OK)
                        return kind;
        }
        return PO_OK;
}

static enum po_class read_amount_format(const struct node *node, const struct field *field,
                                        void *target, struct po_error *error)
{
        static const char *const formats[] = { [AMOUNT_MINOR] = "minor",
                                               [AMOUNT_DECIMAL] = "decimal",
                                               [AMOUNT_NUMBER] = "number",
                                               NULL };
        (void)field;
        size_t index;
        enum po_class kind = schema_choice(node, formats, &index, error);
        if (kind == PO_OK)
                *(enum amount_format *)target = (enum amount_format)index;
        return kind;
}

static enum po_class read_amount_kind(const struct node *node, const struct field *field,
                                      void *target, struct po_error *error)
{
        static const char *const kinds[] = { "this", "cumulative", "net", NULL };
        (void)field;
        size_t index;
        enum po_class kind = schema_choice(node, kinds, &index, error);
        if (kind == PO_OK)
                *(enum po_amount_kind *)target = (enum po_amount_kind)(PO_AMOUNT_THIS + index);
        return kind;
}

static enum po_class read_sign(const struct node *node, const struct field *field, void *target,
                               struct po_error *error)
{
        static const char *const signs[] = { "plus", "minus", NULL };
        (void)field;
        size_t index;
        enum po_class kind = schema_choice(node, signs, &index, error);
        if (kind == PO_OK)
                *(bool *)target = index == 1;
        return kind;
}

static enum po_class read_zone(const struct node *node, const struct field *field, void *target,
                               struct po_error *error)
{
        (void)field;
        const char *text;
        enum po_class kind = schema_text(node, &text, error);
        if (kind != PO_OK)
                return kind;
        return moment_zone(text, target) ? PO_OK
                                         : node_fail(node, error, "a zone is written +08:00 or Z");
}

/* A word, or { at, map }. target: the rule. */
static enum po_class read_event(const struct node *node, const struct field *field, void *target,
                                struct po_error *error)
{
        (void)field;
        struct rule *rule = target;
        if (node_kind(node) == NODE_MAP)
                return word_map_read(node, PO_EVENT_BYTES, &rule->event_map, error);
        enum po_class kind = schema_word(node, rule->event, PO_EVENT_BYTES, error);
        if (kind != PO_OK)
                return kind;
        return word_is_label(rule->event)
                       ? PO_OK
                       : node_fail(node, error, "an event is a word of A-Z, 0-9 and _");
}

static enum po_class read_moment_format(const struct node *node, const struct field *field,
                                        void *target, struct po_error *error)
{
        static const char *const formats[] = {
                [MOMENT_RFC3339] = "rfc3339", [MOMENT_SECONDS] = "s",
                [MOMENT_MILLISECONDS] = "ms", [MOMENT_DATETIME] = "datetime",
                [MOMENT_COMPACT] = "compact", [MOMENT_COMPACT + 1] = NULL,
        };
        (void)field;
        size_t index;
        enum po_class kind = schema_choice(node, formats, &index, error);
        if (kind == PO_OK)
                *(enum moment_format *)target = (enum moment_format)index;
        return kind;
}

static const struct field amount_fields[] = {
        { .name = "at",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct amount_map, at),
          .required = true,
          .reader = read_pointer,
          .help = "pointer to the amount" },
        { .name = "minus",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct amount_map, minus),
          .reader = read_pointer,
          .help = "pointer to an amount that is taken off it" },
        { .name = "format",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct amount_map, form.format),
          .required = true,
          .reader = read_amount_format,
          .help = "minor (12880), decimal (128.80), or number: decimal, and a JSON number with a "
                  "fraction counts as it is written" },
        { .name = "kind",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct amount_map, form.kind),
          .fallback = "this",
          .reader = read_amount_kind,
          .help = "this movement's own amount, the cumulative total so far, or the net rest" },
        { .name = "sign",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct amount_map, form.flip),
          .fallback = "plus",
          .reader = read_sign,
          .help = "minus: the channel writes this amount with one, and it counts without" },
        { 0 },
};

static const struct field fee_fields[] = {
        { .name = "at",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct amount_map, at),
          .required = true,
          .reader = read_pointer,
          .help = "pointer to the fee; where nothing stands there is none" },
        { .name = "format",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct amount_map, form.format),
          .required = true,
          .reader = read_amount_format,
          .help = "minor, decimal or number, as of amount" },
        { 0 },
};

static const struct field currency_fields[] = {
        { .name = "const",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct currency_map, constant),
          .reader = read_code,
          .help = "the code, where the channel has one currency only" },
        { .name = "at",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct currency_map, at),
          .reader = read_pointer,
          .help = "pointer to the code" },
        { .name = "default",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct currency_map, fallback),
          .reader = read_code,
          .help = "the code where the pointer leads to nothing" },
        { .name = "upper",
          .kind = FIELD_BOOLEAN,
          .offset = offsetof(struct currency_map, upper),
          .fallback = "false",
          .help = "the channel writes codes in lower case" },
        { .name = "map",
          .kind = FIELD_CUSTOM,
          .offset = 0,
          .reader = read_names,
          .help = "the channel's words and the codes they stand for; any other word is refused" },
        { 0 },
};

static const struct field moment_fields[] = {
        { .name = "at",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct moment_map, at),
          .required = true,
          .reader = read_pointer,
          .help = "pointer to the channel's time of the event" },
        { .name = "format",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct moment_map, form.format),
          .required = true,
          .reader = read_moment_format,
          .help = "rfc3339; s or ms (since 1970); datetime (2026-01-14 12:41:07.231) or compact "
                  "(20260114124107), which need a zone" },
        { .name = "zone",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct moment_map, form.zone_minutes),
          .reader = read_zone,
          .help = "+08:00: of datetime and compact" },
        { 0 },
};

static const struct field rule_fields[] = {
        { .name = "when",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct rule, when),
          .required = true,
          .reader = read_conditions,
          .help = "conditions that must all hold; an empty list always does" },
        { .name = "ignore",
          .kind = FIELD_BOOLEAN,
          .offset = offsetof(struct rule, ignore),
          .fallback = "false",
          .help = "true: such a body asks for nothing" },
        { .name = "continue",
          .kind = FIELD_BOOLEAN,
          .offset = offsetof(struct rule, goes_on),
          .fallback = "false",
          .help = "true: the rules behind this one are tried as well" },
        { .name = "each",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct rule, each),
          .reader = read_pointer,
          .help = "a list: one notification for each item, which @/… then points into" },
        { .name = "where",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct rule, where),
          .reader = read_conditions,
          .help = "conditions of an item; it is passed over unless all hold" },
        { .name = "event",
          .kind = FIELD_CUSTOM,
          .offset = 0,
          .reader = read_event,
          .help = "canonical event word, [A-Z0-9_], or { at, map }" },
        { .name = "txn",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct rule, txn),
          .reader = read_pointers,
          .help = "the number of this money movement: a pointer, or the parts of a composite" },
        { .name = "order",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct rule, order),
          .reader = read_pointer,
          .help = "the merchant's order number" },
        { .name = "parent",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct rule, parent),
          .reader = read_pointers,
          .help = "a refund's payment, as its own txn is formed" },
        { .name = "refund_no",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct rule, refund_no),
          .reader = read_pointer,
          .help = "the merchant's own number of the refund" },
        { .name = "amount",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct rule, amount),
          .section = amount_fields,
          .reader = read_section,
          .help = "{ at, minus, format, kind, sign }" },
        { .name = "fee",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct rule, fee),
          .section = fee_fields,
          .reader = read_section,
          .help = "{ at, format }: what of the amount the channel keeps, in the same currency" },
        { .name = "currency",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct rule, currency),
          .section = currency_fields,
          .reader = read_section,
          .help = "{ const } or { at, default, upper, map }" },
        { .name = "occurred_at",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct rule, occurred_at),
          .section = moment_fields,
          .reader = read_section,
          .help = "{ at, format, zone }" },
        { 0 },
};

static enum po_class currency_check(const struct node *node, const struct currency_map *currency,
                                    struct po_error *error)
{
        bool pointed = pointer_is_given(&currency->at);
        if ((currency->constant != NULL) == pointed)
                return node_fail(node, error, "currency wants either const or at");
        if (!pointed &&
            (currency->fallback != NULL || currency->upper || currency->names_count > 0))
                return node_fail(node, error, "default, upper and map go with at, not with const");
        for (size_t i = 0; currency->upper && i < currency->names_count; i++)
                if (strpbrk(currency->names[i].text, "abcdefghijklmnopqrstuvwxyz") != NULL)
                        return node_fail(node, error,
                                         "with upper the words of map must be in upper case");
        return PO_OK;
}

static enum po_class moment_check(const struct node *node, const struct moment_form *form,
                                  struct po_error *error)
{
        bool local = form->format == MOMENT_DATETIME || form->format == MOMENT_COMPACT;
        bool zoned = node_member(node, "zone") != NULL;
        if (local && !zoned)
                return node_fail(node, error, "datetime and compact want a zone");
        if (!local && zoned)
                return node_fail(node, error, "zone goes with datetime and compact only");
        return PO_OK;
}

static bool parts_start_at(const struct pointer_list *parts, char origin)
{
        for (size_t i = 0; i < parts->count; i++)
                if (pointer_starts_at(&parts->items[i], origin))
                        return true;
        return false;
}

/* "@/…" in what the rule fills in. */
static bool rule_uses_item(const struct rule *rule)
{
        const struct pointer *const pointers[] = {
                &rule->event_map.at, &rule->order,       &rule->refund_no,      &rule->amount.at,
                &rule->amount.minus, &rule->currency.at, &rule->occurred_at.at, &rule->fee.at,
        };
        for (size_t i = 0; i < sizeof pointers / sizeof pointers[0]; i++)
                if (pointer_starts_at(pointers[i], '@'))
                        return true;
        return parts_start_at(&rule->txn, '@') || parts_start_at(&rule->parent, '@');
}

static enum po_class items_check(const struct node *node, const struct rule *rule, bool unrolled,
                                 struct po_error *error)
{
        static const char complaint[] = "\"@/\" points into an item, and no each names a list";
        bool each = pointer_is_given(&rule->each);
        if (!unrolled && conditions_start_at(&rule->when, '@'))
                return node_fail(node_member(node, "when"), error, "%s", complaint);
        if (!unrolled && pointer_starts_at(&rule->each, '@'))
                return node_fail(node_member(node, "each"), error, "%s", complaint);
        if (rule->where.count > 0 && !each)
                return node_fail(node_member(node, "where"), error,
                                 "where chooses items, and no each names a list");
        if (!unrolled && !each && rule_uses_item(rule))
                return node_fail(node, error, "%s", complaint);
        return PO_OK;
}

static enum po_class money_check(const struct node *node, const struct rule *rule,
                                 struct po_error *error)
{
        const struct node *currency = node_member(node, "currency");
        if ((node_member(node, "amount") == NULL) != (currency == NULL))
                return node_fail(node, error, "amount and currency stand together");
        if (node_member(node, "fee") != NULL && rule->amount.form.kind != PO_AMOUNT_THIS)
                return node_fail(node_member(node, "fee"), error,
                                 "a fee goes with an amount of kind this");
        return currency == NULL ? PO_OK : currency_check(currency, &rule->currency, error);
}

enum po_class rule_load(const struct node *node, bool unrolled, struct rule *rule_out,
                        struct po_error *error)
{
        if (schema_read(node, rule_fields, rule_out, error) != PO_OK ||
            items_check(node, rule_out, unrolled, error) != PO_OK)
                return error->kind;
        rule_out->line = node_line(node);
        if (rule_out->ignore) {
                if (node_count(node) > 2) /* more than when and ignore */
                        return node_fail(node, error, "a rule with ignore says nothing but when");
                return PO_OK;
        }
        if (node_member(node, "event") == NULL || rule_out->txn.count == 0)
                return node_fail(node, error, "a rule wants event and txn, or ignore: true");
        const struct node *occurred_at = node_member(node, "occurred_at");
        if (occurred_at != NULL &&
            moment_check(occurred_at, &rule_out->occurred_at.form, error) != PO_OK)
                return error->kind;
        return money_check(node, rule_out, error);
}
