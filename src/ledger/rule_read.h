/* One event's rule, from its YAML map: members, lines that balance, lists that do not overlap. */
#ifndef LEDGER_RULE_READ_H
#define LEDGER_RULE_READ_H

#include "config/document.h"
#include "config/schema.h"
#include "ledger/rules.h"
#include "postonce/error.h"

/* Readers of one value, for field tables: a word in upper case, a list of them, an account. */
PO_MUST_USE enum po_class rule_read_word(const struct node *node, const struct field *field,
                                         void *target, struct po_error *error);
PO_MUST_USE enum po_class rule_read_states(const struct node *node, const struct field *field,
                                           void *target, struct po_error *error);
PO_MUST_USE enum po_class rule_read_template(const struct node *node, const struct field *field,
                                             void *target, struct po_error *error);

#define WORD(member_name, struct_name, member, is_required, default_text, help_text)               \
        {                                                                                          \
                .name = member_name, .kind = FIELD_CUSTOM, .reader = rule_read_word,               \
                .offset = offsetof(struct struct_name, member),                                    \
                .size = sizeof(((struct struct_name *)0)->member), .required = is_required,        \
                .fallback = default_text, .help = help_text                                        \
        }
#define STATES(member_name, struct_name, member, is_required, help_text)                           \
        {                                                                                          \
                .name = member_name, .kind = FIELD_CUSTOM, .reader = rule_read_states,             \
                .offset = offsetof(struct struct_name, member), .required = is_required,           \
                .help = help_text                                                                  \
        }

/* rule: zeroed. Everything but its suspense lines is filled; SYSTEMIC with the place. */
PO_MUST_USE enum po_class rule_read(const struct node *key, const struct node *node,
                                    struct event_rule *rule, struct po_error *error);

#endif
