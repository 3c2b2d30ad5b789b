/*
 * Accounts, named by templates, made when first used, one per tenant, code and currency. They are
 * made in a commit of their own before the ledger transaction, and never deleted, so the worker may
 * remember their ids.
 */
#ifndef LEDGER_ACCOUNT_H
#define LEDGER_ACCOUNT_H

#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "mysql/db.h"
#include "postonce/error.h"
#include "postonce/notification.h"

/*
 * Expands {channel}, {tenant} and {currency} of a template that rules_read() accepted. RECORD
 * (ACCOUNT_TOO_LONG) when it does not fit.
 */
PO_MUST_USE enum po_class account_expand(const char *template,
                                         const struct po_notification *notification,
                                         char code_out[ACCOUNT_CODE_BYTES], struct po_error *error);
/* Whether a template names only what account_expand() knows; *bad_out: the first that it does not.
 */
int account_template_ok(const char *template, const char **bad_out);

struct accounts;
PO_MUST_USE enum po_class accounts_open(struct accounts **accounts_out, struct db *db,
                                        struct po_error *error);
void accounts_close(struct accounts *accounts); /* takes NULL */

/* Start of a unit: forgets all when the table is more than half full, so that its memory is
 * bounded, and when the unit before ended without making what it wanted. */
void accounts_trim(struct accounts *accounts);

/*
 * Remembers that this account is needed; known ones cost a look-up. RECORD (TOO_MANY_ACCOUNTS) when
 * one unit needs more than the table holds: halving the unit mends that.
 */
PO_MUST_USE enum po_class accounts_want(struct accounts *accounts, int64_t tenant_id,
                                        const char *code, const char *currency,
                                        struct po_error *error);
/* Makes and reads those that were wanted and are not known, in their own commit, sorted. */
PO_MUST_USE enum po_class accounts_make(struct accounts *accounts, struct sql *sql,
                                        struct po_error *error);
/* The id of an account that was wanted and made; 0 when it was not. */
int64_t accounts_id(const struct accounts *accounts, int64_t tenant_id, const char *code,
                    const char *currency);
/* Forgets everything: after a database was replaced. */
void accounts_forget(struct accounts *accounts);

#endif
