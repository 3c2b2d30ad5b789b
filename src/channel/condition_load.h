/*
 * Pointers and conditions of the mapping language, from YAML: readers for the field tables of
 * rules and shapes. SYSTEMIC: what is wrong, with file:line:column.
 *
 *   txn: /sn                      a pointer, or where several are allowed, a list of them
 *   when: [[/order_status, eq, PAID], ["@/state", in, [A, B]],
 *          ["#/content-type", prefix, text/], [/sn, exists], [/sn, absent], [/fee, gt0]]
 */
#ifndef CHANNEL_CONDITION_LOAD_H
#define CHANNEL_CONDITION_LOAD_H

#include "channel/condition.h"
#include "channel/rule.h"
#include "config/schema.h"

/* target: struct pointer. */
PO_MUST_USE enum po_class read_pointer(const struct node *node, const struct field *field,
                                       void *target, struct po_error *error);
/* target: struct pointer_list; one pointer, or a list of them. */
PO_MUST_USE enum po_class read_pointers(const struct node *node, const struct field *field,
                                        void *target, struct po_error *error);
/* target: struct condition_list. */
PO_MUST_USE enum po_class read_conditions(const struct node *node, const struct field *field,
                                          void *target, struct po_error *error);
/* target: a struct that field->section describes; unlike FIELD_SECTION without defaults when it is
 * absent. */
PO_MUST_USE enum po_class read_section(const struct node *node, const struct field *field,
                                       void *target, struct po_error *error);

/* target: const struct node *; the node itself, for whoever reads it later. */
PO_MUST_USE enum po_class read_node(const struct node *node, const struct field *field,
                                    void *target, struct po_error *error);

#endif
