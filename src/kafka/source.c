#include "kafka/source.h"

#include <assert.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "kafka/client.h"
#include "kafka/source_internal.h"

_Static_assert(OFFSET_BEGINNING == RD_KAFKA_OFFSET_BEGINNING, "partitions.h spells it out");

enum {
        COOPERATIVE_MENDED = 0x020601ff,       /* before, cooperative-sticky can spin for ever */
        COOPERATIVE_CLOSE_MENDED = 0x020300ff, /* before, it aborts a close without an assignment */
        CLOSE_STEP_MS = 50,
        END_HOLD_TRIES = 3,
};

/* range,roundrobin is also what newer versions choose: a group may be of mixed versions. */
static const struct kafka_property settings[] = {
        { "enable.auto.commit", "false" },
        { "enable.auto.offset.store", "false" },
        { "auto.offset.reset", "error" },
        { "enable.partition.eof", "true" },
        { "check.crcs", "true" },
        { "isolation.level", "read_committed" },
        { "client.id", "postonce" },
        { "partition.assignment.strategy", "range,roundrobin" },
        /* What is fetched ahead of a backlog is memory: 64 MB by default, a megabyte of each
         * partition at a time. refill.c sees to it that so little is enough. */
        { "queued.max.messages.kbytes", "1024" },
        { "max.partition.fetch.bytes", "131072" },
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

enum po_class source_check(const struct kafka_property *properties, size_t count,
                           struct po_error *error)
{
        return properties_check(properties, count, error);
}

/* Allowed to whoever asks for it, with its defects in older versions worked around or told. */
static void note_assignor(struct source *source, const struct source_options *options)
{
        const char *assignor = properties_find(options->properties, options->properties_count,
                                               "partition.assignment.strategy");
        if (assignor == NULL || strstr(assignor, "cooperative") == NULL)
                return;
        source->close_needs_join = rd_kafka_version() < COOPERATIVE_CLOSE_MENDED;
        if (rd_kafka_version() < COOPERATIVE_MENDED)
                log_warn("assignor",
                         "strategy=%s version=%s note=\"before 2.6.1 it can take a whole processor "
                         "for ever\"",
                         assignor, rd_kafka_version_str());
}

static enum po_class client_open(struct source *source, const struct source_options *options,
                                 struct po_error *error)
{
        CLEANUP(client_conf_free) rd_kafka_conf_t *conf = client_conf_new(source);
        for (size_t i = 0; i < SETTINGS; i++) {
                if (property_set(conf, settings[i].name, settings[i].value, error) != PO_OK)
                        return error->kind;
        }
        if (refill_configure(conf, error) != PO_OK ||
            properties_apply(conf, PROPERTY_OF_CONSUMER, options->properties,
                             options->properties_count, error) != PO_OK ||
            subscription_exclude(source, conf, error) != PO_OK)
                return error->kind;
        rd_kafka_conf_set_rebalance_cb(conf, rebalance_serve);
        rd_kafka_conf_set_offset_commit_cb(conf, offsets_committed);
        rd_kafka_conf_set_error_cb(conf, trouble_hear);
        if (client_new(&source->client, RD_KAFKA_CONSUMER, &conf, error) != PO_OK)
                return error->kind;
        refill_open(source);
        source->commits = rd_kafka_queue_new(source->client);
        /* Errors, logs and commit results come with the records, on the polling thread. */
        rd_kafka_poll_set_consumer(source->client);
        return PO_OK;
}

static void source_free(struct source *source)
{
        hand_release(&source->hand);
        hand_close(&source->hand);
        if (source->commits != NULL)
                rd_kafka_queue_destroy(source->commits);
        if (source->client != NULL)
                rd_kafka_destroy(source->client);
        subscription_close(source);
        partitions_free(&source->partitions);
        free(source);
}

static void source_drop(struct source **source)
{
        if (*source != NULL)
                source_free(*source);
}

enum po_class source_open(struct source **source_out, const struct source_options *options,
                          struct po_error *error)
{
        assert(options->batch_records_max >= 1 && options->batch_records_max <= BATCH_RECORDS_MAX);
        if (source_check(options->properties, options->properties_count, error) != PO_OK)
                return error->kind;
        CLEANUP(source_drop) struct source *source = calloc(1, sizeof *source);
        if (source == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "no memory for the source");
        source->deadline_ms = INT64_MAX;
        source->end_hold_tries =
                options->end_hold_tries > 0 ? options->end_hold_tries : END_HOLD_TRIES;
        if (subscription_open(source, options, error) != PO_OK ||
            hand_open(&source->hand, options->batch_records_max, error) != PO_OK ||
            client_open(source, options, error) != PO_OK ||
            subscription_begin(source, error) != PO_OK)
                return error->kind;
        note_assignor(source, options);
        *source_out = MOVE(source);
        return PO_OK;
}

/* True when the group was left, with its rebalance callback served, before the deadline. */
static bool leave_group(struct source *source)
{
        rd_kafka_queue_t *queue = rd_kafka_queue_new(source->client);
        rd_kafka_error_t *refused = rd_kafka_consumer_close_queue(source->client, queue);
        if (refused != NULL) { /* after a fatal error there is no group to leave */
                rd_kafka_error_destroy(refused);
                rd_kafka_queue_destroy(queue);
                return true;
        }
        while (!rd_kafka_consumer_closed(source->client)) {
                if (clock_ms() >= source->deadline_ms)
                        return false;
                /* Records come here too: a poll for callbacks alone would abort at the first. */
                rd_kafka_message_t *message = rd_kafka_consume_queue(queue, CLOSE_STEP_MS);
                if (message != NULL)
                        rd_kafka_message_destroy(message);
        }
        rd_kafka_queue_destroy(queue);
        return true;
}

/* True when it is safe to close now. */
static bool wait_joined(struct source *source, int64_t until_ms)
{
        struct po_error ignored;
        while (source->close_needs_join && !source->joined && clock_ms() < until_ms) {
                if (source_idle(source, CLOSE_STEP_MS, &ignored) != PO_OK)
                        break;
        }
        return !source->close_needs_join || source->joined;
}

enum po_class source_close(struct source *source, int deadline_ms, struct po_error *error)
{
        if (source == NULL)
                return PO_OK;
        source->deadline_ms = clock_ms() + deadline_ms;
        hand_release(&source->hand);
        rd_kafka_resp_err_t code = offsets_commit(source, deadline_ms / 2);
        if (!wait_joined(source, source->deadline_ms) || !leave_group(source))
                return po_fail(error, PO_TRANSIENT, RD_KAFKA_RESP_ERR__TIMED_OUT,
                               "kafka: the group was not left within %d ms", deadline_ms);
        source_free(source);
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
                return PO_OK;
        return po_fail(error, PO_TRANSIENT, code, "kafka: last commit: %s", rd_kafka_err2str(code));
}

/* A pattern that matches nothing is no trouble: what matches later is taken up. */
static bool is_empty_pattern(const rd_kafka_message_t *message)
{
        return message->err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART && message->rkt != NULL &&
               topic_is_pattern(rd_kafka_topic_name(message->rkt));
}

/* An error that came instead of a record; message stays the caller's. */
static void hear_message(struct source *source, const rd_kafka_message_t *message)
{
        const char *reason = rd_kafka_message_errstr(message);
        if (is_empty_pattern(message))
                return;
        struct partition *partition = NULL;
        if (message->rkt != NULL && message->partition >= 0) {
                size_t index = partitions_find(
                        &source->partitions, rd_kafka_topic_name(message->rkt), message->partition);
                if (index < source->partitions.count)
                        partition = &source->partitions.items[index];
        }
        if (partition == NULL) {
                trouble_hear(source->client, message->err, reason, source);
                return;
        }
        switch (message->err) {
        case RD_KAFKA_RESP_ERR__PARTITION_EOF:
                partition_meet_end(partition, message->offset);
                offsets_pass_end(source, partition);
                return;
        case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
                offsets_out_of_range(source, partition);
                return;
        case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
        case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
        case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
                trouble_hear(source->client, message->err, reason, source);
                return;
        default:
                /* librdkafka would go on behind it; the partition must not. */
                flow_retry(source, partition, reason);
        }
}

/* Takes over message. False: what follows must wait. */
static bool take_message(struct source *source, rd_kafka_message_t *message)
{
        if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
                hear_message(source, message);
                rd_kafka_message_destroy(message);
                return source->trouble.kind != PO_SYSTEMIC;
        }
        if (source->trouble.kind == PO_TRANSIENT)
                trouble_clear(source);
        size_t slot = partitions_find(&source->partitions, rd_kafka_topic_name(message->rkt),
                                      message->partition);
        if (slot == source->partitions.count ||
            !partition_take(&source->partitions.items[slot], message->offset)) {
                rd_kafka_message_destroy(message);
                return true;
        }
        struct partition *partition = &source->partitions.items[slot];
        int64_t offset = message->offset;
        if (hand_add(&source->hand, message, partition, slot))
                return true;
        partition->position = offset;
        flow_retry(source, partition, "no memory for the record's headers");
        return true;
}

/* Polls until until_ms, one message at a time; returns early with what is there at once. */
static void poll_batch(struct source *source, int64_t until_ms)
{
        while (!hand_is_full(&source->hand)) {
                int64_t wait_ms = source->hand.count > 0 ? 0 : until_ms - clock_ms();
                rd_kafka_message_t *message =
                        rd_kafka_consumer_poll(source->client, wait_ms > 0 ? (int)wait_ms : 0);
                if (message == NULL && (source->hand.count > 0 || clock_ms() >= until_ms))
                        return;
                if (message != NULL && !take_message(source, message))
                        return;
        }
}

static enum po_class trouble_report(const struct source *source, struct po_error *error)
{
        *error = source->trouble;
        return error->kind;
}

enum po_class source_take(struct source *source, int wait_ms, const struct record **records_out,
                          size_t *count_out, struct po_error *error)
{
        int64_t now_ms = clock_ms();
        int64_t end_ms = now_ms + wait_ms;
        *records_out = source->hand.records;
        *count_out = 0;
        hand_release(&source->hand);
        offsets_tick(source, now_ms);
        trouble_probe(source, now_ms);
        if (source->trouble.kind == PO_SYSTEMIC) {
                if (source_idle(source, wait_ms, error) != PO_OK)
                        return error->kind;
                return source->trouble.kind == PO_OK ? PO_OK : trouble_report(source, error);
        }
        source->idle = false;
        flow_allow_all(source, PAUSED_BY_IDLE);
        do {
                now_ms = clock_ms();
                offsets_lookup(source, now_ms);
                flow_resume(source, now_ms);
                int64_t due_ms = flow_due_ms(source);
                poll_batch(source, due_ms < end_ms ? due_ms : end_ms);
        } while (source->hand.count == 0 && source->trouble.kind != PO_SYSTEMIC &&
                 clock_ms() < end_ms);
        refill_after(source, source->hand.size_bytes);
        hand_finish(&source->hand, &source->partitions);
        *count_out = source->hand.count;
        if (source->hand.count > 0) {
                source->end = SOURCE_GOING;
                return PO_OK;
        }
        return source->trouble.kind == PO_OK ? PO_OK : trouble_report(source, error);
}

static struct partition *record_partition(struct source *source, const struct record *record)
{
        assert(record->slot < source->partitions.count);
        struct partition *partition = &source->partitions.items[record->slot];
        bool ours = partition->assigned && partition->epoch == record->epoch;
        return ours ? partition : NULL;
}

void source_store(struct source *source, const struct record *record)
{
        struct partition *partition = record_partition(source, record);
        if (partition == NULL)
                return;
        if (partition_settle(partition, record->offset + 1))
                source->dirty = true;
        offsets_pass_end(source, partition);
}

void source_hold(struct source *source, const struct record *record, int delay_ms)
{
        struct partition *partition = record_partition(source, record);
        if (partition == NULL)
                return;
        partition_hold(partition, record->offset, clock_ms() + delay_ms);
        flow_pause(source, partition, PAUSED_BY_HOLD);
}

bool source_is_held(const struct source *source, const struct record *record)
{
        assert(record->slot < source->partitions.count);
        const struct partition *partition = &source->partitions.items[record->slot];
        bool ours = partition->assigned && partition->epoch == record->epoch;
        return !ours || record->offset >= partition->position;
}

unsigned source_hold_tries(const struct source *source, const struct record *record)
{
        assert(record->slot < source->partitions.count);
        const struct partition *partition = &source->partitions.items[record->slot];
        bool same = partition->epoch == record->epoch && partition->hold_offset == record->offset;
        return same ? partition->hold_tries : 0;
}

static struct partition *own_partition(struct source *source, const char *topic, int32_t number)
{
        size_t index = partitions_find(&source->partitions, topic, number);
        if (index == source->partitions.count || !source->partitions.items[index].assigned)
                return NULL;
        return &source->partitions.items[index];
}

bool source_settled(struct source *source, const char *topic, int32_t partition, int64_t *next_out)
{
        const struct partition *own = own_partition(source, topic, partition);
        if (own == NULL || own->stored < 0)
                return false;
        *next_out = own->stored;
        return true;
}

bool source_next_stuck(const struct source *source, size_t *place_inout,
                       struct source_stuck *stuck_out)
{
        for (; *place_inout < source->partitions.count; (*place_inout)++) {
                const struct partition *partition = &source->partitions.items[*place_inout];
                if (!partition->assigned || partition->stuck == NULL)
                        continue;
                *stuck_out = (struct source_stuck){ .topic = partition->topic,
                                                    .partition = partition->number,
                                                    .offset = partition->position,
                                                    .tries = partition->hold_tries,
                                                    .reason = partition->stuck };
                (*place_inout)++;
                return true;
        }
        return false;
}

bool source_is_stuck(const struct source *source, const char *topic, int32_t partition)
{
        struct source_stuck stuck;
        for (size_t place = 0; source_next_stuck(source, &place, &stuck);)
                if (stuck.partition == partition && strcmp(stuck.topic, topic) == 0)
                        return true;
        return false;
}

void source_release(struct source *source, const char *topic, int32_t partition)
{
        struct partition *own = own_partition(source, topic, partition);
        if (own != NULL)
                own->due_ms = 0;
}

enum po_class source_idle(struct source *source, int wait_ms, struct po_error *error)
{
        int64_t end_ms = clock_ms() + wait_ms;
        source->idle = true;
        flow_pause_all(source, PAUSED_BY_IDLE);
        offsets_tick(source, clock_ms());
        do {
                int64_t left_ms = end_ms - clock_ms();
                rd_kafka_message_t *message =
                        rd_kafka_consumer_poll(source->client, left_ms > 0 ? (int)left_ms : 0);
                if (message == NULL)
                        continue;
                if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR)
                        hear_message(source, message);
                rd_kafka_message_destroy(message);
        } while (clock_ms() < end_ms);
        return source->fatal ? trouble_report(source, error) : PO_OK;
}
