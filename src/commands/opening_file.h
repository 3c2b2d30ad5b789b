/* Opening balances as a CSV file says them. */
#ifndef COMMANDS_OPENING_FILE_H
#define COMMANDS_OPENING_FILE_H

#include "base/csv.h"
#include "ledger/opening.h"
#include "postonce/error.h"

/* Columns account, currency, amount; and if they are there tenant_id, effective_at. */
PO_MUST_USE enum po_class opening_file_open(struct csv **csv_out, const char *path,
                                            struct po_error *error);

/* The row in hand; its texts live until the next one. RECORD: "path:line: what is wrong". */
PO_MUST_USE enum po_class opening_file_row(const struct csv *csv, int64_t tenant_id,
                                           struct opening *opening_out, struct po_error *error);

#endif
