/* Orders as a person writes them: on a command line or in a CSV file (RFC 4180, with a header). */
#ifndef COMMANDS_ORDER_FILE_H
#define COMMANDS_ORDER_FILE_H

#include <stddef.h>

#include "ledger/order.h"
#include "postonce/error.h"

enum { ORDER_FILE_CHUNK = 500 }; /* rows a statement */

struct order_text {
        const char *order_no, *amount, *currency;
        const char *tenant_id; /* NULL or "": the default */
};

/* RECORD with a stable reason: what a notification of that order would be refused for, too. */
PO_MUST_USE enum po_class order_parse(const struct order_text *text, int64_t tenant_id,
                                      const char *status, struct order *order_out,
                                      struct po_error *error);

/* RECORD: not 1…64 bytes, a space at an end, a control character. */
PO_MUST_USE enum po_class order_no_check(const char *order_no, struct po_error *error);
/* A tenant's number, 1 or more; NULL and "" leave *tenant_id as it is. RECORD (WRONG_TYPE). */
PO_MUST_USE enum po_class tenant_parse(const char *text, int64_t *tenant_id,
                                       struct po_error *error);

struct order_file {
        size_t count;
        struct order *orders; /* ascending by id, each id once */
};

/*
 * Reads and checks the whole file. RECORD: "file:line: column: what is wrong"; an order that stands
 * there twice is wrong. SYSTEMIC: not readable.
 */
PO_MUST_USE enum po_class order_file_read(const char *path, int64_t tenant_id, const char *status,
                                          struct order_file *file_out, struct po_error *error);
void order_file_free(struct order_file *file);

#endif
