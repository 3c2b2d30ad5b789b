/*
 * Whether the topic of dead letters is safe for what its letters are for: to hold every record that
 * the sources can bring, at least as long as they do, and never to be read as a source itself. A
 * pure judgement over what topics_describe() found.
 */
#ifndef KAFKA_LETTER_SAFETY_H
#define KAFKA_LETTER_SAFETY_H

#include <stdbool.h>
#include <stddef.h>

#include "kafka/topics.h"

/*
 * One finding with its mend. unsafe: `run` refuses to start; else it is advice, or a thing that
 * could not be seen. The texts live during the call only.
 */
typedef void (*letter_finding)(void *context, bool unsafe, const char *finding, const char *mend);

/*
 * Tells each finding about the topic `letters` to told; true when none is unsafe. Unsafe: missing,
 * compacted (a letter without a key would be refused, one with a key would replace an earlier one),
 * one of the sources by its name, max.message.bytes smaller or retention.ms shorter than a
 * source's. Sources that do not exist, or whose configuration is not known, are not compared.
 * Advice: letters that are deleted by the age of their records.
 */
bool letter_safety_judge(const struct topic_facts *letters, const struct topic_facts *sources,
                         size_t sources_count, letter_finding told, void *context);

#endif
