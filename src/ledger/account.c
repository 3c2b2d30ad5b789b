#include "ledger/account.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Known accounts: an open-addressing table that is emptied when it fills, so memory has a bound. */
enum { TABLE_SLOTS = 1 << 14, TABLE_FULL = TABLE_SLOTS / 2 };

struct account {
        int64_t id; /* 0 with a code: wanted, not made yet */
        int64_t tenant_id;
        char code[ACCOUNT_CODE_BYTES];
        char currency[PO_CURRENCY_BYTES];
};

struct accounts {
        struct db *db;
        size_t used, wanted_count;
        struct account *table;
        struct account **wanted; /* slots of the table, TABLE_FULL of them */
};

enum po_class accounts_open(struct accounts **accounts_out, struct db *db, struct po_error *error)
{
        struct accounts *accounts = calloc(1, sizeof *accounts);
        *accounts_out = accounts;
        if (accounts != NULL) {
                accounts->db = db;
                accounts->table = calloc(TABLE_SLOTS, sizeof *accounts->table);
                accounts->wanted = calloc(TABLE_FULL, sizeof(struct account *));
        }
        if (accounts == NULL || accounts->table == NULL || accounts->wanted == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for the account table");
        return PO_OK;
}

void accounts_close(struct accounts *accounts)
{
        if (accounts == NULL)
                return;
        free(accounts->table);
        free(accounts->wanted);
        free(accounts);
}

void accounts_forget(struct accounts *accounts)
{
        memset(accounts->table, 0, TABLE_SLOTS * sizeof *accounts->table);
        accounts->used = 0;
        accounts->wanted_count = 0;
}

void accounts_trim(struct accounts *accounts)
{
        /* Those still wanted are a failed unit's: in the table without an id, never made. */
        if (accounts->used > TABLE_FULL / 2 || accounts->wanted_count > 0)
                accounts_forget(accounts);
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
        for (; *text != '\0'; text++)
                hash = (hash ^ (unsigned char)*text) * 0x100000001b3U;
        return hash;
}

/* The account's slot, or the empty one where it would go. */
static struct account *find(const struct accounts *accounts, int64_t tenant_id, const char *code,
                            const char *currency)
{
        uint64_t hash = hash_text(0xcbf29ce484222325U ^ (uint64_t)tenant_id, code);
        hash = hash_text(hash, currency);
        for (size_t i = hash % TABLE_SLOTS;; i = (i + 1) % TABLE_SLOTS) {
                struct account *account = &accounts->table[i];
                if (account->code[0] == '\0')
                        return account;
                if (account->tenant_id == tenant_id && strcmp(account->code, code) == 0 &&
                    strcmp(account->currency, currency) == 0)
                        return account;
        }
}

enum po_class accounts_want(struct accounts *accounts, int64_t tenant_id, const char *code,
                            const char *currency, struct po_error *error)
{
        struct account *account = find(accounts, tenant_id, code, currency);
        if (account->code[0] != '\0')
                return PO_OK;
        if (accounts->used >= TABLE_FULL)
                return po_refuse(error, "TOO_MANY_ACCOUNTS",
                                 "one batch needs more than %d accounts", TABLE_FULL);
        account->tenant_id = tenant_id;
        text_copy(account->code, sizeof account->code, code);
        text_copy(account->currency, sizeof account->currency, currency);
        accounts->used++;
        accounts->wanted[accounts->wanted_count++] = account;
        return PO_OK;
}

int64_t accounts_id(const struct accounts *accounts, int64_t tenant_id, const char *code,
                    const char *currency)
{
        return find(accounts, tenant_id, code, currency)->id;
}

static int compare_wanted(const void *left, const void *right)
{
        const struct account *a = *(struct account *const *)left;
        const struct account *b = *(struct account *const *)right;
        if (a->tenant_id != b->tenant_id)
                return a->tenant_id < b->tenant_id ? -1 : 1;
        int by_code = strcmp(a->code, b->code);
        return by_code != 0 ? by_code : strcmp(a->currency, b->currency);
}

static void write_wanted(struct sql *sql, const struct accounts *accounts)
{
        sql_reset(sql);
        sql_raw(sql, "INSERT INTO account (tenant_id, code, currency, created_at) VALUES ");
        for (size_t i = 0; i < accounts->wanted_count; i++) {
                const struct account *account = accounts->wanted[i];
                sql_raw(sql, i == 0 ? "(" : ",(");
                sql_integer(sql, account->tenant_id);
                sql_raw(sql, ",");
                sql_text(sql, account->code);
                sql_raw(sql, ",");
                sql_text(sql, account->currency);
                sql_raw(sql, ",UTC_TIMESTAMP(6))");
        }
        sql_raw(sql, " ON DUPLICATE KEY UPDATE account.created_at = account.created_at");
}

static enum po_class read_wanted(struct accounts *accounts, struct sql *sql, struct po_error *error)
{
        sql_reset(sql);
        sql_raw(sql, "SELECT id, tenant_id, code, currency FROM account WHERE ");
        for (size_t i = 0; i < accounts->wanted_count; i++) {
                sql_raw(sql, i == 0 ? "(tenant_id = " : " OR (tenant_id = ");
                sql_integer(sql, accounts->wanted[i]->tenant_id);
                sql_raw(sql, " AND code = ");
                sql_text(sql, accounts->wanted[i]->code);
                sql_raw(sql, " AND currency = ");
                sql_text(sql, accounts->wanted[i]->currency);
                sql_raw(sql, ")");
        }
        if (db_query(accounts->db, sql, error) != PO_OK)
                return error->kind;
        while (db_next_row(accounts->db)) {
                struct account *account = find(accounts, db_integer(accounts->db, 1),
                                               db_text(accounts->db, 2), db_text(accounts->db, 3));
                account->id = db_integer(accounts->db, 0);
        }
        db_rows_end(accounts->db);
        return PO_OK;
}

enum po_class accounts_make(struct accounts *accounts, struct sql *sql, struct po_error *error)
{
        if (accounts->wanted_count == 0)
                return PO_OK;
        qsort(accounts->wanted, accounts->wanted_count, sizeof(struct account *), compare_wanted);
        write_wanted(sql, accounts);
        if (db_exec(accounts->db, sql, NULL, error) != PO_OK ||
            read_wanted(accounts, sql, error) != PO_OK) {
                accounts_forget(accounts);
                return po_within(error, "make accounts");
        }
        accounts->wanted_count = 0;
        return PO_OK;
}

static const struct {
        const char *text;
        size_t bytes;
} VARIABLES[] = { { "{channel}", 9 }, { "{tenant}", 8 }, { "{currency}", 10 } };
enum { VARIABLE_CHANNEL, VARIABLE_TENANT, VARIABLE_CURRENCY, VARIABLES_COUNT };

/* The length of the variable that text starts with and its index, or 0. */
static size_t variable_at(const char *text, size_t *index_out)
{
        if (text[0] != '{')
                return 0;
        for (size_t i = 0; i < VARIABLES_COUNT; i++) {
                if (strncmp(text, VARIABLES[i].text, VARIABLES[i].bytes) == 0) {
                        *index_out = i;
                        return VARIABLES[i].bytes;
                }
        }
        return 0;
}

int account_template_ok(const char *template, const char **bad_out)
{
        for (const char *at = template; *at != '\0';) {
                size_t index, length = variable_at(at, &index);
                if (length == 0 && (*at == '{' || *at == '}')) {
                        *bad_out = at;
                        return 0;
                }
                at += length > 0 ? length : 1;
        }
        return 1;
}

/* The variable's value; tenant is room for the digits. */
static const char *variable_value(size_t index, const struct po_notification *notification,
                                  char tenant[24])
{
        if (index == VARIABLE_CHANNEL)
                return notification->channel;
        if (index == VARIABLE_CURRENCY)
                return notification->currency;
        snprintf(tenant, 24, "%lld", (long long)notification->tenant_id);
        return tenant;
}

enum po_class account_expand(const char *template, const struct po_notification *notification,
                             char code_out[ACCOUNT_CODE_BYTES], struct po_error *error)
{
        char tenant[24];
        size_t used = 0;
        for (const char *at = template; *at != '\0';) {
                size_t index, length = variable_at(at, &index);
                const char *piece = at;
                size_t bytes = length == 0 ? 1 + strcspn(at + 1, "{") : 0;
                if (length > 0) {
                        piece = variable_value(index, notification, tenant);
                        bytes = strlen(piece);
                }
                if (used + bytes >= ACCOUNT_CODE_BYTES)
                        return po_refuse(error, "ACCOUNT_TOO_LONG",
                                         "account \"%.40s…\" is longer than %d bytes", template,
                                         ACCOUNT_CODE_BYTES - 1);
                memcpy(code_out + used, piece, bytes);
                used += bytes;
                at += length > 0 ? length : bytes;
        }
        code_out[used] = '\0';
        return PO_OK;
}
