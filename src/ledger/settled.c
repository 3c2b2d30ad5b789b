#include "ledger/settled.h"

#include <stdio.h>
#include <string.h>

#include "ledger/verdict.h"
#include "mysql/borrowed.h"

static void write_text(struct sql *sql, const char *text)
{
        sql_binary(sql, text, strlen(text));
}

/* Seen from here: the same server, and committed before this transaction looked at it. */
static enum po_class find_claim(void *mysql, struct sql *sql, const char *database,
                                const struct po_claim *claim, struct po_error *error)
{
        uint64_t rows = 0;
        sql_reset(sql);
        sql_raw(sql, "SELECT 1 FROM ");
        sql_name(sql, database);
        sql_raw(sql, ".claim WHERE id = ");
        sql_integer(sql, claim->id);
        sql_raw(sql, " AND tenant_id = ");
        sql_integer(sql, claim->tenant_id);
        sql_raw(sql, " AND idem_key = ");
        write_text(sql, claim->key);
        if (borrowed_count(mysql, sql, &rows, error) != PO_OK)
                return error->kind;
        if (rows != 1)
                return po_fail(error, PO_BUG, 0,
                               "this transaction does not see the claim: is it on another server, "
                               "or did it begin before the claim was acquired?");
        return PO_OK;
}

static void write_outcome(struct sql *sql, const char *database, const struct po_claim *claim,
                          const char *word)
{
        char result[PO_RESULT_BYTES];
        snprintf(result, sizeof result, "{\"settled\":\"%s\"}", word);
        sql_reset(sql);
        sql_raw(sql, "INSERT INTO ");
        sql_name(sql, database);
        sql_raw(sql, ".outcome (claim_id, verdict, result_json, payload_hash, hash_version,"
                     " source_topic, source_partition, source_offset, turn, effective_at,"
                     " settled_at) VALUES (");
        sql_integer(sql, claim->id);
        sql_raw(sql, ",");
        write_text(sql, verdict_name(VERDICT_SKIPPED));
        sql_raw(sql, ",");
        write_text(sql, result);
        sql_raw(sql, ",");
        sql_binary(sql, claim->fingerprint, sizeof claim->fingerprint);
        sql_raw(sql, ",");
        sql_integer(sql, claim->fingerprint_version);
        sql_raw(sql, ",");
        write_text(sql, claim->source);
        sql_raw(sql, ",");
        sql_integer(sql, claim->partition);
        sql_raw(sql, ",");
        sql_integer(sql, claim->offset);
        sql_raw(sql, ",0,");
        sql_time(sql, claim->occurred_at_us);
        sql_raw(sql, ",UTC_TIMESTAMP(6))");
}

enum po_class settled_insert(void *mysql, struct sql *sql, const char *database,
                             const struct po_claim *claim, const char *word, struct po_error *error)
{
        uint64_t affected = 0;
        if (find_claim(mysql, sql, database, claim, error) != PO_OK)
                return po_within(error, "settle %s", claim->key);
        /* Asked after a statement: an error's answer, as a deadlock's, tells no state. */
        if (!borrowed_is_in_transaction(mysql))
                return po_fail(error, PO_BUG, 0,
                               "settle %s: no transaction is open on this connection", claim->key);
        write_outcome(sql, database, claim, word);
        if (borrowed_exec(mysql, sql, &affected, error) != PO_OK)
                return po_within(error, "settle %s", claim->key);
        if (affected != 1)
                return po_fail(error, PO_BUG, 0, "settle %s: %llu rows instead of one", claim->key,
                               (unsigned long long)affected);
        return PO_OK;
}
