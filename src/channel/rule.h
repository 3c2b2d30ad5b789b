/*
 * Rules of the mapping language: which body means what.
 *
 * Rules are read from YAML once (rule_load.h) and never changed. Here they are laid over a body's
 * tree of values, which may come from a body of any kind.
 */
#ifndef CHANNEL_RULE_H
#define CHANNEL_RULE_H

#include <stdbool.h>
#include <stddef.h>

#include <json-c/json_object.h>

#include "channel/condition.h"
#include "channel/fill.h"
#include "channel/moment.h"
#include "channel/pointer.h"
#include "channel/word_map.h"
#include "postonce/error.h"
#include "postonce/notification.h"

enum {
        RULE_PARTS_MAX = 4, /* of a composite txn */
        CURRENCY_MAP_MAX = 16,
        EXPONENTS_MAX = 32,
        CURRENCY_WORD_BYTES = 16, /* of a channel's word for a currency */
};

struct pointer_list {
        size_t count;
        struct pointer items[RULE_PARTS_MAX];
};

struct amount_map {
        struct pointer at;       /* not given: the notification has no amount */
        struct pointer minus;    /* not given: nothing is taken off */
        struct amount_form form; /* its exponent is the table's matter */
};

/* Decimals of the channel's own minor units where they are not those of ISO 4217. */
struct exponent_table {
        size_t count;
        struct {
                const char *code;
                int exponent;
        } items[EXPONENTS_MAX];
};

struct currency_name {
        const char *text; /* the channel's word */
        const char *code; /* ISO 4217 */
};

struct currency_map {
        const char *constant; /* or NULL, and then: */
        struct pointer at;
        const char *fallback; /* ISO 4217 code where at finds nothing, or NULL */
        bool upper;           /* ASCII letters are raised before names and codes are compared */
        size_t names_count;   /* 0: the channel's words are the codes themselves */
        struct currency_name names[CURRENCY_MAP_MAX];
};

struct moment_map {
        struct pointer at; /* not given: the time is unknown */
        struct moment_form form;
};

/* Texts live as long as the profile's document. */
struct rule {
        size_t line;                 /* of the profile, from 1; for people */
        struct condition_list when;  /* all of them must hold */
        bool ignore;                 /* there is nothing to do: no notification */
        bool goes_on;                /* rules behind this one are tried as well */
        struct pointer each;         /* not given: one notification, else one for each item */
        struct condition_list where; /* of the items: those for which all hold */
        char event[PO_EVENT_BYTES];  /* empty: by the map */
        struct word_map event_map;
        struct pointer_list txn;
        struct pointer order;
        struct pointer_list parent;
        struct pointer refund_no;
        struct amount_map amount;
        struct amount_map fee; /* at and format only */
        struct currency_map currency;
        struct moment_map occurred_at;
};

/*
 * Fills everything of notification but channel, tenant_id, key and fingerprint, which the caller
 * sees to; notification is zeroed otherwise. The rule is not one with ignore; its list is the
 * caller's matter, too. exponents: the channel's own, empty if there are none.
 *
 * What identifies or moves money must be there: TXN_EMPTY, AMOUNT_MISSING, CURRENCY_MISSING. Order,
 * parent, refund number and time may be absent from the body although the rule says where they
 * stand; a composite parent is there as a whole or not at all.
 * RECORD: these, EVENT_UNKNOWN and CURRENCY_UNKNOWN for a word that a map lacks, and what fill.h
 * refuses.
 */
PO_MUST_USE enum po_class rule_apply(const struct rule *rule,
                                     const struct exponent_table *exponents,
                                     const struct scope *scope,
                                     struct po_notification *notification, struct po_error *error);

#endif
