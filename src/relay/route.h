/* To which topic a message of the outbox goes. Pure. */
#ifndef RELAY_ROUTE_H
#define RELAY_ROUTE_H

#include <stdbool.h>

#include "base/limits.h"

/*
 * Writes pattern with every {aggregatetype} replaced. False: what comes out is no name of a topic
 * (Kafka's rule: 1 to 249 of A-Z a-z 0-9 . _ -, not . or ..), because of the pattern or of the
 * type.
 */
bool route_topic(const char *pattern, const char *aggregatetype, char topic_out[TOPIC_BYTES]);

#endif
