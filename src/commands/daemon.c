#include "commands/daemon.h"

#include <unistd.h>

#include "base/backoff.h"
#include "base/log.h"
#include "commands/command.h"
#include "commands/parts.h"
#include "ops/metrics.h"

enum { ALIVE_LIMIT_MS = 120000, WAIT_SLICE_MS = 100 };

volatile sig_atomic_t daemon_stop;
static unsigned stop_grace_s;

static void on_stop(int number)
{
        if (number == SIGALRM || daemon_stop)
                _exit(EXIT_UNDRAINED);
        daemon_stop = 1;
        alarm(stop_grace_s);
}

void daemon_watch_signals(const struct settings *settings)
{
        stop_grace_s = (unsigned)((settings->stop.grace_ms + 999) / 1000);
        struct sigaction action = { .sa_handler = on_stop };
        sigemptyset(&action.sa_mask);
        sigaction(SIGTERM, &action, NULL);
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGALRM, &action, NULL);
}

void daemon_wait(int wait_ms)
{
        for (; wait_ms > 0 && !daemon_stop; wait_ms -= WAIT_SLICE_MS)
                usleep(WAIT_SLICE_MS * 1000);
}

enum po_class daemon_open_http(const struct settings *settings, struct http **http_out,
                               struct po_error *error)
{
        *http_out = NULL;
        readiness_set("starting");
        if (settings->http.off)
                return PO_OK;
        return http_open(http_out, settings->http.address, (int)settings->http.port, ALIVE_LIMIT_MS,
                         error);
}

enum po_class daemon_wait_for_database(const struct settings *settings, struct db **db_out,
                                       struct po_error *error)
{
        struct backoff backoff = { settings->retry.first_ms, settings->retry.most_ms };
        enum po_class kind = db_open(db_out, &settings->mysql, error);
        for (unsigned tries = 0; kind == PO_OK && !daemon_stop; tries++) {
                liveness_beat();
                kind = parts_check_db(*db_out, error);
                if (kind != PO_TRANSIENT)
                        return kind;
                log_failure(LOG_LEVEL_WARN, "waiting_for_database", error);
                daemon_wait(backoff_ms(&backoff, tries));
                kind = PO_OK;
        }
        return kind;
}
