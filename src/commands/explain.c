#include "commands/explain.h"

#include "channel/rule.h"

static const struct table_column columns[] = {
        { "item", TABLE_NUMBER }, { "tried", TABLE_TEXT },   { "line", TABLE_NUMBER },
        { "event", TABLE_TEXT },  { "matches", TABLE_FLAG }, { "because", TABLE_TEXT },
        { NULL, TABLE_TEXT },
};

static const char *rule_event(const struct rule *rule)
{
        if (rule->ignore)
                return "(ignore)";
        return rule->event[0] == '\0' ? "(by map)" : rule->event;
}

static void step_add(void *context, const struct trace_step *step)
{
        static const char *const kinds[] = {
                [TRACE_SHAPE] = "shape", [TRACE_ITEM] = "item",          [TRACE_GUARD] = "guard",
                [TRACE_RULE] = "rule",   [TRACE_CHOICE] = "rule's item",
        };
        struct explain *explain = context;
        if (step->kind == TRACE_ITEM) {
                snprintf(explain->item, sizeof explain->item, "%zu", step->index);
                return;
        }
        /* Shapes and rules as one counts them in a file, items as pointers count them. */
        bool counted = step->kind == TRACE_SHAPE || step->kind == TRACE_RULE;
        char tried[48], line[24] = "", reason[512];
        struct text text;
        text_init(&text, reason, sizeof reason);
        trace_reason(step, &text);
        snprintf(tried, sizeof tried, step->kind == TRACE_GUARD ? "%s" : "%s %zu",
                 kinds[step->kind], step->index + counted);
        if (step->rule != NULL)
                snprintf(line, sizeof line, "%zu", step->rule->line);
        table_row(explain->table, explain->item, tried, line,
                  step->rule == NULL ? "" : rule_event(step->rule), step->holds ? "yes" : "no",
                  reason);
}

void explain_open(struct explain *explain)
{
        *explain = (struct explain){
                .table = table_open("tried", columns),
                .trace = { .tell = step_add, .context = explain },
        };
}

void explain_close(struct explain *explain)
{
        table_close(explain->table);
}
