/* Event rules: what they mean, and where each complaint points. */
#include "unit.h"

#include "ledger/rules.h"

static struct po_error error;
static struct document *of_orders, *of_events;
static struct rules *rules;

static enum po_class read_rules(const char *orders, const char *events)
{
        memset(&error, 0, sizeof error);
        document_close(of_orders);
        document_close(of_events);
        of_orders = of_events = NULL;
        if (orders != NULL &&
            document_parse(&of_orders, "o", orders, strlen(orders), &error) != PO_OK)
                ck_abort_msg("%s", error.text);
        if (document_parse(&of_events, "e", events, strlen(events), &error) != PO_OK)
                ck_abort_msg("%s", error.text);
        rules_free(rules);
        return rules_read(of_orders != NULL ? document_root(of_orders) : NULL,
                          document_root(of_events), &rules, &error);
}

static const struct event_rule *accepts(const char *orders, const char *events)
{
        ck_assert_msg(read_rules(orders, events) == PO_OK, "%s", error.text);
        return rules_at(rules, 0);
}

static void refuses(const char *orders, const char *events, const char *complaint)
{
        ck_assert_msg(read_rules(orders, events) == PO_SYSTEMIC, "accepted: %s", events);
        ck_assert_ptr_null(rules);
        ck_assert_msg(strncmp(error.text, complaint, strlen(complaint)) == 0,
                      "\"%s\" does not start with \"%s\"", error.text, complaint);
}

#define LINE  "    - { debit: a, credit: b, amount: amount }\n"
#define ORDER "  order: { from: [PENDING_PAY], to: PAID }\n"

START_TEST(a_whole_rule_is_read)
{
        const struct event_rule *rule =
                accepts("initial: NEW\nexternal: [SHIPPED, DRAFT]\namount: any",
                        "PAYMENT_RECEIVED:\n"
                        "  order: { from: [NEW], to: PAID, already: [PAID, SHIPPED], wait: [DRAFT],"
                        " create: NEW }\n"
                        "  otherwise: reject\n"
                        "  post:\n"
                        "    - { debit: 'channel:{channel}', credit: 'merchant:{tenant}',"
                        " amount: amount }\n"
                        "    - { debit: 'x{currency}', amount: amount }\n"
                        "    - { credit: y, amount: amount }\n"
                        "  outbox: ORDER_PAID\n");
        ck_assert_str_eq(rule->event, "PAYMENT_RECEIVED");
        ck_assert_int_eq(rule->subject, RULE_ORDER);
        ck_assert_int_eq(rule->otherwise, OTHERWISE_REJECT);
        ck_assert_str_eq(rule->to, "PAID");
        ck_assert_str_eq(rule->create, "NEW");
        ck_assert_str_eq(rule->outbox, "ORDER_PAID");
        ck_assert(states_have(&rule->from, "NEW") && !states_have(&rule->from, "PAID"));
        ck_assert(states_have(&rule->already, "PAID") && states_have(&rule->already, "SHIPPED"));
        ck_assert(states_have(&rule->wait, "DRAFT"));
        ck_assert_uint_eq(rule->lines_count, 3);
        ck_assert_str_eq(rule->lines[0].debit, "channel:{channel}");
        ck_assert_str_eq(rule->lines[0].credit, "merchant:{tenant}");
        ck_assert_str_eq(rule->lines[1].credit, "");
        ck_assert_str_eq(rule->lines[2].debit, "");
        ck_assert_str_eq(rules_initial(rules), "NEW");
        ck_assert(states_have(rules_external(rules), "SHIPPED"));
        ck_assert(!rules_amount_must_match(rules));
}
END_TEST

START_TEST(without_orders_the_defaults_hold)
{
        const struct event_rule *rule = accepts(NULL, "PAYMENT_RECEIVED:\n" ORDER);
        ck_assert_str_eq(rules_initial(rules), "PENDING_PAY");
        ck_assert_uint_eq(rules_external(rules)->count, 0);
        ck_assert(rules_amount_must_match(rules));
        ck_assert_int_eq(rule->otherwise, OTHERWISE_SUSPENSE);
        ck_assert_str_eq(rule->create, "");
        ck_assert_str_eq(rule->outbox, "");
        ck_assert_uint_eq(rule->lines_count, 0);
}
END_TEST

START_TEST(a_rule_is_found_by_its_event_only)
{
        accepts(NULL, "A:\n  post:\n" LINE "B_1:\n" ORDER);
        ck_assert_uint_eq(rules_count(rules), 2);
        ck_assert_ptr_eq(rules_find(rules, "A"), rules_at(rules, 0));
        ck_assert_ptr_eq(rules_find(rules, "B_1"), rules_at(rules, 1));
        ck_assert_ptr_null(rules_find(rules, "B"));
        ck_assert_ptr_null(rules_find(rules, ""));
        ck_assert_int_eq(rules_at(rules, 0)->subject, RULE_POSTS_ONLY);
}
END_TEST

START_TEST(a_state_is_known_when_something_names_it)
{
        accepts("external: [SHIPPED]", "A:\n  order: { from: [PENDING_PAY], to: PAID }\n"
                                       "B:\n  order: { from: [PAID], to: DONE, create: LATE }\n");
        static const char *const known[] = { "PENDING_PAY", "PAID", "DONE", "LATE", "SHIPPED" };
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
                ck_assert_msg(rules_know_status(rules, known[i]), "%s", known[i]);
        ck_assert(!rules_know_status(rules, "SHIPED"));
        ck_assert(!rules_know_status(rules, ""));
        ck_assert(!rules_know_status(rules, "paid"));
}
END_TEST

#define REGISTERS "Q:\n  refund: { create: REGISTERED }\n  order: { from: [PAID], wait: [NEW] }\n"
#define PAYS                                                                                       \
        "S:\n  refund: { from: [REGISTERED, FAILED], to: SUCCEEDED, already: [SUCCEEDED] }\n"      \
        "  order: { from: [PAID, PARTIALLY_REFUNDED], wait: [NEW], to: refunded_total }\n"         \
        "  post:\n" LINE
#define FAILS                                                                                      \
        "F:\n  refund: { from: [REGISTERED], reverse: [SUCCEEDED], to: FAILED,"                    \
        " already: [FAILED] }\n"                                                                   \
        "  order: { from: [PARTIALLY_REFUNDED, REFUNDED], to: refunded_total }\n"
#define REFUND_ORDERS "initial: NEW\nexternal: [PAID]"

START_TEST(what_a_refunds_rule_does_follows_from_its_members)
{
        const struct event_rule *rule = accepts(REFUND_ORDERS, REGISTERS PAYS FAILS);
        ck_assert_int_eq(rule->subject, RULE_REFUND);
        ck_assert_int_eq(rule->refund.act, REFUND_REGISTERS);
        ck_assert_str_eq(rule->refund.create, "REGISTERED");
        ck_assert_ptr_eq(rules_registering(rules), rule);
        rule = rules_find(rules, "S");
        ck_assert_int_eq(rule->refund.act, REFUND_PAYS);
        ck_assert(rule->to_refunded_total && states_have(&rule->refund.from, "FAILED"));
        ck_assert_str_eq(rule->to, "");
        ck_assert_str_eq(rule->refund.to, "SUCCEEDED");
        ck_assert_str_eq(rule->parent, "PAYMENT_RECEIVED");
        rule = rules_find(rules, "F");
        ck_assert_int_eq(rule->refund.act, REFUND_RELEASES);
        ck_assert(states_have(&rule->refund.reverse, "SUCCEEDED"));
        ck_assert_str_eq(rule->takes_back, "S");
        ck_assert_str_eq(rules_find(rules, "S")->takes_back, "");
        ck_assert(rules_know_status(rules, "REFUNDED"));

        accepts(REFUND_ORDERS, PAYS "A:\n  refund: { from: [REGISTERED], to: FAILED }\n");
        ck_assert_int_eq(rules_find(rules, "A")->refund.act, REFUND_RELEASES);
        ck_assert_ptr_null(rules_registering(rules));
}
END_TEST

START_TEST(a_refunds_rule_that_would_lose_money_is_refused)
{
        refuses(NULL, "S:\n  refund: { from: [REGISTERED], to: SUCCEEDED }\n",
                "e:2:3: event S: SUCCEEDED needs order");
        refuses(REFUND_ORDERS,
                "S:\n  refund: { from: [REGISTERED], to: DONE, keeps: true }\n"
                "  order: { from: [PAID], to: refunded_total }\n",
                "e:2:3: event S: keeps is for what is not paid yet");
        refuses(REFUND_ORDERS, "S:\n  refund: { from: [REGISTERED], to: DONE }\n  post:\n" LINE,
                "e:2:3: event S: only a refund that reached the payer is posted");
        refuses(REFUND_ORDERS,
                "S:\n  refund: { from: [REGISTERED], to: DONE }\n"
                "  order: { from: [PAID], to: REFUNDED }\n",
                "e:2:3: event S: a refund moves its order to refunded_total");
        refuses(REFUND_ORDERS, "S:\n  order: { from: [PAID], to: refunded_total }\n",
                "e:2:3: event S: refunded_total needs `refund`");
        refuses(NULL, "Q:\n  refund: { create: REGISTERED, to: X }\n", "e:2:11: create stands");
        refuses(NULL, "S:\n  refund: { to: X }\n", "e:2:11: required member \"from\"");
        refuses(NULL, "S:\n  refund: { from: [REGISTERED] }\n", "e:2:11: required member \"to\"");
}
END_TEST

START_TEST(an_event_without_a_way_is_refused)
{
        refuses(NULL, "A:\n  order: { from: [], to: PAID }\n", "e:2:");
        refuses(NULL,
                "A:\n" ORDER
                "B:\n  order: { from: [Y], to: X }\nC:\n  order: { from: [X], to: Y }\n",
                "e:4:3: event B: nothing leads to state Y");
        refuses(REFUND_ORDERS, FAILS "A:\n  refund: { from: [LOST], to: GONE }\n", "e:");
        refuses(REFUND_ORDERS, "Q:\n  refund: { create: REGISTERED }\n",
                "e:2:3: event Q has no way");
}
END_TEST

START_TEST(a_reversal_has_the_lines_of_its_payment_the_other_way_round)
{
        static const char reversal[] = "P:\n" ORDER "  post:\n" LINE
                                       "R:\n  reverses: P\n  order: { from: [PAID], to: LOST }\n";
        accepts(NULL, reversal);
        const struct event_rule *rule = rules_find(rules, "R");
        ck_assert_str_eq(rule->reverses, "P");
        ck_assert_uint_eq(rule->suspense_count, 1);
        ck_assert_str_eq(rule->suspense[0].debit, "suspense:{channel}");
        ck_assert_str_eq(rule->suspense[0].credit, "a");
        refuses(NULL, "R:\n" ORDER "  reverses: P\n", "e:2:3: event R: reverses P, which is no");
        refuses(NULL, "P:\n" ORDER "R:\n" ORDER "  reverses: P\n  post:\n" LINE,
                "e:4:3: event R: a reversal posts what P posted");
}
END_TEST

START_TEST(fee_and_net_balance_for_every_fee)
{
        const struct event_rule *rule = accepts(NULL, "P:\n" ORDER "  post:\n"
                                                      "    - { debit: a, amount: net }\n"
                                                      "    - { debit: fees, amount: fee }\n"
                                                      "    - { credit: b, amount: amount }\n");
        ck_assert_int_eq(rule->lines[0].amount, LINE_NET);
        ck_assert_int_eq(rule->lines[1].amount, LINE_FEE);
        ck_assert_int_eq(rule->lines[2].amount, LINE_AMOUNT);
        refuses(NULL, "P:\n  post: [ { debit: a, amount: net }, { credit: b, amount: amount } ]\n",
                "e:2:9: unbalanced: fee is debited -1 times and credited 0 times");
        refuses(NULL, "P:\n  post: [ { debit: a, amount: fee }, { credit: b, amount: amount } ]\n",
                "e:2:9: unbalanced: amount is debited 0 times and credited 1 times");
}
END_TEST

START_TEST(a_refund_in_suspense_is_debited_there)
{
        accepts(REFUND_ORDERS, PAYS FAILS);
        ck_assert_str_eq(rules_at(rules, 0)->suspense[0].debit, "suspense:{channel}");
        ck_assert_str_eq(rules_at(rules, 0)->suspense[0].credit, "b");
}
END_TEST

START_TEST(an_unknown_member_is_named_where_it_stands)
{
        refuses(NULL, "A:\n" ORDER "  outbux: X\n", "e:3:3: ");
        unit_assert_in(error.text, "outbux");
        refuses(NULL, "A:\n  order: { from: [PENDING_PAY], to: PAID, alredy: [PAID] }\n",
                "e:2:43: ");
        refuses(NULL, "A:\n  post:\n    - { debit: a, kredit: b, amount: amount }\n", "e:3:19: ");
        refuses("initial: NEW\nextern: [X]", "A:\n" ORDER, "o:2:1: ");
}
END_TEST

START_TEST(a_missing_member_is_named_at_its_map)
{
        refuses(NULL, "A:\n  order: { from: [PENDING_PAY] }\n", "e:2:10: ");
        unit_assert_in(error.text, "\"to\"");
        refuses(NULL, "A:\n  order: { to: PAID }\n", "e:2:10: ");
        unit_assert_in(error.text, "\"from\"");
        refuses(NULL, "A:\n  post: [ { debit: a, credit: b } ]\n", "e:2:11: ");
        unit_assert_in(error.text, "\"amount\"");
}
END_TEST

START_TEST(debits_without_their_credits_are_unbalanced)
{
        refuses(NULL, "A:\n  post:\n    - { debit: a, amount: amount }\n",
                "e:3:5: unbalanced: amount is debited 1 times and credited 0 times");
        refuses(NULL, "A:\n  post:\n" LINE "    - { credit: c, amount: amount }\n",
                "e:3:5: unbalanced: amount is debited 1 times and credited 2 times");
        accepts(NULL,
                "A:\n  post: [ { debit: a, amount: amount }, { credit: b, amount: amount } ]");
}
END_TEST

START_TEST(a_line_without_a_side_is_refused)
{
        refuses(NULL, "A:\n  post:\n    - { amount: amount }\n", "e:3:7: a line needs");
        refuses(NULL, "A:\n  post:\n    - a\n", "e:3:7: a line must be");
        refuses(NULL, "A:\n  post: { debit: a }\n", "e:2:9: post must be a list");
        refuses(NULL, "A:\n  post:\n    - { debit: a, credit: b, amount: gross }\n", "e:3:38: ");
}
END_TEST

START_TEST(more_lines_than_a_rule_holds_are_refused)
{
        accepts(NULL, "A:\n  post:\n" LINE LINE LINE LINE LINE LINE LINE LINE);
        refuses(NULL, "A:\n  post:\n" LINE LINE LINE LINE LINE LINE LINE LINE LINE,
                "e:3:5: post has 9 lines, at most 8");
}
END_TEST

START_TEST(a_variable_that_no_account_has_is_shown)
{
        refuses(NULL, "A:\n  post: [ { debit: 'x:{chanel}', credit: b, amount: amount } ]\n",
                "e:2:20: account \"x:{chanel}\": \"{chanel}\" is none of");
        refuses(NULL, "A:\n  post: [ { debit: a, credit: 'b}', amount: amount } ]\n", "e:2:31: ");
}
END_TEST

START_TEST(an_account_longer_than_its_column_is_refused)
{
        char events[512], code[200];
        memset(code, 'a', sizeof code);
        snprintf(events, sizeof events,
                 "A:\n  post: [ { debit: %.129s, credit: b, amount: amount } ]\n", code);
        refuses(NULL, events, "e:2:20: ");
        snprintf(events, sizeof events,
                 "A:\n  post: [ { debit: %.128s, credit: b, amount: amount } ]\n", code);
        accepts(NULL, events);
}
END_TEST

START_TEST(a_state_that_nothing_leads_to_is_misspelt)
{
        refuses(NULL, "A:\n  order: { from: [PENDING_PAI], to: PAID }\n",
                "e:2:3: event A: nothing leads to state PENDING_PAI");
        refuses(NULL, "A:\n" ORDER "B:\n  order: { from: [PAID], to: X, already: [SHIPPED] }\n",
                "e:4:3: event B: nothing leads to state SHIPPED");
        refuses(NULL, "A:\n  order: { from: [PENDING_PAY], to: X, wait: [DRAFT] }\n",
                "e:2:3: event A: nothing leads to state DRAFT");
        accepts("external: [DRAFT]",
                "A:\n  order: { from: [PENDING_PAY], to: X, wait: [DRAFT] }\n");
}
END_TEST

START_TEST(a_state_stands_in_one_list_once)
{
        refuses(NULL, "A:\n  order: { from: [PENDING_PAY], to: PAID, already: [PENDING_PAY] }\n",
                "e:2:3: event A: PENDING_PAY is in from and in another list");
        refuses(NULL, "A:\n  order: { from: [PENDING_PAY], to: PAID, wait: [PENDING_PAY] }\n",
                "e:2:3: event A: PENDING_PAY is in from and in another list");
        refuses("external: [X]",
                "A:\n  order: { from: [PENDING_PAY], to: PAID, wait: [X], already: [X] }\n",
                "e:2:3: event A: X is in wait and in already");
        refuses(NULL, "A:\n  order: { from: [PENDING_PAY, PENDING_PAY], to: PAID }\n", "e:2:32: ");
}
END_TEST

START_TEST(an_event_that_does_nothing_is_refused)
{
        refuses(NULL, "A:\n  otherwise: skip\n", "e:2:3: event A does nothing");
        refuses(NULL, "A:\n  outbox: X\n", "e:2:3: event A does nothing");
        refuses(NULL, "A:\n  post: []\n", "e:2:3: event A does nothing");
        refuses(NULL, "A: {}\n", "e:1:4: event A does nothing");
}
END_TEST

START_TEST(words_are_upper_case)
{
        refuses(NULL, "payment:\n" ORDER, "e:1:1: \"payment\" must be a word in upper case");
        refuses(NULL, "A:\n  order: { from: [pending], to: PAID }\n", "e:2:19: \"pending\"");
        refuses(NULL, "A:\n  order: { from: [PENDING_PAY], to: 1PAID }\n", "e:2:37: \"1PAID\"");
        refuses(NULL, "A:\n" ORDER "  outbox: order.paid\n", "e:3:11: \"order.paid\"");
        refuses("initial: 'it''s'", "A:\n" ORDER, "o:1:10: ");
        refuses("external: [X-Y]", "A:\n" ORDER, "o:1:12: \"X-Y\"");
}
END_TEST

START_TEST(a_word_longer_than_its_column_is_refused)
{
        static const char of_33[] = "S23456789012345678901234567890123";
        char events[256];
        snprintf(events, sizeof events, "A:\n  order: { from: [PENDING_PAY], to: %s }\n", of_33);
        refuses(NULL, events, "e:2:37: ");
        snprintf(events, sizeof events, "A:\n  order: { from: [PENDING_PAY], to: %.32s }\n", of_33);
        accepts(NULL, events);
        snprintf(events, sizeof events, "E%.32s%.32s:\n" ORDER, of_33, of_33);
        refuses(NULL, events, "e:1:1: ");
}
END_TEST

START_TEST(a_wrong_kind_of_node_is_refused)
{
        refuses(NULL, "[A]", "e:1:1: events must be a map of at least one event");
        refuses(NULL, "{}", "e:1:1: events must be a map of at least one event");
        refuses("[x]", "A:\n" ORDER, "o:1:1: orders must be a map");
        refuses(NULL, "A: [x]\n", "e:1:4: rule of A must be a map");
        refuses(NULL, "A:\n  order: [PENDING_PAY, PAID]\n", "e:2:10: \"order\" must be a map");
        refuses(NULL, "A:\n" ORDER "  otherwise: maybe\n", "e:3:14: ");
        refuses("amount: sometimes", "A:\n" ORDER, "o:1:9: ");
}
END_TEST

START_TEST(no_rules_are_freed_like_any)
{
        rules_free(NULL);
}
END_TEST

START_TEST(in_suspense_every_credit_goes_to_the_suspense_account)
{
        static const char events[] = "PAYMENT_RECEIVED:\n"
                                     "  order: { from: [PENDING_PAY], to: PAID }\n"
                                     "  post:\n"
                                     "    - { debit: a, credit: b, amount: amount }\n"
                                     "    - { debit: c, amount: amount }\n"
                                     "    - { credit: d, amount: amount }\n";
        const struct event_rule *rule = accepts(NULL, events);
        static const char *const debits[] = { "a", "c", "" };
        static const char *const credits[] = { "suspense:{channel}", "", "suspense:{channel}" };
        for (size_t i = 0; i < 3; i++) {
                ck_assert_str_eq(rule->suspense[i].debit, debits[i]);
                ck_assert_str_eq(rule->suspense[i].credit, credits[i]);
                ck_assert_str_eq(rule->lines[i].debit, debits[i]);
        }
        ck_assert_str_eq(rule->lines[0].credit, "b");

        rule = accepts("suspense: 'waiting:{tenant}'", events);
        ck_assert_str_eq(rule->suspense[0].credit, "waiting:{tenant}");
        refuses("suspense: 'x:{order}'", events, "o:1:11: account \"x:{order}\":");
}
END_TEST

UNIT_MAIN("rules", a_whole_rule_is_read, without_orders_the_defaults_hold,
          a_rule_is_found_by_its_event_only, a_state_is_known_when_something_names_it,
          what_a_refunds_rule_does_follows_from_its_members,
          a_refunds_rule_that_would_lose_money_is_refused, an_event_without_a_way_is_refused,
          a_reversal_has_the_lines_of_its_payment_the_other_way_round,
          fee_and_net_balance_for_every_fee, a_refund_in_suspense_is_debited_there,
          an_unknown_member_is_named_where_it_stands, a_missing_member_is_named_at_its_map,
          debits_without_their_credits_are_unbalanced, a_line_without_a_side_is_refused,
          more_lines_than_a_rule_holds_are_refused, a_variable_that_no_account_has_is_shown,
          an_account_longer_than_its_column_is_refused, a_state_that_nothing_leads_to_is_misspelt,
          a_state_stands_in_one_list_once, an_event_that_does_nothing_is_refused,
          words_are_upper_case, a_word_longer_than_its_column_is_refused,
          a_wrong_kind_of_node_is_refused, no_rules_are_freed_like_any,
          in_suspense_every_credit_goes_to_the_suspense_account)
