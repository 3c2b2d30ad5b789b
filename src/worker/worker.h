/*
 * The worker: take → decode → claim → post → settle, one thread from start to end.
 *
 * It stores no offset of a record that is not settled, sleeps on nothing but its consumer, and
 * keeps nothing in memory that its correctness needs.
 */
#ifndef WORKER_WORKER_H
#define WORKER_WORKER_H

#include <signal.h>
#include <stdbool.h>

#include "channel/decode.h"
#include "kafka/sink.h"
#include "kafka/source.h"
#include "ledger/posting.h"
#include "base/backoff.h"
#include "worker/batch.h"
#include "worker/policy.h"

struct worker_options {
        struct source *source;
        struct sink *sink; /* NULL without a topic of dead letters or results */
        struct db *db;
        const char *group; /* the consumer group of source */
        struct decoder *decoder;
        const struct rules *rules;
        const struct topic_channel *topics;
        size_t topics_count;
        size_t records_max;
        const char *dead_letter_topic; /* NULL: none */
        int64_t dead_letter_attempts;
        const char *results_topic; /* NULL: none; else sink is there */
        const char *correlation_header;
        struct backoff backoff;
        struct policy policy;
        bool until_end;
        const volatile sig_atomic_t *stop; /* not 0: finish the batch in hand and return */
};

enum worker_end {
        WORKER_STOPPED,   /* asked to stop; everything taken was settled */
        WORKER_UNDRAINED, /* asked to stop; a partition is held: something taken must come again */
        WORKER_AT_END,    /* --until-end: the group's committed offsets reach the ends */
        WORKER_AT_HOLD,   /* --until-end: at the ends but for what is held */
};

/* Runs until it is told to stop or, with until_end, until it is there. Only what no back-off can
 * mend (out of memory) is returned as an error. */
PO_MUST_USE enum po_class worker_run(const struct worker_options *options, enum worker_end *end_out,
                                     struct po_error *error);

#endif
