#include "fake_db.h"

#include "ledger/unpublished.h"

static struct db *db;
static struct sql sql;
static struct unpublished unpublished;
static struct po_error error;

static void start(void)
{
        db = fake_db_open();
        ck_assert_int_eq(unpublished_open(&unpublished, 10, &error), PO_OK);
}

static void read_two(void)
{
        start();
        fake_rows("FROM outbox o");
        fake_row("7", "id-7", "order", "1:R1", "ORDER_PAID", "{}", "12");
        fake_row("9", "id-9", "order", "1:R2", "ORDER_PAID", "{\"a\":1}", "3");
        ck_assert_int_eq(unpublished_read(&unpublished, db, &sql, 10, &error), PO_OK);
}

START_TEST(rows_are_found_by_what_is_not_published_and_never_above_a_number)
{
        read_two();
        ck_assert_uint_eq(unpublished.count, 2);
        ck_assert_int_eq(unpublished.rows[0].seq, 7);
        ck_assert_str_eq(unpublished.rows[1].id, "id-9");
        ck_assert_str_eq(unpublished.rows[1].aggregateid, "1:R2");
        ck_assert_uint_eq(unpublished.rows[1].payload_bytes, 7);
        ck_assert_int_eq(unpublished.age_s, 12);
        const char *text = fake_statement("SELECT o.seq");
        unit_assert_in(text, "published_at IS NULL");
        unit_assert_in(text, "ORDER BY o.seq LIMIT 10");
        unit_assert_not_in(text, "seq >");
}
END_TEST

START_TEST(the_next_read_forgets_the_rows_before)
{
        read_two();
        fake_rows("FROM outbox o");
        ck_assert_int_eq(unpublished_read(&unpublished, db, &sql, 1, &error), PO_OK);
        ck_assert_uint_eq(unpublished.count, 0);
        ck_assert_int_eq(unpublished.age_s, 0);
        fake_saw("SELECT o.seq", "SELECT o.seq");
        ck_assert_int_eq(unpublished_mark(&unpublished, db, &sql, &error), PO_OK);
        fake_saw_nothing();
        unpublished_free(&unpublished);
}
END_TEST

START_TEST(what_is_marked_already_stays_as_it_is)
{
        read_two();
        ck_assert_int_eq(unpublished_mark(&unpublished, db, &sql, &error), PO_OK);
        ck_assert_str_eq(fake_statement("UPDATE outbox"),
                         "UPDATE outbox FORCE INDEX (PRIMARY) SET published_at = UTC_TIMESTAMP(6)"
                         " WHERE published_at IS NULL AND seq IN (7,9)");
}
END_TEST

START_TEST(a_refused_row_is_noted_with_its_aggregate)
{
        read_two();
        ck_assert_int_eq(unpublished_refuse(&unpublished.rows[1], "TOO_LARGE", db, &sql, &error),
                         PO_OK);
        const char *text = fake_statement("INSERT INTO outbox_refused");
        unit_assert_in(text, "VALUES (9,'order','1:R2','TOO_LARGE',1,");
        unit_assert_in(text, "ON DUPLICATE KEY UPDATE");
}
END_TEST

START_TEST(what_was_settled_since_is_no_longer_counted_as_refused)
{
        int64_t count;
        start();
        fake_rows("FROM outbox_refused");
        fake_row("2", "0");
        ck_assert_int_eq(refused_count(db, &sql, &count, &error), PO_OK);
        ck_assert_int_eq(count, 2);
        fake_saw("SELECT COUNT");
        fake_rows("FROM outbox_refused");
        fake_row("1", "3");
        ck_assert_int_eq(refused_count(db, &sql, &count, &error), PO_OK);
        ck_assert_int_eq(count, 1);
        fake_saw("SELECT COUNT", "DELETE r FROM outbox_refused");
}
END_TEST

START_TEST(a_lock_that_another_has_is_not_got)
{
        bool got;
        start();
        fake_rows("GET_LOCK");
        fake_row("0");
        ck_assert_int_eq(relay_lock(db, &sql, 1, &got, &error), PO_OK);
        ck_assert(!got);
        fake_rows("GET_LOCK");
        fake_row("1");
        ck_assert_int_eq(relay_lock(db, &sql, 1, &got, &error), PO_OK);
        ck_assert(got);
        fake_rows("IS_USED_LOCK");
        fake_row((const char *)NULL);
        ck_assert_int_eq(relay_has_lock(db, &sql, &got, &error), PO_OK);
        ck_assert(!got);
}
END_TEST

START_TEST(without_a_name_no_relay_works)
{
        char uuid[RELAY_UUID_BYTES];
        start();
        fake_rows("FROM relay");
        fake_row("0882c563-ed11-11f1-9297-02fc00000001");
        ck_assert_int_eq(relay_uuid(db, &sql, uuid, &error), PO_OK);
        ck_assert_str_eq(uuid, "0882c563-ed11-11f1-9297-02fc00000001");
        fake_rows("FROM relay");
        ck_assert_int_eq(relay_uuid(db, &sql, uuid, &error), PO_SYSTEMIC);
}
END_TEST

START_TEST(something_is_left_while_anything_is_unpublished)
{
        bool any;
        start();
        fake_rows("EXISTS");
        fake_row("1");
        ck_assert_int_eq(unpublished_any(db, &sql, &any, &error), PO_OK);
        ck_assert(any);
        fake_fail("EXISTS", PO_TRANSIENT, 2013);
        ck_assert_int_eq(unpublished_any(db, &sql, &any, &error), PO_TRANSIENT);
        unit_assert_in(error.text, "look at the outbox: ");
}
END_TEST

UNIT_MAIN("unpublished", rows_are_found_by_what_is_not_published_and_never_above_a_number,
          the_next_read_forgets_the_rows_before, what_is_marked_already_stays_as_it_is,
          a_refused_row_is_noted_with_its_aggregate,
          what_was_settled_since_is_no_longer_counted_as_refused,
          a_lock_that_another_has_is_not_got, without_a_name_no_relay_works,
          something_is_left_while_anything_is_unpublished)
