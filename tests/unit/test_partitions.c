#include "kafka/partitions.h"

#include <signal.h>
#include <sys/wait.h>

#include "unit.h"

/* The process that runs statement must end by an assert. */
#define ck_aborts(statement)                                                                       \
        do {                                                                                       \
                pid_t child = fork();                                                              \
                if (child == 0) {                                                                  \
                        fclose(stderr);                                                            \
                        statement;                                                                 \
                        _exit(0);                                                                  \
                }                                                                                  \
                int status = 0;                                                                    \
                ck_assert_int_eq(waitpid(child, &status, 0), child);                               \
                ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);                     \
        } while (0)

static struct partition fresh(int64_t offset)
{
        struct partition partition = { .topic = NULL, .number = 0 };
        partition_begin(&partition, offset);
        return partition;
}

START_TEST(a_place_stays_the_same_while_the_table_grows)
{
        struct partitions partitions = { 0 };
        for (int i = 0; i < 100; i++)
                ck_assert_uint_eq(partitions_ensure(&partitions, i % 2 ? "a" : "b", i), (size_t)i);
        for (int i = 0; i < 100; i++)
                ck_assert_uint_eq(partitions_find(&partitions, i % 2 ? "a" : "b", i), (size_t)i);
        ck_assert_uint_eq(partitions_find(&partitions, "a", 2), partitions.count);
        ck_assert_uint_eq(partitions_ensure(&partitions, "a", 1), 1);
        partitions_free(&partitions);
}
END_TEST

START_TEST(a_record_that_was_handed_out_is_not_handed_out_again)
{
        struct partition p = fresh(10);
        ck_assert(!partition_take(&p, 9));
        ck_assert(partition_take(&p, 10));
        ck_assert(!partition_take(&p, 10));
        ck_assert(partition_take(&p, 15)); /* a gap is no fault: compaction, markers */
        ck_assert(!partition_take(&p, 12));
}
END_TEST

START_TEST(the_beginning_is_whatever_comes_first)
{
        struct partition p = fresh(OFFSET_BEGINNING);
        ck_assert(partition_take(&p, 700));
        ck_assert(partition_settle(&p, 701));
        ck_assert_int_eq(p.stored, 701);
}
END_TEST

START_TEST(what_is_settled_never_goes_back)
{
        struct partition p = fresh(0);
        for (int i = 0; i < 5; i++)
                ck_assert(partition_take(&p, i));
        ck_assert(partition_settle(&p, 4));
        ck_assert(!partition_settle(&p, 2));
        ck_assert_int_eq(p.stored, 4);
}
END_TEST

START_TEST(settling_what_was_not_handed_out_aborts)
{
        struct partition p = fresh(0);
        ck_assert(partition_take(&p, 0));
        ck_aborts(partition_settle(&p, 2));
}
END_TEST

START_TEST(settling_beyond_a_hold_aborts)
{
        struct partition p = fresh(0);
        for (int i = 0; i < 5; i++)
                ck_assert(partition_take(&p, i));
        partition_hold(&p, 2, 100);
        ck_aborts(partition_settle(&p, 4));
}
END_TEST

START_TEST(holding_what_is_settled_hands_it_out_again_and_keeps_what_is_stored)
{
        struct partition p = fresh(0);
        for (int i = 0; i < 5; i++)
                ck_assert(partition_take(&p, i));
        partition_settle(&p, 5);
        partition_hold(&p, 2, 100);
        partition_wake(&p, 100);
        ck_assert(partition_take(&p, 2));
        ck_assert(!partition_settle(&p, 3));
        ck_assert_int_eq(p.stored, 5);
}
END_TEST

START_TEST(a_hold_hands_out_its_record_again_and_what_is_below_can_still_be_settled)
{
        struct partition p = fresh(0);
        for (int i = 0; i < 5; i++)
                ck_assert(partition_take(&p, i));
        partition_hold(&p, 2, 100);
        ck_assert(partition_settle(&p, 2));
        partition_wake(&p, 99);
        ck_assert_uint_ne(p.pauses & PAUSED_BY_HOLD, 0);
        partition_wake(&p, 100);
        ck_assert_uint_eq(p.pauses, 0);
        ck_assert(!partition_take(&p, 1));
        ck_assert(partition_take(&p, 2));
}
END_TEST

START_TEST(of_two_holds_the_lower_offset_and_the_later_time_stand)
{
        struct partition p = fresh(0);
        for (int i = 0; i < 9; i++)
                ck_assert(partition_take(&p, i));
        partition_hold(&p, 7, 200);
        partition_hold(&p, 3, 100);
        ck_assert_int_eq(p.position, 3);
        ck_assert_int_eq(p.due_ms, 200);
        partition_hold(&p, 5, 300);
        ck_assert_int_eq(p.position, 3);
        ck_assert_int_eq(p.due_ms, 300);
        ck_assert_uint_eq(p.hold_tries, 1);
}
END_TEST

START_TEST(tries_count_holds_in_a_row_at_one_offset_and_end_with_it)
{
        struct partition p = fresh(0);
        ck_assert(partition_take(&p, 0));
        for (unsigned tries = 1; tries <= 3; tries++) {
                partition_hold(&p, 0, 10);
                ck_assert_uint_eq(p.hold_tries, tries);
                partition_wake(&p, 10);
                ck_assert(partition_take(&p, 0));
        }
        ck_assert(partition_take(&p, 1));
        ck_assert(partition_settle(&p, 1));
        ck_assert_uint_eq(p.hold_tries, 0);
        partition_hold(&p, 1, 10);
        ck_assert_uint_eq(p.hold_tries, 1);
}
END_TEST

START_TEST(the_end_passes_only_when_all_below_is_settled)
{
        struct partition p = fresh(5);
        ck_assert(partition_take(&p, 5));
        partition_meet_end(&p, 8); /* 6 and 7 are markers of transactions */
        ck_assert_int_eq(partition_pass_end(&p), OFFSET_NONE);
        ck_assert(partition_settle(&p, 6));
        ck_assert_int_eq(partition_pass_end(&p), 8);
        ck_assert_int_eq(p.stored, 8);
        ck_assert_int_eq(partition_pass_end(&p), OFFSET_NONE);
        ck_assert(!partition_take(&p, 7));
        ck_assert(partition_take(&p, 8));
}
END_TEST

START_TEST(an_end_is_forgotten_when_something_comes_behind_it_or_is_held)
{
        struct partition p = fresh(0);
        ck_assert(partition_take(&p, 0));
        partition_meet_end(&p, 3);
        ck_assert(partition_take(&p, 3));
        ck_assert(partition_settle(&p, 1));
        ck_assert_int_eq(partition_pass_end(&p), OFFSET_NONE);
        partition_meet_end(&p, 9);
        partition_hold(&p, 3, 10);
        ck_assert(!p.at_end);
        ck_assert_int_eq(partition_pass_end(&p), OFFSET_NONE);
}
END_TEST

START_TEST(the_end_of_an_empty_partition_passes)
{
        struct partition p = fresh(OFFSET_BEGINNING);
        partition_meet_end(&p, 0);
        ck_assert_int_eq(partition_pass_end(&p), 0);
        struct partition q = fresh(12);
        partition_meet_end(&q, 12);
        ck_assert_int_eq(partition_pass_end(&q), OFFSET_NONE); /* it is committed there already */
        ck_assert(q.at_end);
}
END_TEST

START_TEST(a_paused_partition_takes_nothing_and_meets_no_end)
{
        struct partition p = fresh(0);
        p.paused = true;
        ck_assert(!partition_take(&p, 0));
        partition_meet_end(&p, 0);
        ck_assert(!p.at_end);
        p.paused = false;
        ck_assert(partition_take(&p, 0));
}
END_TEST

START_TEST(a_new_assignment_knows_nothing_of_the_old_one)
{
        struct partition p = fresh(0);
        unsigned epoch = p.epoch;
        ck_assert(partition_take(&p, 0));
        partition_hold(&p, 0, 10);
        p.paused = true;
        partition_end(&p);
        ck_assert(!partition_take(&p, 0));
        partition_begin(&p, 4);
        ck_assert_uint_ne(p.epoch, epoch);
        ck_assert(!p.paused && p.pauses == 0 && p.hold_tries == 0);
        ck_assert(partition_take(&p, 4));
}
END_TEST

UNIT_MAIN("partitions", a_place_stays_the_same_while_the_table_grows,
          a_record_that_was_handed_out_is_not_handed_out_again,
          the_beginning_is_whatever_comes_first, what_is_settled_never_goes_back,
          settling_what_was_not_handed_out_aborts, settling_beyond_a_hold_aborts,
          holding_what_is_settled_hands_it_out_again_and_keeps_what_is_stored,
          a_hold_hands_out_its_record_again_and_what_is_below_can_still_be_settled,
          of_two_holds_the_lower_offset_and_the_later_time_stand,
          tries_count_holds_in_a_row_at_one_offset_and_end_with_it,
          the_end_passes_only_when_all_below_is_settled,
          an_end_is_forgotten_when_something_comes_behind_it_or_is_held,
          the_end_of_an_empty_partition_passes, a_paused_partition_takes_nothing_and_meets_no_end,
          a_new_assignment_knows_nothing_of_the_old_one)
