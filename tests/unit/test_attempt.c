/* Whose claims are whose, with strict.unfinished. */
#include "posting_fixture.h"

#include "ledger/attempt.h"

static struct attempts *attempts;

static void start(void)
{
        attempts_close(attempts);
        ck_assert_int_eq(attempts_open(&attempts, &error), PO_OK);
        fixture_posting(0, NULL, "T1", "");
        fixture_posting(1, NULL, "T2", "");
}

static uint64_t under_way(void)
{
        return attempts_number(attempts, attempts_maker(attempts), MAKER_BYTES);
}

static bool is_ours(uint64_t attempt, size_t i)
{
        return attempts_are_ours(attempts, attempt, &notifications[i]);
}

START_TEST(each_attempt_has_its_own_number_under_the_workers_bytes)
{
        unsigned char first[MAKER_BYTES];
        start();
        memcpy(first, attempts_maker(attempts), sizeof first);
        for (uint64_t number = 1; number < 300; number++) {
                ck_assert_uint_eq(under_way(), number);
                ck_assert_mem_eq(attempts_maker(attempts), first, MAKER_BYTES / 2);
                attempts_begin(attempts);
        }
        ck_assert_uint_eq(attempts_number(attempts, first, MAKER_BYTES), 1);
}
END_TEST

START_TEST(another_worker_or_start_has_no_number_here)
{
        unsigned char other[MAKER_BYTES];
        start();
        memcpy(other, attempts_maker(attempts), sizeof other);
        start();
        ck_assert_uint_eq(attempts_number(attempts, other, MAKER_BYTES), 0);
        ck_assert_uint_eq(attempts_number(attempts, "", 0), 0);
        ck_assert(!is_ours(0, 0));
}
END_TEST

START_TEST(an_attempt_that_is_over_keeps_only_what_was_given_back)
{
        start();
        ck_assert(is_ours(1, 0) && is_ours(1, 1));
        attempts_keep(attempts, 0, &notifications[0]);
        attempts_begin(attempts);
        ck_assert(is_ours(1, 0));
        ck_assert(!is_ours(1, 1));
        attempts_keep(attempts, 1, &notifications[0]);
        attempts_begin(attempts);
        ck_assert(is_ours(1, 0));
        ck_assert(!is_ours(2, 0)); /* that one did not make it */
        attempts_forget(attempts, &notifications[0]);
        ck_assert(!is_ours(1, 0));
}
END_TEST

START_TEST(a_key_of_another_tenant_is_another_claim)
{
        start();
        attempts_keep(attempts, 0, &notifications[0]);
        attempts_begin(attempts);
        notifications[0].tenant_id++;
        ck_assert(!is_ours(1, 0));
        attempts_forget(attempts, &notifications[0]);
        notifications[0].tenant_id--;
        ck_assert(is_ours(1, 0));
}
END_TEST

START_TEST(the_oldest_that_is_kept_makes_room)
{
        start();
        for (int i = 0; i <= ATTEMPTS_KEPT_MAX; i++) {
                snprintf(notifications[0].key, sizeof notifications[0].key, "SQB:T%d:X", i);
                attempts_keep(attempts, 0, &notifications[0]);
        }
        attempts_begin(attempts);
        ck_assert(is_ours(1, 0));
        snprintf(notifications[0].key, sizeof notifications[0].key, "SQB:T1:X");
        ck_assert(is_ours(1, 0));
        snprintf(notifications[0].key, sizeof notifications[0].key, "SQB:T0:X");
        ck_assert(!is_ours(1, 0));
        attempts_close(NULL);
}
END_TEST

UNIT_MAIN("attempt", each_attempt_has_its_own_number_under_the_workers_bytes,
          another_worker_or_start_has_no_number_here,
          an_attempt_that_is_over_keeps_only_what_was_given_back,
          a_key_of_another_tenant_is_another_claim, the_oldest_that_is_kept_makes_room)
