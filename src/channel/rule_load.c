#include "channel/rule_load.h"

#include <string.h>

#include "channel/currency.h"
#include "config/schema.h"

bool word_is_label(const char *word)
{
        static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
        return word[0] != '\0' && word[strspn(word, letters)] == '\0';
}

static enum po_class pointer_load(const struct node *node, struct pointer *pointer,
                                  struct po_error *error)
{
        const char *text;
        enum po_class kind = schema_text(node, &text, error);
        if (kind != PO_OK)
                return kind;
        const char *complaint = pointer_compile(pointer, text);
        return complaint == NULL ? PO_OK : node_fail(node, error, "%s", complaint);
}

static enum po_class read_pointer(const struct node *node, const struct field *field, void *target,
                                  struct po_error *error)
{
        (void)field;
        return pointer_load(node, target, error);
}

/* One pointer, or a list of them. */
static enum po_class read_pointers(const struct node *node, const struct field *field, void *target,
                                   struct po_error *error)
{
        struct pointer_list *list = target;
        if (node_kind(node) != NODE_LIST) {
                list->count = 1;
                return pointer_load(node, &list->items[0], error);
        }
        if (node_count(node) == 0 || node_count(node) > RULE_PARTS_MAX)
                return node_fail(node, error, "%s wants 1 to %d pointers", field->name,
                                 RULE_PARTS_MAX);
        for (; list->count < node_count(node); list->count++) {
                enum po_class kind =
                        pointer_load(node_at(node, list->count), &list->items[list->count], error);
                if (kind != PO_OK)
                        return kind;
        }
        return PO_OK;
}

static enum po_class words_load(const struct node *node, struct condition *condition,
                                struct po_error *error)
{
        if (node_kind(node) != NODE_LIST || node_count(node) == 0 ||
            node_count(node) > CONDITION_WORDS_MAX)
                return node_fail(node, error, "\"in\" wants a list of 1 to %d texts",
                                 CONDITION_WORDS_MAX);
        for (; condition->words_count < node_count(node); condition->words_count++) {
                enum po_class kind = schema_text(node_at(node, condition->words_count),
                                                 &condition->words[condition->words_count], error);
                if (kind != PO_OK)
                        return kind;
        }
        return PO_OK;
}

/* [pointer, test] or [pointer, test, text or texts] */
static enum po_class condition_load(const struct node *node, struct condition *condition,
                                    struct po_error *error)
{
        static const char *const tests[] = {
                [CONDITION_EQ] = "eq",         [CONDITION_IN] = "in",
                [CONDITION_PREFIX] = "prefix", [CONDITION_EXISTS] = "exists",
                [CONDITION_ABSENT] = "absent", [CONDITION_GT0] = "gt0",
                [CONDITION_GT0 + 1] = NULL,
        };
        if (node_kind(node) != NODE_LIST || node_count(node) < 2)
                return node_fail(node, error,
                                 "a condition is [pointer, test] or "
                                 "[pointer, test, text]");
        size_t test;
        if (pointer_load(node_at(node, 0), &condition->at, error) != PO_OK ||
            schema_choice(node_at(node, 1), tests, &test, error) != PO_OK)
                return error->kind;
        condition->test = (enum condition_test)test;

        size_t wanted = condition->test <= CONDITION_PREFIX ? 3 : 2;
        if (node_count(node) != wanted)
                return node_fail(node, error, "\"%s\" %s", tests[test],
                                 wanted == 3 ? "wants one thing to compare with"
                                             : "compares with nothing");
        if (condition->test == CONDITION_IN)
                return words_load(node_at(node, 2), condition, error);
        if (wanted == 2)
                return PO_OK;
        condition->words_count = 1;
        return schema_text(node_at(node, 2), &condition->words[0], error);
}

static enum po_class read_conditions(const struct node *node, const struct field *field,
                                     void *target, struct po_error *error)
{
        struct condition_list *list = target;
        if (node_kind(node) != NODE_LIST || node_count(node) > RULE_CONDITIONS_MAX)
                return node_fail(node, error, "%s wants a list of at most %d conditions",
                                 field->name, RULE_CONDITIONS_MAX);
        for (; list->count < node_count(node); list->count++) {
                enum po_class kind = condition_load(node_at(node, list->count),
                                                    &list->items[list->count], error);
                if (kind != PO_OK)
                        return kind;
        }
        return PO_OK;
}

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
        static const char *const formats[] = {
                [AMOUNT_MINOR] = "minor", [AMOUNT_DECIMAL] = "decimal", NULL
        };
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

static enum po_class read_moment_format(const struct node *node, const struct field *field,
                                        void *target, struct po_error *error)
{
        static const char *const formats[] = {
                [MOMENT_RFC3339] = "rfc3339",
                [MOMENT_SECONDS] = "s",
                [MOMENT_MILLISECONDS] = "ms",
                [MOMENT_MILLISECONDS + 1] = NULL,
        };
        (void)field;
        size_t index;
        enum po_class kind = schema_choice(node, formats, &index, error);
        if (kind == PO_OK)
                *(enum moment_format *)target = (enum moment_format)index;
        return kind;
}

/* A section that has no defaults when it is absent. */
static enum po_class read_section(const struct node *node, const struct field *field, void *target,
                                  struct po_error *error)
{
        return schema_read(node, field->section, target, error);
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
          .offset = offsetof(struct amount_map, format),
          .required = true,
          .reader = read_amount_format,
          .help = "minor (12880) or decimal (128.80)" },
        { .name = "kind",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct amount_map, kind),
          .fallback = "this",
          .reader = read_amount_kind,
          .help = "this movement's own amount, the cumulative total so far, or the net rest" },
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
          .offset = offsetof(struct moment_map, format),
          .required = true,
          .reader = read_moment_format,
          .help = "rfc3339, s or ms (since 1970)" },
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
        { .name = "event",
          .kind = FIELD_WORD,
          .offset = offsetof(struct rule, event),
          .size = PO_EVENT_BYTES,
          .help = "canonical event word, [A-Z0-9_]" },
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
          .help = "{ at, minus, format, kind }" },
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
          .help = "{ at, format }" },
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

enum po_class rule_load(const struct node *node, struct rule *rule_out, struct po_error *error)
{
        if (schema_read(node, rule_fields, rule_out, error) != PO_OK)
                return error->kind;
        if (rule_out->ignore) {
                if (node_count(node) > 2) /* more than when and ignore */
                        return node_fail(node, error, "a rule with ignore says nothing but when");
                return PO_OK;
        }
        const struct node *event = node_member(node, "event");
        if (event == NULL || rule_out->txn.count == 0)
                return node_fail(node, error, "a rule wants event and txn, or ignore: true");
        if (!word_is_label(rule_out->event))
                return node_fail(event, error, "an event is a word of A-Z, 0-9 and _");

        const struct node *currency = node_member(node, "currency");
        if ((node_member(node, "amount") == NULL) != (currency == NULL))
                return node_fail(node, error, "amount and currency stand together");
        return currency == NULL ? PO_OK : currency_check(currency, &rule_out->currency, error);
}
