#include "kafka/reader.h"

#include <assert.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "kafka/client.h"
#include "kafka/codes.h"
#include "kafka/source_internal.h"

enum { ASK_WAIT_MS = 10 * 1000, SILENCE_MS = 30 * 1000, POLL_STEP_MS = 100 };

static const struct kafka_property settings[] = {
        { "enable.auto.commit", "false" },       { "enable.auto.offset.store", "false" },
        { "auto.offset.reset", "error" },        { "isolation.level", "read_committed" },
        { "enable.partition.eof", "true" },      { "check.crcs", "true" },
        { "allow.auto.create.topics", "false" }, { "client.id", "postonce" },
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

/* By slot, beside the same slot of `partitions`. */
struct stretch {
        int64_t start, end; /* the first to read, and the one behind the last */
        int64_t committed;  /* OFFSET_NONE: none that counts */
        bool done;          /* the end was met */
        bool kept;          /* nothing passes any more */
};

struct reader {
        rd_kafka_t *client;
        rd_kafka_queue_t *commits;
        struct partitions partitions;
        struct stretch *stretches;
        struct hand hand;
        int64_t heard_ms; /* when something came last */
        int refused;      /* the latest SYSTEMIC error of the client (login, TLS), or 0 */
        bool answered;    /* the commit that is waited for */
        rd_kafka_resp_err_t commit_result;
};

static void hear(rd_kafka_t *client, int code, const char *reason, void *opaque)
{
        (void)client;
        (void)reason;
        struct reader *reader = opaque;
        if (kafka_class(code) == PO_SYSTEMIC)
                reader->refused = code;
}

static enum po_class reader_fail(const struct reader *reader, struct po_error *error, int code,
                                 const char *context)
{
        if (kafka_class(code) == PO_TRANSIENT && reader->refused != 0)
                code = reader->refused;
        kafka_fail(error, code, context);
        return po_within(error, "kafka");
}

/* The user's properties without those of the workers' membership. */
static enum po_class conf_fill(rd_kafka_conf_t *conf, const struct reader_options *options,
                               struct po_error *error)
{
        for (size_t i = 0; i < SETTINGS; i++) {
                if (property_set(conf, settings[i].name, settings[i].value, error) != PO_OK)
                        return error->kind;
        }
        for (size_t i = 0; i < options->properties_count; i++) {
                const struct kafka_property *property = &options->properties[i];
                if (strcmp(property->name, "group.instance.id") != 0 &&
                    properties_apply(conf, PROPERTY_OF_CONSUMER, property, 1, error) != PO_OK)
                        return error->kind;
        }
        /* librdkafka wants a name. One that neither joins nor commits never comes to be a group. */
        const char *group = options->group != NULL ? options->group : "postonce-nobody";
        return property_set(conf, "group.id", group, error);
}

static enum po_class client_open(struct reader *reader, const struct reader_options *options,
                                 struct po_error *error)
{
        if (properties_check(options->properties, options->properties_count, error) != PO_OK)
                return error->kind;
        CLEANUP(client_conf_free) rd_kafka_conf_t *conf = client_conf_new(reader);
        rd_kafka_conf_set_error_cb(conf, hear);
        if (conf_fill(conf, options, error) != PO_OK ||
            client_new(&reader->client, RD_KAFKA_CONSUMER, &conf, error) != PO_OK)
                return error->kind;
        rd_kafka_poll_set_consumer(reader->client);
        reader->commits = rd_kafka_queue_new(reader->client);
        return PO_OK;
}

/* What is read of a partition whose log reaches from low to high. */
static enum po_class stretch_place(const struct reader_options *options, int32_t number,
                                   int64_t low, int64_t high, struct stretch *stretch,
                                   struct po_error *error)
{
        stretch->end = high;
        stretch->start = low;
        if (stretch->committed > high && options->start == READER_COMMITTED)
                return po_fail(error, PO_SYSTEMIC, 0,
                               "the offset %lld of group %s lies beyond the end %lld of %s/%d: the "
                               "topic was made anew; begin at the beginning",
                               (long long)stretch->committed, options->group, (long long)high,
                               options->topic, (int)number);
        if (stretch->committed > high)
                stretch->committed = OFFSET_NONE; /* of another topic with this name */
        if (options->start == READER_COMMITTED && stretch->committed >= 0)
                stretch->start = stretch->committed;
        if (options->start == READER_OFFSET)
                stretch->start = options->start_offset;
        if (stretch->start < low) {
                log_warn("letters_expired", "topic=%s partition=%d from=%lld low=%lld",
                         options->topic, (int)number, (long long)stretch->start, (long long)low);
                stretch->start = low;
        }
        if (stretch->start > high)
                stretch->start = high;
        stretch->done = stretch->start == stretch->end;
        return PO_OK;
}

static enum po_class partition_open(struct reader *reader, const struct reader_options *options,
                                    rd_kafka_topic_partition_t *place, struct po_error *error)
{
        size_t slot = partitions_ensure(&reader->partitions, options->topic, place->partition);
        if (slot == reader->partitions.count)
                return po_fail(error, PO_SYSTEMIC, 0, "no memory for partitions");
        int64_t low, high;
        rd_kafka_resp_err_t code = rd_kafka_query_watermark_offsets(
                reader->client, options->topic, place->partition, &low, &high, ASK_WAIT_MS);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
                return reader_fail(reader, error, code, "ask for the ends");
        struct stretch *stretch = &reader->stretches[slot];
        stretch->committed = place->offset >= 0 ? place->offset : OFFSET_NONE;
        if (stretch_place(options, place->partition, low, high, stretch, error) != PO_OK)
                return error->kind;
        place->offset = stretch->start;
        partition_begin(&reader->partitions.items[slot], stretch->start);
        return PO_OK;
}

/* The most records a partition may give so that all together give no more than `most`. */
static int64_t share_find(const struct reader *reader, int64_t most)
{
        int64_t least = 1, over = most + 1;
        while (over - least > 1) {
                int64_t share = least + (over - least) / 2, total = 0;
                for (size_t i = 0; i < reader->partitions.count && total <= most; i++) {
                        int64_t length = reader->stretches[i].end - reader->stretches[i].start;
                        total += length < share ? length : share;
                }
                if (total <= most)
                        least = share;
                else
                        over = share;
        }
        return least;
}

/* Leaves the ends of the stretches only; list is in the order of slots. */
static void stretches_shorten(struct reader *reader, int64_t most,
                              rd_kafka_topic_partition_list_t *list)
{
        int64_t share = share_find(reader, most);
        for (size_t i = 0; i < reader->partitions.count; i++) {
                struct stretch *stretch = &reader->stretches[i];
                if (stretch->end - stretch->start > share)
                        stretch->start = stretch->end - share;
                list->elems[i].offset = stretch->start;
                partition_begin(&reader->partitions.items[i], stretch->start);
        }
}

static enum po_class assign(struct reader *reader, const struct reader_options *options,
                            struct po_error *error)
{
        CLEANUP(client_list_free)
        rd_kafka_topic_partition_list_t *list =
                rd_kafka_topic_partition_list_new(options->partitions);
        for (int32_t number = 0; number < options->partitions; number++)
                if (options->only_partition < 0 || options->only_partition == number)
                        rd_kafka_topic_partition_list_add(list, options->topic, number);
        rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
        if (options->group != NULL)
                code = rd_kafka_committed(reader->client, list, ASK_WAIT_MS);
        for (int i = 0; i < list->cnt && code == RD_KAFKA_RESP_ERR_NO_ERROR; i++)
                code = list->elems[i].err;
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
                return reader_fail(reader, error, code, "ask for the group's offsets");
        for (int i = 0; i < list->cnt; i++)
                if (partition_open(reader, options, &list->elems[i], error) != PO_OK)
                        return error->kind;
        if (options->start == READER_LAST)
                stretches_shorten(reader, options->last_records, list);
        code = rd_kafka_assign(reader->client, list);
        return code == RD_KAFKA_RESP_ERR_NO_ERROR ? PO_OK
                                                  : reader_fail(reader, error, code, "assign");
}

static void reader_drop(struct reader **reader)
{
        reader_close(*reader);
}

enum po_class reader_open(struct reader **reader_out, const struct reader_options *options,
                          struct po_error *error)
{
        assert(options->partitions >= 1 && options->only_partition < options->partitions);
        assert(options->start != READER_LAST || options->last_records >= 1);
        assert(options->group != NULL || options->start != READER_COMMITTED);
        *reader_out = NULL;
        CLEANUP(reader_drop) struct reader *reader = calloc(1, sizeof *reader);
        if (reader == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "no memory for a reader");
        reader->stretches = calloc((size_t)options->partitions, sizeof *reader->stretches);
        if (reader->stretches == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "no memory for a reader");
        if (hand_open(&reader->hand, options->records_max, error) != PO_OK ||
            client_open(reader, options, error) != PO_OK || assign(reader, options, error) != PO_OK)
                return error->kind;
        reader->heard_ms = clock_ms();
        *reader_out = MOVE(reader);
        return PO_OK;
}

void reader_close(struct reader *reader)
{
        if (reader == NULL)
                return;
        hand_release(&reader->hand);
        hand_close(&reader->hand);
        if (reader->commits != NULL)
                rd_kafka_queue_destroy(reader->commits);
        /* There is no group to leave, and closing one can hang (librdkafka 2.0.2). */
        if (reader->client != NULL)
                rd_kafka_destroy_flags(reader->client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
        partitions_free(&reader->partitions);
        free(reader->stretches);
        free(reader);
}

int64_t reader_total(const struct reader *reader)
{
        int64_t total = 0;
        for (size_t i = 0; i < reader->partitions.count; i++)
                total += reader->stretches[i].end - reader->stretches[i].start;
        return total;
}

bool reader_at_end(const struct reader *reader)
{
        for (size_t i = 0; i < reader->partitions.count; i++)
                if (!reader->stretches[i].done)
                        return false;
        return true;
}

/* Takes message over. */
static enum po_class message_note(struct reader *reader, rd_kafka_message_t *message,
                                  struct po_error *error)
{
        rd_kafka_resp_err_t code = message->err;
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR && code != RD_KAFKA_RESP_ERR__PARTITION_EOF) {
                rd_kafka_message_destroy(message);
                return kafka_class(code) == PO_TRANSIENT
                               ? PO_OK /* it goes on by itself, or SILENCE_MS ends it */
                               : reader_fail(reader, error, code, "read");
        }
        reader->heard_ms = clock_ms();
        size_t slot = partitions_find(&reader->partitions, rd_kafka_topic_name(message->rkt),
                                      message->partition);
        assert(slot < reader->partitions.count);
        struct stretch *stretch = &reader->stretches[slot];
        struct partition *partition = &reader->partitions.items[slot];
        bool wanted = code == RD_KAFKA_RESP_ERR_NO_ERROR && !stretch->done &&
                      message->offset < stretch->end && partition_take(partition, message->offset);
        /* An end of transaction markers only shows itself by EOF. */
        if (code == RD_KAFKA_RESP_ERR__PARTITION_EOF || message->offset >= stretch->end - 1)
                stretch->done = true;
        if (!wanted) {
                rd_kafka_message_destroy(message);
                return PO_OK;
        }
        if (!hand_add(&reader->hand, message, partition, slot))
                return po_fail(error, PO_SYSTEMIC, 0, "no memory for a record's headers");
        return PO_OK;
}

enum po_class reader_take(struct reader *reader, int wait_ms, const struct record **records_out,
                          size_t *count_out, struct po_error *error)
{
        hand_release(&reader->hand);
        *count_out = 0;
        int64_t deadline_ms = clock_ms() + wait_ms;
        while (!hand_is_full(&reader->hand) && !reader_at_end(reader)) {
                int step_ms = reader->hand.count > 0 ? 0 : POLL_STEP_MS;
                rd_kafka_message_t *message = rd_kafka_consumer_poll(reader->client, step_ms);
                if (message == NULL && (reader->hand.count > 0 || clock_ms() >= deadline_ms))
                        break;
                if (message != NULL && message_note(reader, message, error) != PO_OK)
                        return error->kind;
        }
        hand_finish(&reader->hand, &reader->partitions);
        *records_out = reader->hand.records;
        *count_out = reader->hand.count;
        if (*count_out == 0 && !reader_at_end(reader) && clock_ms() - reader->heard_ms > SILENCE_MS)
                return reader_fail(reader, error, RD_KAFKA_RESP_ERR__TIMED_OUT, "read");
        return PO_OK;
}

void reader_pass(struct reader *reader, const struct record *record)
{
        const struct stretch *stretch = &reader->stretches[record->slot];
        int64_t next = record->offset + 1;
        if (stretch->kept || next <= stretch->committed)
                return;
        CLEANUP(client_list_free)
        rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
        rd_kafka_topic_partition_list_add(list, record->topic, record->partition)->offset = next;
        rd_kafka_resp_err_t code = rd_kafka_offsets_store(reader->client, list);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
                log_warn("store_ignored", "topic=%s partition=%d next=%lld code=%s", record->topic,
                         (int)record->partition, (long long)next, rd_kafka_err2name(code));
}

void reader_keep(struct reader *reader, const struct record *record)
{
        reader->stretches[record->slot].kept = true;
}

static void commit_answered(rd_kafka_t *client, rd_kafka_resp_err_t code,
                            rd_kafka_topic_partition_list_t *list, void *opaque)
{
        (void)client;
        struct reader *reader = opaque;
        for (int i = 0; list != NULL && i < list->cnt && code == RD_KAFKA_RESP_ERR_NO_ERROR; i++)
                code = list->elems[i].err;
        reader->answered = true;
        reader->commit_result = code;
}

enum po_class reader_commit(struct reader *reader, struct po_error *error)
{
        int64_t deadline_ms = clock_ms() + ASK_WAIT_MS;
        reader->answered = false;
        rd_kafka_resp_err_t code = rd_kafka_commit_queue(reader->client, NULL, reader->commits,
                                                         commit_answered, reader);
        while (code == RD_KAFKA_RESP_ERR_NO_ERROR && !reader->answered) {
                int64_t left_ms = deadline_ms - clock_ms();
                if (left_ms <= 0)
                        code = RD_KAFKA_RESP_ERR__TIMED_OUT;
                else
                        rd_kafka_queue_poll_callback(reader->commits, (int)left_ms);
        }
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
                code = reader->commit_result;
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR || code == RD_KAFKA_RESP_ERR__NO_OFFSET)
                return PO_OK;
        return reader_fail(reader, error, code, "commit");
}
