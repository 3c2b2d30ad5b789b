/* Rows of an older idempotency table as a CSV file says them. */
#ifndef COMMANDS_CLAIM_FILE_H
#define COMMANDS_CLAIM_FILE_H

#include <stddef.h>

#include "base/csv.h"
#include "ledger/imported.h"
#include "postonce/error.h"

/* What a row takes where the file has no column, or nothing in it. */
struct claim_defaults {
        int64_t tenant_id;
        const char *channel; /* NULL: none */
};

/*
 * Opens the file: key, or txn and event (and channel, unless there is a default); and if they are
 * there tenant_id, order_no, amount (decimal, main unit) with currency, fingerprint (64 hexadecimal
 * digits, version 1), created_at (RFC 3339). RECORD: "path:line: ".
 */
PO_MUST_USE enum po_class claim_file_open(struct csv **csv_out, const char *path,
                                          const struct claim_defaults *defaults,
                                          struct po_error *error);

/* The row in hand, sealed. RECORD: "path:line: what is wrong". */
PO_MUST_USE enum po_class claim_file_row(const struct csv *csv,
                                         const struct claim_defaults *defaults,
                                         struct imported_claim *row_out, struct po_error *error);

#endif
