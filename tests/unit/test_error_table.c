#include "unit.h"

#include "commands/error_table.h"
#include "kafka/codes.h"
#include "mysql/classify.h"

static size_t count_of(const char *text, const char *piece)
{
        size_t count = 0;
        for (const char *at = text; (at = strstr(at, piece)) != NULL; at++)
                count++;
        return count;
}

static char *printed(enum table_format format)
{
        static char text[128 * 1024];
        fflush(stdout);
        int saved = dup(STDOUT_FILENO);
        FILE *file = tmpfile();
        ck_assert_int_eq(dup2(fileno(file), STDOUT_FILENO), STDOUT_FILENO);
        ck_assert_int_eq(error_table_print(format), 0);
        fflush(stdout);
        ck_assert_int_eq(dup2(saved, STDOUT_FILENO), STDOUT_FILENO);
        close(saved);
        rewind(file);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        return text;
}

START_TEST(every_code_of_both_sides_is_one_row)
{
        size_t mysql, kafka;
        (void)mysql_classes(&mysql);
        (void)kafka_codes(&kafka);
        const char *text = printed(TABLE_FORMAT_JSON);
        ck_assert_uint_eq(count_of(text, "\"mysql\""), mysql + 1);
        ck_assert_uint_eq(count_of(text, "\"kafka\""), kafka + 1);
        ck_assert_uint_eq(count_of(text, "\"any other\""), 2);
}
END_TEST

START_TEST(a_person_reads_class_and_mend)
{
        const char *text = printed(TABLE_FORMAT_TABLE);
        const char *row = strstr(text, " 1142 ");
        ck_assert_ptr_nonnull(row);
        unit_assert_in(row, "SYSTEMIC");
        unit_assert_in(row, "a right on a table is missing: see docs/operations.md");
        unit_assert_in(text, "WHILE_CONNECTING");
}
END_TEST

UNIT_MAIN("error_table", every_code_of_both_sides_is_one_row, a_person_reads_class_and_mend)
