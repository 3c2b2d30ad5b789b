/*
 * For programs that nobody feeds again: an operator's transaction that lost a deadlock or a lock
 * wait against the workers is done once more. A worker has its own way (its records come again).
 */
#ifndef MYSQL_AGAIN_H
#define MYSQL_AGAIN_H

#include <stdbool.h>

#include "mysql/db.h"
#include "postonce/error.h"

/*
 * Whether the whole transaction, which was rolled back with `kind`, is worth another try:
 * TRANSIENT, the connection lives, and it failed fewer than five times. Waits a moment then.
 * *tries: 0 before the first.
 */
bool db_try_again(const struct db *db, enum po_class kind, unsigned *tries);

#endif
