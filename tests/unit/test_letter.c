#include "fake_db.h"

#include "ledger/letter.h"

static struct db *db;
static struct sql sql;
static struct po_error error;

#define ID_A "aaaaaaaa-0000-5000-8000-000000000001"
#define ID_B "bbbbbbbb-0000-5000-8000-000000000002"
#define ID_C "cccccccc-0000-5000-8000-000000000003"

static const struct record record = { .topic = "callbacks", .partition = 2, .offset = 41 };

static struct letter_row row_of(const char *id)
{
        return (struct letter_row){ .letter_id = id,
                                    .reason = "NO_EVENT_RULE",
                                    .record = &record,
                                    .attempts = 3,
                                    .letter_topic = "callbacks.DLT",
                                    .letter_partition = 1,
                                    .letter_offset = 9 };
}

START_TEST(a_failure_is_counted_by_the_database)
{
        db = fake_db_open();
        struct letter_row row = row_of(ID_A);
        fake_rows("FROM failure");
        fake_row("4");
        ck_assert_int_eq(letter_fail(db, &sql, &row, &error), PO_OK);
        ck_assert_uint_eq(row.attempts, 4);
        fake_saw("INSERT INTO failure (letter_id, source_topic, source_partition, source_offset,"
                 " attempts, reason, first_at, last_at) VALUES ('" ID_A "','callbacks',2,41,1,"
                 "'NO_EVENT_RULE',UTC_TIMESTAMP(6),UTC_TIMESTAMP(6)) ON DUPLICATE KEY UPDATE"
                 " attempts = attempts + 1, reason = VALUES(reason), last_at = VALUES(last_at)",
                 "SELECT attempts FROM failure WHERE letter_id = '" ID_A "'");
        ck_assert(!fake_was_in_transaction("INSERT INTO failure"));
}
END_TEST

START_TEST(a_count_that_cannot_be_written_or_read_is_an_error)
{
        static const char *const pieces[] = { "INSERT INTO failure", "FROM failure" };
        struct letter_row row = row_of(ID_A);
        for (size_t i = 0; i < 2; i++) {
                db = fake_db_open();
                fake_fail(pieces[i], PO_TRANSIENT, 1205);
                ck_assert_int_eq(letter_fail(db, &sql, &row, &error), PO_TRANSIENT);
                ck_assert_int_eq(error.code, 1205);
        }
}
END_TEST

START_TEST(letters_that_are_there_are_found)
{
        db = fake_db_open();
        struct letter_row rows[] = { row_of(ID_A), row_of(ID_B), row_of(ID_C) };
        rows[0].there = true; /* of an earlier look */
        fake_rows("FROM dead_letter");
        fake_row(ID_C);
        fake_row(ID_B);
        ck_assert_int_eq(letters_find(db, &sql, rows, 3, &error), PO_OK);
        fake_saw("SELECT letter_id FROM dead_letter WHERE letter_id IN"
                 " ('" ID_A "','" ID_B "','" ID_C "')");
        ck_assert(!rows[0].there);
        ck_assert(rows[1].there);
        ck_assert(rows[2].there);
}
END_TEST

START_TEST(one_letter_in_hand_twice_is_found_twice)
{
        db = fake_db_open();
        struct letter_row rows[] = { row_of(ID_A), row_of(ID_A) };
        fake_rows("FROM dead_letter");
        fake_row(ID_A);
        ck_assert_int_eq(letters_find(db, &sql, rows, 2, &error), PO_OK);
        ck_assert(rows[0].there && rows[1].there);
}
END_TEST

START_TEST(an_acknowledged_letter_is_recorded_with_its_place)
{
        db = fake_db_open();
        struct letter_row a = row_of(ID_A), b = row_of(ID_B);
        const struct letter_row *const rows[] = { &a, &b };
        ck_assert_int_eq(letters_insert(db, &sql, rows, 2, &error), PO_OK);
        fake_saw("INSERT INTO dead_letter (letter_id, reason, source_topic, source_partition,"
                 " source_offset, letter_topic, letter_partition, letter_offset, attempts,"
                 " created_at) VALUES ('" ID_A "','NO_EVENT_RULE','callbacks',2,41,"
                 "'callbacks.DLT',1,9,3,UTC_TIMESTAMP(6)),('" ID_B "',");
        ck_assert(!fake_was_in_transaction("INSERT INTO dead_letter"));
        unit_assert_in(fake_statement("INSERT INTO dead_letter"),
                       ") ON DUPLICATE KEY UPDATE dead_letter.letter_id = dead_letter.letter_id");
}
END_TEST

START_TEST(no_letters_ask_nothing)
{
        db = fake_db_open();
        ck_assert_int_eq(letters_find(db, &sql, NULL, 0, &error), PO_OK);
        ck_assert_int_eq(letters_insert(db, &sql, NULL, 0, &error), PO_OK);
        fake_saw_nothing();
}
END_TEST

START_TEST(errors_travel_up_with_their_class)
{
        db = fake_db_open();
        struct letter_row row = row_of(ID_A);
        const struct letter_row *const rows[] = { &row };
        fake_fail("FROM dead_letter", PO_TRANSIENT, 2006);
        ck_assert_int_eq(letters_find(db, &sql, &row, 1, &error), PO_TRANSIENT);
        unit_assert_in(error.text, "look for 1 dead letters: ");
        fake_fail("INSERT INTO dead_letter", PO_SYSTEMIC, 1142);
        ck_assert_int_eq(letters_insert(db, &sql, rows, 1, &error), PO_SYSTEMIC);
        unit_assert_in(error.text, "record 1 dead letters: ");
}
END_TEST

UNIT_MAIN("letter", a_failure_is_counted_by_the_database,
          a_count_that_cannot_be_written_or_read_is_an_error, letters_that_are_there_are_found,
          one_letter_in_hand_twice_is_found_twice,
          an_acknowledged_letter_is_recorded_with_its_place, no_letters_ask_nothing,
          errors_travel_up_with_their_class)
