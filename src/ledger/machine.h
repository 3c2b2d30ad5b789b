/*
 * The state machines as a whole: which states can be reached, and what they look like.
 */
#ifndef LEDGER_MACHINE_H
#define LEDGER_MACHINE_H

#include <stdio.h>

#include "config/document.h"
#include "ledger/rules.h"
#include "postonce/error.h"

/*
 * SYSTEMIC, at the event's place: a list names a state, of orders or of refunds, that nothing leads
 * to from where orders and refunds begin (a misspelling would make its rule silent); an event that
 * has no way, since no state is left that it moves.
 */
PO_MUST_USE enum po_class machine_check(const struct rules *rules, const struct node *events,
                                        struct po_error *error);

/* Both machines in Graphviz' language: an edge a way, labelled with its event. */
void machine_write_dot(const struct rules *rules, FILE *stream);

#endif
