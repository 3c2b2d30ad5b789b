#include "fake_db.h"

#include "ledger/hold.h"

static struct db *db;
static struct sql sql;
static struct po_error error;
static const struct hold place = {
        .group = "g", .topic = "callbacks", .partition = 3, .offset = 4711, .decision = HOLD_SKIP
};

START_TEST(a_hold_is_noted_once_with_its_latest_reason_and_tries)
{
        db = fake_db_open();
        ck_assert_int_eq(hold_note(db, &sql, &place, "SECOND_PAYMENT", 4, 60000, &error), PO_OK);
        fake_saw(
                "INSERT INTO hold (consumer_group, topic, partition_no, held_offset, reason,"
                " tries, since, last_at) VALUES (LEFT('g',255),'callbacks',3,4711,'SECOND_PAYMENT',4,UTC_TIMESTAMP(6),"
                "UTC_TIMESTAMP(6)) ON DUPLICATE KEY UPDATE reason = VALUES(reason),"
                " tries = VALUES(tries), last_at = VALUES(last_at)",
                "INSERT INTO review");
}
END_TEST

START_TEST(one_that_lasts_waits_for_a_person_once)
{
        db = fake_db_open();
        ck_assert_int_eq(hold_note(db, &sql, &place, "SECOND_PAYMENT", 4, 60000, &error), PO_OK);
        const char *review = fake_statement("INSERT INTO review");
        unit_assert_in(review, "SELECT 'hold g callbacks/3@4711', CASE WHEN reason IN");
        unit_assert_in(review, "ELSE 'PARTITION_HELD' END");
        unit_assert_in(review, "since <= UTC_TIMESTAMP(6) - INTERVAL 60000000 MICROSECOND");
        unit_assert_in(review, "NOT EXISTS (SELECT 1 FROM review r WHERE r.open_subject ="
                               " 'hold g callbacks/3@4711')");
}
END_TEST

START_TEST(what_passed_waits_for_nobody)
{
        db = fake_db_open();
        ck_assert_int_eq(hold_delete(db, &sql, &place, &error), PO_OK);
        fake_saw("UPDATE review SET state = 'CLOSED'",
                 "DELETE FROM hold WHERE consumer_group = LEFT('g',255) AND topic = 'callbacks' AND"
                 " partition_no = 3 AND held_offset = 4711");
        unit_assert_in(fake_statement("UPDATE review"), "'hold g callbacks/3@4711'");
}
END_TEST

START_TEST(holds_are_read_with_what_was_decided)
{
        struct hold holds[3];
        size_t count;
        db = fake_db_open();
        fake_rows("FROM hold");
        fake_row("callbacks", "0", "5", NULL, "X");
        fake_row("callbacks", "1", "6", "RELEASE", "X");
        fake_row("callbacks", "2", "7", "SKIP", "OFFSET_OUT_OF_RANGE");
        ck_assert_int_eq(holds_read(db, &sql, "g", NULL, holds, 3, &count, &error), PO_OK);
        ck_assert_uint_eq(count, 3);
        ck_assert_int_eq(holds[0].decision, HOLD_UNDECIDED);
        ck_assert_int_eq(holds[1].decision, HOLD_RELEASE);
        ck_assert_int_eq(holds[2].decision, HOLD_SKIP);
        ck_assert_str_eq(holds[2].topic, "callbacks");
        ck_assert_int_eq(holds[2].partition, 2);
        ck_assert_int_eq(holds[2].offset, 7);
        ck_assert(holds[2].out_of_range && !holds[1].out_of_range);
        unit_assert_in(fake_statement("SELECT topic"),
                       "WHERE consumer_group = LEFT('g',255) ORDER");
        ck_assert_int_eq(holds_read(db, &sql, "g", &holds[2], holds, 3, &count, &error), PO_OK);
        unit_assert_in(fake_statement("SELECT topic"),
                       "AND (topic, partition_no, held_offset) > ('callbacks',2,7) ORDER BY topic");
}
END_TEST

START_TEST(a_decision_is_audited_in_its_own_transaction)
{
        db = fake_db_open();
        ck_assert_int_eq(hold_decide(db, &sql, &place, "alice", "booked by hand", &error), PO_OK);
        fake_saw("BEGIN",
                 "UPDATE hold SET decision = 'SKIP', who = LEFT('alice',64), why = LEFT('booked by"
                 " hand',255) WHERE consumer_group = LEFT('g',255) AND topic = 'callbacks' AND"
                 " partition_no = 3 AND held_offset = 4711",
                 "INSERT INTO audit (at, who, verb, what, why) VALUES (UTC_TIMESTAMP(6), 'alice',"
                 "'hold skip','callbacks/3/4711','booked by hand')",
                 "COMMIT");
}
END_TEST

START_TEST(a_decision_on_what_is_not_held_is_refused_and_leaves_nothing)
{
        db = fake_db_open();
        fake_affect("UPDATE hold", 0);
        ck_assert_int_eq(hold_decide(db, &sql, &place, "alice", "why", &error), PO_RECORD);
        ck_assert_str_eq(error.reason, "NOT_HELD");
        fake_saw("BEGIN", "UPDATE hold", "ROLLBACK");
}
END_TEST

UNIT_MAIN("hold", a_hold_is_noted_once_with_its_latest_reason_and_tries,
          holds_are_read_with_what_was_decided, a_decision_is_audited_in_its_own_transaction,
          a_decision_on_what_is_not_held_is_refused_and_leaves_nothing,
          one_that_lasts_waits_for_a_person_once, what_passed_waits_for_nobody)
