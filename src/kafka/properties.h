/*
 * librdkafka's properties: which of the user's are refused and why, and which client each is for.
 *
 * Everything that the table does not name is handed through as it is (TLS, SASL, static
 * membership, …); what librdkafka itself does not know or take is refused in its words, without the
 * value where the property is a secret.
 */
#ifndef KAFKA_PROPERTIES_H
#define KAFKA_PROPERTIES_H

#include <stdbool.h>
#include <stddef.h>

#include "postonce/error.h"

struct kafka_property {
        const char *name, *value;
};

/* A property that postonce decides, or that only one of the two clients has. */
struct property_rule {
        const char *name;
        enum property_owner { PROPERTY_OF_BOTH, PROPERTY_OF_CONSUMER, PROPERTY_OF_PRODUCER } owner;
        const char *only;   /* the one value that is accepted (any case); NULL: none is */
        const char *reason; /* why another value is refused; NULL: every value is accepted */
};

/* The whole table, static; for `check` and the reference page. */
const struct property_rule *property_rules(size_t *count_out);

/* SYSTEMIC: a refused, unknown or malformed property, or a required one that is missing. */
PO_MUST_USE enum po_class properties_check(const struct kafka_property *properties, size_t count,
                                           struct po_error *error);

/* The last value of that name, or NULL. */
const char *properties_find(const struct kafka_property *properties, size_t count,
                            const char *name);

/*
 * Sets those that the client (consumer or producer) has. Does not refuse anything that
 * properties_check() does not. conf stays the caller's.
 */
struct rd_kafka_conf_s;
PO_MUST_USE enum po_class properties_apply(struct rd_kafka_conf_s *conf, enum property_owner client,
                                           const struct kafka_property *properties, size_t count,
                                           struct po_error *error);

/* One property of ours; "name" and "value" are literals. */
PO_MUST_USE enum po_class property_set(struct rd_kafka_conf_s *conf, const char *name,
                                       const char *value, struct po_error *error);

#endif
