#include "mysql/session.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mysql/classify.h"
#include "mysql/migrate.h"

enum {
        PASSWORD_BYTES_MAX = 1024,
        NUMBER_BYTES = 24,
        LOCAL_FILES_OFF = 0, /* no server may ask this program for a file */
        ER_NO_SUCH_TABLE = 1146,
};

#define STRICT_MODE                                                                                \
        "STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,"               \
        "NO_ENGINE_SUBSTITUTION"
#define LOCK_WAIT_S "5"
#define NO_LIMIT    "18446744073709551615"

#define DROPPED      "SET was dropped: is there a proxy that swallows it?"
#define WRITER       "this server cannot write: mysql.host must lead to the writer"
#define ACCEPT       "set it so on the server, or run with --accept-data-loss"
#define ANY_SERVER   (SERVER_MYSQL | SERVER_MARIADB_10 | SERVER_MARIADB_11)
#define ANY_MARIADB  (SERVER_MARIADB_10 | SERVER_MARIADB_11)
#define WAIT_TIMEOUT NULL /* wanted: options.wait_timeout_ms in seconds */

struct setting {
        const char *name;
        unsigned servers; /* of enum server_kind */
        const char *set;  /* goes before the wanted value in SET; NULL: only read back */
        const char *read; /* goes into SELECT */
        enum judge judge;
        const char *wanted;
        bool durable; /* asked only where losing a committed transaction is not accepted */
        const char *mend;
};

#define SESSION(name) #name, ANY_SERVER, "SESSION " #name " = ", "@@SESSION." #name
#define READ(name)    #name, ANY_SERVER, NULL, "@@SESSION." #name
#define GLOBAL(name)  #name, ANY_SERVER, NULL, "@@GLOBAL." #name

/*
 * unique_checks off would let InnoDB skip the very check that judges duplicates; completion_type
 * would chain a transaction to COMMIT; sql_select_limit would hide rows of a read.
 */
static const struct setting settings[] = {
        { SESSION(sql_mode), JUDGE_EQUALS, STRICT_MODE, false, DROPPED },
        { SESSION(time_zone), JUDGE_EQUALS, "+00:00", false, DROPPED },
        { SESSION(completion_type), JUDGE_EQUALS, "NO_CHAIN", false, DROPPED },
        { SESSION(autocommit), JUDGE_EQUALS, "1", false, DROPPED },
        { SESSION(unique_checks), JUDGE_EQUALS, "1", false, DROPPED },
        { SESSION(foreign_key_checks), JUDGE_EQUALS, "1", false, DROPPED },
        { SESSION(sql_select_limit), JUDGE_EQUALS, NO_LIMIT, false, DROPPED },
        { SESSION(innodb_lock_wait_timeout), JUDGE_AT_MOST, LOCK_WAIT_S, false, DROPPED },
        { SESSION(wait_timeout), JUDGE_AT_MOST, WAIT_TIMEOUT, false, DROPPED },
        { SESSION(net_read_timeout), JUDGE_AT_MOST, WAIT_TIMEOUT, false, DROPPED },
        { SESSION(net_write_timeout), JUDGE_AT_MOST, WAIT_TIMEOUT, false, DROPPED },
        { "in_predicate_conversion_threshold", ANY_MARIADB,
          "SESSION in_predicate_conversion_threshold = ",
          "@@SESSION.in_predicate_conversion_threshold", JUDGE_EQUALS, "0", false, DROPPED },
        { "check_constraint_checks", ANY_MARIADB, "SESSION check_constraint_checks = ",
          "@@SESSION.check_constraint_checks", JUDGE_EQUALS, "1", false, DROPPED },
        { READ(character_set_client), JUDGE_EQUALS, "utf8mb4", false, DROPPED },
        { READ(character_set_connection), JUDGE_EQUALS, "utf8mb4", false, DROPPED },
        { READ(character_set_results), JUDGE_EQUALS, "utf8mb4", false, DROPPED },
        { READ(collation_connection), JUDGE_EQUALS, "utf8mb4_bin", false, DROPPED },
        { "tx_isolation", SERVER_MARIADB_10, NULL, "@@SESSION.tx_isolation", JUDGE_EQUALS,
          "READ-COMMITTED", false, DROPPED },
        { "transaction_isolation", SERVER_MYSQL | SERVER_MARIADB_11, NULL,
          "@@SESSION.transaction_isolation", JUDGE_EQUALS, "READ-COMMITTED", false, DROPPED },
        { GLOBAL(read_only), JUDGE_OFF, "0", false, WRITER },
        { GLOBAL(innodb_read_only), JUDGE_OFF, "0", false, WRITER },
        { "super_read_only", SERVER_MYSQL, NULL, "@@GLOBAL.super_read_only", JUDGE_OFF, "0", false,
          WRITER },
        { GLOBAL(innodb_flush_log_at_trx_commit), JUDGE_EQUALS, "1", true, ACCEPT },
        { "sync_binlog", ANY_SERVER, NULL, "IF(@@GLOBAL.log_bin, @@GLOBAL.sync_binlog, 1)",
          JUDGE_EQUALS, "1", true, ACCEPT },
};

static bool asked(const struct setting *setting, const struct session *session,
                  const struct db_options *options)
{
        if (setting->durable && (!options->require_durable || options->accept_data_loss))
                return false;
        return (setting->servers & session_server_kind(session->version)) != 0;
}

static const char *wanted_value(const struct setting *setting, const char *wait_s)
{
        return setting->wanted != NULL ? setting->wanted : wait_s;
}

enum server_kind session_server_kind(const char *version)
{
        if (strstr(version, "MariaDB") == NULL)
                return SERVER_MYSQL;
        char *end;
        long major = strtol(version, &end, 10);
        long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
        return major > 11 || (major == 11 && minor >= 1) ? SERVER_MARIADB_11 : SERVER_MARIADB_10;
}

static bool number_of(const char *text, uint64_t *number_out)
{
        char *end;
        errno = 0;
        *number_out = strtoull(text, &end, 10);
        return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
}

bool session_value_holds(enum judge judge, const char *value, const char *wanted)
{
        uint64_t have, limit;
        if (value == NULL)
                return false;
        if (judge == JUDGE_EQUALS)
                return strcmp(value, wanted) == 0;
        if (judge == JUDGE_OFF)
                return strcmp(value, "0") == 0 || strcmp(value, "OFF") == 0;
        if (!number_of(value, &have) || !number_of(wanted, &limit))
                return false;
        return have <= limit;
}

static enum po_class connect_failed(MYSQL *mysql, struct po_error *error)
{
        unsigned number = mysql_errno(mysql);
        return mysql_explain(error, number, mysql_classify_connect(number), mysql_error(mysql));
}

static unsigned whole_seconds(int64_t ms)
{
        int64_t seconds = ms / 1000 + (ms % 1000 > 0);
        return seconds < 1 ? 1 : seconds > INT_MAX ? INT_MAX : (unsigned)seconds;
}

static bool tls_is_wanted(const struct db_options *options)
{
        return options->tls_ca != NULL || options->tls_cert != NULL || options->tls_key != NULL;
}

/* With a CA the server's certificate and name are verified; with less, nobody is. */
static void set_tls(MYSQL *mysql, const struct db_options *options)
{
        bool verified = options->tls_ca != NULL, wanted = tls_is_wanted(options);
        if (options->tls_ca != NULL)
                mysql_options(mysql, MYSQL_OPT_SSL_CA, options->tls_ca);
        if (options->tls_cert != NULL)
                mysql_options(mysql, MYSQL_OPT_SSL_CERT, options->tls_cert);
        if (options->tls_key != NULL)
                mysql_options(mysql, MYSQL_OPT_SSL_KEY, options->tls_key);
#ifdef LIBMARIADB
        my_bool enforce = wanted, verify = verified;
        mysql_options(mysql, MYSQL_OPT_SSL_ENFORCE, &enforce);
        mysql_options(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
#else
        unsigned mode = verified ? SSL_MODE_VERIFY_IDENTITY : SSL_MODE_REQUIRED;
        if (wanted)
                mysql_options(mysql, MYSQL_OPT_SSL_MODE, &mode);
#endif
}

/* The reconnect option is never touched: both libraries' default is off, and setting it warns. */
static void set_options(MYSQL *mysql, const struct db_options *options)
{
        unsigned connect_s = whole_seconds(options->connect_timeout_ms);
        unsigned read_s = whole_seconds(options->read_timeout_ms);
        unsigned write_s = whole_seconds(options->write_timeout_ms);
        unsigned protocol = options->socket != NULL ? MYSQL_PROTOCOL_SOCKET : MYSQL_PROTOCOL_TCP;
        unsigned local_files = LOCAL_FILES_OFF;
        unsigned long packet_bytes = 1024UL * 1024 * 1024; /* only the server's bound is to count */

        mysql_options(mysql, MYSQL_OPT_CONNECT_TIMEOUT, &connect_s);
        mysql_options(mysql, MYSQL_OPT_READ_TIMEOUT, &read_s);
        mysql_options(mysql, MYSQL_OPT_WRITE_TIMEOUT, &write_s);
        mysql_options(mysql, MYSQL_OPT_PROTOCOL, &protocol);
        mysql_options(mysql, MYSQL_OPT_LOCAL_INFILE, &local_files);
        mysql_options(mysql, MYSQL_OPT_MAX_ALLOWED_PACKET, &packet_bytes);
        mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
        set_tls(mysql, options);
}

/* The file's text without its last line end. */
static enum po_class read_password(const char *path, char password[PASSWORD_BYTES_MAX + 1],
                                   struct po_error *error)
{
        FILE *file = fopen(path, "re");
        if (file == NULL)
                return po_fail(error, PO_SYSTEMIC, errno, "mysql.password_file %s: %s", path,
                               strerror(errno));
        setvbuf(file, NULL, _IONBF, 0); /* no second copy in a buffer of stdio's */
        size_t length = fread(password, 1, PASSWORD_BYTES_MAX + 1, file);
        int failed = ferror(file);
        fclose(file);
        if (failed)
                return po_fail(error, PO_SYSTEMIC, 0, "mysql.password_file %s: cannot be read",
                               path);
        if (length > PASSWORD_BYTES_MAX)
                return po_fail(error, PO_SYSTEMIC, 0, "mysql.password_file %s: over %d bytes", path,
                               PASSWORD_BYTES_MAX);
        if (length > 0 && password[length - 1] == '\n')
                length--;
        if (length > 0 && password[length - 1] == '\r')
                length--;
        password[length] = '\0';
        if (strlen(password) != length)
                return po_fail(error, PO_SYSTEMIC, 0, "mysql.password_file %s: holds a NUL byte",
                               path);
        return PO_OK;
}

static enum po_class log_in(MYSQL *mysql, const struct db_options *options, struct po_error *error)
{
        char from_file[PASSWORD_BYTES_MAX + 1] = "";
        const char *password = options->password;
        if (password == NULL && options->password_file != NULL) {
                enum po_class class = read_password(options->password_file, from_file, error);
                if (class != PO_OK) {
                        explicit_bzero(from_file, sizeof from_file);
                        return class;
                }
                password = from_file;
        }
        MYSQL *connected = mysql_real_connect(
                mysql, options->socket != NULL ? NULL : options->host, options->user, password,
                options->database, (unsigned)options->port, options->socket, CLIENT_FOUND_ROWS);
        explicit_bzero(from_file, sizeof from_file);
        if (connected == NULL)
                return connect_failed(mysql, error);
        /* MariaDB's library goes on without TLS where only a certificate was set. */
        if (tls_is_wanted(options) && mysql_get_ssl_cipher(mysql) == NULL)
                return po_fail(error, PO_SYSTEMIC, 0,
                               "mysql.tls is set and the server speaks no TLS: set it up there");
        return PO_OK;
}

static enum po_class run(struct session *session, const char *text, size_t length,
                         struct po_error *error)
{
        session->round_trips++;
        if (mysql_real_query(session->mysql, text, length) != 0)
                return connect_failed(session->mysql, error);
        return PO_OK;
}

/* The one row of a query; row_out leads into *result_out, which the caller frees. */
static enum po_class ask(struct session *session, const char *text, size_t length,
                         MYSQL_RES **result_out, MYSQL_ROW *row_out, struct po_error *error)
{
        enum po_class class = run(session, text, length, error);
        if (class != PO_OK)
                return class;
        MYSQL_RES *result = mysql_store_result(session->mysql);
        if (result == NULL && mysql_errno(session->mysql) != 0)
                return connect_failed(session->mysql, error);
        MYSQL_ROW row = result != NULL ? mysql_fetch_row(result) : NULL;
        if (row == NULL) {
                mysql_free_result(result);
                return po_fail(error, PO_SYSTEMIC, 0, "the server answers no row about itself");
        }
        *result_out = result;
        *row_out = row;
        return PO_OK;
}

static enum po_class read_version(struct session *session, struct po_error *error)
{
        static const char query[] = "SELECT VERSION()";
        MYSQL_RES *result = NULL;
        MYSQL_ROW row = NULL;
        enum po_class class = ask(session, query, sizeof query - 1, &result, &row, error);
        if (class != PO_OK)
                return class;
        snprintf(session->version, sizeof session->version, "%s", row[0] != NULL ? row[0] : "");
        session->is_mariadb = session_server_kind(session->version) != SERVER_MYSQL;
        mysql_free_result(result);
        return PO_OK;
}

static enum po_class set_settings(struct session *session, const struct db_options *options,
                                  const char *wait_s, struct po_error *error)
{
        static const char isolation[] =
                "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE";
        struct sql sql = { 0 };
        sql_raw(&sql, "SET NAMES utf8mb4 COLLATE utf8mb4_bin");
        for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
                if (settings[i].set == NULL || !asked(&settings[i], session, options))
                        continue;
                const char *wanted = wanted_value(&settings[i], wait_s);
                uint64_t number;
                sql_raw(&sql, ", ");
                sql_raw(&sql, settings[i].set);
                if (number_of(wanted, &number))
                        sql_raw(&sql, wanted);
                else
                        sql_text(&sql, wanted);
        }
        enum po_class class = sql.failed ? po_fail(error, PO_SYSTEMIC, 0, "out of memory")
                                         : run(session, sql.text, sql.length, error);
        sql_free(&sql);
        if (class != PO_OK)
                return class;
        return run(session, isolation, sizeof isolation - 1, error);
}

static enum po_class judge_settings(struct session *session, const struct db_options *options,
                                    const char *wait_s, MYSQL_ROW row, struct po_error *error)
{
        size_t column = 0;
        for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
                if (!asked(&settings[i], session, options))
                        continue;
                const char *value = row[column++], *wanted = wanted_value(&settings[i], wait_s);
                if (!session_value_holds(settings[i].judge, value, wanted))
                        return po_fail(error, PO_SYSTEMIC, 0, "%s is %s, must be %s%s: %s",
                                       settings[i].name, value != NULL ? value : "NULL",
                                       settings[i].judge == JUDGE_AT_MOST ? "at most " : "", wanted,
                                       settings[i].mend);
        }
        uint64_t packet_bytes;
        if (row[column] == NULL || !number_of(row[column], &packet_bytes) || packet_bytes < 1024)
                return po_fail(error, PO_SYSTEMIC, 0, "max_allowed_packet cannot be read");
        session->packet_bytes = (size_t)packet_bytes;
        return PO_OK;
}

static enum po_class prove_settings(struct session *session, const struct db_options *options,
                                    const char *wait_s, struct po_error *error)
{
        struct sql sql = { 0 };
        sql_raw(&sql, "SELECT ");
        for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
                if (!asked(&settings[i], session, options))
                        continue;
                sql_raw(&sql, settings[i].read);
                sql_raw(&sql, ", ");
        }
        sql_raw(&sql, "@@SESSION.max_allowed_packet");
        MYSQL_RES *result = NULL;
        MYSQL_ROW row = NULL;
        enum po_class class = sql.failed ? po_fail(error, PO_SYSTEMIC, 0, "out of memory")
                                         : ask(session, sql.text, sql.length, &result, &row, error);
        sql_free(&sql);
        if (class != PO_OK)
                return class;
        class = judge_settings(session, options, wait_s, row, error);
        mysql_free_result(result);
        return class;
}

/* NULL for what no row says. */
static int version_of(const char *value)
{
        return value != NULL ? (int)strtol(value, NULL, 10) : 0;
}

/*
 * A worker outlives migrations: the schema it meets after a reconnect may be newer than what it
 * knows, or a restored older one. One above ours that is being applied right now may let us go on.
 */
static enum po_class prove_schema(struct session *session, struct po_error *error)
{
        struct migrate_state state = { 0 };
        struct sql sql = { 0 };
        MYSQL_RES *result = NULL;
        MYSQL_ROW row = NULL;
        sql_raw(&sql, "SELECT MAX(IF(finished_at IS NULL, 0, version)), MAX(IF(version > ");
        sql_integer(&sql, migrate_newest());
        sql_raw(&sql, ", oldest_worker, 0)), MAX(IF(finished_at IS NULL AND version <= ");
        sql_integer(&sql, migrate_newest());
        sql_raw(&sql, ", version, 0)) FROM schema_version");
        enum po_class class = sql.failed ? po_fail(error, PO_SYSTEMIC, 0, "out of memory")
                                         : ask(session, sql.text, sql.length, &result, &row, error);
        sql_free(&sql);
        if (class != PO_OK && error->code == ER_NO_SUCH_TABLE)
                return migrate_judge(&state, error);
        if (class != PO_OK)
                return class;
        state.version = version_of(row[0]);
        state.oldest_worker = version_of(row[1]);
        state.half_applied = version_of(row[2]);
        mysql_free_result(result);
        return migrate_judge(&state, error);
}

static enum po_class prepare(struct session *session, const struct db_options *options,
                             struct po_error *error)
{
        char wait_s[NUMBER_BYTES];
        snprintf(wait_s, sizeof wait_s, "%u", whole_seconds(options->wait_timeout_ms));
        enum po_class class = log_in(session->mysql, options, error);
        if (class == PO_OK)
                class = read_version(session, error);
        if (class == PO_OK)
                class = set_settings(session, options, wait_s, error);
        if (class == PO_OK)
                class = prove_settings(session, options, wait_s, error);
        if (class == PO_OK && options->require_schema)
                class = prove_schema(session, error);
        return class;
}

enum po_class session_open(struct session *session, const struct db_options *options,
                           struct po_error *error)
{
        *session = (struct session){ .mysql = mysql_init(NULL) };
        if (session->mysql == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for a connection");
        set_options(session->mysql, options);
        if (prepare(session, options, error) == PO_OK)
                return PO_OK;
        mysql_close(session->mysql);
        session->mysql = NULL;
        if (options->socket != NULL)
                return po_within(error, "connect to %s", options->socket);
        return po_within(error, "connect to %s:%" PRId64, options->host, options->port);
}
