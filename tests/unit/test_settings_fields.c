#include "settings_fixture.h"

#include <ctype.h>
#include <stdbool.h>

enum { FILE_BYTES = 32768 };

static char file_text[FILE_BYTES];

static const char *deploy_file(const char *name)
{
        char path[4096];
        const char *source = getenv("POSTONCE_SOURCE");
        snprintf(path, sizeof path, "%s/deploy/%s", source == NULL ? "." : source, name);
        FILE *file = fopen(path, "r");
        ck_assert_msg(file != NULL, "%s (POSTONCE_SOURCE names the source folder)", path);
        size_t bytes = fread(file_text, 1, sizeof file_text - 1, file);
        fclose(file);
        file_text[bytes] = '\0';
        return file_text;
}

START_TEST(defaults_are_those_of_the_reference)
{
        enter();
        load(WHOLE);
        ck_assert_str_eq(settings->mysql.host, "127.0.0.1");
        ck_assert_int_eq(settings->mysql.port, 3306);
        ck_assert_int_eq(settings->mysql.connect_timeout_ms, 5000);
        ck_assert_int_eq(settings->mysql.read_timeout_ms, 60000);
        ck_assert_int_eq(settings->mysql.write_timeout_ms, 60000);
        ck_assert_int_eq(settings->mysql.wait_timeout_ms, 30000);
        ck_assert_ptr_null(settings->mysql.password);
        ck_assert_ptr_null(settings->mysql.tls_ca);
        ck_assert_int_eq(settings->batch.max_records, 2000);
        ck_assert_ptr_null(settings->dead_letter.topic);
        ck_assert_int_eq(settings->dead_letter.attempts, 5);
        ck_assert_int_eq(settings->dead_letter.max_per_minute, 600);
        static const int64_t delays_ms[] = { 5000, 30000, 300000, 1800000 };
        ck_assert_uint_eq(settings->park.delays.count, 4);
        ck_assert_mem_eq(settings->park.delays.items_ms, delays_ms, sizeof delays_ms);
        ck_assert_int_eq(settings->park.give_up_after_ms, 86400000);
        ck_assert_str_eq(settings->outbox.topic, "postonce.{aggregatetype}");
        ck_assert_ptr_null(settings->results.topic);
        ck_assert_str_eq(settings->strict.unfinished, "finish");
        ck_assert(settings->strict.hand_over);
        ck_assert_uint_eq(settings->channels.count, 0);
        ck_assert_ptr_null(settings->orders);
        ck_assert(!settings->http.off);
        ck_assert_str_eq(settings->http.address, "127.0.0.1");
        ck_assert_int_eq(settings->http.port, 9464);
        ck_assert_int_eq(settings->log.level, LOG_LEVEL_INFO);
        ck_assert_int_eq(settings->stop.grace_ms, 20000);
        ck_assert_int_eq(settings->retry.first_ms, 100);
        ck_assert_int_eq(settings->retry.most_ms, 30000);
        leave();
}
END_TEST

START_TEST(every_option_arrives_where_it_belongs)
{
        enter();
        setenv("POSTONCE_TEST_SECRET", "s3cret", 1);
        load("kafka: { bootstrap.servers: \"a:1,b:2\", group.id: g, sasl.password: \"${env:POSTONCE_TEST_SECRET}\" }\n"
             "topics: { callbacks: {}, callbacks-sqb: { channel: SQB } }\n"
             "mysql: { host: db, port: 3307, user: u, password: \"${env:POSTONCE_TEST_SECRET}\", database: d,\n"
             "  tls: { ca: ca.pem, cert: c.pem, key: k.pem },\n"
             "  connect_timeout: 1s, read_timeout: 2s, write_timeout: 3s, wait_timeout: 4s }\n"
             "batch: { max_records: 5000 }\n"
             "dead_letter: { topic: callbacks.DLT, attempts: 1000, max_per_minute: 7 }\n"
             "park: { delays: [ 1ms, 24h ], give_up_after: 365d }\n"
             "outbox: { topic: 'x-{aggregatetype}' }\n"
             "results: { topic: told, correlation_header: x-id }\n"
             "strict: { unfinished: reconcile, hand_over: false }\n"
             "channels: [ channels/sqb.yaml, /etc/postonce/wechat.yaml ]\n"
             "orders: { initial: PENDING_PAY }\n"
             "events: { PAYMENT_RECEIVED: { otherwise: suspense } }\n"
             "http: { address: \"::1\", port: 0, off: true }\n"
             "log: { level: warn }\n"
             "stop: { grace: 2m }\n"
             "retry: { first: 1s, most: 1m }\n");
        ck_assert_uint_eq(settings->kafka.count, 3);
        ck_assert_str_eq(settings->kafka.items[0].name, "bootstrap.servers");
        ck_assert_str_eq(settings->kafka.items[2].value, "s3cret");
        ck_assert_uint_eq(settings->topics.count, 2);
        ck_assert_str_eq(settings->topics.items[0].name, "callbacks");
        ck_assert_ptr_null(settings->topics.items[0].channel);
        ck_assert_str_eq(settings->topics.items[1].channel, "SQB");
        ck_assert_str_eq(settings->mysql.host, "db");
        ck_assert_int_eq(settings->mysql.port, 3307);
        ck_assert_str_eq(settings->mysql.user, "u");
        ck_assert_str_eq(settings->mysql.password, "s3cret");
        ck_assert_str_eq(settings->mysql.database, "d");
        ck_assert_str_eq(settings->mysql.tls_ca, "ca.pem");
        ck_assert_str_eq(settings->mysql.tls_cert, "c.pem");
        ck_assert_str_eq(settings->mysql.tls_key, "k.pem");
        ck_assert_int_eq(settings->mysql.connect_timeout_ms, 1000);
        ck_assert_int_eq(settings->mysql.read_timeout_ms, 2000);
        ck_assert_int_eq(settings->mysql.write_timeout_ms, 3000);
        ck_assert_int_eq(settings->mysql.wait_timeout_ms, 4000);
        ck_assert_int_eq(settings->batch.max_records, 5000);
        ck_assert_str_eq(settings->dead_letter.topic, "callbacks.DLT");
        ck_assert_int_eq(settings->dead_letter.attempts, 1000);
        ck_assert_int_eq(settings->dead_letter.max_per_minute, 7);
        ck_assert_uint_eq(settings->park.delays.count, 2);
        ck_assert_int_eq(settings->park.delays.items_ms[0], 1);
        ck_assert_int_eq(settings->park.delays.items_ms[1], 86400000);
        ck_assert_int_eq(settings->park.give_up_after_ms, INT64_C(365) * 86400000);
        ck_assert_str_eq(settings->outbox.topic, "x-{aggregatetype}");
        ck_assert_str_eq(settings->results.topic, "told");
        ck_assert_str_eq(settings->results.correlation_header, "x-id");
        ck_assert_str_eq(settings->strict.unfinished, "reconcile");
        ck_assert(!settings->strict.hand_over);
        ck_assert_uint_eq(settings->channels.count, 2);
        ck_assert_str_eq(settings->channels.items[0], "channels/sqb.yaml");
        ck_assert_str_eq(node_text(node_member(settings->orders, "initial")), "PENDING_PAY");
        ck_assert_ptr_nonnull(node_member(settings->events, "PAYMENT_RECEIVED"));
        ck_assert_str_eq(settings->http.address, "::1");
        ck_assert_int_eq(settings->http.port, 0);
        ck_assert(settings->http.off);
        ck_assert_int_eq(settings->log.level, LOG_LEVEL_WARN);
        ck_assert_int_eq(settings->stop.grace_ms, 120000);
        ck_assert_int_eq(settings->retry.first_ms, 1000);
        ck_assert_int_eq(settings->retry.most_ms, 60000);
        leave();
}
END_TEST

START_TEST(what_is_missing_is_named)
{
        enter();
        refuse(TOPICS MYSQL EVENTS, "postonce.yaml:1:1: required member \"kafka\" is missing");
        refuse(KAFKA MYSQL EVENTS, "required member \"topics\" is missing");
        refuse(KAFKA TOPICS EVENTS, "required member \"mysql\" is missing");
        refuse(KAFKA TOPICS MYSQL, "required member \"events\" is missing");
        refuse(KAFKA TOPICS EVENTS "mysql: { database: d }\n",
               "postonce.yaml:8:8: required member \"user\" is missing");
        refuse(WHOLE "dead_letter: { attempts: 2 }\n",
               "postonce.yaml:11:14: required member \"topic\" is missing");
        leave();
}
END_TEST

START_TEST(a_wrong_member_is_refused_at_its_place)
{
        static const struct {
                const char *line, *complaint;
        } wrongs[] = {
                { "btach: {}\n",
                  "postonce.yaml:11:1: unknown member \"btach\"; did you mean \"batch\"?" },
                { "topics: {}\n", "postonce.yaml:11:1: " },
                { "batch: { max_records: 0 }\n",
                  "postonce.yaml:11:23: max_records: \"0\" is out of range" },
                { "batch: { max_records: 5001 }\n",
                  "postonce.yaml:11:23: max_records: \"5001\" is out" },
                { "batch: { max_records: many }\n", "postonce.yaml:11:23: max_records: \"many\"" },
                { "dead_letter: { topic: x.DLT, attempts: 1001 }\n",
                  "postonce.yaml:11:40: attempts: " },
                { "dead_letter: { topic: callbacks }\n",
                  "postonce.yaml:11:23: topic: \"callbacks\" is one of topics" },
                { "dead_letter: { topic: \"^x\" }\n", "postonce.yaml:11:23: a topic's name is" },
                { "dead_letter: { topic: \"a b\" }\n", "postonce.yaml:11:23: a topic's name is" },
                { "dead_letter: { topic: x.DLT, max_per_minute: 0 }\n",
                  "postonce.yaml:11:46: max_per_minute: " },
                { "park: { delays: [] }\n",
                  "postonce.yaml:11:17: delays must be a list of 1 to 16 durations" },
                { "park: { delays: [1s, 1s, 1s, 1s, 1s, 1s, 1s, 1s, 1s, 1s, 1s, 1s, 1s, 1s, 1s,"
                  " 1s, 1s] }\n",
                  "postonce.yaml:11:17: delays must be a list of 1 to 16 durations" },
                { "park: { delays: 5s }\n", "postonce.yaml:11:17: delays must be a list" },
                { "park: { delays: [5s, 25h] }\n", "postonce.yaml:11:22: " },
                { "park: { delays: [5] }\n", "postonce.yaml:11:18: " },
                { "park: { give_up_after: 999ms }\n", "postonce.yaml:11:24: give_up_after: " },
                { "outbox: { topic: 'x.{tenant}' }\n",
                  "postonce.yaml:11:18: topic: \"x.{tenant}\" makes no topic's name" },
                { "strict: { unfinished: reconcil }\n",
                  "postonce.yaml:11:23: unfinished: \"reconcil\" is not known; did you "
                  "mean \"reconcile\"?" },
                { "strict: { hand_over: never }\n", "postonce.yaml:11:22: hand_over: " },
                { "channels: channels/sqb.yaml\n",
                  "postonce.yaml:11:11: channels: must be a list" },
                { "channels: [ a, a ]\n", "postonce.yaml:11:16: \"a\" stands in the list already" },
                { "orders: PENDING_PAY\n", "postonce.yaml:11:9: orders: must be a map" },
                { "http: { port: 65536 }\n", "postonce.yaml:11:15: port: " },
                { "http: { address: localhost }\n",
                  "postonce.yaml:11:18: address: \"localhost\" is no IPv4 or IPv6 address" },
                { "http: { off: maybe }\n", "postonce.yaml:11:14: off: " },
                { "log: { level: wran }\n",
                  "postonce.yaml:11:15: level: \"wran\" is not known; did you "
                  "mean \"warn\"?" },
                { "stop: { grace: 20 }\n", "postonce.yaml:11:16: grace: \"20\" lacks a unit" },
                { "retry: { first: 31s }\n",
                  "postonce.yaml:11:8: retry: first is longer than most" },
                { "retry: { most: 0s }\n", "postonce.yaml:11:16: most: " },
        };
        enter();
        for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
                char text[1024];
                snprintf(text, sizeof text, "%s%s", WHOLE, wrongs[i].line);
                refuse(text, wrongs[i].complaint);
        }
        leave();
}
END_TEST

START_TEST(a_wrong_topic_is_refused_at_its_place)
{
        enter();
        refuse(KAFKA MYSQL EVENTS "topics: {}\n",
               "postonce.yaml:10:9: topics: name at least one topic");
        refuse(KAFKA MYSQL EVENTS "topics: [ callbacks ]\n",
               "postonce.yaml:10:9: topics: must be a map");
        refuse(KAFKA MYSQL EVENTS "topics: { \"^call(\": {} }\n",
               "postonce.yaml:10:11: \"^call(\" is no pattern: ");
        refuse(KAFKA MYSQL EVENTS "topics: { \"^.*\": {} }\n",
               "postonce.yaml:10:11: \"^.*\" means Kafka's own topics too");
        refuse(KAFKA MYSQL EVENTS "topics: { \"a/b\": {} }\n",
               "postonce.yaml:10:11: a topic's name is");
        refuse(KAFKA MYSQL EVENTS "topics: { a: { channel: sqb } }\n",
               "postonce.yaml:10:25: channel: must be 1 to 32 of A-Z");
        refuse(KAFKA MYSQL EVENTS "topics: { a: { chanel: SQB } }\n",
               "postonce.yaml:10:16: unknown member \"chanel\"; did you mean \"channel\"?");
        refuse(KAFKA MYSQL EVENTS "topics: { a: SQB }\n", "postonce.yaml:10:14: must be a map");
        leave();
}
END_TEST

START_TEST(an_unset_variable_is_named)
{
        enter();
        unsetenv("POSTONCE_TEST_UNSET");
        refuse(KAFKA "  sasl.password: ${env:POSTONCE_TEST_UNSET}\n" TOPICS MYSQL EVENTS,
               "postonce.yaml:4:18: the environment has no variable POSTONCE_TEST_UNSET");
        leave();
}
END_TEST

START_TEST(the_reference_file_without_comments_is_the_working_start)
{
        char bare[FILE_BYTES] = "";
        size_t length = 0;
        const char *next;
        for (const char *line = deploy_file("postonce.yaml"); *line != '\0'; line = next) {
                size_t bytes = strcspn(line, "\n");
                next = line + bytes + (line[bytes] == '\n');
                size_t indent = strspn(line, " ");
                if (line[indent] == '#' || line[indent] == '\n')
                        continue;
                memcpy(bare + length, line, (size_t)(next - line));
                length += (size_t)(next - line);
        }
        ck_assert_str_eq(bare, settings_minimal);
}
END_TEST

/* "#name: value" and "#  name: value" show a default; "# Text" is prose. */
static bool line_shows_option(const char *line)
{
        return line[0] == '#' && (islower((unsigned char)line[1]) || strncmp(line, "#  ", 3) == 0);
}

/* deploy/postonce.yaml with every default said aloud. */
static const char *reference_uncommented(void)
{
        static char whole[FILE_BYTES];
        size_t length = 0;
        const char *next;
        for (const char *line = deploy_file("postonce.yaml"); *line != '\0'; line = next) {
                next = line + strcspn(line, "\n");
                next += *next == '\n';
                size_t indent = strspn(line, " ");
                bool shows = line_shows_option(line + indent);
                memcpy(whole + length, line, indent);
                memcpy(whole + length + indent, line + indent + shows,
                       (size_t)(next - line) - indent - shows);
                length += (size_t)(next - line) - shows;
        }
        whole[length] = '\0';
        return whole;
}

static void assert_same(const struct field *fields, const void *one, const void *other)
{
        for (const struct field *field = fields; field->name != NULL; field++) {
                const char *a = (const char *)one + field->offset;
                const char *b = (const char *)other + field->offset;
                if (field->kind == FIELD_SECTION)
                        assert_same(field->section, a, b);
                if (field->kind == FIELD_INTEGER || field->kind == FIELD_DURATION)
                        ck_assert_msg(*(const int64_t *)a == *(const int64_t *)b, "%s",
                                      field->name);
                if (field->kind == FIELD_BOOLEAN)
                        ck_assert_msg(*(const bool *)a == *(const bool *)b, "%s", field->name);
                if (field->kind == FIELD_WORD)
                        ck_assert_str_eq(a, b);
                if (field->kind == FIELD_TEXT && *(char *const *)a != *(char *const *)b)
                        ck_assert_str_eq(*(char *const *)a, *(char *const *)b);
        }
}

START_TEST(the_defaults_that_the_reference_file_shows_are_the_defaults)
{
        enter();
        load(settings_minimal);
        struct settings *minimal = settings;
        settings = NULL;
        load(reference_uncommented());
        assert_same(settings_fields, minimal, settings);
        ck_assert_uint_eq(settings->channels.count, 0);
        settings_close(minimal);
        leave();
}
END_TEST

/* As a member of the uncommented file, or, where it excludes another, in prose as "name: value". */
static void assert_shown(const struct field *fields, const struct node *map, const char *text)
{
        for (const struct field *field = fields; field->name != NULL; field++) {
                char prose[64];
                snprintf(prose, sizeof prose, " %s: ", field->name);
                const struct node *member = map == NULL ? NULL : node_member(map, field->name);
                ck_assert_msg(member != NULL || strstr(text, prose) != NULL,
                              "deploy/postonce.yaml does not show %s", field->name);
                if (field->kind == FIELD_SECTION)
                        assert_shown(field->section, member, text);
                ck_assert_msg(field->help != NULL, "%s has no help", field->name);
        }
}

START_TEST(the_reference_file_shows_every_option_of_the_table)
{
        enter();
        const char *text = reference_uncommented();
        load(text);
        assert_shown(settings_fields, document_root(settings->document), text);
        leave();
}
END_TEST

UNIT_MAIN("settings_fields", defaults_are_those_of_the_reference,
          every_option_arrives_where_it_belongs, what_is_missing_is_named,
          a_wrong_member_is_refused_at_its_place, a_wrong_topic_is_refused_at_its_place,
          an_unset_variable_is_named, the_reference_file_without_comments_is_the_working_start,
          the_defaults_that_the_reference_file_shows_are_the_defaults,
          the_reference_file_shows_every_option_of_the_table)
