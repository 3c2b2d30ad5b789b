/* What the brokers say of topics: for `check`, which changes nothing. */
#ifndef KAFKA_TOPICS_H
#define KAFKA_TOPICS_H

#include <stdbool.h>
#include <stddef.h>

#include "kafka/properties.h"
#include "postonce/error.h"

struct topic_facts {
        const char *name; /* in: what is asked */
        bool exists;      /* out */
        int partitions;   /* out; 0 when it does not exist */
};

/* Asks once, within 10 s. TRANSIENT: no broker answers. SYSTEMIC: refused, as its text says. */
PO_MUST_USE enum po_class topics_read(const struct kafka_property *properties,
                                      size_t properties_count, struct topic_facts *topics,
                                      size_t count, struct po_error *error);

#endif
