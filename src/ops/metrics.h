/*
 * Every figure of the worker, in one list. Counters are touched by the worker's thread and read by
 * the HTTP server's: atomics, nothing else is shared.
 */
#ifndef OPS_METRICS_H
#define OPS_METRICS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*       symbol                     name                                   type     label  help */
#define METRICS_LIST(X)                                                                            \
        X(METRIC_RECORDS, "postonce_records_total", "counter", "records taken from the topics")    \
        X(METRIC_POSTED, "postonce_notifications_total{verdict=\"POSTED\"}", "counter",            \
          "notifications by verdict")                                                              \
        X(METRIC_SKIPPED, "postonce_notifications_total{verdict=\"SKIPPED\"}", "counter", "")      \
        X(METRIC_SUSPENSE, "postonce_notifications_total{verdict=\"SUSPENSE\"}", "counter", "")    \
        X(METRIC_DISCARDED, "postonce_notifications_total{verdict=\"DISCARDED\"}", "counter", "")  \
        X(METRIC_PARKED, "postonce_notifications_total{verdict=\"PARKED\"}", "counter", "")        \
        X(METRIC_ORPHANED, "postonce_notifications_total{verdict=\"ORPHANED\"}", "counter", "")    \
        X(METRIC_DUPLICATE, "postonce_notifications_total{verdict=\"DUPLICATE\"}", "counter", "")  \
        X(METRIC_CONFLICT, "postonce_notifications_total{verdict=\"CONFLICT\"}", "counter", "")    \
        X(METRIC_REJECTED, "postonce_notifications_total{verdict=\"REJECTED\"}", "counter", "")    \
        X(METRIC_HELD, "postonce_notifications_total{verdict=\"HELD\"}", "counter", "")            \
        X(METRIC_PAUSED, "postonce_paused", "gauge",                                               \
          "1 while an operator or the flood guard has paused the whole intake")                    \
        X(METRIC_REVIEWS, "postonce_reviews_open", "gauge",                                        \
          "what waits for a person, of all workers together")                                      \
        X(METRIC_BATCHES, "postonce_batches_total", "counter", "ledger transactions committed")    \
        X(METRIC_RETRIES, "postonce_retries_total", "counter",                                     \
          "units rolled back and tried again")                                                     \
        X(METRIC_DEAD_LETTERS, "postonce_dead_letters_total", "counter",                           \
          "dead letters acknowledged by the broker")                                               \
        X(METRIC_REBALANCES, "postonce_rebalances_total", "counter", "assignments received")       \
        X(METRIC_PARTITIONS, "postonce_partitions_assigned", "gauge", "partitions of this worker") \
        X(METRIC_PARTITIONS_HELD, "postonce_partitions_held", "gauge",                             \
          "partitions waiting to redeliver")                                                       \
        X(METRIC_LAG, "postonce_lag_records", "gauge",                                             \
          "records behind the ends of this worker's partitions; -1: unknown")                      \
        X(METRIC_RELAY_ACTIVE, "postonce_relay_active", "gauge",                                   \
          "1 in the relay that publishes, 0 in those that stand by")                               \
        X(METRIC_OUTBOX_PUBLISHED, "postonce_outbox_published_total", "counter",                   \
          "outbox messages committed by the brokers")                                              \
        X(METRIC_OUTBOX_REFUSED, "postonce_outbox_refused", "gauge",                               \
          "outbox messages that their topic does not take")                                        \
        X(METRIC_OUTBOX_AGE, "postonce_outbox_age_seconds", "gauge",                               \
          "age of the first outbox message that is to be published; 0: none")                      \
        X(METRIC_READY, "postonce_ready", "gauge", "1 when /readyz answers 200")

#define METRICS_SYMBOL(symbol, name, type, help) symbol,
enum metric { METRICS_LIST(METRICS_SYMBOL) METRIC_COUNT };
#undef METRICS_SYMBOL

void metric_add(enum metric metric, int64_t more);
void metric_set(enum metric metric, int64_t value);
int64_t metric_get(enum metric metric);
/* postonce_alarms_total{code="…"}; at most 32 codes, each a literal or a static string. */
void metric_alarm(const char *code);

/* Prometheus text, version 0.0.4. HELP and TYPE once a family. */
void metrics_print(FILE *stream);

/*
 * Readiness: a worker is ready when it has joined its group and nothing systemic stops it.
 * reason: static text, shown by /readyz; NULL: ready.
 */
void readiness_set(const char *reason);
const char *readiness_reason(void);
/* The loop went round: /healthz is 200 while the last round is younger than the limit. */
void liveness_beat(void);
bool liveness_is_alive(int64_t limit_ms);

#endif
