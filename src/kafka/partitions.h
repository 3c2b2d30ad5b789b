/*
 * What the source remembers of each partition: how far it was handed out, how far it is settled,
 * whether it is held. Pure bookkeeping: nothing here talks to a broker or reads a clock.
 *
 * position: the next offset to hand out. A record below it was handed out already (librdkafka
 *           before 2.4.0 goes back after a resume or a rebalance) and is dropped.
 * stored:   the next offset that is to be committed: all below it is settled.
 * stored == position means that nothing of the partition is in hand unsettled.
 */
#ifndef KAFKA_PARTITIONS_H
#define KAFKA_PARTITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OFFSET_BEGINNING                                                                           \
        INT64_C(-2) /* RD_KAFKA_OFFSET_BEGINNING: the log's start, whatever it is */
#define OFFSET_NONE INT64_C(-1)

/* Why a partition is paused; it flows again when no reason is left. */
enum pause_reason {
        PAUSED_BY_HOLD = 1,    /* until due_ms */
        PAUSED_BY_IDLE = 2,    /* source_idle() keeps everything back */
        PAUSED_UNKNOWN = 4,    /* the committed offset could not be read yet */
        PAUSED_FOR_PERSON = 8, /* out of range: never resumed while it is ours */
};

struct partition {
        char *topic;
        int32_t number;
        bool assigned;
        unsigned epoch; /* counts its assignments; a record of another one is stale */
        int64_t position;
        int64_t stored;
        int64_t end;     /* an end of the partition that was met and is not stored yet, or none */
        bool at_end;     /* nothing has come since the end was met */
        unsigned pauses; /* of enum pause_reason */
        bool paused;     /* librdkafka was told to pause and not to resume since */
        int64_t due_ms;
        int64_t hold_offset; /* of the latest hold of this assignment, or none */
        unsigned hold_tries; /* how often in a row it was held at that offset */
        const char *stuck;   /* why nothing of it can be had, a static word; NULL: it flows */
};

struct partitions {
        struct partition *items; /* never shrinks: an index is a place for good */
        size_t count, capacity;
        size_t latest; /* where the last search ended: records come in runs */
};

void partitions_free(struct partitions *partitions);

/* The index of topic/number, or partitions->count. */
size_t partitions_find(struct partitions *partitions, const char *topic, int32_t number);

/* As partitions_find, adding it; partitions->count only when memory is short. */
size_t partitions_ensure(struct partitions *partitions, const char *topic, int32_t number);

/* A new assignment from offset (OFFSET_BEGINNING, or absolute). */
void partition_begin(struct partition *partition, int64_t offset);

/* Moves an assigned partition of which nothing was handed out. */
void partition_place(struct partition *partition, int64_t offset);

/* Taken away: everything about it is forgotten but its name and epoch. */
void partition_end(struct partition *partition);

/* Whether a record polled at offset is to be handed out; notes it as handed out then. */
bool partition_take(struct partition *partition, int64_t offset);

/* Everything below next is settled. False: nothing new. Asserts that it was handed out. */
bool partition_settle(struct partition *partition, int64_t next);

/*
 * The end was met at offset. When everything handed out is settled, that offset may be stored (it
 * lies behind transaction markers); else partition_settle() brings it up later.
 */
void partition_meet_end(struct partition *partition, int64_t offset);

/* The next offset to store when the end can pass now, else OFFSET_NONE; marks it as stored. */
int64_t partition_pass_end(struct partition *partition);

/*
 * Holds at offset until due_ms: it is the next to be handed out again. A second hold keeps the
 * lower offset and the later time. What is stored stays stored: it only comes once more.
 */
void partition_hold(struct partition *partition, int64_t offset, int64_t due_ms);

/* Ends a hold whose time has come. */
void partition_wake(struct partition *partition, int64_t now_ms);

#endif
