/* Entries as other programs read them: nothing that an account or an order is called breaks out. */
#include "unit.h"

#include "commands/journal.h"

static struct po_error error;
static struct journal journal;
static char *text;
static size_t length;

static void begin(enum journal_format format, bool with_tenants)
{
        journal = (struct journal){ .stream = open_memstream(&text, &length),
                                    .format = format,
                                    .with_tenants = with_tenants };
        journal_begin(&journal);
}

static struct book_account account(int64_t tenant_id, const char *code, const char *currency)
{
        struct book_account made = { .tenant_id = tenant_id };
        snprintf(made.code, sizeof made.code, "%s", code);
        snprintf(made.currency, sizeof made.currency, "%s", currency);
        return made;
}

static struct book_entry entry(int64_t claim_id, const char *code, int64_t amount_minor)
{
        struct book_entry made = { .claim_id = claim_id,
                                   .line = 1,
                                   .account = account(7, code, "CNY"),
                                   .amount_minor = amount_minor,
                                   .verdict = "POSTED",
                                   .key = "SQB:T1:PAID",
                                   .event = "PAID",
                                   .order_no = "R1",
                                   .effective_at = "2026-01-14 04:21:07.231000",
                                   .settled_at = "2026-01-15 00:00:01.000000" };
        return made;
}

static void put(struct book_entry made)
{
        ck_assert_msg(journal_entry(&journal, &made, &error) == PO_OK, "%s", error.text);
}

static const char *written(void)
{
        fflush(journal.stream);
        return text;
}

START_TEST(a_posting_is_a_balanced_transaction)
{
        begin(JOURNAL_HLEDGER, false);
        put(entry(17, "channel:SQB:clearing", 12880));
        put(entry(17, "merchant:7:payable", -12880));
        put(entry(18, "x", 1));
        ck_assert_str_eq(written(),
                         "decimal-mark .\n"
                         "\n2026-01-14 * (17) PAID R1  ; key:SQB:T1:PAID, tenant:7, verdict:POSTED,"
                         " settled:2026-01-15 00:00:01.000000\n"
                         "    channel:SQB:clearing  128.80 CNY\n"
                         "    merchant:7:payable  -128.80 CNY\n"
                         "\n2026-01-14 * (18) PAID R1  ; key:SQB:T1:PAID, tenant:7, verdict:POSTED,"
                         " settled:2026-01-15 00:00:01.000000\n"
                         "    x  0.01 CNY\n");
}
END_TEST

START_TEST(accounts_and_currencies_are_declared_once)
{
        struct book_account accounts[] = { account(1, "a", "CNY"), account(1, "a", "JPY"),
                                           account(1, "b", "KWD"), account(2, "a", "CNY") };
        begin(JOURNAL_HLEDGER, true);
        for (size_t i = 0; i < 4; i++)
                ck_assert_int_eq(journal_declare(&journal, &accounts[i], &error), PO_OK);
        ck_assert_str_eq(written(), "decimal-mark .\ncommodity 0.00 CNY\naccount tenant:1:a\n"
                                    "commodity 0. JPY\ncommodity 0.000 KWD\naccount tenant:1:b\n"
                                    "account tenant:2:a\n");
        accounts[0] = account(1, "a", "ZZZ");
        ck_assert_int_eq(journal_declare(&journal, &accounts[0], &error), PO_SYSTEMIC);
}
END_TEST

START_TEST(what_means_something_to_hledger_is_encoded_and_nothing_else)
{
        static const struct {
                const char *text, *word;
        } cases[] = {
                { "merchant:7:payable", "merchant:7:payable" },
                { "支付:1", "支付:1" },
                { "a  b;c", "a%20%20b%3Bc" },
                { "(a)[b]", "%28a%29%5Bb%5D" },
                { ":a::b:", "%3Aa%3A%3Ab%3A" },
                { "50%\n\"x\"", "50%25%0A%22x%22" },
                { "", "" },
        };
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
                char word[64];
                journal_word(word, sizeof word, cases[i].text);
                ck_assert_str_eq(word, cases[i].word);
        }
        char cut[8];
        journal_word(cut, sizeof cut, ";;;;;");
        ck_assert_str_eq(cut, "%3B%3B");
}
END_TEST

START_TEST(csv_quotes_what_needs_it)
{
        struct book_entry made = entry(17, "a,\"b\"", -5);
        begin(JOURNAL_CSV, true);
        made.effective_at[0] = '\0';
        put(made);
        ck_assert_str_eq(written(),
                         "claim_id,line,tenant_id,account,currency,amount,amount_minor,verdict,key,"
                         "event,order_no,effective_at,settled_at\r\n"
                         "17,1,7,\"a,\"\"b\"\"\",CNY,-0.05,-5,POSTED,SQB:T1:PAID,PAID,R1,,"
                         "2026-01-15 00:00:01.000000\r\n");
}
END_TEST

START_TEST(a_posting_without_a_channels_time_stands_on_the_day_it_was_settled)
{
        struct book_entry made = entry(17, "a", 5);
        made.effective_at[0] = '\0';
        begin(JOURNAL_HLEDGER, false);
        put(made);
        unit_assert_in(written(), "\n2026-01-15 * (17)");
}
END_TEST

UNIT_MAIN("journal", a_posting_is_a_balanced_transaction, accounts_and_currencies_are_declared_once,
          what_means_something_to_hledger_is_encoded_and_nothing_else, csv_quotes_what_needs_it,
          a_posting_without_a_channels_time_stands_on_the_day_it_was_settled)
