/*
 * What replay asks and notes in table `dead_letter`: which letters were sent back already, and the
 * record of a letter that is not the whole of it. A letter without a row (another system's, or one
 * whose worker died before it wrote it) is not remembered here.
 */
#ifndef LEDGER_REPLAYED_H
#define LEDGER_REPLAYED_H

#include <stdbool.h>
#include <stddef.h>

#include "mysql/db.h"
#include "postonce/error.h"

struct replayed_letter {
        const char *letter_id; /* a UUID as text */
        bool before;           /* replayed_find(): it was sent back already */
};

PO_MUST_USE enum po_class replayed_find(struct db *db, struct sql *sql,
                                        struct replayed_letter *letters, size_t count,
                                        struct po_error *error);

/* All of them were sent back and acknowledged; in its own commit. */
PO_MUST_USE enum po_class replayed_mark(struct db *db, struct sql *sql,
                                        const struct replayed_letter *letters, size_t count,
                                        struct po_error *error);

/*
 * The packed record of a letter (base/record_pack.h), the caller's to free. NULL with OK: there is
 * no such row, or its body was purged.
 */
PO_MUST_USE enum po_class replayed_body(struct db *db, struct sql *sql, const char *letter_id,
                                        unsigned char **body_out, size_t *bytes_out,
                                        struct po_error *error);

#endif
