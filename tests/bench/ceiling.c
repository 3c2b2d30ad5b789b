/*
 * The ceiling: what the same server takes when a program does nothing but the product's rows in the
 * best batched SQL known. No Kafka, no JSON, no reads, no judging: for each batch the claims in
 * their own commit, then one transaction with outcomes, orders, entries, outbox rows and balances;
 * rows as the product sends them, through prepared statements (mysql/bulk.h).
 *
 *   ceiling --host H --port P --user U --database D --messages N --connections C --batch B
 *
 * The password comes from $POSTONCE_BENCH_PASSWORD. The tables are made, and N orders O00000000 …
 * of 1000 + n minor units in PENDING_PAY stand in payment_order (tenant 1). Each connection is a
 * process. Prints one line of JSON: messages, seconds (from the first batch's start to the last
 * one's end), cpu_seconds (this program's).
 */
#include <getopt.h>
#include <signal.h>
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

#include "mysql/bulk.h"
#include "mysql/db.h"

enum { CONNECTIONS_MAX = 64, BATCH_MAX = 5000, MERCHANTS = 100, FINGERPRINT_BYTES = 32 };

struct bench {
        const char *host, *user, *password, *database;
        unsigned port;
        long messages, connections, batch;
};

/* One connection's work. accounts[0] is the clearing account. */
struct lane {
        const struct bench *bench;
        struct db *db;
        struct sql sql;
        struct bulk *claims, *outcomes, *orders, *entries, *outbox;
        int64_t ids[BATCH_MAX]; /* of the batch's claims */
        long accounts[1 + MERCHANTS];
        int64_t moved[1 + MERCHANTS];
};

static const struct bulk_form CLAIMS = {
        .insert = "INSERT INTO claim (tenant_id, idem_key, channel, event_type, order_no, amount,"
                  " currency, payload_hash, hash_version, source_topic, source_partition,"
                  " source_offset, deliveries, created_at, last_seen_at) VALUES ",
        .row = "(1,?,?,'PAYMENT_RECEIVED',?,?,'CNY',UNHEX(?),1,?,?,?,1,UTC_TIMESTAMP(6),UTC_TIMESTAMP(6))",
        .types = "tttihTii",
        .ending = " ON DUPLICATE KEY UPDATE deliveries = deliveries + VALUES(deliveries),"
                  " last_seen_at = VALUES(last_seen_at)",
};
static const struct bulk_form OUTCOMES = {
        .insert = "INSERT INTO outcome (claim_id, verdict, result_json, payload_hash,"
                  " hash_version, source_topic, source_partition, source_offset, turn,"
                  " effective_at, settled_at) VALUES ",
        .row = "(?,'POSTED','{\"posted\":\"PAID\"}',UNHEX(?),1,?,?,?,?,'2026-11-11 04:00:00.000000',"
               "UTC_TIMESTAMP(6))",
        .types = "ihTiii",
        .ending = "",
};
/* Faster than an UPDATE through a derived table on both servers; the rows are there. */
static const struct bulk_form ORDERS = {
        .insert = "INSERT INTO payment_order (tenant_id, order_no, amount, currency, status,"
                  " paid_channel, paid_txn, paid_amount, moved_at) VALUES ",
        .row = "(1,?,1,'CNY','PAID',?,?,?,UTC_TIMESTAMP(6))",
        .types = "ttti",
        .ending = " ON DUPLICATE KEY UPDATE status = VALUES(status), paid_channel ="
                  " VALUES(paid_channel), paid_txn = VALUES(paid_txn), paid_amount ="
                  " VALUES(paid_amount), moved_at = VALUES(moved_at)",
};
static const struct bulk_form ENTRIES = {
        .insert = "INSERT INTO entry (claim_id, line, account_id, amount, currency) VALUES ",
        .row = "(?,?,?,?,'CNY')",
        .types = "iiii",
        .ending = "",
};
static const struct bulk_form OUTBOX = {
        .insert = "INSERT INTO outbox (id, aggregatetype, aggregateid, type, payload, created_at)"
                  " VALUES ",
        .row = "(?,'order',?,'ORDER_PAID',?,UTC_TIMESTAMP(6))",
        .types = "ttt",
        .ending = "",
};

static void die(const char *what, const struct po_error *error)
{
        fprintf(stderr, "ceiling: %s: %s\n", what, error != NULL ? error->text : "");
        exit(1);
}

static void must(const char *what, enum po_class kind, const struct po_error *error)
{
        if (kind != PO_OK)
                die(what, error);
}

static struct db *connect_to(const struct bench *bench)
{
        static struct db_options options;
        struct po_error error;
        struct db *db;
        options = (struct db_options){ .host = bench->host,
                                       .port = bench->port,
                                       .user = bench->user,
                                       .password = bench->password,
                                       .database = bench->database,
                                       .connect_timeout_ms = 10000,
                                       .read_timeout_ms = 60000,
                                       .write_timeout_ms = 60000,
                                       .wait_timeout_ms = 60000 };
        must("connect", db_open(&db, &options, &error), &error);
        must("connect", db_connect(db, &error), &error);
        return db;
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

/* Values like the product's: key, channel and order as they come out of the generator. */
__attribute__((format(printf, 2, 3))) static void put(struct bulk *bulk, const char *format, ...)
{
        char text[512];
        va_list values;
        va_start(values, format);
        vsnprintf(text, sizeof text, format, values);
        va_end(values);
        bulk_text(bulk, text);
}

static void put_fingerprint(struct bulk *bulk, long message)
{
        unsigned char bytes[FINGERPRINT_BYTES];
        uint64_t state = (uint64_t)message * 0x9e3779b97f4a7c15u + 1;
        for (size_t i = 0; i < sizeof bytes; i++) {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                bytes[i] = (unsigned char)(state >> 24);
        }
        bulk_binary(bulk, bytes, sizeof bytes);
}

static void put_source(struct bulk *bulk, long message)
{
        bulk_text(bulk, "bench-callbacks");
        bulk_integer(bulk, message % 4);
        bulk_integer(bulk, message / 4);
}

static void put_claim(struct bulk *claims, long i)
{
        put(claims, "M%02ld:%lld:PAYMENT_RECEIVED", merchant_of(i), 7894002680000000000LL + i);
        put(claims, "M%02ld", merchant_of(i));
        put(claims, "O%08ld", i);
        bulk_integer(claims, amount_of(i));
        put_fingerprint(claims, i);
        put_source(claims, i);
}

static void put_outcome(struct bulk *outcomes, long i, int64_t claim, long turn)
{
        bulk_integer(outcomes, claim);
        put_fingerprint(outcomes, i);
        put_source(outcomes, i);
        bulk_integer(outcomes, turn);
}

static void put_order(struct bulk *orders, long i)
{
        put(orders, "O%08ld", i);
        put(orders, "M%02ld", merchant_of(i));
        put(orders, "%ld", 7894002680000000000L + i);
        bulk_integer(orders, amount_of(i));
}

static void put_entry(struct lane *lane, int64_t claim, int line, size_t account, int64_t amount)
{
        bulk_integer(lane->entries, claim);
        bulk_integer(lane->entries, line);
        bulk_integer(lane->entries, lane->accounts[account]);
        bulk_integer(lane->entries, amount);
        lane->moved[account] += amount;
}

static void put_message(struct bulk *outbox, long i, int64_t claim)
{
        put(outbox, "5b0e5a0a-1c2d-5e4d-9d3a-%012lx", (unsigned long)i);
        put(outbox, "1:O%08ld", i);
        put(outbox,
            "{\"claim_id\":%lld,\"tenant_id\":1,\"type\":\"ORDER_PAID\",\"key\":"
            "\"M%02ld:%lld:PAYMENT_RECEIVED\",\"channel\":\"M%02ld\",\"event\":"
            "\"PAYMENT_RECEIVED\",\"order_no\":\"O%08ld\",\"status\":\"PAID\","
            "\"amount_minor\":%lld,\"currency\":\"CNY\",\"occurred_at\":"
            "\"2026-11-11T04:00:00.000000Z\"}",
            (long long)claim, merchant_of(i), 7894002680000000000LL + i, merchant_of(i), i,
            (long long)amount_of(i));
}

/* Last, so that the hot rows are locked for the commit only. */
static void write_balances(struct lane *lane)
{
        struct sql *sql = &lane->sql;
        bool first = true;
        sql_reset(sql);
        sql_raw(sql, "INSERT INTO balance (account_id, slot, amount) VALUES ");
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

static void sent(const char *what, struct bulk *bulk)
{
        struct po_error error;
        must(what, bulk_end(bulk, &error), &error);
}

/* A server gives one statement's rows consecutive numbers; the caller counts afterwards. */
static void claim(struct lane *lane, long first, long end)
{
        struct po_error error;
        size_t statements, known = 0;
        must("begin", db_begin(lane->db, &error), &error);
        bulk_begin(lane->claims, NULL);
        for (long i = first; i < end; i++)
                put_claim(lane->claims, i);
        sent("claims", lane->claims);
        must("claims", db_commit(lane->db, &error), &error);
        const struct bulk_sent *done = bulk_sent(lane->claims, &statements);
        for (size_t i = 0; i < statements; i++)
                for (size_t row = 0; row < done[i].rows; row++)
                        lane->ids[known++] = (int64_t)(done[i].result.insert_id + row);
}

static void post(struct lane *lane, long first, long end)
{
        struct po_error error;
        must("begin", db_begin(lane->db, &error), &error);
        bulk_begin(lane->outcomes, NULL);
        for (long i = first; i < end; i++)
                put_outcome(lane->outcomes, i, lane->ids[i - first], i - first);
        sent("outcomes", lane->outcomes);
        bulk_begin(lane->orders, NULL);
        for (long i = first; i < end; i++)
                put_order(lane->orders, i);
        sent("orders", lane->orders);
        bulk_begin(lane->entries, NULL);
        for (long i = first; i < end; i++) {
                put_entry(lane, lane->ids[i - first], 0, 0, amount_of(i));
                put_entry(lane, lane->ids[i - first], 1, 1 + (size_t)merchant_of(i), -amount_of(i));
        }
        sent("entries", lane->entries);
        bulk_begin(lane->outbox, NULL);
        for (long i = first; i < end; i++)
                put_message(lane->outbox, i, lane->ids[i - first]);
        sent("outbox", lane->outbox);
        write_balances(lane);
        must("balances", db_exec(lane->db, &lane->sql, NULL, &error), &error);
        must("commit", db_commit(lane->db, &error), &error);
}

static void open_bulks(struct lane *lane)
{
        struct po_error error;
        struct db *db = lane->db;
        if (bulk_open(&lane->claims, db, &CLAIMS, &error) != PO_OK ||
            bulk_open(&lane->outcomes, db, &OUTCOMES, &error) != PO_OK ||
            bulk_open(&lane->orders, db, &ORDERS, &error) != PO_OK ||
            bulk_open(&lane->entries, db, &ENTRIES, &error) != PO_OK ||
            bulk_open(&lane->outbox, db, &OUTBOX, &error) != PO_OK)
                die("memory", &error);
}

static void make_accounts(struct lane *lane)
{
        struct po_error error;
        struct sql *sql = &lane->sql;
        sql_reset(sql);
        sql_raw(sql, "INSERT INTO account (tenant_id, code, currency, created_at) VALUES "
                     "(1,'channel:clearing','CNY',UTC_TIMESTAMP(6))");
        for (long i = 0; i < MERCHANTS; i++) {
                char code[32];
                snprintf(code, sizeof code, "merchant:M%02ld:payable", i);
                sql_raw(sql, ",(1,");
                sql_text(sql, code);
                sql_raw(sql, ",'CNY',UTC_TIMESTAMP(6))");
        }
        sql_raw(sql, " ON DUPLICATE KEY UPDATE code = VALUES(code)");
        must("accounts", db_exec(lane->db, sql, NULL, &error), &error);
}

static void read_accounts(struct lane *lane)
{
        struct po_error error;
        sql_reset(&lane->sql);
        sql_raw(&lane->sql, "SELECT code, id FROM account ORDER BY id");
        must("accounts", db_query(lane->db, &lane->sql, &error), &error);
        while (db_next_row(lane->db)) {
                const char *code = db_text(lane->db, 0);
                bool is_clearing = strcmp(code, "channel:clearing") == 0;
                long merchant = is_clearing ? 0 : 1 + strtol(code + strlen("merchant:M"), NULL, 10);
                if (merchant <= MERCHANTS)
                        lane->accounts[merchant] = (long)db_integer(lane->db, 1);
        }
        db_rows_end(lane->db);
}

static void close_lane(struct lane *lane)
{
        bulk_close(lane->claims);
        bulk_close(lane->outcomes);
        bulk_close(lane->orders);
        bulk_close(lane->entries);
        bulk_close(lane->outbox);
        sql_free(&lane->sql);
        db_close(lane->db);
}

/* The child: connects, says that it is ready, waits for the start, works. Its seconds go to result.
 */
static int run_lane(const struct bench *bench, long number, int ready, int start, int result)
{
        static struct lane lane;
        char byte = 0;
        lane.bench = bench;
        lane.db = connect_to(bench);
        open_bulks(&lane);
        read_accounts(&lane);
        if (write(ready, &byte, 1) != 1 ||
            read(start, &byte, 1) != 0) /* the end of file is the start */
                return 1;
        double span[2] = { now_seconds(), 0 };
        long stride = bench->batch * bench->connections;
        for (long first = number * bench->batch; first < bench->messages; first += stride) {
                long end = first + bench->batch < bench->messages ? first + bench->batch
                                                                  : bench->messages;
                claim(&lane, first, end);
                post(&lane, first, end);
        }
        span[1] = now_seconds();
        close_lane(&lane);
        return write(result, span, sizeof span) == sizeof span ? 0 : 1;
}

static void prepare(const struct bench *bench)
{
        static struct lane lane;
        lane.bench = bench;
        lane.db = connect_to(bench);
        make_accounts(&lane);
        close_lane(&lane);
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
        signal(SIGPIPE, SIG_IGN);
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
