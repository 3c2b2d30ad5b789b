/*
 * The books as people read them: balances, one account's entries, all entries. Reading only. Each
 * is one statement, so one consistent view of the tables, and rows are handed out one by one
 * whatever their number.
 */
#ifndef LEDGER_BOOK_H
#define LEDGER_BOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "mysql/db.h"
#include "postonce/error.h"
#include "postonce/notification.h"

enum {
        BOOK_CODE_BYTES = 4 * ACCOUNT_CODE_BYTES, /* the column counts characters */
        BOOK_TIME_BYTES = 27,
        BOOK_VERDICT_BYTES = 17,
};

struct book_account {
        int64_t id, tenant_id;
        char code[BOOK_CODE_BYTES];
        char currency[PO_CURRENCY_BYTES];
};

struct book_balance {
        struct book_account account; /* id: 0 */
        int64_t amount_minor;        /* debits are positive */
};

struct book_entry {
        int64_t claim_id, line;
        struct book_account account; /* id: 0 */
        int64_t amount_minor;
        char verdict[BOOK_VERDICT_BYTES];
        char key[PO_KEY_BYTES];
        char event[PO_EVENT_BYTES];
        char order_no[PO_ORDER_NO_BYTES * 4];
        char effective_at[BOOK_TIME_BYTES]; /* 2026-01-14 04:21:07.231000, UTC; "": not known */
        char settled_at[BOOK_TIME_BYTES];
};

/* Any class but OK ends the reading and is returned. */
typedef enum po_class (*book_balance_each)(void *context, const struct book_balance *balance,
                                           struct po_error *error);
typedef enum po_class (*book_entry_each)(void *context, const struct book_entry *entry,
                                         struct po_error *error);
typedef enum po_class (*book_account_each)(void *context, const struct book_account *account,
                                           struct po_error *error);

/*
 * By tenant, code, currency. tenant_id: 0 is all. before_us: only what was settled before that
 * time, summed up from the entries; PO_TIME_UNKNOWN: the balances as they are.
 */
PO_MUST_USE enum po_class book_balances(struct db *db, struct sql *sql, int64_t tenant_id,
                                        int64_t before_us, book_balance_each each, void *context,
                                        struct po_error *error);

/* All accounts, by tenant, code, currency; tenant_id: 0 is all; code: NULL is all. */
PO_MUST_USE enum po_class book_accounts(struct db *db, struct sql *sql, int64_t tenant_id,
                                        const char *code, book_account_each each, void *context,
                                        struct po_error *error);

/* The entries of one account in the order in which they were settled. */
PO_MUST_USE enum po_class book_statement(struct db *db, struct sql *sql,
                                         const struct book_account *account, book_entry_each each,
                                         void *context, struct po_error *error);

/* All entries, those of a claim together, by claim and line. tenant_id: 0 is all. */
PO_MUST_USE enum po_class book_entries(struct db *db, struct sql *sql, int64_t tenant_id,
                                       book_entry_each each, void *context, struct po_error *error);

#endif
