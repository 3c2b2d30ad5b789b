/* What libpostonce refuses of a claim before it asks a database: there is none here. */
#include "unit.h"

#include <string.h>

#include "library/library.h"
#include "postonce/claim.h"
#include "postonce/key.h"

static struct po_ledger nothing; /* no connection: any use of it would crash */
static struct po_error error;
static struct po_claim claim;

static struct po_notification sealed(void)
{
        struct po_notification one = { .tenant_id = 1, .channel = "A", .txn = "T1", .event = "E" };
        ck_assert_int_eq(po_key_seal(&one, &error), PO_OK);
        return one;
}

static const char *refusal(const struct po_notification *notification, const char *topic)
{
        const struct po_record record = { .topic = topic, .partition = -1 };
        enum po_class kind = po_claim_acquire(&nothing, notification, &record, &claim, &error);
        ck_assert_int_eq(kind, PO_RECORD);
        return error.reason;
}

START_TEST(a_notification_that_is_not_sealed_is_refused)
{
        struct po_notification one = sealed();
        one.key[0] = '\0';
        ck_assert_str_eq(refusal(&one, "shop"), "NOT_SEALED");
        one = sealed();
        snprintf(one.txn, sizeof one.txn, "T2");
        ck_assert_str_eq(refusal(&one, "shop"), "NOT_SEALED");
        one = sealed();
        one.fingerprint_version = 0; /* would never conflict */
        ck_assert_str_eq(refusal(&one, "shop"), "NOT_SEALED");
        one = sealed();
        one.event[0] = '\0';
        ck_assert_str_eq(refusal(&one, "shop"), "KEY_PART_EMPTY");
}
END_TEST

START_TEST(a_source_that_the_ledger_cannot_hold_is_refused)
{
        char longer[PO_SOURCE_BYTES + 1];
        struct po_notification one = sealed();
        memset(longer, 'a', sizeof longer);
        longer[PO_SOURCE_BYTES] = '\0';
        ck_assert_str_eq(refusal(&one, NULL), "SOURCE_MALFORMED");
        ck_assert_str_eq(refusal(&one, ""), "SOURCE_MALFORMED");
        ck_assert_str_eq(refusal(&one, "a b"), "SOURCE_MALFORMED");
        ck_assert_str_eq(refusal(&one, "\xc3\xa9"), "SOURCE_MALFORMED");
        ck_assert_str_eq(refusal(&one, longer), "SOURCE_MALFORMED");
}
END_TEST

START_TEST(only_an_unfinished_claim_is_settled_and_with_a_word)
{
        claim = (struct po_claim){ .state = PO_CLAIM_SETTLED, .key = "A:T1:E" };
        ck_assert_int_eq(po_claim_settle(&nothing, &claim, NULL, "DONE", &error), PO_BUG);
        claim.state = PO_CLAIM_CONFLICT;
        ck_assert_int_eq(po_claim_settle(&nothing, &claim, NULL, "DONE", &error), PO_BUG);
        claim.state = PO_CLAIM_UNFINISHED;
        ck_assert_int_eq(po_claim_settle(&nothing, &claim, NULL, "", &error), PO_BUG);
        ck_assert_int_eq(po_claim_settle(&nothing, &claim, NULL, "done", &error), PO_BUG);
        ck_assert_int_eq(po_claim_settle(&nothing, &claim, NULL, "A\"", &error), PO_BUG);
        ck_assert_int_eq(po_claim_settle(&nothing, &claim, NULL,
                                         "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456", &error),
                         PO_BUG);
}
END_TEST

UNIT_MAIN("library_claim", a_notification_that_is_not_sealed_is_refused,
          a_source_that_the_ledger_cannot_hold_is_refused,
          only_an_unfinished_claim_is_settled_and_with_a_word)
