#include "relay/relay.h"

#include "base/log.h"
#include "commands/command.h"
#include "commands/daemon.h"
#include "commands/options.h"
#include "commands/settings.h"
#include "ops/notify.h"

static enum po_class work(const struct settings *settings, struct db *db, bool until_end,
                          enum relay_end *end_out, struct po_error *error)
{
        const struct relay_options options = {
                .db = db,
                .properties = settings->kafka.items,
                .properties_count = settings->kafka.count,
                .topic = settings->outbox.topic,
                .backoff = { settings->retry.first_ms, settings->retry.most_ms },
                .until_end = until_end,
                .stop = &daemon_stop,
        };
        *end_out = RELAY_STOPPED;
        if (daemon_stop)
                return PO_OK;
        log_info("started", "version=%s database=\"%s\"", version_text, db_server_version(db));
        notify_ready();
        return relay_run(&options, end_out, error);
}

/* Stopped before the end that it was to reach is undrained. */
static int exit_code_at(enum relay_end end, bool until_end)
{
        return end == RELAY_LEFT || (end == RELAY_STOPPED && until_end) ? EXIT_UNDRAINED
                                                                        : EXIT_DONE;
}

static int relay(struct settings *settings, bool until_end)
{
        struct po_error error;
        struct http *http = NULL;
        struct db *db = NULL;
        enum relay_end end = RELAY_STOPPED;
        daemon_watch_signals(settings);
        enum po_class kind = daemon_open_http(settings, &http, &error);
        if (kind == PO_OK)
                kind = daemon_wait_for_database(settings, &db, &error);
        if (kind == PO_OK)
                kind = work(settings, db, until_end, &end, &error);
        int code = kind == PO_OK ? exit_code_at(end, until_end) : command_fail(&error);
        notify_stopping();
        http_close(http);
        db_close(db);
        settings_close(settings);
        log_info("stopped", "code=%d", code);
        return code;
}

int command_relay(int argc, char **argv)
{
        const char *config = NULL;
        bool until_end = false;
        const struct option_row rows[] = {
                OPTION_ROW_CONFIG(&config),
                OPTION_ROW_FLAG(
                        "until-end",
                        "stop when everything is published (exit 0), or all but what its topic "
                        "refuses (exit 75)",
                        &until_end),
                { .name = NULL },
        };
        const struct options options = {
                .command = "postonce relay",
                .summary = "Publishes the outbox to outbox.topic, until SIGTERM. Any number may "
                           "run: one is active, the\nothers stand by. Readers must read committed "
                           "records only, and take a message's header id once.",
                .example = "postonce relay --config /etc/postonce/postonce.yaml\n"
                           "postonce relay --until-end",
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
        return relay(settings, until_end);
}
