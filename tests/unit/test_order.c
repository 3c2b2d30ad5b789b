/* Orders: how they are locked, moved, inserted and set; the servers' part is in integration. */
#include "fake_db.h"

#include "ledger/order.h"

static struct db *db;
static struct sql sql;
static struct bulk *moves;
static struct po_error error;
static struct order orders[8];
static size_t found;

#define COLUMNS                                                                                    \
        "SELECT tenant_id, order_no, amount, currency, status, paid_channel, paid_txn,"            \
        " paid_amount, refunded, refund_reserved, status_before_refund FROM payment_order"
#define LOCKED   " FORCE INDEX (PRIMARY) WHERE "
#define LOCK_END " ORDER BY tenant_id, order_no FOR UPDATE"

static enum po_class move(size_t count)
{
        bulk_close(moves);
        ck_assert_int_eq(bulk_open(&moves, db, &ORDER_MOVE_FORM, &error), PO_OK);
        return orders_move(moves, orders, count, &error);
}

static struct order order_of(int64_t tenant_id, const char *order_no, const char *status_read,
                             const char *status)
{
        struct order order = { .tenant_id = tenant_id,
                               .amount_minor = 12880,
                               .currency = "CNY",
                               .moved = strcmp(status_read, status) != 0 };
        snprintf(order.order_no, sizeof order.order_no, "%s", order_no);
        snprintf(order.status_read, sizeof order.status_read, "%s", status_read);
        snprintf(order.status, sizeof order.status, "%s", status);
        return order;
}

START_TEST(ids_compare_by_tenant_then_bytes)
{
        static const struct order_id ascending[] = {
                { -1, "Z" }, { 1, "" }, { 1, "A" }, { 1, "AB" }, { 1, "a" }, { 1, "é" }, { 2, "A" },
        };
        for (size_t i = 0; i < sizeof ascending / sizeof ascending[0]; i++)
                for (size_t j = 0; j < sizeof ascending / sizeof ascending[0]; j++) {
                        int way = order_id_compare(&ascending[i], &ascending[j]);
                        ck_assert_int_eq((way > 0) - (way < 0), (i > j) - (i < j));
                }
}
END_TEST

START_TEST(no_orders_lock_nothing)
{
        db = fake_db_open();
        found = 7;
        ck_assert_int_eq(orders_lock(db, &sql, NULL, 0, orders, &found, &error), PO_OK);
        ck_assert_uint_eq(found, 0);
        fake_saw_nothing();
}
END_TEST

START_TEST(orders_are_locked_by_primary_key_in_its_order)
{
        static const struct order_id ids[] = { { 1, "A" }, { 1, "it's" }, { 2, "A" }, { 3, "B" } };
        db = fake_db_open();
        ck_assert_int_eq(orders_lock(db, &sql, ids, 4, orders, &found, &error), PO_OK);
        fake_saw(COLUMNS LOCKED "(tenant_id = 1 AND order_no IN ('A','it\\'s')) OR"
                                " (tenant_id = 2 AND order_no IN ('A')) OR"
                                " (tenant_id = 3 AND order_no IN ('B'))" LOCK_END);
        ck_assert_uint_eq(found, 0);
}
END_TEST

START_TEST(a_locked_row_is_read_whole)
{
        static const struct order_id ids[] = { { 1, "A" }, { 1, "B" }, { 2, "C" } };
        db = fake_db_open();
        fake_rows("FOR UPDATE");
        fake_row("1", "A", "12880", "CNY", "PENDING_PAY", NULL, NULL, NULL, "0", "0", NULL);
        fake_row("2", "C", "5", "JPY", "PAID", "SQB", "T1/2", "4", "3", "2", "SHIPPED");
        ck_assert_int_eq(orders_lock(db, &sql, ids, 3, orders, &found, &error), PO_OK);
        ck_assert_uint_eq(found, 2);
        ck_assert_str_eq(orders[0].order_no, "A");
        ck_assert_str_eq(orders[0].paid_channel, "");
        ck_assert_str_eq(orders[0].paid_txn, "");
        ck_assert_int_eq(orders[0].paid_amount, 0);
        ck_assert_str_eq(orders[0].status_read, "PENDING_PAY");
        ck_assert(!orders[0].moved);
        ck_assert_int_eq(orders[1].tenant_id, 2);
        ck_assert_int_eq(orders[1].amount_minor, 5);
        ck_assert_str_eq(orders[1].currency, "JPY");
        ck_assert_str_eq(orders[1].status, "PAID");
        ck_assert_str_eq(orders[1].status_read, "PAID");
        ck_assert_str_eq(orders[1].paid_channel, "SQB");
        ck_assert_str_eq(orders[1].paid_txn, "T1/2");
        ck_assert_int_eq(orders[1].paid_amount, 4);
        ck_assert_str_eq(orders[0].status_before_refund, "");
        ck_assert_str_eq(orders[1].status_before_refund, "SHIPPED");
        ck_assert_int_eq(orders[1].refunded, 3);
        ck_assert_int_eq(orders[1].refund_reserved, 2);
}
END_TEST

START_TEST(a_lock_that_fails_finds_nothing)
{
        static const struct order_id id = { 1, "A" };
        db = fake_db_open();
        fake_fail("FOR UPDATE", PO_TRANSIENT, 1205);
        ck_assert_int_eq(orders_lock(db, &sql, &id, 1, orders, &found, &error), PO_TRANSIENT);
        ck_assert_uint_eq(found, 0);
        unit_assert_in(error.text, "lock 1 orders: ");
}
END_TEST

START_TEST(orders_that_did_not_move_are_not_written)
{
        db = fake_db_open();
        orders[0] = order_of(1, "A", "PAID", "PAID");
        ck_assert_int_eq(move(1), PO_OK);
        ck_assert_int_eq(move(0), PO_OK);
        fake_saw_nothing();
}
END_TEST

START_TEST(each_moved_order_is_written_once_under_the_state_it_was_read_in)
{
        db = fake_db_open();
        orders[0] = order_of(1, "A", "PENDING_PAY", "PAID");
        snprintf(orders[0].paid_channel, sizeof orders[0].paid_channel, "SQB");
        snprintf(orders[0].paid_txn, sizeof orders[0].paid_txn, "T1");
        orders[0].paid_amount = 12880;
        orders[1] = order_of(1, "B", "PAID", "PAID");
        orders[2] = order_of(2, "C", "PAID", "SHIPPED");
        ck_assert_int_eq(move(3), PO_OK);
        fake_saw(FAKE_MOVE
                 ", paid_txn, paid_amount, refunded, refund_reserved,"
                 " status_before_refund, moved_at) VALUES (1,'A',1,'XXX','PAID','SQB',"
                 "'T1',12880,0,0,NULL,UTC_TIMESTAMP(6)) ON DUPLICATE KEY UPDATE"
                 " payment_order.paid_channel = IF(payment_order.status = 'PENDING_PAY',"
                 " VALUES(paid_channel), payment_order.paid_channel)",
                 FAKE_MOVE
                 ", paid_txn, paid_amount, refunded, refund_reserved,"
                 " status_before_refund, moved_at) VALUES (2,'C',1,'XXX','SHIPPED',NULL,"
                 "NULL,NULL,0,0,NULL,UTC_TIMESTAMP(6)) ON DUPLICATE KEY UPDATE");
        /* The state that all ask for is set behind all of them. */
        unit_assert_in(fake_statement(FAKE_MOVE),
                       ", payment_order.status = IF(payment_order.status = 'PAID', VALUES(status),"
                       " payment_order.status)");
        ck_assert_uint_eq(strlen(strstr(fake_statement(FAKE_MOVE), ", payment_order.status = ")),
                          strlen(", payment_order.status = IF(payment_order.status = 'PAID',"
                                 " VALUES(status), payment_order.status)"));
}
END_TEST

START_TEST(another_number_of_rows_than_were_judged_is_a_bug)
{
        static const uint64_t affected[] = { 0, 2, 3, 5 };
        for (size_t i = 0; i < sizeof affected / sizeof affected[0]; i++) {
                db = fake_db_open();
                orders[0] = order_of(1, "A", "PENDING_PAY", "PAID");
                orders[1] = order_of(1, "B", "PENDING_PAY", "PAID");
                fake_affect(FAKE_MOVE, affected[i]);
                ck_assert_int_eq(move(2), PO_BUG);
                unit_assert_in(error.text, "move orders: 2 were judged in state PENDING_PAY, ");
        }
}
END_TEST

START_TEST(an_order_that_is_there_is_left_as_it_is)
{
        db = fake_db_open();
        ck_assert_int_eq(orders_insert(db, &sql, NULL, 0, &error), PO_OK);
        fake_saw_nothing();
        orders[0] = order_of(1, "A", "", "PENDING_PAY");
        orders[1] = order_of(2, "B", "", "PENDING_PAY");
        ck_assert_int_eq(orders_insert(db, &sql, orders, 2, &error), PO_OK);
        fake_saw("INSERT INTO payment_order (tenant_id, order_no, amount, currency, status)"
                 " VALUES (1,'A',12880,'CNY','PENDING_PAY'),(2,'B',12880,'CNY','PENDING_PAY')"
                 " ON DUPLICATE KEY UPDATE payment_order.order_no = payment_order.order_no");
        ck_assert(!fake_was_in_transaction("INSERT INTO payment_order"));
        fake_fail("INSERT INTO payment_order", PO_RECORD, 3819);
        ck_assert_int_eq(orders_insert(db, &sql, orders, 2, &error), PO_RECORD);
        unit_assert_in(error.text, "insert 2 orders: ");
}
END_TEST

static const struct order_id wanted = { 1, "A" };

START_TEST(one_order_is_read_without_a_lock)
{
        bool is_there = true;
        db = fake_db_open();
        ck_assert_int_eq(order_read(db, &sql, &wanted, orders, &is_there, &error), PO_OK);
        ck_assert(!is_there);
        fake_saw(COLUMNS " WHERE (tenant_id = 1 AND order_no IN ('A'))");
        unit_assert_not_in(fake_statement("SELECT"), "FOR UPDATE");

        fake_rows("FROM payment_order");
        fake_row("1", "A", "12880", "CNY", "PAID", "SQB", "T1", "12880", "0", "0", NULL);
        ck_assert_int_eq(order_read(db, &sql, &wanted, orders, &is_there, &error), PO_OK);
        ck_assert(is_there);
        ck_assert_str_eq(orders[0].status, "PAID");

        fake_fail("FROM payment_order", PO_TRANSIENT, 2013);
        ck_assert_int_eq(order_read(db, &sql, &wanted, orders, &is_there, &error), PO_TRANSIENT);
        ck_assert(!is_there);
}
END_TEST

static enum po_class set(const char *status)
{
        return order_set(db, &sql, &wanted, status, "ann", "because", &error);
}

static void paid_order(void)
{
        fake_rows("FOR UPDATE");
        fake_row("1", "A", "12880", "CNY", "PAID", "SQB", "T1", "12880", "0", "0", NULL);
}

START_TEST(setting_a_state_is_audited_in_the_same_transaction)
{
        db = fake_db_open();
        paid_order();
        ck_assert_int_eq(set("CLOSED"), PO_OK);
        fake_saw("BEGIN", COLUMNS LOCKED,
                 FAKE_MOVE
                 ", paid_txn, paid_amount, refunded, refund_reserved,"
                 " status_before_refund, moved_at) VALUES (1,'A',1,'XXX','CLOSED','SQB',"
                 "'T1',12880,0,0,NULL,UTC_TIMESTAMP(6))",
                 "INSERT INTO audit (at, who, verb, what, why) VALUES (UTC_TIMESTAMP(6), 'ann',"
                 "'order set','1/A PAID -> CLOSED','because')",
                 "SELECT 1 FROM parked LIMIT 1", "COMMIT");
        ck_assert(fake_was_in_transaction("INSERT INTO audit"));
}
END_TEST

START_TEST(an_unknown_order_is_not_set)
{
        db = fake_db_open();
        ck_assert_int_eq(set("CLOSED"), PO_RECORD);
        ck_assert_str_eq(error.reason, "ORDER_UNKNOWN");
        fake_saw("BEGIN", COLUMNS, "ROLLBACK");
}
END_TEST

START_TEST(whatever_fails_while_setting_leaves_nothing_behind)
{
        static const char *const pieces[] = { "FOR UPDATE", FAKE_MOVE, "INSERT INTO audit" };
        for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
                db = fake_db_open();
                if (i > 0)
                        paid_order();
                fake_fail(pieces[i], PO_SYSTEMIC, 1142);
                ck_assert_int_eq(set("CLOSED"), PO_SYSTEMIC);
                ck_assert(!db_is_in_transaction(db));
                ck_assert_uint_eq(fake_count("COMMIT"), 0);
                ck_assert_uint_eq(fake_count("ROLLBACK"), 1);
        }
        db = fake_db_open();
        fake_fail("BEGIN", PO_SYSTEMIC, 1040);
        ck_assert_int_eq(set("CLOSED"), PO_SYSTEMIC);
        fake_saw("BEGIN");
}
END_TEST

START_TEST(a_commit_without_an_answer_is_uncertain)
{
        db = fake_db_open();
        paid_order();
        fake_fail("COMMIT", PO_UNCERTAIN, 2013);
        ck_assert_int_eq(set("CLOSED"), PO_UNCERTAIN);
        ck_assert(!db_is_in_transaction(db));
}
END_TEST

START_TEST(the_longest_order_fits_the_audit_line)
{
        static const char state[] = "S2345678901234567890123456789012";
        char order_no[PO_ORDER_NO_BYTES];
        memset(order_no, 'n', sizeof order_no - 1);
        order_no[sizeof order_no - 1] = '\0';
        const struct order_id id = { INT64_MIN, order_no };
        db = fake_db_open();
        fake_rows("FOR UPDATE");
        fake_row("1", order_no, "1", "CNY", state, NULL, NULL, NULL, "0", "0", NULL);
        ck_assert_int_eq(order_set(db, &sql, &id, state, "ann", "because", &error), PO_OK);
        unit_assert_in(fake_statement("INSERT INTO audit"),
                       "S2345678901234567890123456789012 -> S2345678901234567890123456789012'");
}
END_TEST

START_TEST(what_waits_for_an_order_is_made_due_by_who_sets_it)
{
        db = fake_db_open();
        paid_order();
        fake_rows("SELECT 1 FROM parked");
        fake_row("1");
        ck_assert_int_eq(set("SHIPPED"), PO_OK);
        fake_saw("BEGIN", COLUMNS LOCKED, FAKE_MOVE, "INSERT INTO audit", "SELECT 1 FROM parked",
                 "UPDATE parked", "COMMIT");
        ck_assert(fake_was_in_transaction("UPDATE parked"));
        unit_assert_in(fake_statement("UPDATE parked"), "(tenant_id = 1 AND order_no IN ('A'))");
}
END_TEST

START_TEST(registered_orders_make_due_what_waits_for_them_in_the_same_transaction)
{
        enum { MANY = 70 };
        struct order many[MANY];
        for (int i = 0; i < MANY; i++) {
                many[i] = order_of(1, "", "", "PENDING_PAY");
                snprintf(many[i].order_no, sizeof many[i].order_no, "R%02d", i);
        }
        db = fake_db_open();
        for (int i = 0; i < 2; i++) {
                fake_rows("SELECT 1 FROM parked");
                fake_row("1");
        }
        ck_assert_int_eq(orders_register(db, &sql, many, MANY, &error), PO_OK);
        fake_saw("BEGIN", "INSERT INTO payment_order", "SELECT 1 FROM parked", "UPDATE parked",
                 "SELECT 1 FROM parked", "UPDATE parked", "COMMIT");
        ck_assert(fake_was_in_transaction("INSERT INTO payment_order"));
        unit_assert_in(fake_statement("UPDATE parked"), "order_no IN ('R64','R65','R66','R67',"
                                                        "'R68','R69'))");
}
END_TEST

START_TEST(whatever_fails_while_registering_leaves_nothing_behind)
{
        static const char *const pieces[] = { "INSERT INTO payment_order", "SELECT 1 FROM parked",
                                              "UPDATE parked" };
        orders[0] = order_of(1, "A", "", "PENDING_PAY");
        for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
                db = fake_db_open();
                if (i == 2) {
                        fake_rows("SELECT 1 FROM parked");
                        fake_row("1");
                }
                fake_fail(pieces[i], PO_SYSTEMIC, 1142);
                ck_assert_int_eq(orders_register(db, &sql, orders, 1, &error), PO_SYSTEMIC);
                ck_assert_uint_eq(fake_count("COMMIT"), 0);
                ck_assert_uint_eq(fake_count("ROLLBACK"), 1);
        }
        db = fake_db_open();
        fake_fail("COMMIT", PO_UNCERTAIN, 2013);
        ck_assert_int_eq(orders_register(db, &sql, orders, 1, &error), PO_UNCERTAIN);
}
END_TEST

START_TEST(a_registration_that_lost_a_deadlock_is_done_again)
{
        db = fake_db_open();
        orders[0] = order_of(1, "A", "PENDING_PAY", "PENDING_PAY");
        fake_fail("INSERT INTO payment_order", PO_TRANSIENT, 1213);
        ck_assert_int_eq(orders_register(db, &sql, orders, 1, &error), PO_OK);
        ck_assert_uint_eq(fake_count("INSERT INTO payment_order"), 2);
        ck_assert_uint_eq(fake_count("ROLLBACK"), 1);
        ck_assert_uint_eq(fake_count("COMMIT"), 1);
}
END_TEST

UNIT_MAIN("order", ids_compare_by_tenant_then_bytes, no_orders_lock_nothing,
          orders_are_locked_by_primary_key_in_its_order, a_locked_row_is_read_whole,
          a_lock_that_fails_finds_nothing, orders_that_did_not_move_are_not_written,
          each_moved_order_is_written_once_under_the_state_it_was_read_in,
          another_number_of_rows_than_were_judged_is_a_bug, an_order_that_is_there_is_left_as_it_is,
          one_order_is_read_without_a_lock, setting_a_state_is_audited_in_the_same_transaction,
          an_unknown_order_is_not_set, whatever_fails_while_setting_leaves_nothing_behind,
          a_commit_without_an_answer_is_uncertain, the_longest_order_fits_the_audit_line,
          what_waits_for_an_order_is_made_due_by_who_sets_it,
          registered_orders_make_due_what_waits_for_them_in_the_same_transaction,
          whatever_fails_while_registering_leaves_nothing_behind,
          a_registration_that_lost_a_deadlock_is_done_again)
