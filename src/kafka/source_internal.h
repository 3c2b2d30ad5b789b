/* The source's inside, shared by source.c and the files named below. */
#ifndef KAFKA_SOURCE_INTERNAL_H
#define KAFKA_SOURCE_INTERNAL_H

#include <librdkafka/rdkafka.h>

#include "base/topic_match.h"
#include "kafka/partitions.h"
#include "kafka/source.h"

/* What was polled and is in the caller's hands until the next source_take(). */
struct hand {
        rd_kafka_message_t **messages;
        struct record *records;
        size_t count, capacity;
        size_t size_bytes;
        struct record_header *headers; /* of all records, in order; grows and is kept */
        size_t headers_count, headers_capacity;
};

struct source {
        rd_kafka_t *client;
        rd_kafka_queue_t *commits; /* answers to commits that are waited for */
        char **topics;             /* names and patterns */
        size_t topics_count;
        bool by_pattern; /* at least one of them is a pattern */
        char *excluded;  /* a topic that patterns do not mean; or NULL */
        struct topic_match *match;
        struct partitions partitions;
        struct hand hand;
        bool idle; /* source_idle() was the last call: everything is paused */
        bool joined;
        bool close_needs_join; /* a close without an assignment would abort the process */
        int64_t deadline_ms;   /* of source_close(); INT64_MAX while running */
        unsigned rebalances;

        bool dirty; /* something was settled since the last commit was sent */
        int64_t next_commit_ms;
        unsigned commits_sent, commits_answered; /* of those that are waited for */
        rd_kafka_resp_err_t commit_result;       /* the latest of them */
        int64_t next_lookup_ms;                  /* of offsets that could not be read */

        struct po_error trouble; /* kind PO_OK: none */
        bool fatal;              /* trouble that no probe ends */
        bool suspected;          /* a connection broke: is a broker left? */
        int64_t next_probe_ms;

        uint64_t refill_bytes; /* after so many the queue is filled up again */
        uint64_t taken_bytes;  /* since it was */

        int64_t next_end_ms;
        unsigned end_hold_tries;
        enum source_end end;
};

/* subscription.c: the topics that are taken from. */
PO_MUST_USE enum po_class subscription_open(struct source *source,
                                            const struct source_options *options,
                                            struct po_error *error);
void subscription_close(struct source *source);
/* Before the client is made. */
PO_MUST_USE enum po_class subscription_exclude(const struct source *source, rd_kafka_conf_t *conf,
                                               struct po_error *error);
PO_MUST_USE enum po_class subscription_begin(struct source *source, struct po_error *error);
/*
 * Adds the partitions of all topics that are meant now, as the brokers have them. *culprit_out: the
 * name that an error is about.
 */
rd_kafka_resp_err_t subscription_read(struct source *source, rd_kafka_topic_partition_list_t *list,
                                      int timeout_ms, const char **culprit_out);

/* hand.c */
PO_MUST_USE enum po_class hand_open(struct hand *hand, size_t records_max, struct po_error *error);
void hand_close(struct hand *hand); /* after hand_release() */
void hand_release(struct hand *hand);
bool hand_is_full(const struct hand *hand);
/* Keeps message (owned from here on, whatever is returned). False: memory is short. */
bool hand_add(struct hand *hand, rd_kafka_message_t *message, const struct partition *partition,
              size_t slot);
/* Drops what was taken of partitions that are not ours any more, and sets the header pointers. */
void hand_finish(struct hand *hand, const struct partitions *partitions);

/* rebalance.c: the callback that librdkafka calls inside a poll. */
void rebalance_serve(rd_kafka_t *client, rd_kafka_resp_err_t code,
                     rd_kafka_topic_partition_list_t *list, void *opaque);
/*
 * librdkafka has given up fetching a partition that is ours: it is given to it once more, from its
 * position. No rebalance of the group.
 */
void rebalance_again(struct source *source, const struct partition *partition);

/* flow.c: what flows and what is paused. */
/* Pauses them for reason; those that are paused already only get one reason more. */
void flow_pause_all(struct source *source, enum pause_reason reason);
void flow_pause(struct source *source, struct partition *partition, enum pause_reason reason);
void flow_allow_all(struct source *source, enum pause_reason reason);
/* Seeks and resumes whatever has no reason left to be paused. */
void flow_resume(struct source *source, int64_t now_ms);
/* A fault of the partition itself (bytes that cannot be read): fetched again after a while. */
void flow_retry(struct source *source, struct partition *partition, const char *reason);
/* The earliest time a hold is due, or INT64_MAX. */
int64_t flow_due_ms(const struct source *source);

/* refill.c: what is fetched ahead. */
/* Before the client is made, then after. */
PO_MUST_USE enum po_class refill_configure(rd_kafka_conf_t *conf, struct po_error *error);
void refill_open(struct source *source);
/* So much was taken out of the queue: it is filled up again when that is a good part of it. */
void refill_after(struct source *source, size_t taken_bytes);

/* offsets.c: committed offsets. */
/* The end that was met goes with the next commit, if all before it is settled. */
void offsets_pass_end(struct source *source, struct partition *partition);
/* Once a second: stores what is settled and commits it. */
void offsets_tick(struct source *source, int64_t now_ms);
/* Stores what is settled, commits it, and waits. _NO_OFFSET (nothing to commit) is OK. */
rd_kafka_resp_err_t offsets_commit(struct source *source, int timeout_ms);
void offsets_committed(rd_kafka_t *client, rd_kafka_resp_err_t code,
                       rd_kafka_topic_partition_list_t *list, void *opaque);
/* Fills list with the group's offsets (invalid: none; an element's err is set when unknown). */
rd_kafka_resp_err_t offsets_read(struct source *source, rd_kafka_topic_partition_list_t *list,
                                 int timeout_ms);
/* Places partitions whose offset could not be read when they were assigned; asks once a second. */
void offsets_lookup(struct source *source, int64_t now_ms);
/* A partition whose next offset is not in the log: stops it and says what is there. */
void offsets_out_of_range(struct source *source, struct partition *partition);

/* trouble.c: what keeps the source from working. */
void trouble_note(struct source *source, int code, const char *text);
void trouble_clear(struct source *source);
/* Asks the brokers whether it is over, at most once a second. */
void trouble_probe(struct source *source, int64_t now_ms);
void trouble_hear(rd_kafka_t *client, int code, const char *reason, void *opaque);

#endif
