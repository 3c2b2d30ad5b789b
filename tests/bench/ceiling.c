/*
 * The ceiling: what the same server takes when a program does nothing but the product's rows in the
 * best batched SQL known. No Kafka, no JSON, no reads, no judging: for each batch the claims in
 * their own commit, then one transaction with outcomes, orders, entries, outbox rows and balances.
 *
 *   ceiling --host H --port P --user U --database D --messages N --connections C --batch B
 *
 * The password comes from $POSTONCE_BENCH_PASSWORD. The tables are made, and N orders O00000000 …
 * of 1000 + n minor units in PENDING_PAY stand in payment_order (tenant 1). Each connection is a
 * process. Prints one line of JSON: messages, seconds (from the first batch's start to the last
 * one's end), cpu_seconds (this program's).
 */
#include <getopt.h>
#include <mysql.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mysql/sql.h"

enum { CONNECTIONS_MAX = 64, BATCH_MAX = 5000, MERCHANTS = 100, FINGERPRINT_BYTES = 32 };

struct bench {
        const char *host, *user, *password, *database;
        unsigned port;
        long messages, connections, batch;
};

/* One connection's work. accounts[0] is the clearing account. */
struct lane {
        const struct bench *bench;
        MYSQL *mysql;
        struct sql sql;
        long accounts[1 + MERCHANTS];
        int64_t moved[1 + MERCHANTS];
};

static void die(const char *what, MYSQL *mysql)
{
        fprintf(stderr, "ceiling: %s: %s\n", what, mysql != NULL ? mysql_error(mysql) : "");
        exit(1);
}

static MYSQL *connect_to(const struct bench *bench)
{
        MYSQL *mysql = mysql_init(NULL);
        if (mysql == NULL ||
            mysql_real_connect(mysql, bench->host, bench->user, bench->password, bench->database,
                               bench->port, NULL,
                               CLIENT_MULTI_STATEMENTS | CLIENT_FOUND_ROWS) == NULL)
                die("connect", mysql);
        if (mysql_query(mysql, "SET NAMES utf8mb4, time_zone = '+00:00',"
                               " SESSION innodb_lock_wait_timeout = 5") != 0 ||
            mysql_query(mysql, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED") != 0)
                die("session", mysql);
        return mysql;
}

static double now_seconds(void)
{
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static long merchant_of(long message)
{
        return (long)((uint64_t)message * 2654435761u % MERCHANTS);
}

static int64_t amount_of(long message)
{
        return 1000 + message;
}

__attribute__((format(printf, 2, 3))) static void put(struct sql *sql, const char *format, ...)
{
        char text[96];
        va_list values;
        va_start(values, format);
        vsnprintf(text, sizeof text, format, values);
        va_end(values);
        sql_text(sql, text);
}

/* Literals like the product's: key, channel and order as they come out of the generator. */
static void put_key(struct sql *sql, long message)
{
        put(sql, "M%02ld:%lld:PAYMENT_RECEIVED", merchant_of(message),
            7894002680000000000LL + message);
}

static void put_fingerprint(struct sql *sql, long message)
{
        unsigned char bytes[FINGERPRINT_BYTES];
        uint64_t state = (uint64_t)message * 0x9e3779b97f4a7c15u + 1;
        for (size_t i = 0; i < sizeof bytes; i++) {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                bytes[i] = (unsigned char)(state >> 24);
        }
        sql_binary(sql, bytes, sizeof bytes);
}

static void put_source(struct sql *sql, long message)
{
        sql_raw(sql, ",1,'bench-callbacks',");
        sql_integer(sql, message % 4);
        sql_raw(sql, ",");
        sql_integer(sql, message / 4);
        sql_raw(sql, ",");
}

static void write_claims(struct lane *lane, long first, long end)
{
        struct sql *sql = &lane->sql;
        sql_reset(sql);
        sql_raw(sql,
                "INSERT INTO claim (tenant_id, idem_key, channel, event_type, order_no, amount,"
                " currency, payload_hash, hash_version, source_topic, source_partition,"
                " source_offset, deliveries, created_at, last_seen_at) VALUES ");
        for (long i = first; i < end; i++) {
                sql_raw(sql, i == first ? "(1," : ",(1,");
                put_key(sql, i);
                sql_raw(sql, ",");
                put(sql, "M%02ld", merchant_of(i));
                sql_raw(sql, ",'PAYMENT_RECEIVED',");
                put(sql, "O%08ld", i);
                sql_raw(sql, ",");
                sql_integer(sql, amount_of(i));
                sql_raw(sql, ",'CNY',");
                put_fingerprint(sql, i);
                put_source(sql, i);
                sql_raw(sql, "1,UTC_TIMESTAMP(6),UTC_TIMESTAMP(6))");
        }
        sql_raw(sql, " ON DUPLICATE KEY UPDATE deliveries = deliveries + VALUES(deliveries),"
                     " last_seen_at = VALUES(last_seen_at)");
}

static void write_outcomes(struct lane *lane, long first, long end, long claim)
{
        struct sql *sql = &lane->sql;
        sql_raw(sql, "INSERT INTO outcome (claim_id, verdict, result_json, payload_hash,"
                     " hash_version, source_topic, source_partition, source_offset, turn,"
                     " effective_at, settled_at) VALUES ");
        for (long i = first; i < end; i++) {
                sql_raw(sql, i == first ? "(" : ",(");
                sql_integer(sql, claim + i - first);
                sql_raw(sql, ",'POSTED','{\"posted\":\"PAID\"}',");
                put_fingerprint(sql, i);
                put_source(sql, i);
                sql_integer(sql, i - first);
                sql_raw(sql, ",'2026-11-11 04:00:00.000000',UTC_TIMESTAMP(6))");
        }
}

/* Faster than an UPDATE through a derived table on both servers; the rows are there. */
static void write_orders(struct lane *lane, long first, long end)
{
        struct sql *sql = &lane->sql;
        sql_raw(sql, ";INSERT INTO payment_order (tenant_id, order_no, amount, currency, status,"
                     " paid_channel, paid_txn, paid_amount, moved_at) VALUES ");
        for (long i = first; i < end; i++) {
                sql_raw(sql, i == first ? "(1," : ",(1,");
                put(sql, "O%08ld", i);
                sql_raw(sql, ",1,'CNY','PAID',");
                put(sql, "M%02ld", merchant_of(i));
                sql_raw(sql, ",");
                put(sql, "%ld", 7894002680000000000L + i);
                sql_raw(sql, ",");
                sql_integer(sql, amount_of(i));
                sql_raw(sql, ",UTC_TIMESTAMP(6))");
        }
        sql_raw(sql, " ON DUPLICATE KEY UPDATE status = VALUES(status), paid_channel ="
                     " VALUES(paid_channel), paid_txn = VALUES(paid_txn), paid_amount ="
                     " VALUES(paid_amount), moved_at = VALUES(moved_at)");
}

static void put_entry(struct lane *lane, long claim, int line, size_t account, int64_t amount)
{
        struct sql *sql = &lane->sql;
        sql_integer(sql, claim);
        sql_raw(sql, line == 0 ? ",0," : ",1,");
        sql_integer(sql, lane->accounts[account]);
        sql_raw(sql, ",");
        sql_integer(sql, amount);
        sql_raw(sql, ",'CNY')");
        lane->moved[account] += amount;
}

static void write_entries(struct lane *lane, long first, long end, long claim)
{
        struct sql *sql = &lane->sql;
        sql_raw(sql, ";INSERT INTO entry (claim_id, line, account_id, amount, currency) VALUES ");
        for (long i = first; i < end; i++) {
                sql_raw(sql, i == first ? "(" : ",(");
                put_entry(lane, claim + i - first, 0, 0, amount_of(i));
                sql_raw(sql, ",(");
                put_entry(lane, claim + i - first, 1, 1 + (size_t)merchant_of(i), -amount_of(i));
        }
}

static void write_outbox(struct lane *lane, long first, long end, long claim)
{
        struct sql *sql = &lane->sql;
        sql_raw(sql, ";INSERT INTO outbox (id, aggregatetype, aggregateid, type, payload,"
                     " created_at) VALUES ");
        for (long i = first; i < end; i++) {
                char payload[512];
                snprintf(
                        payload, sizeof payload,
                        "{\"type\":\"ORDER_PAID\",\"key\":\"M%02ld:%lld:PAYMENT_RECEIVED\",\"claim_id\":"
                        "%ld,\"tenant_id\":1,\"channel\":\"M%02ld\",\"event\":\"PAYMENT_RECEIVED\","
                        "\"order_no\":\"O%08ld\",\"status\":\"PAID\",\"amount_minor\":%lld,"
                        "\"currency\":\"CNY\"}",
                        merchant_of(i), 7894002680000000000LL + i, claim + i - first,
                        merchant_of(i), i, (long long)amount_of(i));
                sql_raw(sql, i == first ? "(" : ",(");
                put(sql, "5b0e5a0a-1c2d-5e4d-9d3a-%012lx", (unsigned long)i);
                sql_raw(sql, ",'order',");
                put(sql, "O%08ld", i);
                sql_raw(sql, ",'ORDER_PAID',");
                sql_text(sql, payload);
                sql_raw(sql, ",UTC_TIMESTAMP(6))");
        }
}

/* Last, so that the hot rows are locked for the commit only. */
static void write_balances(struct lane *lane)
{
        struct sql *sql = &lane->sql;
        bool first = true;
        sql_raw(sql, ";INSERT INTO balance (account_id, slot, amount) VALUES ");
        for (size_t i = 0; i <= MERCHANTS; i++) {
                if (lane->moved[i] == 0)
                        continue;
                sql_raw(sql, first ? "(" : ",(");
                sql_integer(sql, lane->accounts[i]);
                sql_raw(sql, ",0,");
                sql_integer(sql, lane->moved[i]);
                sql_raw(sql, ")");
                first = false;
                lane->moved[i] = 0;
        }
        sql_raw(sql, " ON DUPLICATE KEY UPDATE amount = amount + VALUES(amount)");
}

/* Sends the text and reads every statement's answer. */
static void send_text(struct lane *lane, const char *what)
{
        if (lane->sql.failed ||
            mysql_real_query(lane->mysql, lane->sql.text, (unsigned long)lane->sql.length) != 0)
                die(what, lane->mysql);
        for (int more; (more = mysql_next_result(lane->mysql)) >= 0;)
                if (more > 0)
                        die(what, lane->mysql);
}

static void post_batch(struct lane *lane, long first, long end)
{
        write_claims(lane, first, end);
        send_text(lane, "claims");
        /* A server gives one statement's rows consecutive ids; the caller counts afterwards. */
        long claim = (long)mysql_insert_id(lane->mysql);
        sql_reset(&lane->sql);
        sql_raw(&lane->sql, "BEGIN;");
        write_outcomes(lane, first, end, claim);
        write_orders(lane, first, end);
        write_entries(lane, first, end, claim);
        write_outbox(lane, first, end, claim);
        write_balances(lane);
        sql_raw(&lane->sql, ";COMMIT");
        send_text(lane, "posting");
}

static void make_accounts(struct lane *lane)
{
        struct sql *sql = &lane->sql;
        sql_reset(sql);
        sql_raw(sql, "INSERT INTO account (tenant_id, code, currency, created_at) VALUES "
                     "(1,'channel:clearing','CNY',UTC_TIMESTAMP(6))");
        for (long i = 0; i < MERCHANTS; i++) {
                sql_raw(sql, ",(1,");
                put(sql, "merchant:M%02ld:payable", i);
                sql_raw(sql, ",'CNY',UTC_TIMESTAMP(6))");
        }
        sql_raw(sql, " ON DUPLICATE KEY UPDATE code = VALUES(code)");
        send_text(lane, "accounts");
}

static void read_accounts(struct lane *lane)
{
        if (mysql_query(lane->mysql, "SELECT code, id FROM account ORDER BY id") != 0)
                die("accounts", lane->mysql);
        MYSQL_RES *rows = mysql_store_result(lane->mysql);
        for (MYSQL_ROW row; rows != NULL && (row = mysql_fetch_row(rows)) != NULL;) {
                bool is_clearing = strcmp(row[0], "channel:clearing") == 0;
                long merchant =
                        is_clearing ? 0 : 1 + strtol(row[0] + strlen("merchant:M"), NULL, 10);
                if (merchant <= MERCHANTS)
                        lane->accounts[merchant] = strtol(row[1], NULL, 10);
        }
        mysql_free_result(rows);
}

/* The child: connects, says that it is ready, waits for the start, works. Its seconds go to result.
 */
static int run_lane(const struct bench *bench, long number, int ready, int start, int result)
{
        static struct lane lane;
        char byte = 0;
        lane.bench = bench;
        lane.mysql = connect_to(bench);
        read_accounts(&lane);
        if (write(ready, &byte, 1) != 1 ||
            read(start, &byte, 1) != 0) /* the end of file is the start */
                return 1;
        double span[2] = { now_seconds(), 0 };
        long stride = bench->batch * bench->connections;
        for (long first = number * bench->batch; first < bench->messages; first += stride) {
                long end = first + bench->batch;
                post_batch(&lane, first, end < bench->messages ? end : bench->messages);
        }
        span[1] = now_seconds();
        mysql_close(lane.mysql);
        sql_free(&lane.sql);
        return write(result, span, sizeof span) == sizeof span ? 0 : 1;
}

static void prepare(const struct bench *bench)
{
        static struct lane lane;
        lane.bench = bench;
        lane.mysql = connect_to(bench);
        make_accounts(&lane);
        mysql_close(lane.mysql);
        sql_free(&lane.sql);
}

static void report(const struct bench *bench, int result)
{
        double first = 0, last = 0, span[2];
        for (long i = 0; i < bench->connections; i++) {
                int status;
                if (read(result, span, sizeof span) != sizeof span)
                        die("a connection ended early", NULL);
                if (wait(&status) < 0 || status != 0)
                        die("a connection failed", NULL);
                first = i == 0 || span[0] < first ? span[0] : first;
                last = span[1] > last ? span[1] : last;
        }
        struct rusage usage;
        getrusage(RUSAGE_CHILDREN, &usage);
        double cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                     (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
        printf("{\"messages\": %ld, \"seconds\": %.4f, \"cpu_seconds\": %.4f}\n", bench->messages,
               last - first, cpu);
}

static long number_within(const char *text, long most)
{
        char *end;
        long value = strtol(text, &end, 10);
        if (*end != '\0' || value < 1 || value > most) {
                fprintf(stderr, "ceiling: %s must be a number from 1 to %ld\n", text, most);
                exit(64);
        }
        return value;
}

static void read_options(struct bench *bench, int argc, char **argv)
{
        static const struct option options[] = {
                { "host", 1, NULL, 'h' },     { "port", 1, NULL, 'p' },
                { "user", 1, NULL, 'u' },     { "database", 1, NULL, 'd' },
                { "messages", 1, NULL, 'm' }, { "connections", 1, NULL, 'c' },
                { "batch", 1, NULL, 'b' },    { NULL, 0, NULL, 0 },
        };
        for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
                switch (option) {
                case 'h':
                        bench->host = optarg;
                        break;
                case 'p':
                        bench->port = (unsigned)number_within(optarg, 65535);
                        break;
                case 'u':
                        bench->user = optarg;
                        break;
                case 'd':
                        bench->database = optarg;
                        break;
                case 'm':
                        bench->messages = number_within(optarg, 100000000);
                        break;
                case 'c':
                        bench->connections = number_within(optarg, CONNECTIONS_MAX);
                        break;
                case 'b':
                        bench->batch = number_within(optarg, BATCH_MAX);
                        break;
                default:
                        exit(64);
                }
        }
}

int main(int argc, char **argv)
{
        struct bench bench = { .host = "127.0.0.1",
                               .port = 3306,
                               .user = "postonce",
                               .password = getenv("POSTONCE_BENCH_PASSWORD"),
                               .database = "postonce",
                               .messages = 10000,
                               .connections = 2,
                               .batch = 500 };
        int ready[2], start[2], result[2];
        read_options(&bench, argc, argv);
        prepare(&bench);
        if (pipe(ready) != 0 || pipe(start) != 0 || pipe(result) != 0)
                die("pipe", NULL);
        for (long i = 0; i < bench.connections; i++) {
                if (fork() != 0)
                        continue;
                close(start[1]);
                _exit(run_lane(&bench, i, ready[1], start[0], result[1]));
        }
        char byte;
        close(ready[1]);
        close(result[1]);
        for (long i = 0; i < bench.connections; i++)
                if (read(ready[0], &byte, 1) != 1)
                        die("a connection did not start", NULL);
        close(start[1]);
        report(&bench, result[0]);
        return 0;
}
