/*
 * Reads one topic from where a group stands to the ends as they were when it opened, then stops:
 * for what operators run, never for a worker. It is the only member of its group (partitions are
 * assigned, not balanced), so two readers of one group at the same time see the same records.
 *
 * It commits only what was passed, and only forward; without a group it can pass nothing. One
 * thread.
 */
#ifndef KAFKA_READER_H
#define KAFKA_READER_H

#include <stdbool.h>

#include "base/record.h"
#include "kafka/properties.h"
#include "postonce/error.h"

struct reader;

enum reader_start { READER_COMMITTED, READER_BEGINNING, READER_OFFSET, READER_LAST };

struct reader_options {
        const struct kafka_property *properties; /* the workers'; their group is not used */
        size_t properties_count;
        const char *topic;
        const char *group; /* NULL: none is asked or made; for a look without passing anything */
        int partitions;    /* how many the topic has, see topics.h; 1 and up */
        int32_t only_partition;  /* -1: all of them */
        enum reader_start start; /* COMMITTED: a group without an offset is at the beginning */
        int64_t start_offset;    /* OFFSET: with only_partition */
        int64_t last_records; /* LAST: of all partitions together, 1 and up, evenly where it can */
        size_t records_max;   /* of one take */
};

/*
 * Asks the brokers for offsets and ends, within 10 s each. TRANSIENT: no answer. SYSTEMIC: refused,
 * or the group's offset lies beyond the end (the topic was made anew): the text says which.
 */
PO_MUST_USE enum po_class reader_open(struct reader **reader_out,
                                      const struct reader_options *options, struct po_error *error);
/* Commits nothing. Takes NULL. */
void reader_close(struct reader *reader);

/* How many offsets lie between start and ends: at most so many records will come. */
int64_t reader_total(const struct reader *reader);

/*
 * Up to records_max records, each partition's in order; they live until the next take. None with
 * OK: none came within wait_ms. TRANSIENT: nothing was heard for 30 s, though the end is not met.
 */
PO_MUST_USE enum po_class reader_take(struct reader *reader, int wait_ms,
                                      const struct record **records_out, size_t *count_out,
                                      struct po_error *error);
/* Whether everything up to the ends was taken. */
bool reader_at_end(const struct reader *reader);

/*
 * The group need not see this record again, nor what stands before it in its partition: for the
 * next commit. Ignored behind a record of the partition that was kept.
 */
void reader_pass(struct reader *reader, const struct record *record);
/* The group's offset stays at or before this record whatever is passed after it. */
void reader_keep(struct reader *reader, const struct record *record);

/* Commits what was passed and waits for the answer, at most 10 s; nothing to commit is OK. */
PO_MUST_USE enum po_class reader_commit(struct reader *reader, struct po_error *error);

#endif
