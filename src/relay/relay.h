/*
 * The relay: publishes the outbox. Any number may run on a database; one is active, the others
 * stand by. What keeps two from publishing the same is Kafka's fence (kafka/courier.h); the
 * database's lock only saves them the quarrel.
 *
 * A row is marked published after its transaction was committed, so a relay that dies between has
 * its rows sent again, under the same ids. Rows of one aggregate are sent in order of their
 * numbers, and none overtakes one that its topic refuses.
 */
#ifndef RELAY_RELAY_H
#define RELAY_RELAY_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/backoff.h"
#include "kafka/properties.h"
#include "ledger/unpublished.h"
#include "postonce/error.h"

struct relay_options {
        struct db *db;
        const struct kafka_property *properties;
        size_t properties_count;
        const char *topic; /* for route_topic() */
        struct backoff backoff;
        bool until_end;
        const volatile sig_atomic_t *stop; /* not 0: finish the transaction in hand and return */
};

enum relay_end {
        RELAY_STOPPED, /* asked to stop */
        RELAY_DRAINED, /* until_end: everything is published, by us or another relay */
        RELAY_LEFT,    /* until_end: everything but what a topic refuses, and what is behind that */
};

/* Runs until it is told to stop or, with until_end, until it is there. Only what no back-off can
 * mend (out of memory) is returned as an error. */
PO_MUST_USE enum po_class relay_run(const struct relay_options *options, enum relay_end *end_out,
                                    struct po_error *error);

#endif
