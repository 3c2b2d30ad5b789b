/*
 * One logfmt line an event on standard error: time, level, event, then key=value pairs.
 * Never a payload, never a secret. Values are written by the caller's format as `key=%s`; text that
 * may hold spaces goes through log_quote() (an escaped copy in a buffer of the caller). Any
 * thread may log; level and observer are set before there are others.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "postonce/error.h"

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARN, LOG_LEVEL_ERROR };

void log_set_level(enum log_level least);
/* Whether a line of that level would be written: for skipping what only a line needs. */
bool log_is_on(enum log_level level);
/* Parses debug, info, warn, error; returns 0, or -1 for another word. */
int log_level_parse(const char *word, enum log_level *level_out);

/*
 * The record in hand of this thread: its coordinates and its key (NULL: not known yet) are put into
 * every line of it until cleared. Both texts are copied.
 */
void log_set_record(const char *topic, int partition, long long offset, const char *key);
void log_clear_record(void);

void log_event(enum log_level level, const char *event, const char *format, ...) PO_FORMAT(3, 4);
#define log_debug(event, ...) log_event(LOG_LEVEL_DEBUG, event, __VA_ARGS__)
#define log_info(event, ...)  log_event(LOG_LEVEL_INFO, event, __VA_ARGS__)
#define log_warn(event, ...)  log_event(LOG_LEVEL_WARN, event, __VA_ARGS__)
#define log_error(event, ...) log_event(LOG_LEVEL_ERROR, event, __VA_ARGS__)

/* An error value as pairs: class=… code=… reason=… error="…". */
void log_failure(enum log_level level, const char *event, const struct po_error *error);

/*
 * An alarm: level error, `alarm=CODE key=…` and one more of postonce_alarms_total{code}.
 * key may be NULL; format gives further pairs ("" for none).
 */
void log_alarm(const char *code, const char *key, const char *format, ...) PO_FORMAT(3, 4);
/* Whom to tell of each alarm (metrics); base knows no layer above it. */
typedef void (*log_alarm_observer)(const char *code);
void log_set_alarm_observer(log_alarm_observer observer);

/* Quotes text for a value: "…" with \" \\ \n and control characters escaped; cut at capacity. */
const char *log_quote(char *buffer, size_t capacity, const char *text);

#endif
