/* What the tests of claims share: a ledger's claims on the fake database, and what it says. */
#ifndef CLAIM_FIXTURE_H
#define CLAIM_FIXTURE_H

#define FIXTURE_ROWS 80
#include "fake_db.h"
#include "posting_fixture.h"

static struct db *db;
static struct claims *claims;

static void start(void)
{
        db = fake_db_open();
        claims_close(claims);
        ck_assert_int_eq(claims_open(&claims, db, FIXTURE_MAX, &error), PO_OK);
}

static struct posting *notified(size_t i, const char *txn)
{
        struct posting *posting = fixture_posting(i, NULL, txn, "R8-1");
        posting->claim_id = 0;
        posting->deliveries = 0;
        memset(posting->first_fingerprint, 0, PO_FINGERPRINT_BYTES);
        return posting;
}

static enum po_class acquire(size_t count)
{
        return claims_acquire(claims, open_postings, count, &error);
}

static void acquired(size_t count)
{
        ck_assert_msg(acquire(count) == PO_OK, "%s", error.text);
}

/* What the database says of a key: nothing settled, or settled at that offset of callbacks/0. */
#define KEY(txn) "SQB:" txn ":PAYMENT_RECEIVED"
#define claimed(txn, id, deliveries)                                                               \
        fake_row("1", KEY(txn), id, deliveries, FINGERPRINT_A, "1", NULL, NULL, NULL, NULL, NULL,  \
                 NULL, NULL)
#define settled(txn, id, verdict, result, offset)                                                  \
        fake_row("1", KEY(txn), id, "2", FINGERPRINT_A, "1", verdict, result, FINGERPRINT_A, "1",  \
                 "callbacks", "0", offset)

static void is(const struct posting *posting, enum verdict verdict, bool again, const char *result)
{
        ck_assert_str_eq(verdict_name(posting->verdict), verdict_name(verdict));
        ck_assert(posting->again == again);
        ck_assert_str_eq(posting->result, result);
}

#endif
