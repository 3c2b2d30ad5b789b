#include "ledger/grants.h"

#include <string.h>

enum { NAME_BYTES_MAX = 64, ER_TABLEACCESS_DENIED = 1142, ER_COLUMNACCESS_DENIED = 1143 };

/*
 * SELECT … FOR UPDATE needs UPDATE. So does ON DUPLICATE KEY UPDATE, on MySQL of the columns that
 * it changes; MariaDB asks for every column of the INSERT (1143), so there it has the whole table.
 */
const struct grant grants[] = {
        { "claim", "SELECT, INSERT, UPDATE (deliveries, last_seen_at)", "SELECT, INSERT, UPDATE" },
        { "outcome", "SELECT, INSERT", NULL },
        { "account", "SELECT, INSERT, UPDATE (created_at)", "SELECT, INSERT, UPDATE" },
        { "entry", "SELECT, INSERT", NULL },
        { "balance", "SELECT, INSERT, UPDATE (amount)", "SELECT, INSERT, UPDATE" },
        { "payment_order", "SELECT, INSERT, UPDATE", NULL },
        { "refund", "SELECT, INSERT, UPDATE", NULL },
        { "outbox", "SELECT, INSERT, UPDATE (published_at)", NULL },
        { "outbox_refused", "SELECT, INSERT, UPDATE, DELETE", NULL },
        { "relay", "SELECT", NULL },
        { "review", "SELECT, INSERT, UPDATE", NULL },
        { "failure", "SELECT, INSERT, UPDATE", NULL },
        { "dead_letter", "SELECT, INSERT, UPDATE", NULL },
        { "audit", "SELECT, INSERT", NULL },
        { "parked", "SELECT, INSERT, UPDATE, DELETE", NULL },
        { "pause", "SELECT, INSERT, UPDATE, DELETE", NULL },
        { "intake_pause", "SELECT, INSERT", NULL },
        { "hold", "SELECT, INSERT, UPDATE, DELETE", NULL },
        { "schema_version", "SELECT", NULL },
        { "notify_claim", NULL, NULL },
        { NULL, NULL, NULL },
};

static const char OWNER_RIGHTS[] = "SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, INDEX, DROP, "
                                   "CREATE VIEW, SHOW VIEW";

static bool name_is_plain(const char *name)
{
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789_$-";
        size_t length = strlen(name);
        return length > 0 && length <= NAME_BYTES_MAX && strspn(name, letters) == length;
}

/* 'name'@'host' */
static void write_user(struct sql *sql, const char *user)
{
        const char *at = strrchr(user, '@');
        sql_raw(sql, " TO ");
        sql_text_bytes(sql, user, at != NULL ? (size_t)(at - user) : strlen(user));
        sql_raw(sql, "@");
        sql_text(sql, at != NULL ? at + 1 : "%");
        sql_raw(sql, ";\n");
}

/* In the name of a whole database '_' stands for any character, unless it is escaped. */
static void write_database(struct sql *sql, const char *database)
{
        char letter[2] = { 0 };
        sql_raw(sql, "`");
        for (; *database != '\0'; database++) {
                letter[0] = *database;
                sql_raw(sql, letter[0] == '_' ? "\\_" : letter);
        }
        sql_raw(sql, "`.*");
}

static void write_table(struct sql *sql, const char *rights, const char *database,
                        const char *table, const char *user)
{
        sql_raw(sql, "GRANT ");
        sql_raw(sql, rights);
        sql_raw(sql, " ON ");
        sql_name(sql, database);
        sql_raw(sql, ".");
        sql_name(sql, table);
        write_user(sql, user);
}

/* As the server is. */
static const char *worker_rights(const struct grant *grant, bool mariadb)
{
        return mariadb && grant->mariadb != NULL ? grant->mariadb : grant->worker;
}

enum po_class grants_write(struct sql *sql, const char *database, bool mariadb,
                           const struct grants_users *users, struct po_error *error)
{
        if (!name_is_plain(database))
                return po_refuse(error, "NAME_MALFORMED", "\"%.80s\" is no name of a database here",
                                 database);
        sql_reset(sql);
        sql_raw(sql, "GRANT ");
        sql_raw(sql, OWNER_RIGHTS);
        sql_raw(sql, " ON ");
        write_database(sql, database);
        write_user(sql, users->owner);
        for (const struct grant *grant = grants; grant->table != NULL; grant++)
                if (grant->worker != NULL)
                        write_table(sql, worker_rights(grant, mariadb), database, grant->table,
                                    users->worker);
        for (const struct grant *grant = grants; grant->table != NULL; grant++)
                write_table(sql, "SELECT", database, grant->table, users->auditor);
        if (sql->failed)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory");
        return PO_OK;
}

static const struct probe {
        const char *right, *statement;
} probes[] = {
        { "UPDATE outcome", "UPDATE outcome SET turn = turn WHERE 1 = 0" },
        { "DELETE outcome", "DELETE FROM outcome WHERE 1 = 0" },
        { "UPDATE entry", "UPDATE entry SET amount = amount WHERE 1 = 0" },
        { "DELETE entry", "DELETE FROM entry WHERE 1 = 0" },
        { "DELETE claim", "DELETE FROM claim WHERE 1 = 0" },
};

enum po_class grants_probe(struct db *db, struct sql *sql, const char **what_out,
                           struct po_error *error)
{
        *what_out = NULL;
        for (size_t i = 0; i < sizeof probes / sizeof probes[0]; i++) {
                sql_reset(sql);
                sql_raw(sql, probes[i].statement);
                if (db_exec(db, sql, NULL, error) == PO_OK) {
                        *what_out = probes[i].right;
                        return PO_OK;
                }
                if (error->code != ER_TABLEACCESS_DENIED && error->code != ER_COLUMNACCESS_DENIED)
                        return po_within(error, "ask for rights");
        }
        return PO_OK;
}
