#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "base/topic_match.h"
#include "commands/command.h"
#include "commands/error_table.h"
#include "commands/live.h"
#include "commands/options.h"
#include "commands/parts.h"
#include "commands/sample.h"
#include "commands/table.h"
#include "kafka/codes.h"
#include "kafka/letter_safety.h"
#include "kafka/topics.h"
#include "ledger/grants.h"
#include "ledger/machine.h"
#include "ledger/outbox.h"
#include "relay/route.h"

/* What was looked at, what was found, what mends it. */
struct report {
        struct table *table;
        bool broken, warned;
};

static const struct table_column columns[] = {
        { "area", TABLE_TEXT }, { "state", TABLE_TEXT }, { "finding", TABLE_TEXT },
        { "mend", TABLE_TEXT }, { NULL, TABLE_TEXT },
};

static void report_ok(struct report *report, const char *area, const char *finding)
{
        table_row(report->table, area, "ok", finding, "");
}

static void report_warning(struct report *report, const char *area, const char *finding,
                           const char *mend)
{
        report->warned = true;
        table_row(report->table, area, "warning", finding, mend);
}

static void report_error(struct report *report, const char *area, const char *finding,
                         const char *mend)
{
        report->broken = true;
        table_row(report->table, area, "error", finding, mend);
}

static void cleanup_sql(struct sql *sql)
{
        sql_free(sql);
}

struct events {
        struct report *report;
        const struct rules *rules;
};

/* An event that a profile makes and no rule takes would end in the dead letters. */
static void check_event(void *context, const char *channel, const char *event)
{
        const struct events *events = context;
        char finding[256];
        const struct event_rule *rule = rules_find(events->rules, event);
        snprintf(finding, sizeof finding, "%s makes %s", channel, event);
        if (rule == NULL)
                report_warning(events->report, "events", finding,
                               "add the event to `events`; without a rule it is REJECTED");
        else
                report_ok(events->report, "events", finding);
}

/* Who believes what nobody proved should know it. */
static void check_unverified(void *context, const char *channel, const char *missing)
{
        char finding[160], mend[256];
        snprintf(finding, sizeof finding, "%s: bodies are believed without a signature", channel);
        if (missing != NULL)
                snprintf(mend, sizeof mend, "set the variable of %.64s to the file with the key",
                         missing);
        else
                snprintf(mend, sizeof mend,
                         "give the profile `verify`; op: none if whoever writes to the topic has "
                         "verified them");
        report_warning(context, "signatures", finding, mend);
}

static void check_profiles(struct report *report, const struct settings *settings)
{
        struct po_error error;
        struct rules *rules = NULL;
        struct decoder *decoder = NULL;
        char finding[128];
        if (parts_read_rules(settings, &rules, &error) != PO_OK) {
                report_error(report, "events", error.text, "mend the file at that place");
        } else {
                snprintf(finding, sizeof finding, "%zu event rules", rules_count(rules));
                report_ok(report, "events", finding);
        }
        if (parts_open_decoder(settings, &decoder, &error) != PO_OK) {
                report_error(report, "channels", error.text, "mend the file at that place");
        } else {
                snprintf(finding, sizeof finding, "%zu profiles", settings->channels.count);
                if (settings->channels.count > 0)
                        report_ok(report, "channels", finding);
                else
                        report_warning(report, "channels", "no profiles",
                                       "list a profile in `channels`: every record is REJECTED "
                                       "UNKNOWN_CHANNEL");
        }
        if (decoder != NULL)
                decoder_unverified(decoder, check_unverified, report);
        if (rules != NULL && decoder != NULL)
                decoder_events(decoder, check_event,
                               &(struct events){ .report = report, .rules = rules });
        decoder_close(decoder);
        rules_free(rules);
}

static void check_strict(struct report *report, const struct settings *settings)
{
        if (!settings->strict.hand_over)
                report_warning(report, "strict", "strict.hand_over is false",
                               "a notification that is early, in conflict or refused HOLDS its "
                               "partition until somebody comes");
}

/* Nothing breaks without it: it is a second wall, so it does not change how check ends. */
static void check_rights(struct report *report, struct db *db)
{
        CLEANUP(cleanup_sql) struct sql sql = { 0 };
        struct po_error error;
        const char *right;
        char finding[96];
        if (grants_probe(db, &sql, &right, &error) != PO_OK) {
                report_error(report, "rights", error.text, "as the finding says");
                return;
        }
        snprintf(finding, sizeof finding, "this user may %s", right != NULL ? right : "");
        if (right != NULL)
                table_row(report->table, "rights", "note", finding,
                          "a worker needs no such right: see postonce migrate --grants");
        else
                report_ok(report, "rights", "what proves something can only be added to");
}

static void check_database(struct report *report, struct settings *settings)
{
        struct po_error error;
        struct db *db = NULL;
        char finding[160];
        settings->mysql.require_durable = true;
        enum po_class kind = parts_open_db(settings, &db, &error);
        if (kind == PO_OK) {
                snprintf(finding, sizeof finding, "%s, schema and session as they must be",
                         db_server_version(db));
                report_ok(report, "database", finding);
                check_rights(report, db);
        } else {
                report_error(report, "database", error.text,
                             kind == PO_TRANSIENT ? "start the server, or mend mysql.host and port"
                                                  : "as the finding says");
        }
        db_close(db);
}

static void check_letter_finding(void *context, bool unsafe, const char *finding, const char *mend)
{
        if (unsafe)
                report_error(context, "dead letters", finding, mend);
        else
                report_warning(context, "dead letters", finding, mend);
}

static void check_letters(struct report *report, const struct settings *settings,
                          const struct topic_facts *letters, const struct topic_facts *sources)
{
        char finding[TOPIC_BYTES + 64];
        if (letters == NULL) {
                report_warning(report, "dead letters", "no dead_letter.topic",
                               "without one a record that cannot be posted HOLDS its partition");
                return;
        }
        snprintf(finding, sizeof finding, "%s: %d partitions%s", letters->name, letters->partitions,
                 letters->configured ? ", safe for every letter" : "");
        if (letter_safety_judge(letters, sources, settings->topics.count, check_letter_finding,
                                report))
                report_ok(report, "dead letters", finding);
}

static void check_topic(struct report *report, const struct topic_facts *topic)
{
        char finding[TOPIC_BYTES + 64];
        snprintf(finding, sizeof finding, "%s: %d partitions", topic->name, topic->partitions);
        if (topic->exists)
                report_ok(report, "topics", finding);
        else if (topic_is_pattern(topic->name))
                report_warning(report, "topics", finding,
                               "no topic matches so far; one that is made later is taken up");
        else
                report_error(report, "topics", finding, "create the topic");
}

/* A topic that is written to: needed, or of use to some. */
static void check_target(struct report *report, const char *area, const struct topic_facts *topic,
                         bool needed, const char *mend)
{
        char finding[TOPIC_BYTES + 64];
        if (topic == NULL)
                return;
        snprintf(finding, sizeof finding, "%s: %d partitions", topic->name, topic->partitions);
        if (topic->exists)
                report_ok(report, area, finding);
        else if (needed)
                report_error(report, area, finding, mend);
        else
                table_row(report->table, area, "note", finding, mend);
}

/* What the brokers are asked for: every source, then what is written to. */
struct asked {
        struct topic_facts *facts;
        size_t count;
        struct topic_facts *letters, *results, *outbox; /* NULL: not configured */
};

static struct topic_facts *ask_for(struct asked *asked, const char *name)
{
        if (name == NULL)
                return NULL;
        struct topic_facts *facts = &asked->facts[asked->count++];
        facts->name = name;
        return facts;
}

static enum po_class ask(const struct settings *settings, struct asked *asked,
                         struct po_error *error)
{
        enum { WRITTEN_TO = 3 };
        static char outbox[TOPIC_BYTES];
        asked->facts = calloc(settings->topics.count + WRITTEN_TO, sizeof *asked->facts);
        if (asked->facts == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for topics");
        for (size_t i = 0; i < settings->topics.count; i++)
                ask_for(asked, settings->topics.items[i].name);
        asked->letters = ask_for(asked, settings->dead_letter.topic);
        asked->results = ask_for(asked, settings->results.topic);
        if (route_topic(settings->outbox.topic, OUTBOX_AGGREGATE, outbox))
                asked->outbox = ask_for(asked, outbox);
        return topics_describe(settings->kafka.items, settings->kafka.count,
                               settings->dead_letter.topic, asked->facts, asked->count, error);
}

static void check_broker(struct report *report, const struct settings *settings)
{
        struct po_error error;
        struct asked asked = { 0 };
        if (ask(settings, &asked, &error) != PO_OK) {
                report_error(report, "broker", error.text,
                             kafka_mend(error.code)[0] != '\0' ? kafka_mend(error.code)
                                                               : "as the finding says");
                free(asked.facts);
                return;
        }
        for (size_t i = 0; i < settings->topics.count; i++)
                check_topic(report, &asked.facts[i]);
        check_letters(report, settings, asked.letters, asked.facts);
        check_target(report, "results", asked.results, true,
                     "create the topic of results.topic: without it every record is held");
        /* Whoever reads the outbox by other means needs no topic: how check ends stays. */
        check_target(report, "outbox", asked.outbox, false,
                     "create the topic before `postonce relay` is to publish there");
        free(asked.facts);
}

static int check_all(struct settings *settings, enum table_format format)
{
        struct report report = { .table = table_open("findings", columns) };
        report_ok(&report, "configuration", document_name(settings->document));
        check_strict(&report, settings);
        check_profiles(&report, settings);
        check_database(&report, settings);
        check_broker(&report, settings);

        struct po_error error;
        if (table_show(report.table, format, &error) != PO_OK)
                return command_fail(&error);
        return report.broken || report.warned ? EXIT_FINDINGS : EXIT_DONE;
}

static int print_graph(const struct settings *settings)
{
        struct po_error error;
        struct rules *rules = NULL;
        if (parts_read_rules(settings, &rules, &error) != PO_OK)
                return command_fail(&error);
        machine_write_dot(rules, stdout);
        rules_free(rules);
        return EXIT_DONE;
}

static struct {
        const char *config;
        int format;
        bool errors, graph;
        struct sample_request sample;
        int64_t from_topic;
} given;

static const struct option_row check_rows[] = {
        OPTION_ROW_CONFIG(&given.config),
        OPTION_ROW_OUTPUT(&given.format),
        OPTION_ROW_FLAG("errors",
                        "instead: what each error of database and brokers is taken for; needs "
                        "no configuration",
                        &given.errors),
        OPTION_ROW_FLAG(
                "graph",
                "instead: the states of orders and refunds and what moves them, for Graphviz' "
                "dot",
                &given.graph),
        OPTION_ROW_TEXT("sample", "FILE", "instead: decode this file as one record's value",
                        &given.sample.path),
        OPTION_ROW_TEXT("channel", "LABEL", "with --sample: as if the topic fixed this channel",
                        &given.sample.channel),
        OPTION_ROW_TEXTS("header", "NAME=VALUE",
                         "with --sample: a header of the record; may be repeated",
                         &given.sample.headers),
        OPTION_ROW_FLAG("explain",
                        "with --sample: which shapes, guards and rules were tried and why each "
                        "did not match",
                        &given.sample.explain),
        OPTION_ROW_INTEGER("from-topic", "N",
                           "instead: decode the last N records of each topic and count what they "
                           "become",
                           &given.from_topic, 1, LIVE_RECORDS_MAX),
        { .name = NULL },
};

int command_check(int argc, char **argv)
{
        given.format = TABLE_FORMAT_TABLE;
        const struct options options = {
                .command = "postonce check",
                .summary = "Looks at the configuration, the profiles, the database, the broker and "
                           "the topics and names\neach finding with its mend; exit 1 if there is "
                           "one. Changes nothing. With --sample it shows\nwhat a payload becomes, "
                           "with --from-topic what the records in the topics become.",
                .example = "postonce check\n"
                           "postonce check --sample callback.json --channel SQB --explain\n"
                           "postonce check --from-topic 1000\n"
                           "postonce check --graph | dot -Tsvg >states.svg\n"
                           "postonce check --errors",
                .rows = check_rows,
        };
        int code;
        if (!options_read(&options, argc, argv, NULL, &code))
                return code;
        if (given.sample.path == NULL && (given.sample.channel != NULL ||
                                          given.sample.headers.count > 0 || given.sample.explain))
                return options_refuse(&options,
                                      "--channel, --header and --explain go with --sample FILE");
        if (given.errors + given.graph + (given.sample.path != NULL) + (given.from_topic > 0) > 1)
                return options_refuse(
                        &options,
                        "--errors, --graph, --sample and --from-topic exclude each other");
        if (given.errors)
                return error_table_print((enum table_format)given.format);
        struct settings *settings;
        code = settings_open(given.config, &settings);
        if (code != EXIT_DONE)
                return code;
        if (given.graph)
                code = print_graph(settings);
        else if (given.sample.path != NULL)
                code = sample_check(settings, &given.sample, (enum table_format)given.format);
        else if (given.from_topic > 0)
                code = live_check(settings, given.from_topic, (enum table_format)given.format);
        else
                code = check_all(settings, (enum table_format)given.format);
        settings_close(settings);
        return code;
}
