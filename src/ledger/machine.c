#include "ledger/machine.h"

#include <stdlib.h>
#include <string.h>

/* Which rules can fire: some state that they move can be reached. */
struct ways {
        const struct rules *rules;
        bool *order, *refund; /* one a rule */
};

static bool leads_to_refunded(const struct event_rule *rule, const char *status)
{
        return rule->to_refunded_total && (strcmp(status, STATUS_PARTIALLY_REFUNDED) == 0 ||
                                           strcmp(status, STATUS_REFUNDED) == 0);
}

static bool order_is_reached(const struct ways *ways, const char *status)
{
        if (strcmp(rules_initial(ways->rules), status) == 0 ||
            states_have(rules_external(ways->rules), status))
                return true;
        for (size_t i = 0; i < rules_count(ways->rules); i++) {
                const struct event_rule *rule = rules_at(ways->rules, i);
                if (rule->create[0] != '\0' && strcmp(rule->create, status) == 0)
                        return true;
                if (ways->order[i] &&
                    (strcmp(rule->to, status) == 0 || leads_to_refunded(rule, status)))
                        return true;
        }
        return false;
}

/* `postonce refund register` makes them without any rule. */
static bool refund_is_reached(const struct ways *ways, const char *status)
{
        if (strcmp(status, REFUND_REGISTERED) == 0)
                return true;
        for (size_t i = 0; i < rules_count(ways->rules); i++) {
                const struct event_rule *rule = rules_at(ways->rules, i);
                if (rule->subject != RULE_REFUND)
                        continue;
                if (strcmp(rule->refund.create, status) == 0 ||
                    (ways->refund[i] && strcmp(rule->refund.to, status) == 0))
                        return true;
        }
        return false;
}

typedef bool (*state_is_reached)(const struct ways *ways, const char *status);

static bool any_is_reached(const struct ways *ways, const struct states *states,
                           state_is_reached is_reached)
{
        for (size_t i = 0; i < states->count; i++)
                if (is_reached(ways, states->words[i]))
                        return true;
        return false;
}

static bool has_order_way(const struct ways *ways, const struct event_rule *rule)
{
        return any_is_reached(ways, &rule->from, order_is_reached);
}

/* A success that nobody registered registers itself. */
static bool has_refund_way(const struct ways *ways, const struct event_rule *rule)
{
        return rule->subject == RULE_REFUND &&
               (rule->refund.act != REFUND_RELEASES ||
                any_is_reached(ways, &rule->refund.from, refund_is_reached) ||
                any_is_reached(ways, &rule->refund.reverse, refund_is_reached));
}

/* Each round finds at least one more way, so it ends. */
static void find_ways(struct ways *ways)
{
        for (bool more = true; more;) {
                more = false;
                for (size_t i = 0; i < rules_count(ways->rules); i++) {
                        const struct event_rule *rule = rules_at(ways->rules, i);
                        if (!ways->order[i] && has_order_way(ways, rule))
                                more = ways->order[i] = true;
                        if (!ways->refund[i] && has_refund_way(ways, rule))
                                more = ways->refund[i] = true;
                }
        }
}

static enum po_class check_list(const struct ways *ways, const struct node *event, const char *name,
                                const struct states *states, state_is_reached is_reached,
                                struct po_error *error)
{
        for (size_t i = 0; i < states->count; i++)
                if (!is_reached(ways, states->words[i]))
                        return node_fail(event, error,
                                         "event %s: nothing leads to state %s: is it misspelt, or "
                                         "missing in orders.external?",
                                         name, states->words[i]);
        return PO_OK;
}

static enum po_class check_rule(const struct ways *ways, size_t index, const struct node *event,
                                struct po_error *error)
{
        const struct event_rule *rule = rules_at(ways->rules, index);
        const struct refund_move *refund = &rule->refund;
        const struct states *of_order[] = { &rule->from, &rule->wait, &rule->already };
        const struct states *of_refund[] = { &refund->from, &refund->wait, &refund->already,
                                             &refund->reverse };
        for (size_t i = 0; i < sizeof of_order / sizeof of_order[0]; i++)
                if (check_list(ways, event, rule->event, of_order[i], order_is_reached, error) !=
                    PO_OK)
                        return error->kind;
        for (size_t i = 0; i < sizeof of_refund / sizeof of_refund[0]; i++)
                if (check_list(ways, event, rule->event, of_refund[i], refund_is_reached, error) !=
                    PO_OK)
                        return error->kind;
        bool needs_order = rule->subject == RULE_ORDER ||
                           (rule->subject == RULE_REFUND && refund->act != REFUND_RELEASES);
        if ((needs_order && !ways->order[index]) ||
            (rule->subject == RULE_REFUND && !ways->refund[index]))
                return node_fail(event, error, "event %s has no way: no state is there to move",
                                 rule->event);
        return PO_OK;
}

enum po_class machine_check(const struct rules *rules, const struct node *events,
                            struct po_error *error)
{
        size_t count = rules_count(rules);
        bool *flags = calloc(2 * count + 1, sizeof *flags);
        if (flags == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for the event rules");
        struct ways ways = { rules, flags, flags + count };
        find_ways(&ways);
        enum po_class kind = PO_OK;
        for (size_t i = 0; i < count && kind == PO_OK; i++)
                kind = check_rule(&ways, i, node_at(events, i), error);
        free(flags);
        return kind;
}

/* States and events are words [A-Z0-9_]: nothing in them needs an escape. */
static void write_node(FILE *stream, const char *machine, const char *status)
{
        fprintf(stream, "    %s_%s [label=\"%s\"];\n", machine, status, status);
}

static void write_edges(FILE *stream, const char *machine, const struct states *from,
                        const char *to, const char *event, const char *style)
{
        for (size_t i = 0; i < from->count; i++) {
                write_node(stream, machine, from->words[i]);
                write_node(stream, machine, to);
                fprintf(stream, "    %s_%s -> %s_%s [label=\"%s\"%s];\n", machine, from->words[i],
                        machine, to, event, style);
        }
}

static void write_order_edges(FILE *stream, const struct event_rule *rule)
{
        if (rule->to_refunded_total) {
                write_edges(stream, "order", &rule->from, STATUS_PARTIALLY_REFUNDED, rule->event,
                            "");
                write_edges(stream, "order", &rule->from, STATUS_REFUNDED, rule->event, "");
        } else if (rule->to[0] != '\0') {
                write_edges(stream, "order", &rule->from, rule->to, rule->event,
                            rule->reverses[0] != '\0' ? ", style=dashed" : "");
        }
        if (rule->create[0] != '\0')
                fprintf(stream, "    order_start -> order_%s [label=\"%s\"];\n", rule->create,
                        rule->event);
}

static void write_refund_edges(FILE *stream, const struct event_rule *rule)
{
        const struct refund_move *refund = &rule->refund;
        if (refund->create[0] != '\0')
                fprintf(stream, "    refund_start -> refund_%s [label=\"%s\"];\n", refund->create,
                        rule->event);
        if (refund->act == REFUND_PAYS)
                fprintf(stream, "    refund_start -> refund_%s [label=\"%s, not registered\"];\n",
                        refund->to, rule->event);
        write_edges(stream, "refund", &refund->from, refund->to, rule->event, "");
        write_edges(stream, "refund", &refund->reverse, refund->to, rule->event, ", style=dashed");
}

void machine_write_dot(const struct rules *rules, FILE *stream)
{
        fputs("digraph postonce {\n  rankdir=LR;\n  subgraph cluster_orders {\n"
              "    label=\"orders\";\n    order_start [shape=point];\n",
              stream);
        fprintf(stream, "    order_start -> order_%s;\n", rules_initial(rules));
        const struct states *external = rules_external(rules);
        for (size_t i = 0; i < external->count; i++)
                fprintf(stream, "    order_%s [label=\"%s\", style=dotted];\n", external->words[i],
                        external->words[i]);
        for (size_t i = 0; i < rules_count(rules); i++)
                write_order_edges(stream, rules_at(rules, i));
        fputs("  }\n  subgraph cluster_refunds {\n    label=\"refunds\";\n"
              "    refund_start [shape=point];\n    refund_start -> refund_" REFUND_REGISTERED
              ";\n",
              stream);
        for (size_t i = 0; i < rules_count(rules); i++)
                if (rules_at(rules, i)->subject == RULE_REFUND)
                        write_refund_edges(stream, rules_at(rules, i));
        fputs("  }\n}\n", stream);
}
