/* What is worth another try of an operator's transaction. */
#include "fake_db.h"

#include "mysql/again.h"

START_TEST(a_deadlock_is_tried_again_but_not_for_ever)
{
        struct db *db = fake_db_open();
        unsigned tries = 0;
        for (unsigned again = 1; again < 5; again++) {
                ck_assert(db_try_again(db, PO_TRANSIENT, &tries));
                ck_assert_uint_eq(tries, again);
        }
        ck_assert(!db_try_again(db, PO_TRANSIENT, &tries));
}
END_TEST

START_TEST(nothing_but_a_transient_failure_is_tried_again)
{
        struct db *db = fake_db_open();
        unsigned tries = 0;
        static const enum po_class others[] = { PO_OK,     PO_UNCERTAIN, PO_SYSTEMIC,
                                                PO_RECORD, PO_EXISTS,    PO_BUG };
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
                ck_assert(!db_try_again(db, others[i], &tries));
        ck_assert_uint_eq(tries, 0);
}
END_TEST

START_TEST(a_connection_that_is_gone_is_not_tried_again)
{
        struct po_error error;
        struct sql sql = { 0 };
        struct db *db = fake_db_open();
        unsigned tries = 0;
        fake_fail("SELECT", PO_TRANSIENT, 2006);
        sql_raw(&sql, "SELECT 1");
        ck_assert_int_eq(db_query(db, &sql, &error), PO_TRANSIENT);
        ck_assert(!db_try_again(db, PO_TRANSIENT, &tries));
        sql_free(&sql);
}
END_TEST

UNIT_MAIN("again", a_deadlock_is_tried_again_but_not_for_ever,
          nothing_but_a_transient_failure_is_tried_again,
          a_connection_that_is_gone_is_not_tried_again)
