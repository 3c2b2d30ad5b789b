/*
 * Replay: dead letters back to the topic they came from.
 *
 * Each letter goes, with its key, value, headers and timestamp, to its topic and partition of
 * origin, if that is one of `places`: the headers of a letter can be written by whoever writes to a
 * topic, and must not lead anywhere else. What was posted meanwhile becomes a confirmed duplicate
 * there; nothing here decides about money.
 *
 * Slice by slice: send, wait for every acknowledgement, note the letters' rows, commit the group's
 * offsets. Stopped anywhere, the next run begins at the last commit, and sends a letter again only
 * if its row was not noted. A letter that stays behind for a person passes; one that the broker
 * refused does not: the group's offset stays at it, whatever goes on behind it.
 */
#ifndef DESK_REPLAY_H
#define DESK_REPLAY_H

#include <signal.h>

#include "desk/letter_filter.h"
#include "desk/replay_report.h"
#include "kafka/reader.h"
#include "kafka/sink.h"
#include "ledger/replayed.h"

enum { REPLAY_SLICE_RECORDS = 500 };

/* A topic that letters may go back to. */
struct replay_place {
        const char *topic;
        const char *channel; /* what configuration fixes for it, or NULL */
        int partitions;      /* 0: does not exist */
};

struct replay_options {
        struct reader *reader; /* over the letters */
        struct sink *sink;     /* NULL with dry_run */
        struct db *db;         /* dry_run only reads */
        struct decoder *decoder;
        const struct replay_place *places;
        size_t places_count;
        const char *to; /* every letter goes there, to the partition of its key; NULL: its origin */
        struct letter_filter filter;
        unsigned max_replays; /* 0: without limit */
        int64_t limit;        /* letters sent; 0: without limit */
        int64_t rate;         /* letters a second, 1 and up; 0: as fast as it goes */
        int64_t stop_after;   /* so many refused letters end the run; 1 and up */
        bool again;           /* also those that were sent back before */
        bool commit;          /* move the group's offsets */
        bool dry_run;         /* sends, notes and commits nothing */
        const volatile sig_atomic_t *stop;
        /* Called after each slice; may be NULL. */
        void (*progress)(void *context, int64_t read);
        /* Called for each letter that is left; text may be NULL. */
        void (*left)(void *context, const struct record *letter, const struct letter_facts *facts,
                     enum replay_fate fate, const char *text);
        void *context;
};

enum replay_end {
        REPLAY_AT_END,
        REPLAY_AT_LIMIT,
        REPLAY_STOPPED, /* by *stop */
        REPLAY_GAVE_UP, /* stop_after */
};

/*
 * Until the ends, the limit, *stop or stop_after. report counts also what was done before an error.
 * TRANSIENT: broker or database is away; run it again. SYSTEMIC as its text says.
 */
PO_MUST_USE enum po_class replay_run(const struct replay_options *options,
                                     struct replay_report *report, enum replay_end *end_out,
                                     struct po_error *error);

#endif
