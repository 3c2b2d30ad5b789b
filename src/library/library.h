/* What the files of libpostonce share. Its manual is include/postonce/. */
#ifndef LIBRARY_LIBRARY_H
#define LIBRARY_LIBRARY_H

#include "config/document.h"
#include "ledger/claim.h"
#include "ledger/rules.h"
#include "mysql/db.h"
#include "postonce/ledger.h"

struct po_ledger {
        struct db *db;
        struct sql sql;
        struct claims *claims;
        struct document *document; /* NULL: opened without rules */
        struct rules *rules;
        const char *database;
};

#endif
