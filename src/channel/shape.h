/*
 * One shape of a channel's bodies: how it is read, what must hold, and what it means. Most channels
 * have one; a channel whose versions write the same payments differently has several under one
 * label, so that the same payment gives the same key. See shape_load.h for the YAML.
 */
#ifndef CHANNEL_SHAPE_H
#define CHANNEL_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "channel/body.h"
#include "channel/condition.h"
#include "channel/rule.h"
#include "channel/unwrap.h"
#include "channel/verify.h"

enum { SHAPE_RULES_MAX = 64 };

struct rule_list {
        size_t count;
        struct rule *items;
};

/* Read only to everyone but the loader. Texts live as long as the profile's document. */
struct shape {
        char first;                 /* the body's first byte that is no white space; 0: any */
        struct condition_list when; /* of the record's headers */
        enum body_kind body;
        struct charset_map charset;
        struct verify verify;
        struct unwrap_list unwrap;
        struct condition_list guard;
        struct pointer each; /* not given: the body is one thing, else a list of them */
        struct pointer item; /* within an element of the list; not given: the element itself */
        struct exponent_table exponents;
        struct rule_list rules;
};

/*
 * Whether bytes and headers of a record are of this shape. scope: the headers only. failed_out: the
 * condition that does not hold; NULL also when it is the first byte that does not fit.
 */
bool shape_fits(const struct shape *shape, const struct scope *scope, const char *bytes,
                size_t length, const struct condition **failed_out);

/*
 * From a body's tree to notifications, each with key and fingerprint. blank carries what is the
 * same for all of them: channel and tenant. count_out is 0 when rules with ignore matched only, or
 * no item was one of those that a rule's "where" chooses.
 * RECORD: GUARD_FAILED (names the pointer, never the value), ITEMS_MISSING (no list where one must
 * be, or an empty one at the top), TOO_MANY_ITEMS (over NOTIFICATIONS_PER_RECORD_MAX), NO_RULE,
 * what rule.h and key.h refuse. Nothing of a record counts when one of its items is refused.
 */
PO_MUST_USE enum po_class shape_apply(const struct shape *shape, const struct scope *scope,
                                      const struct po_notification *blank,
                                      struct po_notification *notifications, size_t *count_out,
                                      struct po_error *error);

#endif
