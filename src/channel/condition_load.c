#include "channel/condition_load.h"

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

enum po_class read_pointer(const struct node *node, const struct field *field, void *target,
                           struct po_error *error)
{
        (void)field;
        return pointer_load(node, target, error);
}

/* One pointer, or a list of them. */
enum po_class read_pointers(const struct node *node, const struct field *field, void *target,
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

enum po_class read_conditions(const struct node *node, const struct field *field, void *target,
                              struct po_error *error)
{
        struct condition_list *list = target;
        if (node_kind(node) != NODE_LIST || node_count(node) > CONDITIONS_MAX)
                return node_fail(node, error, "%s wants a list of at most %d conditions",
                                 field->name, CONDITIONS_MAX);
        list->items = node_room(node, node_count(node) * sizeof *list->items);
        if (list->items == NULL)
                return node_fail(node, error, "no memory for the conditions");
        for (; list->count < node_count(node); list->count++) {
                enum po_class kind = condition_load(node_at(node, list->count),
                                                    &list->items[list->count], error);
                if (kind != PO_OK)
                        return kind;
        }
        return PO_OK;
}

enum po_class read_section(const struct node *node, const struct field *field, void *target,
                           struct po_error *error)
{
        return schema_read(node, field->section, target, error);
}

enum po_class read_node(const struct node *node, const struct field *field, void *target,
                        struct po_error *error)
{
        (void)field;
        (void)error;
        *(const struct node **)target = node;
        return PO_OK;
}
