/*
 * What the brokers say of topics: for `check`, which changes nothing, and for the look at the
 * dead-letter topic before `run`.
 */
#ifndef KAFKA_TOPICS_H
#define KAFKA_TOPICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kafka/properties.h"
#include "postonce/error.h"

/* A topic; or all that a pattern (^…) matches, taken together. */
struct topic_facts {
        const char *name; /* in: what is asked */
        bool exists;      /* out */
        int partitions;   /* out; 0 when it does not exist */
        /* topics_describe() only, of those that exist: */
        bool configured;           /* the brokers told all of: */
        bool compacted;            /* cleanup.policy contains compact */
        int64_t message_bytes_max; /* max.message.bytes; of a pattern's topics the largest */
        int64_t retention_ms;      /* -1: for ever, or never deleted; of a pattern's the longest */
        bool ages_by_record;       /* message.timestamp.type is CreateTime, of any of a pattern's */
};

/*
 * Asks once, within 10 s. TRANSIENT: no broker answers. SYSTEMIC: refused, as its text says.
 */
PO_MUST_USE enum po_class topics_read(const struct kafka_property *properties,
                                      size_t properties_count, struct topic_facts *topics,
                                      size_t count, struct po_error *error);

/*
 * The same, and how they are configured. Brokers that do not tell (too old, librdkafka's mock, no
 * right to it) are no error: `configured` stays false. Patterns never mean the topic `excluded`
 * (NULL: none).
 */
PO_MUST_USE enum po_class topics_describe(const struct kafka_property *properties,
                                          size_t properties_count, const char *excluded,
                                          struct topic_facts *topics, size_t count,
                                          struct po_error *error);

/*
 * Every topic that there is and that one of the facts' names or patterns means, none twice: which
 * is the first of them, a name before a pattern. Classes as topics_read().
 */
PO_MUST_USE enum po_class
topics_each(const struct kafka_property *properties, size_t properties_count, const char *excluded,
            struct topic_facts *topics, size_t count,
            void (*each)(void *context, const char *topic, int partitions, size_t which),
            void *context, struct po_error *error);

#endif
