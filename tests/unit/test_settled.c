/* The outcome row that another program writes in its transaction: on faked borrowed connections. */
#include "unit.h"

#include <string.h>

#include "ledger/settled.h"
#include "mysql/borrowed.h"

static struct sql sql;
static struct po_error error;
static char statements[2][1024];
static size_t sent;
static uint64_t rows_seen;
static bool in_transaction;
static enum po_class insert_kind;

enum po_class borrowed_exec(void *mysql, const struct sql *statement, uint64_t *affected_out,
                            struct po_error *error_out)
{
        (void)mysql;
        snprintf(statements[sent++], sizeof statements[0], "%s", statement->text);
        *affected_out = 1;
        return insert_kind == PO_OK ? PO_OK : po_fail(error_out, insert_kind, 1062, "refused");
}

enum po_class borrowed_count(void *mysql, const struct sql *statement, uint64_t *rows_out,
                             struct po_error *error_out)
{
        (void)mysql;
        (void)error_out;
        snprintf(statements[sent++], sizeof statements[0], "%s", statement->text);
        *rows_out = rows_seen;
        return PO_OK;
}

bool borrowed_is_in_transaction(void *mysql)
{
        (void)mysql;
        return in_transaction;
}

static enum po_class settle(void)
{
        static const struct po_claim claim = {
                .state = PO_CLAIM_UNFINISHED,
                .id = 7,
                .tenant_id = 3,
                .key = "A:T:E",
                .fingerprint = { 0xab },
                .fingerprint_version = PO_FINGERPRINT_RAW,
                .occurred_at_us = PO_TIME_UNKNOWN,
                .source = "it's",
                .partition = -1,
                .offset = 5,
        };
        sent = 0;
        return settled_insert(NULL, &sql, "books", &claim, "BOOKED", &error);
}

static void expect_all_well(void)
{
        rows_seen = 1;
        in_transaction = true;
        insert_kind = PO_OK;
}

START_TEST(texts_go_as_hexadecimal_and_tables_with_their_database)
{
        expect_all_well();
        ck_assert_int_eq(settle(), PO_OK);
        ck_assert_uint_eq(sent, 2);
        ck_assert_str_eq(statements[0], "SELECT 1 FROM `books`.claim WHERE id = 7 AND tenant_id = 3"
                                        " AND idem_key = X'413A543A45'");
        ck_assert_ptr_nonnull(strstr(statements[1], "INSERT INTO `books`.outcome (claim_id,"));
        ck_assert_ptr_nonnull(
                strstr(statements[1], ",2,X'69742773',-1,5,0,NULL,UTC_TIMESTAMP(6))"));
        ck_assert_ptr_null(strstr(statements[1], "it's"));
}
END_TEST

START_TEST(a_claim_that_cannot_be_seen_is_not_settled)
{
        expect_all_well();
        rows_seen = 0;
        ck_assert_int_eq(settle(), PO_BUG);
        ck_assert_uint_eq(sent, 1);
}
END_TEST

START_TEST(without_a_transaction_nothing_is_settled)
{
        expect_all_well();
        in_transaction = false;
        ck_assert_int_eq(settle(), PO_BUG);
        ck_assert_uint_eq(sent, 1);
}
END_TEST

START_TEST(what_the_fence_refuses_exists)
{
        expect_all_well();
        insert_kind = PO_EXISTS;
        ck_assert_int_eq(settle(), PO_EXISTS);
        ck_assert_int_eq(error.code, 1062);
}
END_TEST

UNIT_MAIN("settled", texts_go_as_hexadecimal_and_tables_with_their_database,
          a_claim_that_cannot_be_seen_is_not_settled, without_a_transaction_nothing_is_settled,
          what_the_fence_refuses_exists)
