/*
 * Which of the configured topics a record's topic is: a name, or a pattern that starts with ^ (as
 * librdkafka subscribes to it: a POSIX extended expression that need not reach the end). No I/O.
 */
#ifndef BASE_TOPIC_MATCH_H
#define BASE_TOPIC_MATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "postonce/error.h"

/* Whether it is to be read as a pattern. */
bool topic_is_pattern(const char *name);

struct topic_match;

/*
 * names, plain or patterns, in the configuration's order; they must live as long. SYSTEMIC: one is
 * no expression (the text says what is wrong with it).
 */
PO_MUST_USE enum po_class topic_match_open(struct topic_match **match_out, const char *const *names,
                                           size_t count, struct po_error *error);
void topic_match_close(struct topic_match *match); /* takes NULL */

/*
 * The place in names of what topic is: of its own name, else of the first pattern that matches;
 * count: of none. The last answer is remembered, so that asking for each record costs nothing.
 */
size_t topic_match_find(struct topic_match *match, const char *topic);

/* One expression, asked once: for reports. False as well when pattern is no expression. */
bool topic_pattern_matches(const char *pattern, const char *topic);

#endif
