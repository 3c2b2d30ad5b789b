/* The option list: what each member of the configuration is, one row each, and how the odd ones are
 * read. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/topic_match.h"
#include "commands/settings.h"
#include "ledger/outbox.h"
#include "postonce/notification.h"
#include "relay/route.h"

enum {
        SECOND_MS = 1000,
        MINUTE_MS = 60 * SECOND_MS,
        HOUR_MS = 60 * MINUTE_MS,
        DAY_MS = 24 * HOUR_MS,
        PORT_MAX = 65535,
        LETTER_ATTEMPTS_MAX = 1000,
        LETTERS_PER_MINUTE_MAX = 1000000,
        PROPERTIES_MAX = 256,
        TOPICS_MAX = 256,
        PROFILES_MAX = 256,
};

/* Room for the members of a map or list, or NULL with error filled. */
static void *items_new(const struct node *node, enum node_kind kind, size_t max, size_t item_bytes,
                       const struct field *field, struct po_error *error)
{
        if (node_kind(node) != kind) {
                node_fail(node, error, "%s: must be a %s", field->name,
                          kind == NODE_MAP ? "map" : "list");
                return NULL;
        }
        if (node_count(node) > max) {
                node_fail(node, error, "%s: %zu members; at most %zu are allowed", field->name,
                          node_count(node), max);
                return NULL;
        }
        void *items = calloc(node_count(node) + 1, item_bytes);
        if (items == NULL)
                po_fail(error, PO_SYSTEMIC, ENOMEM, "%s: out of memory", field->name);
        return items;
}

static enum po_class read_properties(const struct node *node, const struct field *field,
                                     void *target, struct po_error *error)
{
        struct settings_properties *properties = target;
        properties->items =
                items_new(node, NODE_MAP, PROPERTIES_MAX, sizeof *properties->items, field, error);
        if (properties->items == NULL)
                return error->kind;
        for (size_t i = 0; i < node_count(node); i++) {
                struct kafka_property *property = &properties->items[i];
                property->name = node_text(node_key(node, i));
                if (schema_text(node_at(node, i), &property->value, error) != PO_OK)
                        return error->kind;
                properties->count++;
        }
        return PO_OK;
}

/* A label as in a key: [A-Z0-9_]. */
static enum po_class read_label(const struct node *node, const struct field *field, void *target,
                                struct po_error *error)
{
        const char **label = target;
        if (schema_text(node, label, error) != PO_OK)
                return error->kind;
        size_t length = strlen(*label);
        if (length == 0 || length >= PO_CHANNEL_BYTES ||
            strspn(*label, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != length)
                return node_fail(node, error, "%s: must be 1 to %d of A-Z, 0-9 and _", field->name,
                                 PO_CHANNEL_BYTES - 1);
        return PO_OK;
}

/* Kafka's own rule for a topic's name. */
static enum po_class check_topic(const struct node *node, const char *name, struct po_error *error)
{
        size_t length = strlen(name);
        if (length == 0 || length >= TOPIC_BYTES || strcmp(name, ".") == 0 ||
            strcmp(name, "..") == 0 ||
            strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") !=
                    length)
                return node_fail(node, error,
                                 "a topic's name is 1 to %d of A-Z, a-z, 0-9, '.', '_' and '-'",
                                 TOPIC_BYTES - 1);
        return PO_OK;
}

/* A pattern that means Kafka's own topics means whatever is there, and more than anybody wants. */
static enum po_class check_pattern(const struct node *node, const char *pattern,
                                   struct po_error *error)
{
        struct topic_match *match = NULL;
        struct po_error why;
        if (strlen(pattern) >= TOPIC_BYTES)
                return node_fail(node, error, "a topic's pattern is at most %d bytes long",
                                 TOPIC_BYTES - 1);
        if (topic_match_open(&match, &pattern, 1, &why) != PO_OK)
                return node_fail(node, error, "%s", why.text);
        bool too_wide = topic_match_find(match, "__consumer_offsets") == 0;
        topic_match_close(match);
        if (too_wide)
                return node_fail(node, error, "\"%s\" means Kafka's own topics too: be narrower",
                                 pattern);
        return PO_OK;
}

static enum po_class read_topic(const struct node *node, const struct field *field, void *target,
                                struct po_error *error)
{
        (void)field;
        const char **topic = target;
        if (schema_text(node, topic, error) != PO_OK)
                return error->kind;
        return check_topic(node, *topic, error);
}

static const struct field topic_fields[] = {
        { .name = "channel",
          .kind = FIELD_CUSTOM,
          .reader = read_label,
          .offset = offsetof(struct settings_topic, channel),
          .help = "what channel all records of this topic are of" },
        { .name = NULL },
};

static enum po_class read_topics(const struct node *node, const struct field *field, void *target,
                                 struct po_error *error)
{
        struct settings_topics *topics = target;
        topics->items = items_new(node, NODE_MAP, TOPICS_MAX, sizeof *topics->items, field, error);
        if (topics->items == NULL)
                return error->kind;
        if (node_count(node) == 0)
                return node_fail(node, error, "%s: name at least one topic", field->name);
        for (size_t i = 0; i < node_count(node); i++) {
                struct settings_topic *topic = &topics->items[i];
                topic->name = node_text(node_key(node, i));
                if ((topic_is_pattern(topic->name)
                             ? check_pattern(node_key(node, i), topic->name, error)
                             : check_topic(node_key(node, i), topic->name, error)) != PO_OK ||
                    schema_read(node_at(node, i), topic_fields, topic, error) != PO_OK)
                        return error->kind;
                topics->count++;
        }
        return PO_OK;
}

static enum po_class read_paths(const struct node *node, const struct field *field, void *target,
                                struct po_error *error)
{
        struct settings_paths *paths = target;
        paths->items = items_new(node, NODE_LIST, PROFILES_MAX, sizeof *paths->items, field, error);
        if (paths->items == NULL)
                return error->kind;
        for (size_t i = 0; i < node_count(node); i++) {
                const char *path;
                if (schema_text(node_at(node, i), &path, error) != PO_OK)
                        return error->kind;
                if (*path == '\0')
                        return node_fail(node_at(node, i), error, "must not be empty");
                for (size_t other = 0; other < i; other++)
                        if (strcmp(paths->items[other], path) == 0)
                                return node_fail(node_at(node, i), error,
                                                 "\"%s\" stands in the list already", path);
                paths->items[paths->count++] = path;
        }
        return PO_OK;
}

/* Kept as it stands: ledger/rules.c reads it. */
static enum po_class read_node(const struct node *node, const struct field *field, void *target,
                               struct po_error *error)
{
        if (node_kind(node) != NODE_MAP)
                return node_fail(node, error, "%s: must be a map", field->name);
        *(const struct node **)target = node;
        return PO_OK;
}

#define TLS(member, sentence)                                                                      \
        {                                                                                          \
                .name = #member, .kind = FIELD_TEXT,                                               \
                .offset = offsetof(struct db_options, tls_##member), .help = (sentence)            \
        }

/* Members of struct db_options itself: the section's own offset is 0. */
static const struct field tls_fields[] = {
        TLS(ca, "file of the authorities that the server is verified against"),
        TLS(cert, "file of this client's certificate"),
        TLS(key, "file of its private key"),
        { .name = NULL },
};

#define DB_TEXT(member, ...)                                                                       \
        {                                                                                          \
                .name = #member, .kind = FIELD_TEXT,                                               \
                .offset = offsetof(struct db_options, member), __VA_ARGS__                         \
        }
#define DB_DURATION(member, most, value, sentence)                                                 \
        {                                                                                          \
                .name = #member, .kind = FIELD_DURATION,                                           \
                .offset = offsetof(struct db_options, member##_ms), .min = SECOND_MS,              \
                .max = (most), .fallback = (value), .help = (sentence)                             \
        }

static const struct field mysql_fields[] = {
        DB_TEXT(host, .fallback = "127.0.0.1", .help = "the server's name or address"),
        { .name = "port",
          .kind = FIELD_INTEGER,
          .offset = offsetof(struct db_options, port),
          .min = 1,
          .max = PORT_MAX,
          .fallback = "3306",
          .help = "its TCP port" },
        DB_TEXT(socket, .help = "its local socket, instead of host and port"),
        DB_TEXT(user, .required = true, .help = "the account"),
        DB_TEXT(password, .secret = true, .help = "its password; better a file or ${env:NAME}"),
        DB_TEXT(password_file, .help = "file that holds the password, read at every connect"),
        DB_TEXT(database, .required = true, .help = "the database that holds the ledger"),
        { .name = "tls",
          .kind = FIELD_SECTION,
          .section = tls_fields,
          .help = "encrypted connections, the server verified" },
        DB_DURATION(connect_timeout, MINUTE_MS, "5s", "how long connecting may take"),
        DB_DURATION(read_timeout, HOUR_MS, "60s",
                    "how long an answer may take; below kafka's max.poll.interval.ms"),
        DB_DURATION(write_timeout, HOUR_MS, "60s",
                    "how long sending may take; below kafka's max.poll.interval.ms"),
        DB_DURATION(
                wait_timeout, 10 * MINUTE_MS, "30s",
                "after which the server ends a silent session: it frees a frozen worker's locks"),
        { .name = NULL },
};

static const struct field batch_fields[] = {
        { .name = "max_records",
          .kind = FIELD_INTEGER,
          .offset = offsetof(struct settings, batch.max_records),
          .min = 1,
          .max = BATCH_RECORDS_MAX,
          .fallback = "2000",
          .unit = "records",
          .help = "most records of one ledger transaction" },
        { .name = NULL },
};

static const struct field dead_letter_fields[] = {
        { .name = "topic",
          .kind = FIELD_CUSTOM,
          .reader = read_topic,
          .offset = offsetof(struct settings, dead_letter.topic),
          .required = true,
          .help = "where a record goes that cannot be posted" },
        { .name = "attempts",
          .kind = FIELD_INTEGER,
          .offset = offsetof(struct settings, dead_letter.attempts),
          .min = 1,
          .max = LETTER_ATTEMPTS_MAX,
          .fallback = "5",
          .help = "failures of a record before it goes there; what cannot change goes at once" },
        { .name = "max_per_minute",
          .kind = FIELD_INTEGER,
          .offset = offsetof(struct settings, dead_letter.max_per_minute),
          .min = 1,
          .max = LETTERS_PER_MINUTE_MAX,
          .fallback = "600",
          .unit = "letters",
          .help = "of all workers together; more pauses the intake until `postonce resume`" },
        { .name = NULL },
};

static enum po_class read_delays(const struct node *node, const struct field *field, void *target,
                                 struct po_error *error)
{
        struct settings_delays *delays = target;
        if (node_kind(node) != NODE_LIST || node_count(node) == 0 ||
            node_count(node) > PARK_DELAYS_MAX)
                return node_fail(node, error, "%s must be a list of 1 to %d durations", field->name,
                                 PARK_DELAYS_MAX);
        for (delays->count = 0; delays->count < node_count(node); delays->count++)
                if (schema_duration(node_at(node, delays->count), 1, DAY_MS,
                                    &delays->items_ms[delays->count], error) != PO_OK)
                        return error->kind;
        return PO_OK;
}

static const struct field park_fields[] = {
        { .name = "delays",
          .kind = FIELD_CUSTOM,
          .reader = read_delays,
          .offset = offsetof(struct settings, park.delays),
          .fallback = "[5s, 30s, 5m, 30m]",
          .help = "waits between the tries of a parked notification; the last one repeats" },
        { .name = "give_up_after",
          .kind = FIELD_DURATION,
          .offset = offsetof(struct settings, park.give_up_after_ms),
          .min = SECOND_MS,
          .max = INT64_C(365) * DAY_MS,
          .fallback = "24h",
          .help = "then its money goes to suspense; without money it is a dead letter" },
        { .name = NULL },
};

static const char *const unfinished_words[] = { "finish", "reconcile", NULL };

/* With any type: what is wrong for one is wrong for the pattern. */
static enum po_class read_route(const struct node *node, const struct field *field, void *target,
                                struct po_error *error)
{
        const char **pattern = target;
        char topic[TOPIC_BYTES];
        if (schema_text(node, pattern, error) != PO_OK)
                return error->kind;
        if (!route_topic(*pattern, OUTBOX_AGGREGATE, topic))
                return node_fail(node, error,
                                 "%s: \"%s\" makes no topic's name; {aggregatetype} is the only "
                                 "word in braces",
                                 field->name, *pattern);
        return PO_OK;
}

static const struct field outbox_fields[] = {
        { .name = "topic",
          .kind = FIELD_CUSTOM,
          .reader = read_route,
          .offset = offsetof(struct settings, outbox.topic),
          .fallback = "postonce.{aggregatetype}",
          .help = "where `relay` publishes the outbox; {aggregatetype} is the row's, so far always "
                  "order" },
        { .name = NULL },
};

static const struct field results_fields[] = {
        { .name = "topic",
          .kind = FIELD_CUSTOM,
          .reader = read_topic,
          .offset = offsetof(struct settings, results.topic),
          .required = true,
          .help = "where every notification's verdict and first result are told" },
        { .name = "correlation_header",
          .kind = FIELD_TEXT,
          .offset = offsetof(struct settings, results.correlation_header),
          .fallback = "correlation-id",
          .help = "the record's header that is carried over" },
        { .name = NULL },
};

static const struct field strict_fields[] = {
        { .name = "unfinished",
          .kind = FIELD_WORD,
          .offset = offsetof(struct settings, strict.unfinished),
          .size = STRICT_WORD_BYTES,
          .words = unfinished_words,
          .fallback = "finish",
          .help = "reconcile: a claim that another attempt left unfinished is never posted by "
                  "itself, but reviewed" },
        { .name = "hand_over",
          .kind = FIELD_BOOLEAN,
          .offset = offsetof(struct settings, strict.hand_over),
          .fallback = "true",
          .help = "false: what is parked, in conflict or rejected holds its partition" },
        { .name = NULL },
};

static const struct field http_fields[] = {
        { .name = "off",
          .kind = FIELD_BOOLEAN,
          .offset = offsetof(struct settings, http.off),
          .fallback = "false",
          .help = "true: no /metrics, /healthz and /readyz" },
        { .name = "address",
          .kind = FIELD_TEXT,
          .offset = offsetof(struct settings, http.address),
          .fallback = "127.0.0.1",
          .help = "IPv4 or IPv6 address to listen on" },
        { .name = "port",
          .kind = FIELD_INTEGER,
          .offset = offsetof(struct settings, http.port),
          .min = 0,
          .max = PORT_MAX,
          .fallback = "9464",
          .help = "0: any free one" },
        { .name = NULL },
};

static const char *const log_words[] = { "debug", "info", "warn", "error", NULL };

static const struct field log_fields[] = {
        { .name = "level",
          .kind = FIELD_WORD,
          .offset = offsetof(struct settings, log.word),
          .size = LOG_WORD_BYTES,
          .words = log_words,
          .fallback = "info",
          .help = "the least that is written" },
        { .name = NULL },
};

static const struct field stop_fields[] = {
        { .name = "grace",
          .kind = FIELD_DURATION,
          .offset = offsetof(struct settings, stop.grace_ms),
          .min = SECOND_MS,
          .max = HOUR_MS,
          .fallback = "20s",
          .help = "how long a worker may take to finish what it has in hand after SIGTERM" },
        { .name = NULL },
};

static const struct field retry_fields[] = {
        { .name = "first",
          .kind = FIELD_DURATION,
          .offset = offsetof(struct settings, retry.first_ms),
          .min = 1,
          .max = MINUTE_MS,
          .fallback = "100ms",
          .help = "wait before the first retry; each further one doubles it, with jitter" },
        { .name = "most",
          .kind = FIELD_DURATION,
          .offset = offsetof(struct settings, retry.most_ms),
          .min = 1,
          .max = HOUR_MS,
          .fallback = "30s",
          .help = "longest wait between retries" },
        { .name = NULL },
};

#define CUSTOM(member, function, ...)                                                              \
        {                                                                                          \
                .name = #member, .kind = FIELD_CUSTOM, .reader = (function),                       \
                .offset = offsetof(struct settings, member), __VA_ARGS__                           \
        }
/* target: the enum's number. */
static enum po_class read_tenant_source(const struct node *node, const struct field *field,
                                        void *target, struct po_error *error)
{
        (void)field;
        return schema_choice(node, tenant_source_words, target, error);
}

static int compare_tenants(const void *left, const void *right)
{
        const int64_t *a = left, *b = right;
        return *a < *b ? -1 : *a > *b;
}

static enum po_class read_tenants(const struct node *node, const struct field *field, void *target,
                                  struct po_error *error)
{
        struct tenants *tenants = target;
        size_t count = node_kind(node) == NODE_LIST ? node_count(node) : 0;
        if (count == 0 || count > TENANTS_MAX)
                return node_fail(node, error, "%s must be a list of 1 to %d tenants", field->name,
                                 TENANTS_MAX);
        tenants->known = calloc(count, sizeof *tenants->known);
        if (tenants->known == NULL)
                return node_fail(node, error, "no memory for the tenants");
        for (; tenants->known_count < count; tenants->known_count++)
                if (schema_integer(node_at(node, tenants->known_count), 1, INT64_MAX,
                                   &tenants->known[tenants->known_count], error) != PO_OK)
                        return error->kind;
        qsort(tenants->known, count, sizeof *tenants->known, compare_tenants);
        for (size_t i = 1; i < count; i++)
                if (tenants->known[i] == tenants->known[i - 1])
                        return node_fail(node, error, "tenant %lld stands there twice",
                                         (long long)tenants->known[i]);
        return PO_OK;
}

static const struct field tenants_fields[] = {
        { .name = "from",
          .kind = FIELD_CUSTOM,
          .reader = read_tenant_source,
          .offset = offsetof(struct settings, tenants.from),
          .fallback = "payload",
          .help = "whose a notification is: payload (the envelope's tenant_id, else the profile's "
                  "tenant), header or constant" },
        { .name = "header",
          .kind = FIELD_TEXT,
          .offset = offsetof(struct settings, tenants.header),
          .fallback = "tenant_id",
          .help = "with from: header, the record's header that says it, as decimal digits" },
        { .name = "constant",
          .kind = FIELD_INTEGER,
          .offset = offsetof(struct settings, tenants.constant),
          .min = 1,
          .max = INT64_MAX,
          .fallback = "1",
          .help = "with from: constant, whose all of them are" },
        { .name = "known",
          .kind = FIELD_CUSTOM,
          .reader = read_tenants,
          .offset = offsetof(struct settings, tenants),
          .help = "the tenants that there are; any other is REJECTED TENANT_UNKNOWN" },
        { .name = NULL },
};

/* The rows of these sections count from struct settings, so the section's own offset is 0. */
#define SECTION(member, sentence)                                                                  \
        {                                                                                          \
                .name = #member, .kind = FIELD_SECTION, .section = member##_fields,                \
                .help = (sentence)                                                                 \
        }

const struct field settings_fields[] = {
        CUSTOM(kafka, read_properties, .required = true,
               .help = "librdkafka's own properties, handed through; unsafe ones are refused"),
        CUSTOM(topics, read_topics, .required = true,
               .help = "the topics to take from, or patterns of them (^…), each {} or "
                       "{ channel: LABEL }; a pattern never means dead_letter.topic"),
        { .name = "mysql",
          .kind = FIELD_SECTION,
          .offset = offsetof(struct settings, mysql),
          .section = mysql_fields,
          .required = true,
          .help = "the ledger's database" },
        SECTION(batch, "how much goes into one transaction"),
        SECTION(dead_letter, "what cannot be posted; without it such a record is held for ever"),
        CUSTOM(channels, read_paths,
               .help = "channel profiles, relative to this file's folder; postonce's own envelope "
                       "needs none"),
        CUSTOM(orders, read_node, .help = "the states of orders"),
        CUSTOM(events, read_node, .required = true,
               .help = "what each event moves, posts and tells others"),
        SECTION(tenants, "whose notifications are, and who there is"),
        SECTION(http, "figures and health"),
        SECTION(park, "what came too early"),
        SECTION(outbox, "messages for other systems, published by `postonce relay`"),
        SECTION(results, "what became of each notification, for whoever answers the channel"),
        SECTION(strict, "harder rules"),
        SECTION(log, "one logfmt line an event, on standard error"),
        SECTION(stop, "SIGTERM"),
        SECTION(retry, "back-off while something is away"),
        { .name = NULL },
};
