/* What the commands have in common that run until they are told to stop. */
#ifndef COMMANDS_DAEMON_H
#define COMMANDS_DAEMON_H

#include <signal.h>

#include "commands/settings.h"
#include "mysql/db.h"
#include "ops/http.h"
#include "postonce/error.h"

/* Not 0 once a signal asked to stop. */
extern volatile sig_atomic_t daemon_stop;

/*
 * SIGTERM or SIGINT asks; a second one, or stop.grace after the first, ends the process at once
 * with EXIT_UNDRAINED. Nothing is lost either way.
 */
void daemon_watch_signals(const struct settings *settings);

/* Waits so long, or until it is told to stop. */
void daemon_wait(int wait_ms);

/* The pages of `http`, not ready yet. *http_out is NULL with http.off. */
PO_MUST_USE enum po_class daemon_open_http(const struct settings *settings, struct http **http_out,
                                           struct po_error *error);

/*
 * Opens *db_out and waits until it answers and its schema is known: a database that is away is
 * waited for, one that is wrong is an error. OK as well when it is told to stop meanwhile.
 */
PO_MUST_USE enum po_class daemon_wait_for_database(const struct settings *settings,
                                                   struct db **db_out, struct po_error *error);

#endif
