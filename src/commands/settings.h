/*
 * The configuration file as checked values: one table of options (settings_fields) is its parser,
 * its checks, its defaults and its reference.
 */
#ifndef COMMANDS_SETTINGS_H
#define COMMANDS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/log.h"
#include "channel/tenant.h"
#include "config/document.h"
#include "config/schema.h"
#include "kafka/source.h"
#include "mysql/db.h"

enum { LOG_WORD_BYTES = 8, STRICT_WORD_BYTES = 16 };

struct settings_properties {
        struct kafka_property *items; /* in the file's order; values interpolated */
        size_t count;
};

struct settings_topic {
        const char *name;    /* or a pattern (^…), which never means dead_letter.topic */
        const char *channel; /* what all its records are; NULL: header or envelope says */
};

struct settings_topics {
        struct settings_topic *items;
        size_t count;
};

struct settings_paths {
        const char **items; /* as written; see settings_resolve() */
        size_t count;
};

struct settings_delays {
        size_t count; /* at least 1 */
        int64_t items_ms[PARK_DELAYS_MAX];
};

/* Read-only for everyone but settings.c. All texts and nodes live as long as the struct. */
struct settings {
        struct document *document;
        char *directory; /* the configuration file's folder, "." or "/etc/postonce" */

        struct settings_properties kafka; /* passed source_check() */
        struct settings_topics topics;    /* at least one; names or patterns */
        struct db_options mysql; /* accept_data_loss and require_durable are the command's */
        struct {
                int64_t max_records;
        } batch;
        struct {
                const char *topic; /* NULL: none, what is refused is held; never one of topics */
                int64_t attempts;
                int64_t max_per_minute;
        } dead_letter;
        struct settings_paths channels; /* profiles */
        const struct node *orders;      /* for rules_read(); NULL: not given */
        const struct node *events;
        struct tenants tenants; /* settings_close() frees the list */
        struct {
                bool off;
                const char *address;
                int64_t port;
        } http;
        struct {
                struct settings_delays delays;
                int64_t give_up_after_ms;
        } park;
        struct {
                const char *topic; /* for route_topic(); never one that topics mean */
        } outbox;
        struct {
                const char *topic; /* NULL: none; never one that topics mean */
                const char *correlation_header;
        } results;
        struct {
                char unfinished[STRICT_WORD_BYTES];
                bool hand_over;
        } strict;
        struct {
                char word[LOG_WORD_BYTES];
                enum log_level level;
        } log;
        struct {
                int64_t grace_ms;
        } stop;
        struct {
                int64_t first_ms, most_ms; /* first ≤ most */
        } retry;
};

/*
 * Loads path; NULL: $POSTONCE_CONFIG, else ./postonce.yaml, else /etc/postonce/postonce.yaml.
 * SYSTEMIC: no file (reason SETTINGS_NO_FILE: the text says where it looked), or a wrong one
 * (file:line:column). *settings_out is NULL unless OK.
 */
PO_MUST_USE enum po_class settings_load(const char *path, struct settings **settings_out,
                                        struct po_error *error);
void settings_close(struct settings *settings); /* takes NULL */

/*
 * settings_load() for a command: says on standard error what is wrong and, where there is no file,
 * prints a working start after it. EXIT_DONE, or the exit code to end with.
 */
int settings_open(const char *path, struct settings **settings_out);

#define SETTINGS_NO_FILE "NO_CONFIGURATION"

/* The smallest complete configuration: deploy/postonce.minimal.yaml. */
extern const char settings_minimal[];

/* kafka.group.id, which every configuration that was loaded has. */
const char *settings_group(const struct settings *settings);

/* path as seen from the configuration file's folder. False: longer than capacity. */
bool settings_resolve(const struct settings *settings, const char *path, char *buffer,
                      size_t capacity);

/* All options; ends with one without a name. Offsets are those of struct settings. */
extern const struct field settings_fields[];

/* What no single option can say; root is the document's. */
PO_MUST_USE enum po_class settings_check(struct settings *settings, const struct node *root,
                                         struct po_error *error);

#endif
