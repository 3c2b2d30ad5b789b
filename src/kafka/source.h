/*
 * The consumer: takes records, remembers how far each partition is settled, holds partitions back.
 *
 * It never stores an offset of a record that was not passed to source_store(), never commits an
 * explicit list, never resumes a partition that it did not pause, never waits for more records than
 * are there. One message is polled at a time (librdkafka before 2.1.0 skips offsets in its batch
 * calls). All calls come from one thread; rebalances are served inside source_take() and
 * source_idle() only.
 */
#ifndef KAFKA_SOURCE_H
#define KAFKA_SOURCE_H

#include <stdbool.h>

#include "base/record.h"
#include "kafka/properties.h"
#include "postonce/error.h"

struct source;

struct source_options {
        const struct kafka_property *properties; /* handed to librdkafka as they are */
        size_t properties_count;
        const char *const *topics; /* names, or patterns that begin with ^, see topic_match.h */
        size_t topics_count;
        size_t batch_records_max; /* 1…BATCH_RECORDS_MAX */
        const char *excluded;     /* the dead letters' topic, which no pattern means; or NULL */
        unsigned end_hold_tries;  /* for source_end(): from so many tries on a hold is one; 0: 3 */
};

/*
 * Refuses properties that would break a promise (enable.auto.commit, enable.auto.offset.store,
 * auto.offset.reset, isolation.level=read_uncommitted, enable.partition.eof, check.crcs=false, …):
 * SYSTEMIC with the reason, before anything connects. group.id is required.
 */
PO_MUST_USE enum po_class source_check(const struct kafka_property *properties, size_t count,
                                       struct po_error *error);
/* Connects lazily: a broker that is away is no error here. */
PO_MUST_USE enum po_class source_open(struct source **source_out,
                                      const struct source_options *options, struct po_error *error);
/*
 * Commits what is stored (synchronously), leaves the group and frees all, within deadline_ms;
 * librdkafka 2.0.2 can hang in close, so past the deadline it returns PO_TRANSIENT and leaks the
 * handle: the caller must then end the process with _exit. TRANSIENT as well when only the last
 * commit failed: what was settled since the one before comes again. Takes NULL.
 */
enum po_class source_close(struct source *source, int deadline_ms, struct po_error *error);

/*
 * Waits at most wait_ms for a first record, then takes those that are already there, up to
 * batch_records_max. Records stand in poll order and live until the next source_take().
 * A record of a partition that was revoked meanwhile is dropped before this returns. Commits
 * stored offsets (asynchronously, once a second) and resumes partitions whose hold is due.
 * TRANSIENT: all brokers down (count 0; logged once an outage). SYSTEMIC: authentication,
 * authorisation, unknown topic, a fatal client error; it is returned by every call, with nothing
 * taken, until the brokers say that it is over. Records taken before an error are returned with OK,
 * and the error by the next call.
 */
PO_MUST_USE enum po_class source_take(struct source *source, int wait_ms,
                                      const struct record **records_out, size_t *count_out,
                                      struct po_error *error);

/*
 * Everything of this record's partition up to and including it is settled: its offset + 1
 * is stored and goes with the next commit.
 * Ignored when the partition was taken away meanwhile. Asserts that it is not beyond a hold.
 */
void source_store(struct source *source, const struct record *record);

/*
 * This record, and all after it in its partition, must come again: pauses the partition, seeks
 * back to the record, resumes by itself after delay_ms. Records of the same partition still in
 * hand must not be stored. Ignored when the partition was taken away meanwhile.
 */
void source_hold(struct source *source, const struct record *record, int delay_ms);

/* At or behind a hold, or its partition was taken away: it must not be stored any more. */
bool source_is_held(const struct source *source, const struct record *record);

/* The same delivery counted: how often in a row this partition was held at this very offset. */
unsigned source_hold_tries(const struct source *source, const struct record *record);

/*
 * How far a partition of ours is settled: the next offset. False when it is not ours, or when
 * nothing of it was settled yet.
 */
bool source_settled(struct source *source, const char *topic, int32_t partition, int64_t *next_out);

/* A partition of ours of which nothing can be had: out of range, or unreadable at several tries. */
struct source_stuck {
        const char *topic; /* lives until the next source_take() */
        int32_t partition;
        int64_t offset; /* the next that is wanted */
        unsigned tries;
        const char *reason; /* OFFSET_OUT_OF_RANGE or PARTITION_UNREADABLE */
};
/* The next one from *place_inout (first: 0) on. False: there is none more. */
bool source_next_stuck(const struct source *source, size_t *place_inout,
                       struct source_stuck *stuck_out);
bool source_is_stuck(const struct source *source, const char *topic, int32_t partition);

/* A hold of this partition, if there is one, is due at once. */
void source_release(struct source *source, const char *topic, int32_t partition);

/*
 * Keeps polling for wait_ms with every partition paused and nothing delivered: for waiting out a
 * SYSTEMIC error without leaving the group. The caller holds what it had in hand first.
 */
PO_MUST_USE enum po_class source_idle(struct source *source, int wait_ms, struct po_error *error);

enum source_end {
        SOURCE_GOING,   /* there is, or may be, something to take */
        SOURCE_AT_END,  /* the group's committed offsets reach the ends of all partitions */
        SOURCE_AT_HOLD, /* every partition of ours is at its end or at a hold that lasts, one
                           held */
};

/*
 * For --until-end. Asks the brokers at most once a second; a commit of what is stored goes first.
 * GOING with OK while they do not answer; SYSTEMIC as in source_take().
 */
PO_MUST_USE enum po_class source_end(struct source *source, enum source_end *end_out,
                                     struct po_error *error);

/* For metrics and readiness. */
struct source_figures {
        unsigned partitions_assigned, partitions_held;
        unsigned partitions_waiting; /* held, or what was held is not settled since */
        unsigned partitions_stopped; /* of those held: until a person comes (out of range) */
        int64_t lag; /* records behind the ends, of assigned partitions; -1 unknown */
        unsigned rebalances;
        bool joined; /* has an assignment (an empty one counts) that was not lost */
};
void source_figures(const struct source *source, struct source_figures *figures_out);

#endif
