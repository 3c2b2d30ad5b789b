/* One table: a server's or client library's error number → what the caller must do next. */
#ifndef MYSQL_CLASSIFY_H
#define MYSQL_CLASSIFY_H

#include <stddef.h>

#include "postonce/error.h"

enum mysql_flags {
        MYSQL_CLOSES = 1,      /* the connection is over, or its server became read-only */
        MYSQL_COMMIT_OPEN = 2, /* in answer to COMMIT: whether it took place is not known */
        MYSQL_QUOTES = 4,      /* the server's text may quote the statement or a value */
};

struct mysql_class {
        unsigned number; /* 0: any that the table lacks */
        enum po_class kind;
        unsigned flags;
        const char *meaning; /* what it is, and the mend where a person must act */
};

/* The whole table, for `check --errors`. */
const struct mysql_class *mysql_classes(size_t *count_out);

/* Never NULL; numbers that the table lacks are BUG. */
const struct mysql_class *mysql_classify(unsigned number);
/* While connecting everything but "server away" is SYSTEMIC. */
enum po_class mysql_classify_connect(unsigned number);

/*
 * Fills error with class kind and what the server said, with the mend where a person must act.
 * Values and statements that the server quotes are left out: they may be payload. Returns kind.
 */
enum po_class mysql_explain(struct po_error *error, unsigned number, enum po_class kind,
                            const char *server_text);

#endif
