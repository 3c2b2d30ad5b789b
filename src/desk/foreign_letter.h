/*
 * Dead letters of other systems.
 *
 * Spring Kafka (DeadLetterPublishingRecoverer): kafka_dlt-original-topic as text, -partition a
 * big-endian int of 4 bytes, -offset and -timestamp of 8; the reason is kafka_dlt-exception-fqcn.
 * With retry topics (@RetryableTopic) the names are kafka_original-… and kafka_exception-fqcn. It
 * appends by default, so the first of several names the first failure, and the last reason counts.
 *
 * Kafka Connect (errors.deadletterqueue.context.headers.enable): __connect.errors.topic,
 * .partition and .offset as text; the reason is .exception.class.name.
 */
#ifndef DESK_FOREIGN_LETTER_H
#define DESK_FOREIGN_LETTER_H

#include "desk/letter_facts.h"

/* Fills topic, partition, offset, timestamp_ms and reason. False: not such a letter. */
bool spring_letter_read(const struct record *letter, struct letter_facts *facts);
bool connect_letter_read(const struct record *letter, struct letter_facts *facts);

#endif
