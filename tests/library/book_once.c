/*
 * Books a notification once in a table of its own, with postonce's claims as the guard:
 *
 *   book_once PROFILE BODY STEP…
 *
 * Each step prints a line; the first that fails ends the program, its transaction rolled back
 * (exit 1). A program of one's own does acquire, begin, its statements, settle, commit, in this
 * order; here they are apart so that a test can do otherwise.
 *
 *   acquire   claims what BODY (a file, an envelope) says
 *   begin, commit, rollback
 *   sql=TEXT  a statement of the program's own
 *   settle    settles the claim in the program's transaction
 *   pause     waits for a line on standard input
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <mysql.h>

#include <postonce/claim.h>
#include <postonce/decode.h>
#include <postonce/ledger.h>

#include "database.h"

struct booking {
        struct po_ledger *ledger;
        MYSQL *mysql; /* the program's own connection */
        struct po_notification notifications[PO_NOTIFICATIONS_MAX];
        struct po_record record;
        struct po_claim claim;
        char body[65536];
};

static const char *const states[] = {
        [PO_CLAIM_UNFINISHED] = "UNFINISHED",
        [PO_CLAIM_SETTLED] = "SETTLED",
        [PO_CLAIM_CONFLICT] = "CONFLICT",
};

static int statement(struct booking *booking, const char *text)
{
        if (mysql_query(booking->mysql, text) == 0)
                return 0;
        printf("%s: %s\n", text, mysql_error(booking->mysql));
        return 1;
}

static int acquire(struct booking *booking, struct po_error *error)
{
        if (po_claim_acquire(booking->ledger, &booking->notifications[0], &booking->record,
                             &booking->claim, error) != PO_OK)
                return 1;
        printf("acquire %s %s\n", states[booking->claim.state], booking->claim.result);
        return 0;
}

static int step(struct booking *booking, const char *word, struct po_error *error)
{
        char line[16];
        if (strcmp(word, "acquire") == 0)
                return acquire(booking, error);
        if (strcmp(word, "settle") == 0)
                return po_claim_settle(booking->ledger, &booking->claim, booking->mysql, "BOOKED",
                                       error) != PO_OK;
        if (strncmp(word, "sql=", 4) == 0)
                return statement(booking, word + 4);
        if (strcmp(word, "pause") == 0) {
                printf("paused\n");
                fflush(stdout);
                return fgets(line, sizeof line, stdin) == NULL;
        }
        return statement(booking, word);
}

static int decode(struct booking *booking, const char *profile, const char *path,
                  struct po_error *error)
{
        size_t count = 0;
        const char *const profiles[] = { profile };
        struct po_decoder *decoder;
        FILE *file = fopen(path, "rb");
        if (file == NULL)
                return 1;
        booking->record.topic = "shop.http";
        booking->record.partition = -1;
        booking->record.value = booking->body;
        booking->record.value_bytes = fread(booking->body, 1, sizeof booking->body, file);
        fclose(file);
        if (po_decoder_open(&decoder, ".", profiles, 1, error) != PO_OK)
                return 1;
        enum po_class kind = po_decode(decoder, &booking->record, NULL, booking->notifications,
                                       PO_NOTIFICATIONS_MAX, &count, error);
        po_decoder_close(decoder);
        return kind != PO_OK || count != 1;
}

/* A session that is unlike postonce's own in all that it may be. */
static int connect_shop(struct booking *booking)
{
        char password[128] = "";
        FILE *file = fopen(getenv("DB_PASSWORD_FILE"), "r");
        if (file == NULL || fgets(password, sizeof password, file) == NULL)
                return 1;
        fclose(file);
        booking->mysql = mysql_init(NULL);
        mysql_options(booking->mysql, MYSQL_SET_CHARSET_NAME, "gbk");
        if (mysql_real_connect(booking->mysql, getenv("DB_HOST"), getenv("DB_USER"), password, NULL,
                               (unsigned)strtoul(getenv("DB_PORT"), NULL, 10), NULL, 0) == NULL)
                return 1;
        return statement(booking, "SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'");
}

int main(int argc, char **argv)
{
        static struct booking booking;
        struct po_error error = { .text = "" };
        if (argc < 4)
                return 64;
        signal(SIGPIPE, SIG_IGN);
        const struct po_database database = database_of_environment();
        int failed = decode(&booking, argv[1], argv[2], &error) != 0 ||
                     po_ledger_open(&booking.ledger, &database, NULL, &error) != PO_OK ||
                     connect_shop(&booking) != 0;
        for (int i = 3; i < argc && !failed; i++) {
                failed = step(&booking, argv[i], &error);
                if (!failed)
                        printf("%s: done\n", argv[i]);
        }
        if (failed)
                printf("failed: %s %s\n", po_class_name(error.kind), error.text);
        if (booking.mysql != NULL)
                mysql_close(booking.mysql);
        po_ledger_close(booking.ledger);
        return failed;
}
