/*
 * Entries as a file that other programs read: an hledger journal or CSV. Pure text, one entry at a
 * time; the entries of a claim come one after the other.
 */
#ifndef COMMANDS_JOURNAL_H
#define COMMANDS_JOURNAL_H

#include <stdbool.h>
#include <stdio.h>

#include "ledger/book.h"
#include "postonce/error.h"

enum { JOURNAL_CURRENCIES_MAX = 256 }; /* more than ISO 4217 has */

enum journal_format { JOURNAL_HLEDGER, JOURNAL_CSV };
extern const char *const journal_format_words[]; /* "hledger", "csv", NULL */

struct journal {
        FILE *stream;
        enum journal_format format;
        /* hledger knows no tenants: with several, "tenant:7:" stands in front of each account. */
        bool with_tenants;
        int64_t claim_id; /* of the transaction that is open; 0: none */

        /* journal.c's: what was declared. */
        size_t currencies_count;
        char currencies[JOURNAL_CURRENCIES_MAX][PO_CURRENCY_BYTES];
        struct book_account declared; /* the last one */
};

/* What stands before the first entry. */
void journal_begin(struct journal *journal);
/* hledger: declares an account, and its currency with as many decimals as it has. SYSTEMIC: a
 * currency that this program does not know. */
PO_MUST_USE enum po_class journal_declare(struct journal *journal,
                                          const struct book_account *account,
                                          struct po_error *error);
/* SYSTEMIC: as above, or the stream cannot be written. */
PO_MUST_USE enum po_class journal_entry(struct journal *journal, const struct book_entry *entry,
                                        struct po_error *error);

/*
 * A text of ours as a word of hledger's: what means something there (a ';', two spaces, brackets at
 * the beginning …) is percent-encoded, and so is '%', so no two texts become one. Cut at capacity.
 */
void journal_word(char *word_out, size_t capacity, const char *text);

#endif
