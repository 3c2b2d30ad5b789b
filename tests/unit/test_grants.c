/* The rights of three users: every table has its row, and a worker changes nothing that proves. */
#include "fake_db.h"

#include <regex.h>

#include "ledger/grants.h"
#include "mysql/migrate.h"

static struct sql sql;
static struct po_error error;
static const struct grants_users users = { "own", "work@10.0.0.%", "audit" };

static const struct grant *find(const char *table, size_t length)
{
        for (const struct grant *grant = grants; grant->table != NULL; grant++)
                if (strlen(grant->table) == length && memcmp(grant->table, table, length) == 0)
                        return grant;
        return NULL;
}

START_TEST(every_table_of_the_schema_has_a_row)
{
        regex_t created;
        regmatch_t found[3];
        size_t count = 0;
        ck_assert_int_eq(regcomp(&created, "CREATE (TABLE|VIEW) ([a-z_]+)", REG_EXTENDED), 0);
        for (const struct migration *at = migrations; at->version != 0; at++) {
                for (const char *text = at->text; regexec(&created, text, 3, found, 0) == 0;
                     text += found[0].rm_eo, count++) {
                        const char *table = text + found[2].rm_so;
                        size_t length = (size_t)(found[2].rm_eo - found[2].rm_so);
                        ck_assert_msg(find(table, length) != NULL,
                                      "%.*s has no row in grants[] of src/ledger/grants.c: say "
                                      "there what a worker may do with it",
                                      (int)length, table);
                }
        }
        regfree(&created);
        ck_assert_uint_gt(count, 15);
}
END_TEST

START_TEST(a_worker_cannot_change_what_proves_something)
{
        const char *proofs[] = { "outcome", "entry", "audit" };
        for (size_t i = 0; i < 3; i++)
                ck_assert_str_eq(find(proofs[i], strlen(proofs[i]))->worker, "SELECT, INSERT");
        ck_assert_str_eq(find("claim", 5)->worker,
                         "SELECT, INSERT, UPDATE (deliveries, last_seen_at)");
}
END_TEST

START_TEST(the_statements_name_the_three_users_and_quote_what_they_are_called)
{
        ck_assert_int_eq(grants_write(&sql, "po_1", false, &users, &error), PO_OK);
        unit_assert_in(sql.text, "CREATE VIEW, SHOW VIEW ON `po\\_1`.* TO 'own'@'%';\n");
        unit_assert_in(sql.text, "GRANT SELECT, INSERT ON `po_1`.`entry` TO 'work'@'10.0.0.%';\n");
        unit_assert_in(sql.text, "GRANT SELECT ON `po_1`.`notify_claim` TO 'audit'@'%';\n");
        unit_assert_not_in(sql.text, "`notify_claim` TO 'work'");
        unit_assert_in(sql.text, "UPDATE (deliveries, last_seen_at) ON `po_1`.`claim` TO 'work'");
        ck_assert_int_eq(grants_write(&sql, "po_1", true, &users, &error), PO_OK);
        unit_assert_in(sql.text, "GRANT SELECT, INSERT, UPDATE ON `po_1`.`claim` TO 'work'");
        unit_assert_in(sql.text, "GRANT SELECT, INSERT ON `po_1`.`entry` TO 'work'");
        const struct grants_users odd = { "o'x", "w", "a" };
        ck_assert_int_eq(grants_write(&sql, "p", false, &odd, &error), PO_OK);
        unit_assert_in(sql.text, "TO 'o\\'x'@'%';");
        ck_assert_int_eq(grants_write(&sql, "p`; DROP", false, &odd, &error), PO_RECORD);
        ck_assert_int_eq(grants_write(&sql, "", false, &odd, &error), PO_RECORD);
}
END_TEST

START_TEST(the_first_right_too_many_is_named)
{
        struct db *db = fake_db_open();
        const char *right;
        fake_fail("UPDATE outcome", PO_SYSTEMIC, 1142);
        fake_fail("DELETE FROM outcome", PO_SYSTEMIC, 1142);
        ck_assert_int_eq(grants_probe(db, &sql, &right, &error), PO_OK);
        ck_assert_str_eq(right, "UPDATE entry");
        fake_fail("UPDATE outcome", PO_TRANSIENT, 2013);
        ck_assert_int_eq(grants_probe(db, &sql, &right, &error), PO_TRANSIENT);
        const char *all[] = { "UPDATE outcome", "DELETE FROM outcome", "UPDATE entry",
                              "DELETE FROM entry", "DELETE FROM claim" };
        for (size_t i = 0; i < 5; i++)
                fake_fail(all[i], PO_SYSTEMIC, i == 2 ? 1143 : 1142);
        ck_assert_int_eq(grants_probe(db, &sql, &right, &error), PO_OK);
        ck_assert_ptr_null(right);
}
END_TEST

UNIT_MAIN("grants", every_table_of_the_schema_has_a_row,
          a_worker_cannot_change_what_proves_something,
          the_statements_name_the_three_users_and_quote_what_they_are_called,
          the_first_right_too_many_is_named)
