/* The state machines as a whole: what can be reached, and how they are drawn. */
#include "posting_fixture.h"

#include <stdlib.h>

#include "ledger/machine.h"

#define REFUND_EVENTS                                                                              \
        "PAID_EVENT:\n  order: { from: [PENDING_PAY], to: PAID }\n"                                \
        "BACK:\n  reverses: PAID_EVENT\n  order: { from: [PAID], to: REVERSED }\n"                 \
        "ASKED:\n  refund: { create: REGISTERED }\n  order: { from: [PAID] }\n"                    \
        "DONE:\n  refund: { from: [REGISTERED], to: SUCCEEDED }\n"                                 \
        "  order: { from: [PAID, PARTIALLY_REFUNDED], to: refunded_total }\n"                      \
        "LOST:\n  refund: { from: [REGISTERED], reverse: [SUCCEEDED], to: FAILED }\n"              \
        "  order: { from: [PARTIALLY_REFUNDED, REFUNDED], to: refunded_total }\n"

/* The lines of the drawing that hold an edge, in a buffer of the test's. */
static char *draw(const char *orders, const char *events)
{
        static char text[8192];
        struct rules *rules = fixture_rules(orders, events);
        FILE *stream = fmemopen(text, sizeof text, "w");
        ck_assert_ptr_nonnull(stream);
        machine_write_dot(rules, stream);
        ck_assert_int_eq(fclose(stream), 0);
        rules_free(rules);
        return text;
}

START_TEST(every_way_is_an_edge_with_its_event)
{
        static const char *const edges[] = {
                "order_start -> order_PENDING_PAY;",
                "order_PENDING_PAY -> order_PAID [label=\"PAID_EVENT\"];",
                "order_PAID -> order_REVERSED [label=\"BACK\", style=dashed];",
                "order_PAID -> order_PARTIALLY_REFUNDED [label=\"DONE\"];",
                "order_PAID -> order_REFUNDED [label=\"DONE\"];",
                "refund_start -> refund_REGISTERED [label=\"ASKED\"];",
                "refund_start -> refund_SUCCEEDED [label=\"DONE, not registered\"];",
                "refund_REGISTERED -> refund_SUCCEEDED [label=\"DONE\"];",
                "refund_REGISTERED -> refund_FAILED [label=\"LOST\"];",
                "refund_SUCCEEDED -> refund_FAILED [label=\"LOST\", style=dashed];",
                "order_SHIPPED [label=\"SHIPPED\", style=dotted];",
        };
        const char *text = draw("external: [SHIPPED]", REFUND_EVENTS);
        for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++)
                unit_assert_in(text, edges[i]);
        ck_assert_int_eq(strncmp(text, "digraph postonce {", 18), 0);
}
END_TEST

static void refuses(const char *events, const char *complaint)
{
        struct document *document;
        struct rules *rules;
        ck_assert_int_eq(document_parse(&document, "e", events, strlen(events), &error), PO_OK);
        ck_assert_int_eq(rules_read(NULL, document_root(document), &rules, &error), PO_SYSTEMIC);
        unit_assert_in(error.text, complaint);
        document_close(document);
}

START_TEST(states_that_only_lead_to_each_other_are_not_reached)
{
        refuses("A:\n  order: { from: [PENDING_PAY], to: PAID }\n"
                "B:\n  order: { from: [Y], to: X }\nC:\n  order: { from: [X], to: Y }\n",
                "event B: nothing leads to state Y");
}
END_TEST

START_TEST(a_refunds_states_are_followed_too)
{
        refuses("A:\n  order: { from: [PENDING_PAY], to: PAID }\n"
                "F:\n  refund: { from: [REGISTERED, LOST], to: FAILED }\n",
                "event F: nothing leads to state LOST");
        refuses("A:\n  order: { from: [PENDING_PAY], to: PAID }\n"
                "F:\n  refund: { from: [REGISTERED], reverse: [SUCCEEDED], to: FAILED }\n",
                "event F: nothing leads to state SUCCEEDED");
}
END_TEST

START_TEST(an_event_that_moves_no_state_has_no_way)
{
        refuses("Q:\n  refund: { create: REGISTERED }\n", "event Q has no way");
        refuses("A:\n  order: { from: [], to: PAID }\n", "");
}
END_TEST

UNIT_MAIN("machine", every_way_is_an_edge_with_its_event,
          states_that_only_lead_to_each_other_are_not_reached, a_refunds_states_are_followed_too,
          an_event_that_moves_no_state_has_no_way)
