#include "commands/journal.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "channel/currency.h"
#include "channel/money.h"

enum { WORD_BYTES = 3 * BOOK_CODE_BYTES, DATE_CHARACTERS = 10 };

const char *const journal_format_words[] = {
        [JOURNAL_HLEDGER] = "hledger",
        [JOURNAL_CSV] = "csv",
        NULL,
};

/* A ':' parts hledger's account names, and no part may be empty. */
static bool colon_is_plain(const char *text, const char *at)
{
        return at != text && at[-1] != ':' && at[1] != '\0' && at[1] != ':';
}

static bool byte_is_plain(const char *text, const char *at)
{
        unsigned char byte = (unsigned char)*at;
        if (byte == ':')
                return colon_is_plain(text, at);
        return byte > ' ' && byte != 0x7f && strchr("%;,|()[]{}<>*!=@\"'~&#", *at) == NULL;
}

void journal_word(char *word_out, size_t capacity, const char *text)
{
        static const char hex[] = "0123456789ABCDEF";
        size_t used = 0;
        for (const char *at = text; *at != '\0' && used + 3 < capacity; at++) {
                if (byte_is_plain(text, at)) {
                        word_out[used++] = *at;
                        continue;
                }
                word_out[used++] = '%';
                word_out[used++] = hex[(unsigned char)*at >> 4];
                word_out[used++] = hex[(unsigned char)*at & 15];
        }
        word_out[used] = '\0';
}

static enum po_class exponent_of(const char *currency, int *exponent_out, struct po_error *error)
{
        if (currency_find(currency, exponent_out))
                return PO_OK;
        return po_fail(error, PO_SYSTEMIC, 0, "currency %s is not known to this program", currency);
}

static void write_account(const struct journal *journal, const struct book_account *account)
{
        char word[WORD_BYTES];
        journal_word(word, sizeof word, account->code);
        if (journal->with_tenants)
                fprintf(journal->stream, "tenant:%lld:", (long long)account->tenant_id);
        fputs(word, journal->stream);
}

void journal_begin(struct journal *journal)
{
        journal->claim_id = 0;
        journal->currencies_count = 0;
        journal->declared = (struct book_account){ 0 };
        if (journal->format == JOURNAL_HLEDGER)
                fputs("decimal-mark .\n", journal->stream);
        else
                fputs("claim_id,line,tenant_id,account,currency,amount,amount_minor,verdict,key,"
                      "event,order_no,effective_at,settled_at\r\n",
                      journal->stream);
}

static bool currency_is_new(struct journal *journal, const char *currency)
{
        for (size_t i = 0; i < journal->currencies_count; i++)
                if (strcmp(journal->currencies[i], currency) == 0)
                        return false;
        if (journal->currencies_count < JOURNAL_CURRENCIES_MAX)
                memcpy(journal->currencies[journal->currencies_count++], currency,
                       PO_CURRENCY_BYTES);
        return true;
}

/* Accounts come sorted: those of one name in several currencies stand together. */
static bool account_is_new(struct journal *journal, const struct book_account *account)
{
        bool same = journal->declared.tenant_id == account->tenant_id &&
                    strcmp(journal->declared.code, account->code) == 0;
        journal->declared = *account;
        return !same;
}

enum po_class journal_declare(struct journal *journal, const struct book_account *account,
                              struct po_error *error)
{
        char sample[MONEY_TEXT_BYTES];
        int exponent;
        if (journal->format != JOURNAL_HLEDGER)
                return PO_OK;
        if (exponent_of(account->currency, &exponent, error) != PO_OK)
                return error->kind;
        money_print(sample, 0, exponent);
        if (currency_is_new(journal, account->currency))
                fprintf(journal->stream, "commodity %s%s %s\n", sample, exponent == 0 ? "." : "",
                        account->currency);
        if (!account_is_new(journal, account))
                return PO_OK;
        fputs("account ", journal->stream);
        write_account(journal, account);
        fputc('\n', journal->stream);
        return PO_OK;
}

static void write_transaction(const struct journal *journal, const struct book_entry *entry)
{
        char order_no[WORD_BYTES];
        const char *date = entry->effective_at[0] != '\0' ? entry->effective_at : entry->settled_at;
        journal_word(order_no, sizeof order_no, entry->order_no);
        fprintf(journal->stream,
                "\n%.*s * (%lld) %s%s%s  ; key:%s, tenant:%lld, verdict:%s, settled:%s\n",
                DATE_CHARACTERS, date, (long long)entry->claim_id, entry->event,
                order_no[0] != '\0' ? " " : "", order_no, entry->key,
                (long long)entry->account.tenant_id, entry->verdict, entry->settled_at);
}

static void write_posting(struct journal *journal, const struct book_entry *entry,
                          const char *amount)
{
        if (journal->claim_id != entry->claim_id)
                write_transaction(journal, entry);
        journal->claim_id = entry->claim_id;
        fputs("    ", journal->stream);
        write_account(journal, &entry->account);
        fprintf(journal->stream, "  %s %s\n", amount, entry->account.currency);
}

/* A comma and the text, in quotes where it needs them. */
static void write_field(FILE *stream, const char *text)
{
        fputc(',', stream);
        if (strpbrk(text, ",\"\r\n") == NULL) {
                fputs(text, stream);
                return;
        }
        fputc('"', stream);
        for (; *text != '\0'; text++) {
                if (*text == '"')
                        fputc('"', stream);
                fputc(*text, stream);
        }
        fputc('"', stream);
}

static void write_row(const struct journal *journal, const struct book_entry *entry,
                      const char *amount)
{
        FILE *stream = journal->stream;
        fprintf(stream, "%lld,%lld,%lld", (long long)entry->claim_id, (long long)entry->line,
                (long long)entry->account.tenant_id);
        write_field(stream, entry->account.code);
        fprintf(stream, ",%s,%s,%lld,%s", entry->account.currency, amount,
                (long long)entry->amount_minor, entry->verdict);
        write_field(stream, entry->key);
        write_field(stream, entry->event);
        write_field(stream, entry->order_no);
        fprintf(stream, ",%s,%s\r\n", entry->effective_at, entry->settled_at);
}

enum po_class journal_entry(struct journal *journal, const struct book_entry *entry,
                            struct po_error *error)
{
        char amount[MONEY_TEXT_BYTES];
        int exponent;
        if (exponent_of(entry->account.currency, &exponent, error) != PO_OK)
                return error->kind;
        money_print(amount, entry->amount_minor, exponent);
        if (journal->format == JOURNAL_HLEDGER)
                write_posting(journal, entry, amount);
        else
                write_row(journal, entry, amount);
        if (ferror(journal->stream))
                return po_fail(error, PO_SYSTEMIC, errno, "the output could not be written");
        return PO_OK;
}
