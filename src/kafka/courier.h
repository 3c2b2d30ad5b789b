/*
 * The transactional producer: what it delivers together, readers of committed records see together
 * or not at all. A later courier of the same id shuts this one out for good, whatever it was doing:
 * the brokers compare epochs, so one that froze and woke commits nothing.
 */
#ifndef KAFKA_COURIER_H
#define KAFKA_COURIER_H

#include "kafka/properties.h"
#include "kafka/sink.h"
#include "postonce/error.h"

struct courier;

#define COURIER_FENCED "FENCED" /* reason of an error: another courier took this one's place */

/*
 * Makes the producer of that transactional id and takes the place of any other: its transaction
 * under way is aborted, its later ones are refused. Waits at most 30 s. Properties as sink_open().
 */
PO_MUST_USE enum po_class courier_open(struct courier **courier_out, const char *id,
                                       const struct kafka_property *properties, size_t count,
                                       struct po_error *error);
void courier_close(struct courier *courier); /* takes NULL; waits for nothing */

/*
 * Sends all in one transaction. Messages of one key arrive in their order.
 *
 * OK: committed. After any other class the courier is of no further use, close it: a batch that was
 * refused leaves a gap in the numbers that brokers count by. RECORD: nothing is committed, and one
 * of the messages with that result is larger than its topic takes, or all of them are together:
 * brokers refuse whole batches, so only one that was sent alone is known to be at fault. Reason
 * COURIER_FENCED: nothing is committed. TRANSIENT, SYSTEMIC: not known whether it was.
 */
PO_MUST_USE enum po_class courier_deliver(struct courier *courier, struct sink_message *messages,
                                          size_t count, struct po_error *error);

#endif
