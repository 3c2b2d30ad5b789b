#include "commands/live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "commands/command.h"
#include "commands/parts.h"
#include "commands/progress_bar.h"
#include "kafka/reader.h"
#include "kafka/topics.h"

enum {
        TALLY_ROWS_MAX = 256,
        EXAMPLES_MAX = 3,
        EXAMPLES_BYTES = EXAMPLES_MAX * (TOPIC_BYTES + 40),
        TAKE_RECORDS = 500,
        TAKE_WAIT_MS = 1000,
        REASON_BYTES = 40,
};

/* What happened alike, and how often. */
struct tally {
        char channel[PO_CHANNEL_BYTES];
        const char *outcome; /* a literal */
        char event[PO_EVENT_BYTES];
        char reason[REASON_BYTES];
        int64_t count;
        size_t examples_count;
        char examples[EXAMPLES_BYTES];
};

struct live_topic {
        char name[TOPIC_BYTES];
        int partitions;
        const char *channel; /* that the configuration fixes, or NULL */
};

struct live {
        const struct settings *settings;
        struct decoder *decoder;
        struct rules *rules;
        struct live_topic *topics;
        size_t topics_count;
        bool failed; /* out of memory */
        int64_t records, refused;
        size_t tallies_count;
        struct tally tallies[TALLY_ROWS_MAX + 1]; /* the last one: what did not find room */
        struct po_notification notifications[NOTIFICATIONS_PER_RECORD_MAX];
};

static void live_close(struct live *live)
{
        rules_free(live->rules);
        decoder_close(live->decoder);
        free(live->topics);
        free(live);
}

static struct tally *tally_find(struct live *live, const struct tally *like)
{
        for (size_t i = 0; i < live->tallies_count; i++) {
                struct tally *tally = &live->tallies[i];
                if (strcmp(tally->channel, like->channel) == 0 &&
                    strcmp(tally->outcome, like->outcome) == 0 &&
                    strcmp(tally->event, like->event) == 0 &&
                    strcmp(tally->reason, like->reason) == 0)
                        return tally;
        }
        if (live->tallies_count > TALLY_ROWS_MAX)
                return &live->tallies[TALLY_ROWS_MAX];
        struct tally *added = &live->tallies[live->tallies_count++];
        *added = *like;
        if (live->tallies_count > TALLY_ROWS_MAX)
                *added = (struct tally){ .outcome = "others" };
        return added;
}

static void tally_add(struct live *live, const struct tally *like, const struct record *record)
{
        struct tally *tally = tally_find(live, like);
        tally->count++;
        if (tally->examples_count == EXAMPLES_MAX)
                return;
        size_t used = strlen(tally->examples);
        snprintf(tally->examples + used, sizeof tally->examples - used, "%s%s/%d/%lld",
                 used > 0 ? " " : "", record->topic, (int)record->partition,
                 (long long)record->offset);
        tally->examples_count++;
}

/* A word of whoever wrote the record: shown only where it is a label. */
static void channel_fill(char channel[PO_CHANNEL_BYTES], const struct record *record,
                         const char *topic_channel)
{
        const struct record_header *header = record_header(record, "channel");
        if (topic_channel != NULL) {
                snprintf(channel, PO_CHANNEL_BYTES, "%s", topic_channel);
                return;
        }
        if (header == NULL || header->value == NULL || header->value_bytes >= PO_CHANNEL_BYTES)
                return;
        memcpy(channel, header->value, header->value_bytes);
        channel[header->value_bytes] = '\0';
        if (channel[strspn(channel, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] != '\0')
                channel[0] = '\0';
}

static void add_notification(struct live *live, const struct po_notification *notification,
                             const struct record *record)
{
        bool known = rules_find(live->rules, notification->event) != NULL;
        struct tally like = { .outcome = known ? "decoded" : "refused" };
        memcpy(like.channel, notification->channel, sizeof like.channel);
        memcpy(like.event, notification->event, sizeof like.event);
        if (!known)
                snprintf(like.reason, sizeof like.reason, "NO_EVENT_RULE");
        live->refused += !known;
        tally_add(live, &like, record);
}

static enum po_class live_record(struct live *live, const struct record *record,
                                 const char *topic_channel, struct po_error *error)
{
        size_t count;
        enum po_class kind =
                decode_record(live->decoder, record, topic_channel, live->notifications,
                              NOTIFICATIONS_PER_RECORD_MAX, &count, error);
        live->records++;
        if (kind != PO_OK && kind != PO_RECORD)
                return kind;
        for (size_t i = 0; i < count; i++)
                add_notification(live, &live->notifications[i], record);
        if (count > 0)
                return PO_OK;
        struct tally like = { .outcome = kind == PO_OK ? "ignored" : "refused" };
        channel_fill(like.channel, record, topic_channel);
        if (kind == PO_RECORD)
                snprintf(like.reason, sizeof like.reason, "%s", error->reason);
        live->refused += kind == PO_RECORD;
        tally_add(live, &like, record);
        return PO_OK;
}

static void reader_slot_close(struct reader **slot)
{
        reader_close(*slot);
}

static enum po_class live_topic_read(struct live *live, const struct live_topic *topic,
                                     int64_t records_most, struct po_error *error)
{
        const struct reader_options options = {
                .properties = live->settings->kafka.items,
                .properties_count = live->settings->kafka.count,
                .topic = topic->name,
                .partitions = topic->partitions,
                .only_partition = -1,
                .start = READER_LAST,
                .last_records = records_most,
                .records_max = TAKE_RECORDS,
        };
        CLEANUP(reader_slot_close) struct reader *reader = NULL;
        if (reader_open(&reader, &options, error) != PO_OK)
                return error->kind;
        struct progress_bar bar;
        int64_t before = live->records;
        enum po_class kind = PO_OK;
        progress_bar_begin(&bar, "check", reader_total(reader));
        while (kind == PO_OK && !reader_at_end(reader)) {
                const struct record *records;
                size_t count;
                kind = reader_take(reader, TAKE_WAIT_MS, &records, &count, error);
                for (size_t i = 0; kind == PO_OK && i < count; i++)
                        kind = live_record(live, &records[i], topic->channel, error);
                progress_bar_show(&bar, live->records - before);
        }
        progress_bar_clear(&bar);
        return kind;
}

static void live_topic_add(void *context, const char *name, int partitions, size_t which)
{
        struct live *live = context;
        struct live_topic *grown =
                realloc(live->topics, (live->topics_count + 1) * sizeof live->topics[0]);
        if (grown == NULL) {
                live->failed = true;
                return;
        }
        live->topics = grown;
        struct live_topic *topic = &live->topics[live->topics_count++];
        *topic = (struct live_topic){ .partitions = partitions,
                                      .channel = live->settings->topics.items[which].channel };
        snprintf(topic->name, sizeof topic->name, "%s", name);
}

static enum po_class live_topics_find(struct live *live, struct po_error *error)
{
        const struct settings *settings = live->settings;
        size_t count = settings->topics.count;
        CLEANUP(cleanup_free) struct topic_facts *facts = calloc(count, sizeof *facts);
        if (facts == NULL)
                return po_fail(error, PO_SYSTEMIC, ENOMEM, "out of memory");
        for (size_t i = 0; i < count; i++)
                facts[i].name = settings->topics.items[i].name;
        if (topics_each(settings->kafka.items, settings->kafka.count, settings->dead_letter.topic,
                        facts, count, live_topic_add, live, error) != PO_OK)
                return error->kind;
        if (live->failed)
                return po_fail(error, PO_SYSTEMIC, ENOMEM, "out of memory");
        if (live->topics_count == 0)
                return po_fail(error, PO_SYSTEMIC, 0, "none of the configured topics exists");
        return PO_OK;
}

static enum po_class live_print(const struct live *live, enum table_format format,
                                struct po_error *error)
{
        static const struct table_column columns[] = {
                { "channel", TABLE_TEXT }, { "outcome", TABLE_TEXT }, { "event", TABLE_TEXT },
                { "reason", TABLE_TEXT },  { "count", TABLE_NUMBER }, { "examples", TABLE_TEXT },
                { NULL, TABLE_TEXT },
        };
        struct table *table = table_open("outcomes", columns);
        for (size_t i = 0; i < live->tallies_count; i++) {
                const struct tally *tally = &live->tallies[i];
                char count[24];
                snprintf(count, sizeof count, "%lld", (long long)tally->count);
                table_row(table, tally->channel, tally->outcome, tally->event, tally->reason, count,
                          tally->examples);
        }
        enum po_class kind = table_show(table, format, error);
        if (kind == PO_OK && format == TABLE_FORMAT_TABLE)
                printf("%lld records of %zu topics\n", (long long)live->records,
                       live->topics_count);
        return kind;
}

int live_check(const struct settings *settings, int64_t records, enum table_format format)
{
        struct po_error error;
        struct live *live = calloc(1, sizeof *live);
        if (live == NULL) {
                po_fail(&error, PO_SYSTEMIC, ENOMEM, "out of memory");
                return command_fail(&error);
        }
        live->settings = settings;
        int code = EXIT_DONE;
        enum po_class kind = parts_read_rules(settings, &live->rules, &error);
        if (kind == PO_OK)
                kind = parts_open_decoder(settings, &live->decoder, &error);
        if (kind == PO_OK)
                kind = live_topics_find(live, &error);
        for (size_t i = 0; kind == PO_OK && i < live->topics_count; i++)
                kind = live_topic_read(live, &live->topics[i], records, &error);
        if (kind == PO_OK)
                kind = live_print(live, format, &error);
        if (kind != PO_OK)
                code = command_fail(&error);
        else if (live->refused > 0)
                code = EXIT_FINDINGS;
        live_close(live);
        return code;
}
