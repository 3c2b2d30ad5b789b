/*
 * The observer of tests/bench/latency: notes when each new row of a table became visible.
 *
 *   observe --host H --port P --user U --database D --table T --column C --rows N
 *
 * The password comes from $POSTONCE_BENCH_PASSWORD. C is T's AUTO_INCREMENT key, and every posting
 * adds a row. Asks every POLL_US for the keys above those that it has seen without a gap, so that
 * an answer holds little more than what is new, and its own cost stays small beside what it
 * watches. Prints "ready" when it looks, and for each row "KEY SECONDS" on the clock
 * CLOCK_MONOTONIC (Python's time.monotonic()); ends with 0 after N rows, with 1 when none came for
 * PATIENCE_S.
 */
#include <getopt.h>
#include <mysql.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
        POLL_US = 1000,
        PATIENCE_S = 60,
        GAP_S = 5, /* a key that is missing for so long belongs to a rollback */
        QUERY_BYTES = 256,
};

struct observer {
        const char *host, *user, *password, *database, *table, *column;
        unsigned port;
        long rows;
        MYSQL *mysql;
        bool *seen; /* by key, up to capacity */
        long capacity, low, high, found;
        double low_since, last_found; /* when low rose, when a row was found */
};

static void die(const char *what, MYSQL *mysql)
{
        fprintf(stderr, "observe: %s: %s\n", what, mysql != NULL ? mysql_error(mysql) : "");
        exit(1);
}

static double now_seconds(void)
{
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void connect_to(struct observer *observer)
{
        observer->mysql = mysql_init(NULL);
        if (observer->mysql == NULL ||
            mysql_real_connect(observer->mysql, observer->host, observer->user, observer->password,
                               observer->database, observer->port, NULL, 0) == NULL)
                die("connect", observer->mysql);
        /* READ COMMITTED, so that each look sees what is committed by then. */
        if (mysql_query(observer->mysql,
                        "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED") != 0)
                die("session", observer->mysql);
}

static void make_room(struct observer *observer, long key)
{
        long capacity = observer->capacity;
        while (capacity <= key)
                capacity *= 2;
        if (capacity == observer->capacity)
                return;
        observer->seen = realloc(observer->seen, (size_t)capacity * sizeof *observer->seen);
        if (observer->seen == NULL)
                die("out of memory", NULL);
        for (long i = observer->capacity; i < capacity; i++)
                observer->seen[i] = false;
        observer->capacity = capacity;
}

static void note(struct observer *observer, long key, double now)
{
        make_room(observer, key);
        if (observer->seen[key])
                return;
        observer->seen[key] = true;
        observer->found++;
        observer->last_found = now;
        if (key > observer->high)
                observer->high = key;
        printf("%ld %.6f\n", key, now);
}

/* low: every key up to it was seen or will not come. */
static void raise_low(struct observer *observer, double now)
{
        long before = observer->low;
        if (observer->high > observer->low && now - observer->low_since > GAP_S)
                observer->low++;
        while (observer->low < observer->high && observer->seen[observer->low + 1])
                observer->low++;
        if (observer->low > before || observer->low == observer->high)
                observer->low_since = now;
}

static void look(struct observer *observer)
{
        char query[QUERY_BYTES];
        snprintf(query, sizeof query, "SELECT %s FROM %s WHERE %s > %ld", observer->column,
                 observer->table, observer->column, observer->low);
        if (mysql_query(observer->mysql, query) != 0)
                die("query", observer->mysql);
        MYSQL_RES *result = mysql_store_result(observer->mysql);
        if (result == NULL)
                die("result", observer->mysql);
        double now = now_seconds();
        for (MYSQL_ROW row; (row = mysql_fetch_row(result)) != NULL;)
                note(observer, strtol(row[0], NULL, 10), now);
        mysql_free_result(result);
        raise_low(observer, now);
}

static void read_options(struct observer *observer, int argc, char **argv)
{
        static const struct option options[] = {
                { "host", required_argument, NULL, 'h' },
                { "port", required_argument, NULL, 'p' },
                { "user", required_argument, NULL, 'u' },
                { "database", required_argument, NULL, 'd' },
                { "table", required_argument, NULL, 't' },
                { "column", required_argument, NULL, 'c' },
                { "rows", required_argument, NULL, 'n' },
                { NULL, 0, NULL, 0 },
        };
        for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
                switch (option) {
                case 'h':
                        observer->host = optarg;
                        break;
                case 'p':
                        observer->port = (unsigned)strtoul(optarg, NULL, 10);
                        break;
                case 'u':
                        observer->user = optarg;
                        break;
                case 'd':
                        observer->database = optarg;
                        break;
                case 't':
                        observer->table = optarg;
                        break;
                case 'c':
                        observer->column = optarg;
                        break;
                case 'n':
                        observer->rows = strtol(optarg, NULL, 10);
                        break;
                default:
                        exit(64);
                }
        }
}

int main(int argc, char **argv)
{
        const struct timespec pause = { 0, POLL_US * 1000L };
        struct observer observer = { .password = getenv("POSTONCE_BENCH_PASSWORD"),
                                     .capacity = 1024 };
        read_options(&observer, argc, argv);
        connect_to(&observer);
        observer.seen = calloc((size_t)observer.capacity, sizeof *observer.seen);
        if (observer.seen == NULL)
                die("out of memory", NULL);
        observer.low_since = observer.last_found = now_seconds();
        printf("ready\n");
        fflush(stdout);
        while (observer.found < observer.rows) {
                look(&observer);
                if (now_seconds() - observer.last_found > PATIENCE_S)
                        die("nothing came", NULL);
                nanosleep(&pause, NULL);
        }
        mysql_close(observer.mysql);
        free(observer.seen);
        return 0;
}
