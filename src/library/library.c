#include "library/library.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
        MYSQL_PORT = 3306,
        CONNECT_TIMEOUT_MS = 5000,
        ANSWER_TIMEOUT_MS = 60000,
        WAIT_TIMEOUT_MS = 30000,
        DATABASE_NAME_MAX = 64,
};

static int64_t or_else(int64_t value, int64_t fallback)
{
        return value != 0 ? value : fallback;
}

static struct db_options options_of(const struct po_database *database)
{
        return (struct db_options){
                .host = database->host,
                .port = or_else(database->port, MYSQL_PORT),
                .socket = database->socket,
                .user = database->user,
                .password = database->password,
                .password_file = database->password_file,
                .database = database->database,
                .tls_ca = database->tls_ca,
                .tls_cert = database->tls_cert,
                .tls_key = database->tls_key,
                .connect_timeout_ms = or_else(database->connect_timeout_ms, CONNECT_TIMEOUT_MS),
                .read_timeout_ms = or_else(database->read_timeout_ms, ANSWER_TIMEOUT_MS),
                .write_timeout_ms = or_else(database->write_timeout_ms, ANSWER_TIMEOUT_MS),
                .wait_timeout_ms = WAIT_TIMEOUT_MS,
                .accept_data_loss = database->accept_data_loss,
                .require_durable = true,
                .require_schema = true,
        };
}

static enum po_class check_database(const struct po_database *database, struct po_error *error)
{
        static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                      "0123456789_$-";
        const char *name = database->database != NULL ? database->database : "";
        size_t bytes = strlen(name);
        if (bytes == 0 || bytes > DATABASE_NAME_MAX || strspn(name, allowed) != bytes)
                return po_fail(error, PO_SYSTEMIC, 0,
                               "the database's name must be 1 to %d of [A-Za-z0-9_$-]",
                               DATABASE_NAME_MAX);
        if (database->host == NULL && database->socket == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "neither host nor socket of the database");
        return PO_OK;
}

static enum po_class read_rules(struct po_ledger *ledger, const char *path, struct po_error *error)
{
        if (document_load(&ledger->document, path, error) != PO_OK)
                return error->kind;
        const struct node *root = document_root(ledger->document);
        if (node_kind(root) != NODE_MAP)
                return node_fail(root, error, "expected a map");
        const struct node *events = node_member(root, "events");
        if (events == NULL)
                return node_fail(root, error, "events: is required");
        return rules_read(node_member(root, "orders"), events, &ledger->rules, error);
}

static enum po_class open_parts(struct po_ledger *ledger, const struct po_database *database,
                                const char *rules_path, struct po_error *error)
{
        struct db_options options = options_of(database);
        if (check_database(database, error) != PO_OK)
                return error->kind;
        if (rules_path != NULL && read_rules(ledger, rules_path, error) != PO_OK)
                return error->kind;
        if (db_open(&ledger->db, &options, error) != PO_OK ||
            claims_open(&ledger->claims, ledger->db, 1, error) != PO_OK)
                return error->kind;
        ledger->database = database->database;
        return db_connect(ledger->db, error);
}

enum po_class po_ledger_open(struct po_ledger **ledger_out, const struct po_database *database,
                             const char *rules_path, struct po_error *error)
{
        *ledger_out = NULL;
        struct po_ledger *ledger = calloc(1, sizeof *ledger);
        if (ledger == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for a ledger");
        if (open_parts(ledger, database, rules_path, error) != PO_OK) {
                po_ledger_close(ledger);
                return error->kind;
        }
        *ledger_out = ledger;
        return PO_OK;
}

void po_ledger_close(struct po_ledger *ledger)
{
        if (ledger == NULL)
                return;
        claims_close(ledger->claims);
        db_close(ledger->db);
        sql_free(&ledger->sql);
        rules_free(ledger->rules);
        document_close(ledger->document);
        free(ledger);
}
