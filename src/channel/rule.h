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

#include "channel/fill.h"
#include "channel/moment.h"
#include "channel/pointer.h"
#include "postonce/error.h"
#include "postonce/notification.h"

enum {
        RULE_CONDITIONS_MAX = 16,
        RULE_PARTS_MAX = 4, /* of a composite txn */
        CONDITION_WORDS_MAX = 32,
        CURRENCY_MAP_MAX = 16,
        CURRENCY_WORD_BYTES = 16, /* of a channel's word for a currency */
};

/* "Exists" means, here as in pointer.h: is there, is not null and not the empty text. */
enum condition_test {
        CONDITION_EQ,     /* is this text; numbers and true/false count as they are written */
        CONDITION_IN,     /* is one of these texts */
        CONDITION_PREFIX, /* starts with this text */
        CONDITION_EXISTS,
        CONDITION_ABSENT, /* does not exist */
        CONDITION_GT0,    /* is a decimal number above zero */
};

struct condition {
        struct pointer at;
        enum condition_test test;
        size_t words_count;
        const char *words[CONDITION_WORDS_MAX];
};

struct condition_list {
        size_t count;
        struct condition items[RULE_CONDITIONS_MAX];
};

struct pointer_list {
        size_t count;
        struct pointer items[RULE_PARTS_MAX];
};

struct amount_map {
        struct pointer at;    /* not given: the notification has no amount */
        struct pointer minus; /* not given: nothing is taken off */
        enum amount_format format;
        enum po_amount_kind kind;
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
        enum moment_format format;
};

/* Texts live as long as the profile's document. */
struct rule {
        struct condition_list when; /* all of them must hold */
        bool ignore;                /* there is nothing to do: no notification */
        char event[PO_EVENT_BYTES];
        struct pointer_list txn;
        struct pointer order;
        struct pointer_list parent;
        struct pointer refund_no;
        struct amount_map amount;
        struct currency_map currency;
        struct moment_map occurred_at;
};

bool rule_matches(const struct rule *rule, struct json_object *root);

/*
 * Fills everything of notification but channel, tenant_id, key and fingerprint, which the caller
 * sees to; notification is zeroed otherwise. The rule is not one with ignore.
 *
 * What identifies or moves money must be there: TXN_EMPTY, AMOUNT_MISSING, CURRENCY_MISSING. Order,
 * parent, refund number and time may be absent from the body although the rule says where they
 * stand; a composite parent is there as a whole or not at all.
 * RECORD: these, CURRENCY_UNKNOWN for a word that the map of currencies lacks, and what fill.h
 * refuses.
 */
PO_MUST_USE enum po_class rule_apply(const struct rule *rule, struct json_object *root,
                                     struct po_notification *notification, struct po_error *error);

#endif
