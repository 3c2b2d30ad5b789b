#include "unit.h"

#include "mysql/classify.h"

static struct po_error error;

struct expected {
        enum po_class kind;
        unsigned numbers[40]; /* ends with 0 */
};

/* The numbers that the design names. */
static const struct expected expected[] = {
        { PO_TRANSIENT,
          { 1243, 1615, 1213, 1205, 1020, 1047, 1053, 1180, 1203, 1206, 1317, 3024,
            1969, 3100, 3101, 3572, 2006, 2013, 2055, 4031, 1927, 2002, 2003, 2005 } },
        { PO_SYSTEMIC,
          { 1040, 1044, 1045, 1049, 1054, 1114, 1021, 1129, 1130, 1142, 1146, 1226, 1235, 1690,
            1290, 1792, 1836 } },
        { PO_RECORD, { 1406, 1264, 1265, 1292, 1366, 1048, 3819, 4025 } },
        { PO_EXISTS, { 1062 } },
};

START_TEST(every_number_of_the_design_has_its_class)
{
        for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
                for (const unsigned *number = expected[i].numbers; *number != 0; number++) {
                        const struct mysql_class *class = mysql_classify(*number);
                        ck_assert_uint_eq(class->number, *number);
                        ck_assert_msg(class->kind == expected[i].kind, "%u is %s", *number,
                                      po_class_name(class->kind));
                }
}
END_TEST

START_TEST(the_table_ascends_and_every_row_has_a_meaning)
{
        size_t count;
        const struct mysql_class *classes = mysql_classes(&count);
        ck_assert_uint_ge(count, 49);
        for (size_t i = 0; i < count; i++) {
                ck_assert(i == 0 || classes[i - 1].number < classes[i].number);
                ck_assert_uint_gt(strlen(classes[i].meaning), 5);
                ck_assert_ptr_eq(mysql_classify(classes[i].number), &classes[i]);
        }
}
END_TEST

START_TEST(what_a_person_must_mend_says_how)
{
        size_t count;
        const struct mysql_class *classes = mysql_classes(&count);
        for (size_t i = 0; i < count; i++)
                if (classes[i].kind == PO_SYSTEMIC && classes[i].number < 2000)
                        unit_assert_in(classes[i].meaning, ": ");
}
END_TEST

START_TEST(an_unknown_number_is_a_bug)
{
        ck_assert_int_eq(mysql_classify(0)->kind, PO_BUG);
        ck_assert_int_eq(mysql_classify(1999)->kind, PO_BUG);
        ck_assert_int_eq(mysql_classify(2999)->kind, PO_BUG);
        ck_assert_int_eq(mysql_classify(65000)->kind, PO_BUG);
}
END_TEST

START_TEST(while_connecting_only_an_absent_server_passes_by_itself)
{
        static const unsigned away[] = { 1053, 2002, 2003, 2005, 2006, 2013, 2055 };
        static const unsigned other[] = { 1040, 1045, 1049, 1130, 1203, 1205, 1213,
                                          2007, 2012, 2026, 2059, 2061, 3159, 65000 };
        for (size_t i = 0; i < sizeof away / sizeof away[0]; i++)
                ck_assert_int_eq(mysql_classify_connect(away[i]), PO_TRANSIENT);
        for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
                ck_assert_int_eq(mysql_classify_connect(other[i]), PO_SYSTEMIC);
}
END_TEST

START_TEST(a_lost_connection_is_closed_and_leaves_commit_open)
{
        static const unsigned lost[] = { 1053, 1927, 2006, 2013, 2055, 2999, 3169, 4031 };
        for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++) {
                unsigned flags = mysql_classify(lost[i])->flags;
                ck_assert_msg((flags & MYSQL_CLOSES) != 0 && (flags & MYSQL_COMMIT_OPEN) != 0, "%u",
                              lost[i]);
        }
}
END_TEST

START_TEST(an_answer_to_commit_that_tells_nothing_leaves_it_open)
{
        static const unsigned open[] = { 1180, 1317, 65000 };
        for (size_t i = 0; i < sizeof open / sizeof open[0]; i++)
                ck_assert((mysql_classify(open[i])->flags & MYSQL_COMMIT_OPEN) != 0);
        ck_assert_uint_eq(mysql_classify(1213)->flags, 0);
        ck_assert_uint_eq(mysql_classify(3101)->flags, 0);
}
END_TEST

START_TEST(a_server_that_became_read_only_is_left)
{
        static const unsigned numbers[] = { 1290, 1792, 1836 };
        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
                ck_assert_uint_eq(mysql_classify(numbers[i])->flags, MYSQL_CLOSES);
}
END_TEST

START_TEST(a_value_that_the_server_quotes_is_not_shown)
{
        static const struct {
                unsigned number;
                const char *text;
        } quoting[] = {
                { 1064,
                  "You have an error in your SQL syntax; near 'SECRET' , 'SECRET')' at line 1" },
                { 1292, "Incorrect datetime value: 'SECRET' for column 'at' at row 1" },
                { 1300, "Invalid utf8mb4 character string: 'SECRET'" },
                { 1366, "Incorrect string value: 'SE'SECRET' for column `d`.`t`.`name` at row 1" },
                { 1366, "Incorrect string value: 'SECRET' for column 'name' at row 1" },
                { 65000, "Something about 'SECRET'" },
        };
        for (size_t i = 0; i < sizeof quoting / sizeof quoting[0]; i++) {
                mysql_explain(&error, quoting[i].number, PO_RECORD, quoting[i].text);
                unit_assert_not_in(error.text, "SECRET");
                unit_assert_in(error.text, "'...'");
        }
        mysql_explain(&error, 1366, PO_RECORD,
                      "Incorrect string value: 'SECRET' for column 'name' at row 1");
        unit_assert_in(error.text, "for column 'name' at row 1");
        mysql_explain(&error, 65000, PO_BUG, "one ' only");
        unit_assert_in(error.text, "one ' only");
}
END_TEST

START_TEST(an_explanation_has_number_text_and_mend)
{
        ck_assert_int_eq(mysql_explain(&error, 1146, PO_SYSTEMIC, "Table 'd.claim' doesn't exist"),
                         PO_SYSTEMIC);
        ck_assert_int_eq(error.kind, PO_SYSTEMIC);
        ck_assert_int_eq(error.code, 1146);
        ck_assert_str_eq(error.text,
                         "MySQL 1146: Table 'd.claim' doesn't exist: a table is missing: "
                         "run `postonce migrate`");
        mysql_explain(&error, 1690, PO_SYSTEMIC,
                      "BIGINT value is out of range in '(`b`.`amount` + 1)'");
        unit_assert_in(error.text, "in '(`b`.`amount` + 1)'");
        mysql_explain(&error, 1213, PO_TRANSIENT, "Deadlock found");
        ck_assert_str_eq(error.text, "MySQL 1213: Deadlock found");
}
END_TEST

UNIT_MAIN("classify", every_number_of_the_design_has_its_class,
          the_table_ascends_and_every_row_has_a_meaning, what_a_person_must_mend_says_how,
          an_unknown_number_is_a_bug, while_connecting_only_an_absent_server_passes_by_itself,
          a_lost_connection_is_closed_and_leaves_commit_open,
          an_answer_to_commit_that_tells_nothing_leaves_it_open,
          a_server_that_became_read_only_is_left, a_value_that_the_server_quotes_is_not_shown,
          an_explanation_has_number_text_and_mend)
