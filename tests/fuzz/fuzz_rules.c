/* `orders` and `events` of a configuration: rules that are let in balance and can be asked. */
#include "fuzz.h"

#include <string.h>

#include "ledger/rules.h"

static void look(const struct rules *rules)
{
        for (size_t i = 0; i < rules_count(rules); i++) {
                const struct event_rule *rule = rules_at(rules, i);
                FUZZ_MUST(rules_find(rules, rule->event) == rule);
                FUZZ_MUST(rule->to[0] == '\0' || rules_know_status(rules, rule->to));
        }
}

void fuzz_rules(const uint8_t *bytes, size_t length)
{
        struct document *document;
        struct po_error error;
        struct rules *rules;
        if (document_parse(&document, "f", (const char *)bytes, length, &error) != PO_OK)
                return;
        const struct node *root = document_root(document);
        const struct node *events =
                node_kind(root) == NODE_MAP ? node_member(root, "events") : NULL;
        if (events != NULL) {
                enum po_class kind =
                        rules_read(node_member(root, "orders"), events, &rules, &error);
                FUZZ_MUST(kind == PO_OK || kind == PO_SYSTEMIC);
                if (kind == PO_OK) {
                        look(rules);
                        rules_free(rules);
                }
        }
        document_close(document);
}
