#include "desk/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "commands/command.h"
#include "commands/parts.h"
#include "commands/progress_bar.h"
#include "commands/replay_options.h"
#include "kafka/topics.h"
#include "ledger/audit.h"

enum { GROUP_BYTES = 256, WHAT_BYTES = 512, LEFT_LINES_MAX = 50 };

static volatile sig_atomic_t stop_requested;

static void on_stop(int number)
{
        if (stop_requested)
                _Exit(EXIT_UNDRAINED); /* what is not committed comes again */
        (void)number;
        stop_requested = 1;
}

static void watch_signals(void)
{
        struct sigaction action = { .sa_handler = on_stop };
        sigemptyset(&action.sa_mask);
        sigaction(SIGTERM, &action, NULL);
        sigaction(SIGINT, &action, NULL);
}

/* What the command opens. */
struct replay_desk {
        struct replay_request *request;
        struct settings *settings;
        const char *letter_topic;
        char group[GROUP_BYTES];
        struct decoder *decoder;
        struct db *db;
        struct sql sql;
        struct replay_place *places; /* the settings' topics */
        int letter_partitions;
        struct reader *reader;
        struct sink *sink;
        struct replay_report *report;
        struct progress_bar bar;
        int64_t left_lines;
};

static void desk_close(struct replay_desk *desk)
{
        sink_close(desk->sink);
        reader_close(desk->reader);
        sql_free(&desk->sql);
        db_close(desk->db);
        decoder_close(desk->decoder);
        free(desk->places);
        free(desk->report);
        settings_close(desk->settings);
}

/* Topic and group, so that no mix-up can make the letters go round. */
static enum po_class names_settle(struct replay_desk *desk, struct po_error *error)
{
        const struct settings *settings = desk->settings;
        const struct replay_request *request = desk->request;
        desk->letter_topic = request->topic != NULL ? request->topic : settings->dead_letter.topic;
        if (desk->letter_topic == NULL)
                return po_fail(error, PO_SYSTEMIC, 0,
                               "no dead_letter.topic is configured, and no --topic given");
        for (size_t i = 0; i < settings->topics.count; i++)
                if (strcmp(settings->topics.items[i].name, desk->letter_topic) == 0)
                        return po_fail(error, PO_SYSTEMIC, 0,
                                       "%s is a topic that the workers take from, not one of dead "
                                       "letters",
                                       desk->letter_topic);
        if (request->to != NULL && strcmp(request->to, desk->letter_topic) == 0)
                return po_fail(error, PO_SYSTEMIC, 0, "--to %s would send the letters round",
                               request->to);
        const char *group =
                properties_find(settings->kafka.items, settings->kafka.count, "group.id");
        if (request->group != NULL && strcmp(request->group, group) == 0)
                return po_fail(error, PO_SYSTEMIC, 0, "--group %s is the workers' own", group);
        int length = request->group != NULL
                             ? snprintf(desk->group, sizeof desk->group, "%s", request->group)
                             : snprintf(desk->group, sizeof desk->group, "%s.replay", group);
        if (length < 0 || (size_t)length >= sizeof desk->group)
                return po_fail(error, PO_SYSTEMIC, 0, "the group's name is too long; use --group");
        return PO_OK;
}

/* What the brokers know of the letters' topic, of --to and of the settings' topics. */
static enum po_class topics_ask(struct replay_desk *desk, struct po_error *error)
{
        const struct settings *settings = desk->settings;
        size_t count = settings->topics.count;
        CLEANUP(cleanup_free) struct topic_facts *facts = calloc(count + 2, sizeof *facts);
        desk->places = calloc(count, sizeof *desk->places);
        if (facts == NULL || desk->places == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for %zu topics", count);
        for (size_t i = 0; i < count; i++)
                facts[i].name = settings->topics.items[i].name;
        facts[count].name = desk->letter_topic;
        facts[count + 1].name = desk->request->to;
        if (topics_read(settings->kafka.items, settings->kafka.count, facts,
                        count + (desk->request->to != NULL ? 2 : 1), error) != PO_OK)
                return error->kind;
        for (size_t i = 0; i < count; i++)
                desk->places[i] = (struct replay_place){ settings->topics.items[i].name,
                                                         settings->topics.items[i].channel,
                                                         facts[i].partitions };
        desk->letter_partitions = facts[count].partitions;
        if (!facts[count].exists)
                return po_fail(error, PO_SYSTEMIC, 0, "there is no topic %s", desk->letter_topic);
        if (desk->request->to != NULL && !facts[count + 1].exists)
                return po_fail(error, PO_SYSTEMIC, 0, "there is no topic %s", desk->request->to);
        if (desk->request->partition >= desk->letter_partitions)
                return po_fail(error, PO_SYSTEMIC, 0, "%s has no partition %lld, only 0…%d",
                               desk->letter_topic, (long long)desk->request->partition,
                               desk->letter_partitions - 1);
        return PO_OK;
}

static enum po_class desk_open(struct replay_desk *desk, struct po_error *error)
{
        const struct settings *settings = desk->settings;
        const struct replay_request *request = desk->request;
        desk->report = calloc(1, sizeof *desk->report);
        if (desk->report == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory");
        if (names_settle(desk, error) != PO_OK ||
            parts_open_decoder(settings, &desk->decoder, error) != PO_OK ||
            parts_open_db(settings, &desk->db, error) != PO_OK || topics_ask(desk, error) != PO_OK)
                return error->kind;
        const struct reader_options reader = {
                .properties = settings->kafka.items,
                .properties_count = settings->kafka.count,
                .topic = desk->letter_topic,
                .group = desk->group,
                .partitions = desk->letter_partitions,
                .only_partition = request->filter.partition,
                .start = request->from_offset >= 0 ? READER_OFFSET
                         : request->from_beginning ? READER_BEGINNING
                                                   : READER_COMMITTED,
                .start_offset = request->from_offset,
                .records_max = REPLAY_SLICE_RECORDS,
        };
        if (reader_open(&desk->reader, &reader, error) != PO_OK)
                return error->kind;
        return request->dry_run ? PO_OK
                                : sink_open(&desk->sink, settings->kafka.items,
                                            settings->kafka.count, error);
}

static void show_progress(void *context, int64_t read)
{
        struct replay_desk *desk = context;
        progress_bar_show(&desk->bar, read);
}

static void say_left(void *context, const struct record *letter, const struct letter_facts *facts,
                     enum replay_fate fate, const char *text)
{
        struct replay_desk *desk = context;
        if (++desk->left_lines > LEFT_LINES_MAX)
                return;
        progress_bar_clear(&desk->bar);
        fprintf(stderr, "postonce: left: partition %d offset %lld letter %s: %s: %s\n",
                (int)letter->partition, (long long)letter->offset,
                facts->id[0] != '\0' ? facts->id : "-", replay_fate_word(fate),
                text != NULL ? text : replay_fate_meaning(fate));
}

static enum po_class replay(struct replay_desk *desk, enum replay_end *end_out,
                            struct po_error *error)
{
        const struct replay_request *request = desk->request;
        const struct replay_options options = {
                .reader = desk->reader,
                .sink = desk->sink,
                .db = desk->db,
                .decoder = desk->decoder,
                .places = desk->places,
                .places_count = desk->settings->topics.count,
                .to = request->to,
                .filter = request->filter,
                .max_replays = (unsigned)request->max_replays,
                .limit = request->limit,
                .rate = request->rate,
                .stop_after = request->stop_after,
                .again = request->again,
                .commit = request->commit || !letter_filter_is_set(&request->filter),
                .dry_run = request->dry_run,
                .stop = &stop_requested,
                .progress = show_progress,
                .left = say_left,
                .context = desk,
        };
        progress_bar_begin(&desk->bar, "replay", reader_total(desk->reader));
        enum po_class kind = replay_run(&options, desk->report, end_out, error);
        progress_bar_clear(&desk->bar);
        if (desk->left_lines > LEFT_LINES_MAX)
                fprintf(stderr, "postonce: and %lld more are left\n",
                        (long long)(desk->left_lines - LEFT_LINES_MAX));
        return kind;
}

/* Before anything is sent, and again with the counts: a run that is killed leaves its first line.
 */
static enum po_class audit(struct replay_desk *desk, const char *counts, struct po_error *error)
{
        char who[64], filter[WHAT_BYTES], what[WHAT_BYTES + GROUP_BYTES];
        if (desk->request->dry_run)
                return PO_OK;
        replay_request_describe(desk->request, filter, sizeof filter);
        snprintf(what, sizeof what, "%s %s%s", counts, desk->letter_topic, filter);
        return audit_insert(desk->db, &desk->sql, parts_who(who, sizeof who), "replay", what,
                            desk->request->why, error);
}

static enum po_class audit_end(struct replay_desk *desk, struct po_error *error)
{
        char counts[WHAT_BYTES];
        const struct replay_report *report = desk->report;
        snprintf(counts, sizeof counts, "sent=%lld copies=%lld before=%lld left=%lld read=%lld of",
                 (long long)report->totals[REPLAY_SENT], (long long)report->totals[REPLAY_COPY],
                 (long long)report->totals[REPLAY_BEFORE], (long long)replay_report_left(report),
                 (long long)report->read);
        return audit(desk, counts, error);
}

static enum po_class print(const struct replay_desk *desk, struct po_error *error)
{
        static const struct table_column sent[] = {
                { "reason", TABLE_TEXT },   { "channel", TABLE_TEXT },  { "sent", TABLE_NUMBER },
                { "copies", TABLE_NUMBER }, { "before", TABLE_NUMBER }, { "left", TABLE_NUMBER },
                { NULL, TABLE_TEXT },
        };
        static const struct table_column would_send[] = {
                { "reason", TABLE_TEXT },   { "channel", TABLE_TEXT },  { "to_send", TABLE_NUMBER },
                { "copies", TABLE_NUMBER }, { "before", TABLE_NUMBER }, { "left", TABLE_NUMBER },
                { NULL, TABLE_TEXT },
        };
        struct table *table = table_open("letters", desk->request->dry_run ? would_send : sent);
        for (size_t i = 0; i < desk->report->rows_count; i++) {
                const struct replay_row *row = &desk->report->rows[i];
                char numbers[4][24];
                const int64_t counts[4] = { row->counts[REPLAY_SENT], row->counts[REPLAY_COPY],
                                            row->counts[REPLAY_BEFORE], replay_row_left(row) };
                for (int n = 0; n < 4; n++)
                        snprintf(numbers[n], sizeof numbers[n], "%lld", (long long)counts[n]);
                table_row(table, row->reason, row->channel, numbers[0], numbers[1], numbers[2],
                          numbers[3]);
        }
        return table_show(table, (enum table_format)desk->request->format, error);
}

static int code_of(const struct replay_desk *desk, enum replay_end end)
{
        if (end == REPLAY_STOPPED)
                return EXIT_UNDRAINED;
        if (end == REPLAY_GAVE_UP)
                fprintf(stderr, "postonce: gave up after %lld refused letters (--stop-after)\n",
                        (long long)desk->report->totals[REPLAY_FAILED]);
        return replay_report_left(desk->report) > 0 ? EXIT_FINDINGS : EXIT_DONE;
}

static int work(struct replay_desk *desk)
{
        struct po_error error, after;
        enum replay_end end = REPLAY_AT_END;
        if (desk_open(desk, &error) != PO_OK || audit(desk, "begins", &error) != PO_OK)
                return command_fail(&error);
        enum po_class kind = replay(desk, &end, &error);
        int code = kind == PO_OK ? code_of(desk, end) : command_fail(&error);
        if (audit_end(desk, &after) != PO_OK || print(desk, &after) != PO_OK) {
                int failed = command_fail(&after);
                code = code == EXIT_DONE ? failed : code;
        }
        return code;
}

int command_replay(int argc, char **argv)
{
        struct replay_request request;
        int code;
        if (!replay_request_read(&request, argc, argv, &code))
                return code;
        struct replay_desk desk = { .request = &request };
        code = settings_open(request.config, &desk.settings);
        if (code == EXIT_DONE) {
                log_set_level(desk.settings->log.level);
                watch_signals();
                code = work(&desk);
        }
        desk_close(&desk);
        return code;
}
