#include "commands/settings.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/topic_match.h"
#include "commands/command.h"
#include "commands/minimal_configuration.h"
#include "ledger/outbox.h"
#include "relay/route.h"

enum { SECOND_MS = 1000, POLL_INTERVAL_MS = 300000, POLL_INTERVAL_MAX_MS = 86400000 };

const char settings_minimal[] = MINIMAL_CONFIGURATION;

static const char variable[] = "POSTONCE_CONFIG";
static const char *const places[] = { "./postonce.yaml", "/etc/postonce/postonce.yaml" };

static void cleanup_settings(struct settings **slot)
{
        settings_close(*slot);
}

/* The value's node of a kafka property, or NULL. */
static const struct node *property_node(const struct node *root, const char *name)
{
        return node_member(node_member(root, "kafka"), name);
}

/*
 * source_check() knows no places. Its complaint names the property, so the longest name that stands
 * in the text is the one that it means; else (one is missing) the map.
 */
static const struct node *property_meant(const struct settings *settings, const struct node *root,
                                         const char *text)
{
        const struct node *meant = node_member(root, "kafka");
        size_t longest = 0;
        for (size_t i = 0; i < settings->kafka.count; i++) {
                const char *name = settings->kafka.items[i].name;
                if (strlen(name) > longest && strstr(text, name) != NULL) {
                        longest = strlen(name);
                        meant = property_node(root, name);
                }
        }
        return meant;
}

static enum po_class check_kafka(const struct settings *settings, const struct node *root,
                                 struct po_error *error)
{
        if (source_check(settings->kafka.items, settings->kafka.count, error) == PO_OK)
                return PO_OK;
        char text[PO_ERROR_TEXT_BYTES];
        memcpy(text, error->text, sizeof text);
        return node_fail(property_meant(settings, root, text), error, "%s", text);
}

/* Whoever waits longer for the database than this without polling is thrown out of the group. */
static enum po_class check_timeouts(const struct settings *settings, const struct node *root,
                                    struct po_error *error)
{
        static const char property[] = "max.poll.interval.ms";
        const struct node *mysql = node_member(root, "mysql");
        const struct {
                const char *name;
                int64_t value_ms;
                bool blocks;
        } timeouts[] = {
                { "connect_timeout", settings->mysql.connect_timeout_ms, true },
                { "read_timeout", settings->mysql.read_timeout_ms, true },
                { "write_timeout", settings->mysql.write_timeout_ms, true },
                { "wait_timeout", settings->mysql.wait_timeout_ms, false },
        };
        int64_t limit_ms = POLL_INTERVAL_MS;
        const struct node *given = property_node(root, property);
        if (given != NULL &&
            schema_integer(given, 1, POLL_INTERVAL_MAX_MS, &limit_ms, error) != PO_OK)
                return error->kind;
        for (size_t i = 0; i < sizeof timeouts / sizeof timeouts[0]; i++) {
                const struct node *place = node_member(mysql, timeouts[i].name);
                if (place == NULL)
                        place = mysql;
                if (timeouts[i].value_ms % SECOND_MS != 0)
                        return node_fail(place, error,
                                         "%s: must be whole seconds, the client library counts "
                                         "no less",
                                         timeouts[i].name);
                if (timeouts[i].blocks && timeouts[i].value_ms >= limit_ms)
                        return node_fail(place, error,
                                         "%s: %lldms must be below kafka's %s (%lldms): a worker "
                                         "that waits longer for the database loses its partitions",
                                         timeouts[i].name, (long long)timeouts[i].value_ms,
                                         property, (long long)limit_ms);
        }
        return PO_OK;
}

/* Two members that cannot both stand: the complaint is at the second. */
static enum po_class check_exclusive(const struct node *map, const char *first, const char *second,
                                     struct po_error *error)
{
        if (node_member(map, first) == NULL || node_member(map, second) == NULL)
                return PO_OK;
        return node_fail(node_member(map, second), error, "%s: excludes %s: give one of them",
                         second, first);
}

static enum po_class check_tls(const struct db_options *options, const struct node *mysql,
                               struct po_error *error)
{
        const struct node *tls = node_member(mysql, "tls");
        if (tls == NULL)
                return PO_OK;
        if (options->tls_ca == NULL)
                return node_fail(tls, error,
                                 "tls: ca is missing: an unverified server could be "
                                 "anyone");
        if ((options->tls_cert == NULL) != (options->tls_key == NULL))
                return node_fail(tls, error, "tls: cert and key go together");
        return PO_OK;
}

static enum po_class check_mysql(struct settings *settings, const struct node *root,
                                 struct po_error *error)
{
        const struct node *mysql = node_member(root, "mysql");
        if (check_exclusive(mysql, "password", "password_file", error) != PO_OK ||
            check_exclusive(mysql, "host", "socket", error) != PO_OK ||
            check_exclusive(mysql, "port", "socket", error) != PO_OK ||
            check_tls(&settings->mysql, mysql, error) != PO_OK)
                return error->kind;
        if (settings->mysql.socket != NULL)
                settings->mysql.host = NULL;
        return check_timeouts(settings, root, error);
}

/* A dead letter that came back as a fresh record would be refused and sent again, for ever. */
static enum po_class check_dead_letter(const struct settings *settings, const struct node *root,
                                       struct po_error *error)
{
        const char *topic = settings->dead_letter.topic;
        for (size_t i = 0; topic != NULL && i < settings->topics.count; i++)
                if (strcmp(settings->topics.items[i].name, topic) == 0)
                        return node_fail(node_member(node_member(root, "dead_letter"), "topic"),
                                         error,
                                         "topic: \"%s\" is one of topics: its letters would come "
                                         "back as records, for ever",
                                         topic);
        return PO_OK;
}

/*
 * What we write ourselves must not come in again. A pattern that means it would take it up some
 * day, so it is refused as well; dead_letter.topic alone is left out of patterns.
 */
static enum po_class check_own_topic(const struct settings *settings, const struct node *place,
                                     const char *topic, struct po_error *error)
{
        for (size_t i = 0; i < settings->topics.count; i++) {
                const char *name = settings->topics.items[i].name;
                if (topic_is_pattern(name) ? topic_pattern_matches(name, topic)
                                           : strcmp(name, topic) == 0)
                        return node_fail(place, error,
                                         "topic: \"%s\" is meant by \"%s\" of topics: what is "
                                         "written there would come back as records",
                                         topic, name);
        }
        if (settings->dead_letter.topic != NULL && strcmp(settings->dead_letter.topic, topic) == 0)
                return node_fail(place, error, "topic: \"%s\" is dead_letter.topic", topic);
        return PO_OK;
}

/* With its default in force the fault is the subscription's. */
static enum po_class check_outbox(const struct settings *settings, const struct node *root,
                                  struct po_error *error)
{
        char topic[TOPIC_BYTES];
        const struct node *section = node_member(root, "outbox");
        const struct node *place = section != NULL ? node_member(section, "topic") : NULL;
        if (!route_topic(settings->outbox.topic, OUTBOX_AGGREGATE, topic))
                return po_fail(error, PO_BUG, 0, "outbox: topic %s", settings->outbox.topic);
        return check_own_topic(settings, place != NULL ? place : node_member(root, "topics"), topic,
                               error);
}

static enum po_class check_results(const struct settings *settings, const struct node *root,
                                   struct po_error *error)
{
        char outbox[TOPIC_BYTES];
        const char *topic = settings->results.topic;
        if (topic == NULL)
                return PO_OK;
        const struct node *place = node_member(node_member(root, "results"), "topic");
        if (route_topic(settings->outbox.topic, OUTBOX_AGGREGATE, outbox) &&
            strcmp(outbox, topic) == 0)
                return node_fail(place, error, "topic: \"%s\" is the outbox's", topic);
        return check_own_topic(settings, place, topic, error);
}

static enum po_class check_http(const struct settings *settings, const struct node *root,
                                struct po_error *error)
{
        unsigned char binary[sizeof(struct in6_addr)];
        const char *address = settings->http.address;
        if (inet_pton(AF_INET, address, binary) == 1 || inet_pton(AF_INET6, address, binary) == 1)
                return PO_OK;
        return node_fail(node_member(node_member(root, "http"), "address"), error,
                         "address: \"%s\" is no IPv4 or IPv6 address", address);
}

static enum po_class check_retry(const struct settings *settings, const struct node *root,
                                 struct po_error *error)
{
        if (settings->retry.first_ms <= settings->retry.most_ms)
                return PO_OK;
        return node_fail(node_member(root, "retry"), error, "retry: first is longer than most");
}

enum po_class settings_check(struct settings *settings, const struct node *root,
                             struct po_error *error)
{
        if (check_kafka(settings, root, error) != PO_OK ||
            check_mysql(settings, root, error) != PO_OK ||
            check_dead_letter(settings, root, error) != PO_OK ||
            check_outbox(settings, root, error) != PO_OK ||
            check_results(settings, root, error) != PO_OK ||
            check_http(settings, root, error) != PO_OK ||
            check_retry(settings, root, error) != PO_OK)
                return error->kind;
        /* The table has let no other word through. */
        if (log_level_parse(settings->log.word, &settings->log.level) != 0)
                return po_fail(error, PO_BUG, 0, "log: level %s", settings->log.word);
        return PO_OK;
}

static char *directory_of(const char *path)
{
        const char *slash = strrchr(path, '/');
        if (slash == NULL)
                return strdup(".");
        return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

/* Only "not there" leads to the next place: a file that cannot be read is meant, and must be
 * mended. */
static enum po_class path_find(const char **path_out, struct po_error *error)
{
        *path_out = getenv(variable);
        if (*path_out != NULL && **path_out != '\0')
                return PO_OK;
        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
                *path_out = places[i];
                if (access(places[i], F_OK) == 0 || errno != ENOENT)
                        return PO_OK;
        }
        po_fail(error, PO_SYSTEMIC, ENOENT,
                "no configuration: --config is not given, $%s is not set, and there is neither "
                "%s nor %s",
                variable, places[0], places[1]);
        error->reason = SETTINGS_NO_FILE;
        return PO_SYSTEMIC;
}

enum po_class settings_load(const char *path, struct settings **settings_out,
                            struct po_error *error)
{
        *settings_out = NULL;
        if (path == NULL && path_find(&path, error) != PO_OK)
                return error->kind;
        CLEANUP(cleanup_settings) struct settings *settings = calloc(1, sizeof *settings);
        if (settings == NULL || (settings->directory = directory_of(path)) == NULL)
                return po_fail(error, PO_SYSTEMIC, ENOMEM, "%s: out of memory", path);
        if (document_load(&settings->document, path, error) != PO_OK)
                return error->kind;
        const struct node *root = document_root(settings->document);
        if (schema_read(root, settings_fields, settings, error) != PO_OK ||
            settings_check(settings, root, error) != PO_OK)
                return error->kind;
        *settings_out = MOVE(settings);
        return PO_OK;
}

void settings_close(struct settings *settings)
{
        if (settings == NULL)
                return;
        free(settings->kafka.items);
        free(settings->topics.items);
        free(settings->channels.items);
        free(settings->tenants.known);
        free(settings->directory);
        document_close(settings->document);
        free(settings);
}

int settings_open(const char *path, struct settings **settings_out)
{
        struct po_error error;
        if (settings_load(path, settings_out, &error) == PO_OK)
                return EXIT_DONE;
        int code = command_fail(&error);
        if (error.reason != NULL && strcmp(error.reason, SETTINGS_NO_FILE) == 0)
                fprintf(stderr, "\nA working start, to be saved as postonce.yaml:\n\n%s",
                        settings_minimal);
        return code;
}

bool settings_resolve(const struct settings *settings, const char *path, char *buffer,
                      size_t capacity)
{
        int used = path[0] == '/' ? snprintf(buffer, capacity, "%s", path)
                                  : snprintf(buffer, capacity, "%s/%s", settings->directory, path);
        return used >= 0 && (size_t)used < capacity;
}

const char *settings_group(const struct settings *settings)
{
        return properties_find(settings->kafka.items, settings->kafka.count, "group.id");
}
