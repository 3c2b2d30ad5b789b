#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "kafka/client.h"
#include "kafka/codes.h"
#include "kafka/source_internal.h"

enum {
        COMMIT_EVERY_MS = 1000,
        LOOKUP_EVERY_MS = 1000,
        LOOKUP_WAIT_MS = 1000,
        RANGE_WAIT_MS = 2000,
};

void offsets_pass_end(struct source *source, struct partition *partition)
{
        if (partition_pass_end(partition) != OFFSET_NONE)
                source->dirty = true;
}

/*
 * For the commit that follows: only it needs them, so they are told once and not by each record.
 * All of them each time: librdkafka forgets what it was told when a partition is assigned again,
 * and commits nothing that it has committed already.
 */
static void store(struct source *source)
{
        const struct partitions *partitions = &source->partitions;
        CLEANUP(client_list_free)
        rd_kafka_topic_partition_list_t *list =
                rd_kafka_topic_partition_list_new((int)partitions->count);
        for (size_t i = 0; i < partitions->count; i++) {
                const struct partition *partition = &partitions->items[i];
                if (partition->assigned && partition->stored >= 0)
                        rd_kafka_topic_partition_list_add(list, partition->topic, partition->number)
                                ->offset = partition->stored;
        }
        rd_kafka_offsets_store(source->client, list); /* fails only if each of them does */
        /* _STATE when it was taken away meanwhile: then it is the next owner's business. */
        for (int i = 0; i < list->cnt; i++)
                if (list->elems[i].err != RD_KAFKA_RESP_ERR_NO_ERROR)
                        log_info("store_ignored", "topic=%s partition=%d next=%lld code=%s",
                                 list->elems[i].topic, (int)list->elems[i].partition,
                                 (long long)list->elems[i].offset,
                                 rd_kafka_err2name(list->elems[i].err));
}

void offsets_tick(struct source *source, int64_t now_ms)
{
        if (!source->dirty || now_ms < source->next_commit_ms)
                return;
        source->dirty = false;
        source->next_commit_ms = now_ms + COMMIT_EVERY_MS;
        store(source);
        rd_kafka_resp_err_t code = rd_kafka_commit(source->client, NULL, 1);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
                log_warn("commit_failed", "code=%s", rd_kafka_err2name(code));
}

/* A commit that failed is sent again with the next one: what is stored stays stored. */
void offsets_committed(rd_kafka_t *client, rd_kafka_resp_err_t code,
                       rd_kafka_topic_partition_list_t *list, void *opaque)
{
        (void)client;
        struct source *source = opaque;
        for (int i = 0; list != NULL && i < list->cnt && code == RD_KAFKA_RESP_ERR_NO_ERROR; i++)
                code = list->elems[i].err;
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR || code == RD_KAFKA_RESP_ERR__NO_OFFSET)
                return;
        source->dirty = true;
        log_warn("commit_failed", "code=%s", rd_kafka_err2name(code));
        if (kafka_class(code) == PO_SYSTEMIC)
                trouble_note(source, code, "commit refused");
}

/* opaque is the source and not this call: an answer that comes late finds it all the same. */
static void commit_answered(rd_kafka_t *client, rd_kafka_resp_err_t code,
                            rd_kafka_topic_partition_list_t *list, void *opaque)
{
        (void)client;
        struct source *source = opaque;
        for (int i = 0; list != NULL && i < list->cnt && code == RD_KAFKA_RESP_ERR_NO_ERROR; i++)
                code = list->elems[i].err;
        source->commits_answered++;
        source->commit_result = code;
}

rd_kafka_resp_err_t offsets_commit(struct source *source, int timeout_ms)
{
        int64_t deadline_ms = clock_ms() + timeout_ms;
        store(source);
        rd_kafka_resp_err_t code = rd_kafka_commit_queue(source->client, NULL, source->commits,
                                                         commit_answered, source);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
                return code;
        source->commits_sent++;
        while (source->commits_answered != source->commits_sent) {
                int64_t left_ms = deadline_ms - clock_ms();
                if (left_ms <= 0) {
                        source->dirty = true;
                        return RD_KAFKA_RESP_ERR__TIMED_OUT;
                }
                rd_kafka_queue_poll_callback(source->commits, (int)left_ms);
        }
        if (source->commit_result == RD_KAFKA_RESP_ERR__NO_OFFSET)
                return RD_KAFKA_RESP_ERR_NO_ERROR;
        source->dirty = source->commit_result != RD_KAFKA_RESP_ERR_NO_ERROR;
        return source->commit_result;
}

rd_kafka_resp_err_t offsets_read(struct source *source, rd_kafka_topic_partition_list_t *list,
                                 int timeout_ms)
{
        rd_kafka_resp_err_t code = rd_kafka_committed(source->client, list, timeout_ms);
        for (int i = 0; i < list->cnt && code == RD_KAFKA_RESP_ERR_NO_ERROR; i++) {
                if (kafka_class(list->elems[i].err) == PO_SYSTEMIC)
                        code = list->elems[i].err;
        }
        return code;
}

static void lookup(struct source *source, struct partition *partition)
{
        rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
        rd_kafka_topic_partition_list_add(list, partition->topic, partition->number);
        rd_kafka_resp_err_t code = offsets_read(source, list, LOOKUP_WAIT_MS);
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
                code = list->elems[0].err;
        int64_t offset = list->elems[0].offset;
        rd_kafka_topic_partition_list_destroy(list);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
                log_warn("committed_unread", "topic=%s partition=%d code=%s", partition->topic,
                         (int)partition->number, rd_kafka_err2name(code));
                return;
        }
        partition_place(partition, offset >= 0 ? offset : OFFSET_BEGINNING);
        partition->pauses &= ~(unsigned)PAUSED_UNKNOWN;
}

void offsets_lookup(struct source *source, int64_t now_ms)
{
        if (now_ms < source->next_lookup_ms)
                return;
        for (size_t i = 0; i < source->partitions.count; i++) {
                if ((source->partitions.items[i].pauses & PAUSED_UNKNOWN) == 0)
                        continue;
                source->next_lookup_ms = now_ms + LOOKUP_EVERY_MS;
                lookup(source, &source->partitions.items[i]);
        }
}

static int64_t committed_of(struct source *source, const struct partition *partition)
{
        CLEANUP(client_list_free)
        rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
        rd_kafka_topic_partition_list_add(list, partition->topic, partition->number);
        if (offsets_read(source, list, RANGE_WAIT_MS) == RD_KAFKA_RESP_ERR_NO_ERROR &&
            list->elems[0].offset >= 0)
                return list->elems[0].offset;
        return OFFSET_NONE;
}

/*
 * librdkafka 2.0.2 asks for an offset of its own invention after a batch whose checksum is wrong,
 * and calls that out of range. What we want next is in the log then: it is only fetched again.
 */
void offsets_out_of_range(struct source *source, struct partition *partition)
{
        if (!partition->assigned || (partition->pauses & PAUSED_FOR_PERSON) != 0)
                return;
        int64_t low = OFFSET_NONE;
        int64_t high = OFFSET_NONE;
        int64_t wanted = partition->position;
        rd_kafka_resp_err_t code = rd_kafka_query_watermark_offsets(
                source->client, partition->topic, partition->number, &low, &high, RANGE_WAIT_MS);
        if (wanted == OFFSET_BEGINNING ||
            (code == RD_KAFKA_RESP_ERR_NO_ERROR && wanted >= low && wanted <= high)) {
                flow_retry(source, partition, "fetched from elsewhere than was asked");
                rebalance_again(source, partition);
                return;
        }
        flow_pause(source, partition, PAUSED_FOR_PERSON);
        partition->stuck = "OFFSET_OUT_OF_RANGE";
        log_alarm("OFFSET_OUT_OF_RANGE", NULL,
                  "topic=%s partition=%d wanted=%lld committed=%lld low=%lld high=%lld",
                  partition->topic, (int)partition->number, (long long)wanted,
                  (long long)committed_of(source, partition), (long long)low, (long long)high);
}
