/*
 * What the rule engine tries and why it goes on, told to whoever listens: for `check --explain`.
 * Nobody listens in a worker. It is the engine itself that tells; nothing is computed twice.
 */
#ifndef CHANNEL_TRACE_H
#define CHANNEL_TRACE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "channel/scope.h"

struct condition;
struct rule;
struct shape;

enum trace_kind {
        TRACE_SHAPE,  /* a shape of several */
        TRACE_ITEM,   /* of a body that is a list: what follows is about this one */
        TRACE_GUARD,  /* the profile's guard */
        TRACE_RULE,   /* a rule's "when" */
        TRACE_CHOICE, /* an item of a rule's list: its "where" */
};

/* Borrowed for the time of the call. */
struct trace_step {
        enum trace_kind kind;
        size_t index; /* of shape, rule or item in its list, from 0 */
        bool holds;   /* it fits, holds or is chosen; a TRACE_ITEM always */
        const struct condition
                *failed;           /* the first that does not hold; NULL: none, or no condition */
        const struct shape *shape; /* TRACE_SHAPE */
        const struct rule *rule;   /* TRACE_RULE, TRACE_CHOICE */
        const struct scope *scope; /* that it was tried on */
};

struct trace {
        void (*tell)(void *context, const struct trace_step *step);
        void *context;
};

static inline void trace_tell(const struct scope *scope, struct trace_step step)
{
        if (scope->trace == NULL)
                return;
        step.scope = scope;
        scope->trace->tell(scope->trace->context, &step);
}

/*
 * Why the step does not hold, for people: the condition and what stands there instead, the value
 * cut after some bytes. The value is the payload's: not for a log. Adds nothing for one that holds.
 */
void trace_reason(const struct trace_step *step, struct text *text);

#endif
