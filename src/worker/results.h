/*
 * The results topic: what became of every notification, first or repeated, for whoever answers the
 * channel. Acknowledged by the brokers before the record's offset passes.
 */
#ifndef WORKER_RESULTS_H
#define WORKER_RESULTS_H

#include "kafka/sink.h"
#include "worker/batch.h"

struct results;

struct results_options {
        struct sink *sink;
        const char *topic;
        const char *correlation_header; /* is carried over from the record, where it has one */
        size_t records_max;
};

PO_MUST_USE enum po_class results_open(struct results **results_out,
                                       const struct results_options *options,
                                       struct po_error *error);
void results_close(struct results *results); /* takes NULL */

/* Whether the parcel's results are to be told now. */
typedef bool (*results_wanted)(void *context, size_t parcel);

/*
 * One message a notification of the parcels that are wanted, all sent at once; a record without any
 * has one of its own. A parcel whose messages are not all acknowledged becomes HELD (alarm
 * RESULTS_NOT_WRITABLE). results NULL: nothing is told.
 */
void results_tell(struct results *results, struct batch *batch, results_wanted wanted,
                  void *context);

#endif
