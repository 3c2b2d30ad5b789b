/* A worker's look at its dead-letter topic before it takes the first record. */
#ifndef COMMANDS_LETTER_TOPIC_H
#define COMMANDS_LETTER_TOPIC_H

#include "commands/settings.h"
#include "postonce/error.h"

#define LETTER_TOPIC_UNSAFE "DEAD_LETTER_UNSAFE"

/*
 * Asks the brokers once and logs each finding with its mend. SYSTEMIC with reason
 * LETTER_TOPIC_UNSAFE: what letter_safety_judge() calls unsafe, the text names the first. What the
 * brokers do not tell is logged and no refusal. TRANSIENT or SYSTEMIC without that reason: they did
 * not answer, as topics_describe(). OK without a dead-letter topic.
 */
PO_MUST_USE enum po_class letter_topic_check(const struct settings *settings,
                                             struct po_error *error);

#endif
