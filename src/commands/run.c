#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "commands/command.h"
#include "commands/daemon.h"
#include "commands/letter_topic.h"
#include "commands/options.h"
#include "commands/parts.h"
#include "kafka/codes.h"
#include "kafka/sink.h"
#include "kafka/source.h"
#include "ops/metrics.h"
#include "ops/notify.h"
#include "worker/worker.h"

enum { CLOSE_MS = 10000, HOLD_LASTS = 3 };

/* What a worker owns, opened in this order, closed in the other. */
struct parts {
        struct settings *settings;
        struct rules *rules;
        struct decoder *decoder;
        struct db *db;
        struct http *http;
        struct sink *sink;
        struct source *source;
        const char **topic_names;
        struct topic_channel *topics;
};

static enum po_class list_topics(struct parts *parts, struct po_error *error)
{
        size_t count = parts->settings->topics.count;
        parts->topic_names = calloc(count, sizeof(const char *));
        parts->topics = calloc(count, sizeof *parts->topics);
        if (parts->topic_names == NULL || parts->topics == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for %zu topics", count);
        for (size_t i = 0; i < count; i++) {
                const struct settings_topic *topic = &parts->settings->topics.items[i];
                parts->topic_names[i] = topic->name;
                parts->topics[i] = (struct topic_channel){ topic->name, topic->channel };
        }
        return PO_OK;
}

/* A dead-letter topic that is not safe is an error; brokers that do not answer are waited for. */
static enum po_class wait_for_letter_topic(const struct settings *settings, struct po_error *error)
{
        struct backoff backoff = { settings->retry.first_ms, settings->retry.most_ms };
        for (unsigned tries = 0; !daemon_stop; tries++) {
                liveness_beat();
                enum po_class kind = letter_topic_check(settings, error);
                if (kind == PO_OK || error->reason != NULL)
                        return kind;
                log_failure(LOG_LEVEL_WARN, "waiting_for_brokers", error);
                if (tries == 0 && kafka_mend(error->code)[0] != '\0')
                        log_warn("waiting_for_brokers", "mend=\"%s\"", kafka_mend(error->code));
                daemon_wait(backoff_ms(&backoff, tries));
        }
        return PO_OK;
}

/* Below so many tries a record may still become a dead letter and pass. */
static unsigned end_hold_tries(const struct settings *settings)
{
        int64_t attempts = settings->dead_letter.attempts;
        return settings->dead_letter.topic != NULL && attempts > HOLD_LASTS ? (unsigned)attempts
                                                                            : HOLD_LASTS;
}

static void warn_unverified(void *context, const char *channel, const char *missing)
{
        (void)context;
        log_warn("unverified", "channel=%s missing=%s", channel,
                 missing != NULL ? missing : "verify");
}

static enum po_class open_parts(struct parts *parts, bool accept_data_loss, struct po_error *error)
{
        struct settings *settings = parts->settings;
        settings->mysql.require_durable = settings->mysql.require_schema = true;
        settings->mysql.accept_data_loss = accept_data_loss;
        if (parts_read_rules(settings, &parts->rules, error) != PO_OK ||
            parts_open_decoder(settings, &parts->decoder, error) != PO_OK ||
            list_topics(parts, error) != PO_OK)
                return error->kind;
        decoder_unverified(parts->decoder, warn_unverified, NULL);
        if (daemon_open_http(settings, &parts->http, error) != PO_OK ||
            daemon_wait_for_database(settings, &parts->db, error) != PO_OK ||
            wait_for_letter_topic(settings, error) != PO_OK)
                return error->kind;
        if ((settings->dead_letter.topic != NULL || settings->results.topic != NULL) &&
            sink_open(&parts->sink, settings->kafka.items, settings->kafka.count, error) != PO_OK)
                return error->kind;
        struct source_options source = {
                .properties = settings->kafka.items,
                .properties_count = settings->kafka.count,
                .topics = parts->topic_names,
                .topics_count = settings->topics.count,
                .batch_records_max = (size_t)settings->batch.max_records,
                .excluded = settings->dead_letter.topic,
                .end_hold_tries = end_hold_tries(settings),
        };
        return source_open(&parts->source, &source, error);
}

static struct policy policy_of(const struct settings *settings)
{
        struct policy policy = {
                .park_delays_count = settings->park.delays.count,
                .give_up_after_ms = settings->park.give_up_after_ms,
                .reconcile = strcmp(settings->strict.unfinished, "reconcile") == 0,
                .hand_over = settings->strict.hand_over,
                .letters_per_minute = settings->dead_letter.max_per_minute,
        };
        memcpy(policy.park_delays_ms, settings->park.delays.items_ms, sizeof policy.park_delays_ms);
        return policy;
}

static enum po_class work(struct parts *parts, bool until_end, enum worker_end *end_out,
                          struct po_error *error)
{
        const struct settings *settings = parts->settings;
        const struct worker_options options = {
                .source = parts->source,
                .sink = parts->sink,
                .db = parts->db,
                .group = settings_group(settings),
                .decoder = parts->decoder,
                .rules = parts->rules,
                .topics = parts->topics,
                .topics_count = settings->topics.count,
                .records_max = (size_t)settings->batch.max_records,
                .dead_letter_topic = settings->dead_letter.topic,
                .dead_letter_attempts = settings->dead_letter.attempts,
                .results_topic = settings->results.topic,
                .correlation_header = settings->results.correlation_header,
                .backoff = { settings->retry.first_ms, settings->retry.most_ms },
                .policy = policy_of(settings),
                .until_end = until_end,
                .stop = &daemon_stop,
        };
        *end_out = WORKER_STOPPED;
        if (daemon_stop)
                return PO_OK;
        log_info("started", "version=%s database=\"%s\"", version_text,
                 db_server_version(parts->db));
        notify_ready();
        return worker_run(&options, end_out, error);
}

/* The source first: its last commit and leaving the group are what others wait for. */
static enum po_class close_parts(struct parts *parts, struct po_error *error)
{
        notify_stopping();
        enum po_class kind = source_close(parts->source, CLOSE_MS, error);
        if (kind != PO_OK)
                log_failure(LOG_LEVEL_WARN, "close", error);
        sink_close(parts->sink);
        http_close(parts->http);
        db_close(parts->db);
        decoder_close(parts->decoder);
        rules_free(parts->rules);
        free(parts->topic_names);
        free(parts->topics);
        settings_close(parts->settings);
        return kind;
}

static int run(struct settings *settings, bool until_end, bool accept_data_loss)
{
        struct parts parts = { .settings = settings };
        struct po_error error, closing;
        enum worker_end end = WORKER_STOPPED;
        daemon_watch_signals(settings);
        enum po_class kind = open_parts(&parts, accept_data_loss, &error);
        if (kind == PO_OK)
                kind = work(&parts, until_end, &end, &error);
        int code = kind != PO_OK                                      ? command_fail(&error)
                   : end == WORKER_AT_HOLD || end == WORKER_UNDRAINED ? EXIT_UNDRAINED
                                                                      : EXIT_DONE;
        enum po_class closed = close_parts(&parts, &closing);
        if (closed != PO_OK && code == EXIT_DONE)
                code = EXIT_UNDRAINED;
        log_info("stopped", "code=%d", code);
        if (closed != PO_OK)
                _exit(code); /* a consumer that did not close in time would hang exit() as well */
        return code;
}

int command_run(int argc, char **argv)
{
        const char *config = NULL;
        bool until_end = false, accept_data_loss = false;
        const struct option_row rows[] = {
                OPTION_ROW_CONFIG(&config),
                OPTION_ROW_FLAG("until-end",
                                "stop when the group's committed offsets reach the ends of all "
                                "partitions (exit 0), or all but what is held (exit 75)",
                                &until_end),
                OPTION_ROW_FLAG("accept-data-loss",
                                "run on a database that may lose commits in a crash "
                                "(innodb_flush_log_at_trx_commit, sync_binlog)",
                                &accept_data_loss),
                { .name = NULL },
        };
        const struct options options = {
                .command = "postonce run",
                .summary = "One worker: takes notifications from the topics and posts each exactly "
                           "once, until SIGTERM.\nA pool is any number of these in one consumer "
                           "group.",
                .example = "postonce run --config /etc/postonce/postonce.yaml\n"
                           "postonce run --until-end",
                .rows = rows,
        };
        int code;
        if (!options_read(&options, argc, argv, NULL, &code))
                return code;
        struct settings *settings;
        code = settings_open(config, &settings);
        if (code != EXIT_DONE)
                return code;
        log_set_level(settings->log.level);
        return run(settings, until_end, accept_data_loss);
}
