/* Opening balances in a file, and where each complaint points. */
#include "unit.h"

#include "commands/opening_file.h"

static struct po_error error;
static struct csv *csv;
static struct opening opening;

static enum po_class reads(const char *text)
{
        char path[] = "/tmp/postonce-opening-XXXXXX";
        bool there;
        int fd = mkstemp(path);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
        close(fd);
        csv_close(csv);
        enum po_class kind = opening_file_open(&csv, path, &error);
        unlink(path);
        if (kind != PO_OK)
                return kind;
        ck_assert_int_eq(csv_next(csv, &there, &error), PO_OK);
        ck_assert(there);
        return opening_file_row(csv, 3, &opening, &error);
}

START_TEST(a_row_is_an_account_and_a_signed_amount)
{
        ck_assert_int_eq(reads("amount,account,currency\n-128.80,a:b,CNY\n"), PO_OK);
        ck_assert_str_eq(opening.account, "a:b");
        ck_assert_int_eq(opening.amount_minor, -12880);
        ck_assert_int_eq(opening.tenant_id, 3);
        ck_assert_int_eq(opening.effective_at_us, PO_TIME_UNKNOWN);
        ck_assert_int_eq(opening.line, 2);
        ck_assert_int_eq(reads("account,currency,amount,tenant_id,effective_at\n"
                               "a,JPY,5,9,1970-01-01T00:00:01Z\n"),
                         PO_OK);
        ck_assert_int_eq(opening.tenant_id, 9);
        ck_assert_int_eq(opening.effective_at_us, 1000000);
}
END_TEST

START_TEST(a_wrong_row_is_refused_with_its_line)
{
        const char *wrong[] = { "a,CNY,1.001,,", "a,cny,1,,",  "a,CNY,0,,",    "a,CNY,,,",
                                ",CNY,1,,",      "a,CNY,1,0,", "a,CNY,1,,now", "a,JPY,1.5,," };
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
                char text[128];
                snprintf(text, sizeof text, "account,currency,amount,tenant_id,effective_at\n%s\n",
                         wrong[i]);
                ck_assert_msg(reads(text) == PO_RECORD, "accepted: %s", wrong[i]);
                unit_assert_in(error.text, ":2: ");
        }
        ck_assert_int_eq(reads("account,amount\n"), PO_RECORD);
        unit_assert_in(error.text, ":1: the header has no column currency");
}
END_TEST

UNIT_MAIN("opening_file", a_row_is_an_account_and_a_signed_amount,
          a_wrong_row_is_refused_with_its_line)
